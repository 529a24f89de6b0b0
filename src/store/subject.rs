//! What an event can be about: `GET /events` filters by it, and the event's visibility depends on it.

use std::collections::BTreeSet;

use types::actor::KillScope;
use types::id::{ActorId, Id};

/// What an event can be about.
pub(super) trait Subject {
    fn name(&self, ids: &mut BTreeSet<String>);
}

impl Subject for ActorId {
    fn name(&self, ids: &mut BTreeSet<String>) {
        ids.insert(self.to_string());
    }
}

impl Subject for Id {
    fn name(&self, ids: &mut BTreeSet<String>) {
        ids.insert(self.to_string());
    }
}

/// An id of whatever kind.
impl Subject for String {
    fn name(&self, ids: &mut BTreeSet<String>) {
        ids.insert(self.clone());
    }
}

/// The number of another event.
impl Subject for i64 {
    fn name(&self, ids: &mut BTreeSet<String>) {
        ids.insert(format!("event:{self}"));
    }
}

/// Whom or what a kill switch stops; nobody in particular where it stops everything.
impl Subject for KillScope {
    fn name(&self, ids: &mut BTreeSet<String>) {
        match self {
            KillScope::Global => {}
            KillScope::Actor(id) | KillScope::Team(id) => id.name(ids),
            KillScope::Tool(_) => self.to_string().name(ids),
        }
    }
}

impl<T: Subject> Subject for Option<T> {
    fn name(&self, ids: &mut BTreeSet<String>) {
        self.iter().for_each(|subject| subject.name(ids));
    }
}

impl<T: Subject> Subject for Vec<T> {
    fn name(&self, ids: &mut BTreeSet<String>) {
        self.iter().for_each(|subject| subject.name(ids));
    }
}
