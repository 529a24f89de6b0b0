//! The rows of a test file: who and what there is in its small company.

use serde::Deserialize;

use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::change::{ChangeState, ChangeTarget};
use crate::types::id::ActorId;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    pub id: ActorId,
    pub lead: Option<ActorId>,
    /// The team above it.
    pub team: Option<ActorId>,
}

/// A person or an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub id: ActorId,
    #[serde(default = "person")]
    pub kind: ActorKind,
    pub role: Option<Role>,
    pub team: Option<ActorId>,
    pub owner: Option<ActorId>,
    pub trust: Option<Trust>,
    #[serde(default)]
    pub offboarded: bool,
}

const fn person() -> ActorKind {
    ActorKind::Person
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    pub id: String,
    pub holder: ActorId,
}

/// A call that waits. Who may decide it is given here, not worked out from `approvals.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    pub id: String,
    pub requester: ActorId,
    pub operation: String,
    #[serde(default)]
    pub approvers: Vec<ActorId>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its number; a case names it as `event:<number>`.
    pub id: i64,
    pub kind: String,
    pub actor: Option<ActorId>,
    #[serde(default)]
    pub subjects: Vec<ActorId>,
}

/// A proposal on its way into force.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub id: String,
    pub author: ActorId,
    /// What it is to: the policies unless given.
    pub target: Option<ChangeTarget>,
    /// Where it stands: proposed unless given.
    pub state: Option<ChangeState>,
    #[serde(default)]
    pub reviewed: bool,
    /// How many others could review it.
    #[serde(default)]
    pub peers: u32,
}
