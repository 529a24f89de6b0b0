//! What a run can do next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::under_way::UnderWay;
use store::runs::Step;
use types::run::{Failure, StepKind, StepStatus};
use types::time::Time;

/// How far a call of a tool from elsewhere has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is not decided yet.
    Fresh,
    /// An approver let it go on.
    Decided,
    /// It was begun, and nobody waits for what comes of it.
    Dispatched,
}

impl Stage {
    pub(super) fn of(step: &Step) -> Stage {
        match step.status {
            _ if step.kind != StepKind::Tool => Stage::Fresh,
            StepStatus::Decided => Stage::Decided,
            StepStatus::Dispatched => Stage::Dispatched,
            _ => Stage::Fresh,
        }
    }
}

/// A step that calls a tool.
pub(super) struct Todo {
    pub number: u32,
    pub operation: String,
    /// The input, or why the tool cannot be called.
    pub input: Result<Value, String>,
    pub stage: Stage,
}

/// A model call to be made.
pub(super) struct Thought {
    pub model: String,
    /// The call as already decided by an approver: it only has to be made.
    pub decided: Option<UnderWay>,
}

/// What the server itself records of a run.
pub(super) enum Own {
    Say(String),
    Pause(Time),
    /// The time that it waited for has come.
    Awake,
    /// A model call is about to be made, as already decided.
    Dispatch(UnderWay),
    /// The result of a model call is unknown.
    Lost(UnderWay, String),
    Unable {
        kind: StepKind,
        operation: String,
        reason: String,
    },
    /// A budget does not allow a step of this cost.
    Hold(u32),
    /// There may be a new budget.
    Resume,
    Complete,
    Fail(Failure, Option<String>),
    /// It fails, for a reason stated by its plan, a model or a tool.
    GiveUp(String),
}

/// The next move of a run.
pub(super) enum Move {
    /// Calls made concurrently.
    Calls(Vec<Todo>),
    Think(Thought),
    Own(Own),
    /// It needs a model, and this server has none. That the server was started without a key must not end a run.
    NoModel,
    Nothing,
}

impl Move {
    /// Returns how many steps it takes.
    pub fn steps(&self) -> u32 {
        match self {
            Move::Calls(todo) => u32::try_from(todo.len()).unwrap_or(u32::MAX),
            Move::Think(_) | Move::Own(_) => 1,
            Move::NoModel | Move::Nothing => 0,
        }
    }
}
