//! Assigns a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::create::Create;
use super::shown::{WholeTask, whole};
use super::{TASK, find, open, owner};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::content::events::ContentKept;
use store::tasks::Task;
use store::tasks::events::TaskAssigned;
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::run::LONGEST_TEXT;
use types::scope::Reach;
use types::task::TaskStatus;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Assignment {
    /// The task.
    #[arg(value_name = "TASK")]
    pub id: String,
    /// The assignee: a person or an agent.
    #[schemars(extend("x-sets" = "owner"))]
    #[arg(long, value_name = "ID")]
    pub to: ActorId,
    /// Information for the assignee; at most 64 KiB. It can be erased.
    #[serde(default)]
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
    /// The version of the task that the change was made from; it must be the current one.
    #[arg(skip)]
    pub version: Option<i64>,
}

/// Assign a task.
pub enum Assign {}

impl Change for Assign {
    const SPEC: Spec = Spec {
        name: "task.assign",
        doc: "Assign a task to a person or an agent. For somebody who neither had it nor created it, the policies also decide \
              `task.create`.",
        scope: Reach::Full,
        route: post("/tasks/{id}/assign").made_from("version"),
        about: &[&TASK],
        events: &[TaskAssigned::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "assigns {id} to {to}";
    type Input = Assignment;
    type Output = WholeTask;

    fn target(input: &Assignment, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.task_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Assignment, draft: &mut Draft<'_>) -> Result<WholeTask, Stop> {
        let task = open(&input.id, draft.read())?;
        owner("to", &input.to, draft.read())?;
        may_give(&task, &input.to, draft)?;
        if input.note.len() > LONGEST_TEXT {
            return Err(Refusal::field("note", format!("must have at most {LONGEST_TEXT} bytes")).into());
        }
        if draft.read().runs_of_task(&task.id)?.iter().any(|run| !run.status.is_over()) {
            return Err(Refusal::conflict(format!("{} is being worked on; cancel its run first", task.id)).into());
        }
        let id = Id::stored(&task.id);
        let (from, creator) = (task.owner.clone(), task.creator.clone());
        draft.record(TaskAssigned { id: id.clone(), owner: input.to.clone(), from, creator })?;
        let note = (!input.note.is_empty()).then(|| input.note.clone());
        if !input.note.is_empty() {
            let kept = Map::from_iter([("note".to_owned(), Value::from(input.note))]);
            draft.record(ContentKept { id, part: "note".into(), kept })?;
        }
        let status = if task.status == TaskStatus::Open { TaskStatus::Assigned } else { task.status };
        let (version, updated_at) = (task.version + 1, permit.now());
        let assigned = whole(Task { owner: Some(input.to), status, version, updated_at, ..task }, draft.read())?;
        Ok(WholeTask { note: note.or(assigned.note), ..assigned })
    }
}

/// Checks that the caller may assign the task: as if creating it for the assignee. It may always go back to its creator.
fn may_give(task: &Task, to: &ActorId, draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if task.creator == *to || task.owner.as_ref() == Some(to) {
        return Ok(());
    }
    let Task { title, priority, due_at, parent, .. } = task;
    let input = json!({ "title": title, "owner": to, "priority": priority, "due_at": due_at, "parent": parent });
    draft.asks(Create::SPEC.name, &Target::Actor(to.clone()), &input)
}
