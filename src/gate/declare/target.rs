//! What an operation is about, as a Cedar entity.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::str::FromStr;

use cedar_policy::{EntityId, EntityTypeName, EntityUid};

use types::id::ActorId;
pub use types::target::{Fact, Target, Thing};

/// Its Cedar entity.
pub(crate) fn uid_of(target: &Target) -> EntityUid {
    match target {
        Target::Company => uid("Company", "company"),
        Target::Actor(id) => actor_uid(id),
        Target::Thing(thing) => uid(&thing.kind, &thing.id),
    }
}

/// Its Cedar entity, as a policy names it: `Ok::Team::"team:ops"`.
pub fn entity(target: &Target) -> String {
    uid_of(target).to_string()
}

/// A person or agent as `Ok::Actor`, a team as `Ok::Team`.
pub(crate) fn actor_uid(id: &ActorId) -> EntityUid {
    uid(if id.is_team() { "Team" } else { "Actor" }, id.as_str())
}

/// `Ok::<type>::"<id>"`.
pub(crate) fn uid(kind: &str, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(type_name(kind), EntityId::new(id))
}

/// The name of a type with its namespace, which only those of the company's own data say.
pub(crate) fn full_name(kind: &str) -> String {
    if kind.contains("::") { kind.to_owned() } else { format!("Ok::{kind}") }
}

#[allow(
    clippy::panic,
    reason = "the names are literals of this crate, or were checked when a collection or the log was read"
)]
fn type_name(kind: &str) -> EntityTypeName {
    thread_local! {
        static NAMES: RefCell<BTreeMap<String, EntityTypeName>> = const { RefCell::new(BTreeMap::new()) };
    }
    NAMES.with_borrow_mut(|names| {
        if let Some(known) = names.get(kind) {
            return known.clone();
        }
        let name = EntityTypeName::from_str(&full_name(kind)).unwrap_or_else(|error| panic!("{kind}: {error}"));
        names.insert(kind.to_owned(), name.clone());
        name
    })
}
