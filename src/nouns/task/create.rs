//! Creates a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::refer::{Reference, distinct, refer, wrong_in};
use super::shown::{WholeTask, whole};
use super::{find, owner};
use crate::actor::resource::ACTOR;
use crate::company::{COMPANY, Settings};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::content::events::ContentKept;
use store::tasks::Task;
use store::tasks::events::{TaskCreated, TaskRefAdded};
use store::tasks::is_of_ask;
use types::hours::FURTHEST_YEARS;
use types::id::{ActorId, Id, Kind};
use types::refusal::{Refusal, Stop};
use types::run::LONGEST_TEXT;
use types::scope::Reach;
use types::task::{Deadlines, Priority, Sla, TaskStatus};
use types::time::Time;
use types::visible::is_blank;

/// The maximum characters of a title.
pub(crate) const LONGEST_TITLE: usize = 200;

/// The maximum hours of a service level.
const MOST_HOURS: u32 = 10_000;

/// What is to be done.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewTask {
    /// The title, in one line: 1 to 200 characters. It stays in the log permanently.
    #[schemars(length(min = 1, max = 200))]
    #[schemars(extend("x-new" = true))]
    pub title: String,
    /// The expected result; at most 64 KiB. It can be erased.
    #[serde(default)]
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub goal: String,
    /// The assignee: a person or an agent; none by default.
    #[arg(long, value_name = "ID")]
    pub owner: Option<ActorId>,
    /// The priority; `normal` by default.
    #[serde(default = "normal")]
    #[arg(long, default_value = "normal")]
    pub priority: Priority,
    /// The due date.
    #[arg(long = "due", value_name = "TIME")]
    pub due_at: Option<Time>,
    /// The parent task.
    #[arg(long, value_name = "TASK")]
    #[schemars(extend("x-id" = true))]
    pub parent: Option<String>,
    /// What it is about; at most 100 things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[arg(skip)]
    pub refs: Vec<Reference>,
    /// Deadlines, in the company's working hours.
    #[command(flatten)]
    pub sla: Option<Sla>,
}

const fn normal() -> Priority {
    Priority::Normal
}

/// Create a task.
pub enum Create {}

impl Change for Create {
    const SPEC: Spec = Spec {
        name: "task.create",
        doc: "Create a task, with or without an owner. `POST /tasks/{id}/run` lets an agent work on it.",
        scope: Reach::Full,
        route: post("/tasks").created(),
        about: &[&COMPANY, &ACTOR],
        events: &[TaskCreated::KIND, ContentKept::KIND, TaskRefAdded::KIND],
    };
    const SAYS: &'static str = "creates the task «{title}»[ for {owner}]";
    type Input = NewTask;
    type Output = WholeTask;

    fn target(input: &NewTask, read: &Reader<'_>) -> Result<Target, Stop> {
        let known = input.owner.as_ref().filter(|owner| !owner.is_team() && read.knows(owner));
        Ok(known.map_or(Target::Company, |owner| Target::Actor(owner.clone())))
    }

    fn run(permit: Permit<Self>, input: NewTask, draft: &mut Draft<'_>) -> Result<WholeTask, Stop> {
        let NewTask { title, goal, owner: wanted, priority, due_at, parent, refs, sla } = input;
        let mut problems = Vec::new();
        if is_blank(&title) || title.chars().count() > LONGEST_TITLE || title.chars().any(char::is_control) {
            problems.push(format!("title: must have 1 to {LONGEST_TITLE} characters, in one line"));
        }
        if is_of_ask(&title) {
            problems.push("title: `asked of` and an id name what an agent was asked; choose other words".to_owned());
        }
        if goal.len() > LONGEST_TEXT {
            problems.push(format!("goal: must have at most {LONGEST_TEXT} bytes"));
        }
        if due_at.is_some_and(|due| due <= permit.now()) {
            problems.push("due_at: must be in the future".into());
        }
        let hours = sla.iter().flat_map(|sla| [("respond_h", sla.respond_h), ("resolve_h", sla.resolve_h)]);
        for (field, _) in hours.filter(|(_, hours)| hours.is_some_and(|hours| !(1..=MOST_HOURS).contains(&hours))) {
            problems.push(format!("sla.{field}: must be 1 to {MOST_HOURS}"));
        }
        if sla.is_some_and(|sla| sla.respond_h.is_none() && sla.resolve_h.is_none()) {
            problems.push("sla: must have respond_h, resolve_h or both; leave it out for none".into());
        }
        problems.extend(wrong_in(&refs, draft.read())?);
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        wanted.iter().try_for_each(|id| owner("owner", id, draft.read()))?;
        let parent = parent.map(|id| above(&id, draft.read())).transpose()?;
        let deadlines = sla.map(|sla| deadlines(sla, draft.read())).transpose()?;
        let (id, creator, refs) = (draft.new_id(Kind::Task), permit.actor(), distinct(refs));
        let task = Task {
            id: id.to_string(),
            title: title.clone(),
            creator: creator.clone(),
            owner: wanted.clone(),
            status: if wanted.is_some() { TaskStatus::Assigned } else { TaskStatus::Open },
            priority,
            due_at,
            parent: parent.as_ref().map(Id::to_string),
            deadlines,
            stalled: false,
            version: 1 + refs.len() as i64,
            created_at: permit.now(),
            updated_at: permit.now(),
            closed_at: None,
            archived_at: None,
        };
        draft.record(TaskCreated {
            id: id.clone(),
            title,
            creator,
            owner: wanted,
            priority,
            due_at,
            parent,
            deadlines,
        })?;
        let shown_goal = (!goal.is_empty()).then(|| goal.clone());
        if !goal.is_empty() {
            let kept = Map::from_iter([("goal".to_owned(), Value::from(goal))]);
            draft.record(ContentKept { id, part: "goal".into(), kept })?;
        }
        refs.iter().try_for_each(|one| refer(&task, one.clone(), draft))?;
        let refs = refs.into_iter().map(|one| one.shown(permit.actor(), permit.now())).collect();
        Ok(WholeTask { goal: shown_goal, refs, ..whole(task, draft.read())? })
    }
}

/// Computes the deadlines from working hours; one that is years ahead is refused.
fn deadlines(sla: Sla, read: &Reader<'_>) -> Result<Deadlines, Stop> {
    let working = Settings::stored(&read.company()?)?.working();
    let by = |field: &str, hours: Option<u32>| {
        let Some((working, hours)) = working.as_ref().zip(hours) else { return Ok(None) };
        let far = || format!("{hours} of the company's working hours take more than {FURTHEST_YEARS} years");
        working.after(read.now(), hours).map(Some).ok_or_else(|| Refusal::field(field, far()))
    };
    let (respond_by, resolve_by) = (by("sla.respond_h", sla.respond_h)?, by("sla.resolve_h", sla.resolve_h)?);
    Ok(Deadlines { sla, respond_by, resolve_by })
}

/// Returns the parent task. One that the caller may not see counts as missing.
fn above(id: &str, read: &Reader<'_>) -> Result<Id, Stop> {
    let missing = || Refusal::field("parent", format!("there is no task {}", id.chars().take(80).collect::<String>()));
    let task = find(id, read).map_err(|_| missing())?;
    let seen = read.may("task.read", &read.task_target(&task));
    if seen { Ok(Id::stored(&task.id)) } else { Err(missing().into()) }
}
