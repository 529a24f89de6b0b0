//! What an operation can be about. It names the thing and what of it a policy may look at, so that a decision can be asked
//! again from the log alone.

use serde::{Deserialize, Serialize};

use super::actor::KillScope;
use super::change::{ChangeState, ChangeTarget};
use super::id::ActorId;

/// The Cedar types that can be a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceKind {
    Company,
    Actor,
    Team,
    Token,
    Event,
    KillSwitch,
    Approval,
    Change,
    Delegation,
    Webhook,
    BreakGlass,
}

impl ResourceKind {
    pub const ALL: &[ResourceKind] = &[
        ResourceKind::Company,
        ResourceKind::Actor,
        ResourceKind::Team,
        ResourceKind::Token,
        ResourceKind::Event,
        ResourceKind::KillSwitch,
        ResourceKind::Approval,
        ResourceKind::Change,
        ResourceKind::Delegation,
        ResourceKind::Webhook,
        ResourceKind::BreakGlass,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            ResourceKind::Company => "Company",
            ResourceKind::Actor => "Actor",
            ResourceKind::Team => "Team",
            ResourceKind::Token => "Token",
            ResourceKind::Event => "Event",
            ResourceKind::KillSwitch => "KillSwitch",
            ResourceKind::Approval => "Approval",
            ResourceKind::Change => "Change",
            ResourceKind::Delegation => "Delegation",
            ResourceKind::Webhook => "Webhook",
            ResourceKind::BreakGlass => "BreakGlass",
        }
    }
}

/// What one call is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "snake_case")]
pub enum Target {
    Company,
    /// A person, an agent or a team that exists.
    Actor(ActorId),
    Token {
        id: String,
        holder: ActorId,
    },
    Event {
        seq: i64,
        kind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actor: Option<ActorId>,
        subjects: Vec<ActorId>,
    },
    KillSwitch {
        scope: KillScope,
        engage: bool,
    },
    Approval {
        id: String,
        requester: ActorId,
        operation: String,
        /// Who may decide it now.
        approvers: Vec<ActorId>,
        /// On whose behalf it was asked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        behalf: Vec<ActorId>,
        /// Who issued the token that it was asked with, where that is not the requester.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
    },
    Change {
        id: String,
        author: ActorId,
        to: ChangeTarget,
        state: ChangeState,
        /// Somebody else approved exactly this content.
        reviewed: bool,
        /// How many others could review it.
        peers: u32,
        /// On whose behalf it was proposed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        behalf: Vec<ActorId>,
        /// Who issued the token that it was proposed with, where that is not the author.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
        /// Who may decide a request about it that waits.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvers: Vec<ActorId>,
    },
    Delegation {
        id: String,
        giver: ActorId,
        taker: ActorId,
        /// All on whose behalf the taker acts.
        chain: Vec<ActorId>,
    },
    Webhook {
        id: String,
        owner: ActorId,
        /// Where it tells things, or would.
        host: String,
        /// A kill switch stops its owner.
        held: bool,
    },
    /// A break-glass grant.
    BreakGlass {
        id: String,
        holder: ActorId,
        /// How many others could review it.
        peers: u32,
        /// Who issued the token that it was opened with, where that is not the holder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
    },
}

impl Target {
    /// Its id, as the log keeps it.
    pub fn id(&self) -> String {
        match self {
            Target::Company => "company".into(),
            Target::Actor(id) => id.to_string(),
            Target::Token { id, .. }
            | Target::Approval { id, .. }
            | Target::Change { id, .. }
            | Target::Delegation { id, .. }
            | Target::Webhook { id, .. }
            | Target::BreakGlass { id, .. } => id.clone(),
            Target::Event { seq, .. } => format!("event:{seq}"),
            Target::KillSwitch { scope, .. } => scope.to_string(),
        }
    }
}
