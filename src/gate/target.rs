//! What an operation is about, as a Cedar resource, and which read must be allowed before anything else is asked.

use std::str::FromStr;

use cedar_policy::{EntityId, EntityTypeName, EntityUid};

use crate::types::actor::KillScope;
use crate::types::id::ActorId;

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
}

impl ResourceKind {
    pub const ALL: &[ResourceKind] = &[
        ResourceKind::Company,
        ResourceKind::Actor,
        ResourceKind::Team,
        ResourceKind::Token,
        ResourceKind::Event,
        ResourceKind::KillSwitch,
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
        }
    }
}

/// What one call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    },
}

impl Target {
    /// The operation that must be allowed for the target to exist as far as the caller can tell.
    pub(super) fn sight(&self) -> Option<&'static str> {
        match self {
            Target::Company | Target::KillSwitch { .. } => None,
            Target::Actor(_) => Some("actor.read"),
            Target::Token { .. } => Some("token.list"),
            Target::Event { .. } => Some("event.list"),
            Target::Approval { .. } => Some("approval.read"),
        }
    }

    /// Its id, as the log keeps it.
    pub fn id(&self) -> String {
        match self {
            Target::Company => "company".into(),
            Target::Actor(id) => id.to_string(),
            Target::Token { id, .. } | Target::Approval { id, .. } => id.clone(),
            Target::Event { seq, .. } => format!("event:{seq}"),
            Target::KillSwitch { scope, .. } => scope.to_string(),
        }
    }

    pub(super) fn uid(&self) -> EntityUid {
        match self {
            Target::Company => uid("Company", "company"),
            Target::Actor(id) => actor_uid(id),
            Target::Token { id, .. } => uid("Token", id),
            Target::Event { seq, .. } => uid("Event", &seq.to_string()),
            Target::Approval { id, .. } => uid("Approval", id),
            Target::KillSwitch { scope, .. } => uid("KillSwitch", &scope.to_string()),
        }
    }
}

/// A person or agent as `Ok::Actor`, a team as `Ok::Team`.
pub(super) fn actor_uid(id: &ActorId) -> EntityUid {
    uid(if id.is_team() { "Team" } else { "Actor" }, id.as_str())
}

/// `Ok::<type>::"<id>"`.
pub(super) fn uid(kind: &'static str, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(type_name(kind), EntityId::new(id))
}

#[allow(clippy::panic, reason = "the names are literals of this crate; the tests ask for each")]
fn type_name(kind: &'static str) -> EntityTypeName {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    thread_local! {
        static NAMES: RefCell<BTreeMap<&'static str, EntityTypeName>> = const { RefCell::new(BTreeMap::new()) };
    }
    NAMES.with_borrow_mut(|names| {
        let parse =
            || EntityTypeName::from_str(&format!("Ok::{kind}")).unwrap_or_else(|error| panic!("{kind}: {error}"));
        names.entry(kind).or_insert_with(parse).clone()
    })
}
