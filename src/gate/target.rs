//! What an operation is about, as a Cedar resource, and which read must be allowed before anything else is asked.

use std::str::FromStr;

use cedar_policy::{EntityId, EntityTypeName, EntityUid};

use crate::types::actor::KillScope;
use crate::types::change::{ChangeState, ChangeTarget};
use crate::types::id::ActorId;
pub use crate::types::target::{ResourceKind, Target};

/// The operation that must be allowed for the target to exist as far as the caller can tell.
pub(super) fn sight(target: &Target) -> Option<&'static str> {
    sight_of(match target {
        Target::Company => ResourceKind::Company,
        Target::Actor(_) => ResourceKind::Actor,
        Target::Token { .. } => ResourceKind::Token,
        Target::Event { .. } => ResourceKind::Event,
        Target::KillSwitch { .. } => ResourceKind::KillSwitch,
        Target::Approval { .. } => ResourceKind::Approval,
        Target::Change { .. } => ResourceKind::Change,
        Target::Delegation { .. } => ResourceKind::Delegation,
        Target::Webhook { .. } => ResourceKind::Webhook,
        Target::BreakGlass { .. } => ResourceKind::BreakGlass,
    })
}

/// The same for everything of one kind.
pub(super) fn sight_of(kind: ResourceKind) -> Option<&'static str> {
    match kind {
        ResourceKind::Company | ResourceKind::KillSwitch => None,
        ResourceKind::Actor | ResourceKind::Team => Some("actor.read"),
        ResourceKind::Token => Some("token.list"),
        ResourceKind::Event => Some("event.list"),
        ResourceKind::Approval => Some("approval.read"),
        ResourceKind::Change => Some("change.read"),
        ResourceKind::Delegation => Some("delegation.read"),
        ResourceKind::Webhook => Some("webhook.read"),
        ResourceKind::BreakGlass => Some("break_glass.list"),
    }
}

/// A thing of a kind, where there is none: what is absent is asked about as what is hidden, so that an answer takes as much
/// to either.
pub(super) fn absent(kind: ResourceKind) -> Target {
    let (id, nobody) = (String::from("absent"), ActorId::system());
    match kind {
        ResourceKind::Company => Target::Company,
        ResourceKind::Actor | ResourceKind::Team => Target::Actor(nobody),
        ResourceKind::Token => Target::Token { id, holder: nobody },
        ResourceKind::Event => Target::Event { seq: 0, kind: String::new(), actor: None, subjects: Vec::new() },
        ResourceKind::KillSwitch => Target::KillSwitch { scope: KillScope::Actor(nobody), engage: true },
        ResourceKind::Approval => Target::Approval {
            id,
            requester: nobody,
            operation: String::new(),
            approvers: Vec::new(),
            behalf: Vec::new(),
            issuer: None,
        },
        ResourceKind::Change => Target::Change {
            id,
            author: nobody,
            to: ChangeTarget::Policy,
            state: ChangeState::Proposed,
            reviewed: false,
            peers: 0,
            behalf: Vec::new(),
            approvers: Vec::new(),
            issuer: None,
        },
        ResourceKind::Delegation => Target::Delegation { id, giver: nobody.clone(), taker: nobody, chain: Vec::new() },
        ResourceKind::Webhook => Target::Webhook { id, owner: nobody, host: String::new(), held: false },
        ResourceKind::BreakGlass => Target::BreakGlass { id, holder: nobody, peers: 0, issuer: None },
    }
}

/// Its Cedar entity.
pub(super) fn uid_of(target: &Target) -> EntityUid {
    match target {
        Target::Company => uid("Company", "company"),
        Target::Actor(id) => actor_uid(id),
        Target::Token { id, .. } => uid("Token", id),
        Target::Event { seq, .. } => uid("Event", &seq.to_string()),
        Target::Approval { id, .. } => uid("Approval", id),
        Target::Change { id, .. } => uid("Change", id),
        Target::Delegation { id, .. } => uid("Delegation", id),
        Target::Webhook { id, .. } => uid("Webhook", id),
        Target::BreakGlass { id, .. } => uid("BreakGlass", id),
        Target::KillSwitch { scope, .. } => uid("KillSwitch", &scope.to_string()),
    }
}

/// Its Cedar entity, as a policy names it: `Ok::Team::"team:ops"`.
pub fn entity(target: &Target) -> String {
    uid_of(target).to_string()
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
