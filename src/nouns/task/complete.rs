//! Closes a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shown::{WholeTask, whole};
use super::{TASK, find, open};
use crate::run::cancel_with_parts;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::approvals::events::ApprovalStale;
use store::content::events::ContentKept;
use store::runs::events::RunCancelled;
use store::tasks::Task;
use store::tasks::events::TaskCompleted;
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::run::LONGEST_TEXT;
use types::scope::Reach;
use types::task::TaskStatus;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Cancelled,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// The task.
    pub id: String,
    pub outcome: Outcome,
    /// The result; at most 64 KiB. It can be erased.
    #[serde(default)]
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    pub result: String,
    /// The version of the task that the change was made from; it must be the current one.
    pub version: Option<i64>,
}

/// Close a task.
pub enum Complete {}

impl Change for Complete {
    const SPEC: Spec = Spec {
        name: "task.complete",
        doc: "Close a task as done or as cancelled. Runs that still work on it are cancelled.",
        scope: Reach::Full,
        route: post("/tasks/{id}/complete").made_from("version"),
        about: &[&TASK],
        events: &[TaskCompleted::KIND, ContentKept::KIND, RunCancelled::KIND, ApprovalStale::KIND],
    };
    const SAYS: &'static str = "closes {id} as {outcome}";
    type Input = Completion;
    type Output = WholeTask;

    fn target(input: &Completion, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.task_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Completion, draft: &mut Draft<'_>) -> Result<WholeTask, Stop> {
        let task = open(&input.id, draft.read())?;
        if input.result.len() > LONGEST_TEXT {
            return Err(Refusal::field("result", format!("must have at most {LONGEST_TEXT} bytes")).into());
        }
        let id = Id::stored(&task.id);
        let outcome = match input.outcome {
            Outcome::Done => TaskStatus::Completed,
            Outcome::Cancelled => TaskStatus::Cancelled,
        };
        let (owner, creator) = (task.owner.clone(), task.creator.clone());
        draft.record(TaskCompleted { id: id.clone(), owner, creator, outcome })?;
        for run in draft.read().runs_of_task(&task.id)?.into_iter().filter(|run| run.parent.is_none()) {
            cancel_with_parts(&run, Some("its task was closed"), draft)?;
        }
        let result = (!input.result.is_empty()).then(|| input.result.clone());
        if !input.result.is_empty() {
            let kept = Map::from_iter([("result".to_owned(), Value::from(input.result))]);
            draft.record(ContentKept { id, part: "result".into(), kept })?;
        }
        let (version, updated_at, closed_at) = (task.version + 1, permit.now(), Some(permit.now()));
        let closed = whole(Task { status: outcome, version, updated_at, closed_at, ..task }, draft.read())?;
        Ok(WholeTask { result, ..closed })
    }
}
