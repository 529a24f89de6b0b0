//! Lists, shows and follows runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownRun, shown, stands};
use super::whole::{WholeRun, whole};
use super::{RUN, find};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::Position;
use store::runs::{self, Run};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::run::RunStatus;
use types::scope::Reach;

/// Which runs. All of what is given must fit.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only those of this agent.
    #[arg(long, value_name = "ID")]
    pub agent: Option<ActorId>,
    /// Only those that work on this task.
    #[arg(long, value_name = "TASK")]
    #[schemars(extend("x-id" = true))]
    pub task: Option<String>,
    /// Only with this status. A run held by a kill switch keeps its status and is shown as held.
    #[arg(long)]
    pub status: Option<RunStatus>,
    /// Include archived runs: those that ended longer ago than the company's retention.
    #[serde(default)]
    #[arg(long)]
    pub archived: bool,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List runs.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "run.list",
        doc: "List the runs that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/runs").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownRun>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownRun>, Stop> {
        let Which { agent, task, status, archived, page } = input;
        let of = agent.as_ref().map(ActorId::as_str).unwrap_or_default();
        let (on, at) = (task.as_deref().unwrap_or_default(), status.map(RunStatus::name).unwrap_or_default());
        let what = format!("run.list {of} {} {on} {at} {archived}", on.len());
        let list = if archived { &runs::archive::ALL } else { &runs::LIST };
        let sought = runs::Sought { agent, task, since: None, archived };
        let stands_so = |run: &Run| status.is_none_or(|status| stands(run, read) == status);
        let seen = |run: &Run| sought.fits(run) && stands_so(run) && read.may("run.read", &read.run_target(run));
        let page = match (&sought.task, &sought.agent) {
            (Some(task), _) => {
                let of_task = |from: &Position, limit| read.runs_of_task_after(task, from, limit);
                read.page(&page, what, of_task, seen, runs::position)?
            }
            (None, Some(agent)) => read.list_of(list, agent.as_str(), &page, what, seen)?,
            (None, None) => read.list(list, &page, what, seen)?,
        };
        let rows = page.rows.into_iter().map(|run| shown(run, read)).collect::<Result<_, _>>()?;
        Ok(Page { rows, next: page.next })
    }

    fn next(output: &Page<ShownRun>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneShown {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
    /// Show only the steps after this one.
    #[schemars(range(min = 0))]
    #[arg(long, value_name = "STEP")]
    pub since: Option<u32>,
}

/// Show one run.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "run.read",
        doc: "Show one run, step by step: what it did, the outcome of each step, and what it waits for.",
        scope: Reach::READ,
        // A run of a thousand steps takes many megabytes.
        route: get("/runs/{id}").by_server().listed(),
        about: &[&RUN],
        events: &[],
    };
    type Input = OneShown;
    type Output = WholeRun;

    fn target(input: &OneShown, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneShown, read: &Reader<'_>) -> Result<WholeRun, Stop> {
        whole(find(&input.id, read)?, input.since.unwrap_or(0), read)
    }
}

/// How a run stands as its stream begins.
#[derive(Serialize, JsonSchema)]
pub struct Begun {
    pub status: RunStatus,
}

/// Follow a run as it happens.
pub enum Follow {}

impl Query for Follow {
    const SPEC: Spec = Spec {
        name: "run.stream",
        doc: "Follow one run as server-sent events until it ends: its steps after `since`, and the output of models \
              as it arrives. The header `Last-Event-ID` is ignored.",
        scope: Reach::READ,
        route: get("/runs/{id}/stream").stream(),
        about: &[&RUN],
        events: &[],
    };
    type Input = OneShown;
    type Output = Begun;

    fn target(input: &OneShown, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneShown, read: &Reader<'_>) -> Result<Begun, Stop> {
        Ok(Begun { status: shown(find(&input.id, read)?, read)?.status })
    }
}
