//! An actor as decisions know it.

use crate::declare::target::{actor_uid, uid};
use policy::{Closed, Record};
use store::actors::{Actor, Status};
use types::actor::{ActorKind, Role, Trust};
use types::id::ActorId;

/// An actor, as its row says.
#[derive(Debug)]
pub struct Card {
    pub actor: Actor,
}

impl Card {
    /// Its Cedar entity, by the teams that it is in, near and far: closed, so a decision needs no search for ancestors.
    pub(crate) fn entity(&self, teams: &[ActorId]) -> Closed {
        let above = teams.iter().map(actor_uid);
        let (id, actor) = (actor_uid(&self.actor.id), &self.actor);
        match actor.kind {
            ActorKind::Team => {
                let facts = actor.lead.iter().fold(Record::new(), |facts, lead| facts.entity("lead", &actor_uid(lead)));
                Closed::new(&id, above, &facts)
            }
            ActorKind::Person | ActorKind::Agent | ActorKind::OutsideAgent => {
                Closed::new(&id, above.chain([uid("Role", actor.role.name())]), &facts(actor))
            }
        }
    }
}

/// Somebody who is not there, for questions about what is absent.
pub(crate) fn nobody(id: &ActorId) -> Closed {
    if id.is_team() {
        return Closed::new(&actor_uid(id), [], &Record::new());
    }
    let facts = Record::new()
        .string("kind", ActorKind::Person.name())
        .bool("admin", false)
        .bool("active", true)
        .long("trust", Trust::Observe.level());
    Closed::new(&actor_uid(id), [uid("Role", Role::Member.name())], &facts)
}

fn facts(actor: &Actor) -> Record {
    let facts = Record::new()
        .string("kind", actor.kind.name())
        .bool("admin", actor.role == Role::Admin)
        .bool("active", actor.status == Status::Active)
        .long("trust", actor.trust.level());
    let facts = actor.team.iter().fold(facts, |facts, team| facts.entity("team", &actor_uid(team)));
    actor.owner.iter().fold(facts, |facts, owner| facts.entity("owner", &actor_uid(owner)))
}
