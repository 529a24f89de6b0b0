//! Lists and shows tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownTask, WholeTask, shown, whole};
use super::{OneTask, TASK, find};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::tasks::{self, Task};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::scope::Reach;
use types::task::TaskStatus;

/// Which tasks. All of what is given must fit.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only those owned by this person or agent.
    #[arg(long, value_name = "ID")]
    pub owner: Option<ActorId>,
    /// Only with this status.
    #[arg(long)]
    pub status: Option<TaskStatus>,
    /// Include archived tasks: those closed longer ago than the company's retention.
    #[serde(default)]
    #[arg(long)]
    pub archived: bool,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List tasks.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "task.list",
        doc: "List the tasks that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/tasks").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownTask>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownTask>, Stop> {
        let Which { owner, status, archived, page } = input;
        let owned = owner.as_ref().map(ActorId::as_str).unwrap_or_default();
        let what = format!("task.list {owned} {} {archived}", status.map(TaskStatus::name).unwrap_or_default());
        let list = if archived { &tasks::ALL } else { &tasks::LIST };
        let sought = tasks::Sought { owner, status };
        let seen = |task: &Task| sought.fits(task) && read.may("task.read", &read.task_target(task));
        let page = match (&sought.owner, sought.status) {
            (Some(owner), _) => {
                let list = tasks::owned(archived);
                read.list_of(&list, owner.as_str(), &page, what, |task| seen(task) && read.knows(owner))?
            }
            (None, Some(status)) if !archived => read.list_of(&tasks::STANDING, status.name(), &page, what, seen)?,
            (None, _) => read.list(list, &page, what, seen)?,
        };
        Ok(Page { rows: page.rows.into_iter().map(|task| shown(task, read)).collect(), next: page.next })
    }

    fn next(output: &Page<ShownTask>) -> Option<String> {
        output.next.clone()
    }
}

/// Show one task.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "task.read",
        doc: "Show one task: its goal and result, what it is about, and the runs in which agents work on it.",
        scope: Reach::READ,
        route: get("/tasks/{id}"),
        about: &[&TASK],
        events: &[],
    };
    type Input = OneTask;
    type Output = WholeTask;

    fn target(input: &OneTask, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.task_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneTask, read: &Reader<'_>) -> Result<WholeTask, Stop> {
        whole(find(&input.id, read)?, read)
    }
}
