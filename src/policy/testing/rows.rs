//! The rows of a test file: who and what there is in its small company.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::change::{ChangeState, ChangeTarget};
use crate::types::delegation::Authority;
use crate::types::id::ActorId;
use crate::types::time::Time;

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
    /// On whose behalf it was asked.
    #[serde(default)]
    pub behalf: Vec<ActorId>,
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
    /// On whose behalf it was proposed.
    #[serde(default)]
    pub behalf: Vec<ActorId>,
}

/// What somebody lets another do on their behalf.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub id: String,
    pub from: ActorId,
    pub to: ActorId,
    /// Everything unless given.
    pub scope: Option<BTreeSet<String>>,
    /// `act` unless given.
    pub authority: Option<Authority>,
    #[serde(default)]
    pub tools: BTreeSet<String>,
    /// The delegation that its giver acted under: a row before this one.
    pub parent: Option<String>,
    /// Its budget is used up.
    #[serde(default)]
    pub exhausted: bool,
    /// Its end: never unless given.
    pub expires_at: Option<Time>,
}

impl Delegation {
    /// What in these cannot be, with the id that it is about: a row rests on rows before it.
    pub(super) fn problem<'a>(rows: &'a [Delegation], members: &BTreeSet<&ActorId>) -> Option<(&'a str, String)> {
        let mut before = BTreeSet::new();
        for row in rows {
            let missing = [&row.from, &row.to].into_iter().find(|id| !members.contains(id)).map(ActorId::to_string);
            let missing = missing.or_else(|| row.parent.clone().filter(|parent| !before.contains(parent)));
            if let Some(missing) = missing {
                return Some((&row.id, format!("`{}` names `{missing}`, which is not there before it", row.id)));
            }
            before.insert(row.id.clone());
        }
        None
    }

    /// Of everything, in one's own right, without an end.
    pub fn whole(id: String, from: ActorId, to: ActorId) -> Delegation {
        let (scope, authority, tools) = (None, None, BTreeSet::new());
        Delegation { id, from, to, scope, authority, tools, parent: None, exhausted: false, expires_at: None }
    }
}
