//! Changes that a company could make, and the same question after them: the changed company is built by the code that
//! serves, so an answer that is tried here is the answer that would be given.

use std::collections::BTreeSet;
use std::str::FromStr as _;
use std::sync::Arc;

use cedar_policy::EntityUid;

use super::facts;
use super::inquiry::Inquiry;
use super::rule::Asker;
use super::target::actor_uid;
use super::world::World;
use crate::policy::{Changing, Question, Scalar, Want};
use crate::store::actors::{Actor, Status};
use crate::types::actor::{ActorKind, KillScope, Role, Trust};
use crate::types::caller::{Caller, Channel};
use crate::types::id::ActorId;

/// Teams that are tried for somebody who is in none.
const TEAMS: usize = 4;

/// One change, easier ones first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// An approval of this kind.
    Approval(String),
    Channel(Channel),
    /// A kill switch is released.
    Release(KillScope),
    Trust(ActorId, Trust),
    /// The agent's owner is this person.
    Owner(ActorId, ActorId),
    /// The team's lead is this person.
    Lead(ActorId, ActorId),
    /// The team that a person or an agent is in.
    Team(ActorId, Option<ActorId>),
    Role(ActorId, Role),
}

impl Change {
    /// Whose row it changes, and which part of it: two changes of one part contradict each other.
    fn part(&self) -> (u8, String) {
        match self {
            Change::Approval(kind) => (0, kind.clone()),
            Change::Channel(_) => (1, String::new()),
            Change::Release(scope) => (2, scope.to_string()),
            Change::Trust(id, _) => (3, id.to_string()),
            Change::Owner(id, _) => (4, id.to_string()),
            Change::Lead(id, _) => (5, id.to_string()),
            Change::Team(id, _) => (6, id.to_string()),
            Change::Role(id, _) => (7, id.to_string()),
        }
    }

    fn make(&self, world: &mut World, caller: &mut Caller, granted: &mut Vec<String>) -> Option<()> {
        let mut edit = |id: &ActorId, edit: &dyn Fn(&mut Actor)| {
            let mut actor = world.card(id)?.actor.clone();
            edit(&mut actor);
            world.put(actor);
            Some(())
        };
        match self {
            Change::Approval(kind) => granted.push(kind.clone()),
            Change::Channel(channel) => caller.channel = *channel,
            Change::Release(scope) => drop(Arc::make_mut(&mut world.kills).remove(scope)),
            Change::Trust(id, to) => edit(id, &|actor| actor.trust = *to)?,
            Change::Owner(id, to) => edit(id, &|actor| actor.owner = Some(to.clone()))?,
            Change::Lead(id, to) => edit(id, &|actor| actor.lead = Some(to.clone()))?,
            Change::Team(id, to) => edit(id, &|actor| actor.team.clone_from(to))?,
            Change::Role(id, to) => edit(id, &|actor| {
                actor.role = *to;
                actor.admin = *to == Role::Admin;
            })?,
        }
        Some(())
    }
}

impl Changing for Inquiry<'_> {
    type Change = Change;

    fn ways(&self, want: &Want) -> Vec<Change> {
        match want {
            Want::Approval(kind) => vec![Change::Approval(kind.clone())],
            Want::Fact(path, to) => self.facts(path, to),
            Want::Attribute { of, name, to } => self.attribute(of, name, to).into_iter().collect(),
            Want::Has { of, name } => self.missing(of, name),
            Want::Join { who, group } => self.join(who, group).into_iter().collect(),
            Want::Leave { who, group } => self.leave(who, group).into_iter().collect(),
        }
    }

    fn after<T>(&self, changes: &[Change], ask: impl FnOnce(&Question<'_>) -> T) -> Option<T> {
        self.changed(changes, |asker, granted| asker.question(self.operation, granted, ask))
    }
}

impl Inquiry<'_> {
    /// Whether the gate would allow it after these changes.
    pub(super) fn is_allowed_after(&self, changes: &[Change]) -> bool {
        self.changed(changes, |asker, granted| asker.ask(self.operation, granted).is_allowed()).unwrap_or(false)
    }

    fn changed<T>(&self, changes: &[Change], ask: impl FnOnce(Asker<'_>, &[String]) -> T) -> Option<T> {
        let parts: BTreeSet<(u8, String)> = changes.iter().map(Change::part).collect();
        if parts.len() < changes.len() {
            return None;
        }
        let (mut world, mut caller, mut granted) = (self.world.clone(), self.caller.clone(), Vec::new());
        for change in changes {
            change.make(&mut world, &mut caller, &mut granted)?;
        }
        let asker = Asker::new(&world, &caller, self.target, self.now);
        Some(ask(asker, &granted))
    }

    fn facts(&self, path: &[String], to: &Scalar) -> Vec<Change> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match (path.as_slice(), to) {
            (["channel"], Scalar::Text(name)) => {
                let channel = Channel::from_str(name).ok().filter(|channel| *channel != Channel::Tick);
                channel.map(Change::Channel).into_iter().collect()
            }
            (["kill", which], Scalar::Bool(false)) => self.engaged(which).map(Change::Release).collect(),
            _ => Vec::new(),
        }
    }

    /// The engaged switches behind a fact.
    fn engaged(&self, which: &str) -> impl Iterator<Item = KillScope> {
        facts::touching(self.world, &self.caller).filter(move |scope| match scope {
            KillScope::Global => matches!(which, "global" | "engaged"),
            KillScope::Actor(_) => matches!(which, "actor" | "engaged"),
            KillScope::Team(_) => matches!(which, "team" | "engaged"),
            KillScope::Tool(_) => false,
        })
    }

    fn attribute(&self, of: &EntityUid, name: &str, to: &Scalar) -> Option<Change> {
        let row = self.row(of)?;
        let id = row.id.clone();
        match (name, to) {
            ("admin", Scalar::Bool(true)) => role(row, Role::Admin),
            ("admin", Scalar::Bool(false)) => role(row, Role::Member),
            ("trust", Scalar::Long(level)) if row.kind.is_agent() => {
                let tier = Trust::ALL.iter().find(|tier| tier.level() == *level);
                tier.map(|tier| Change::Trust(id, *tier))
            }
            ("team", Scalar::Entity(team)) => self.team(row, team),
            ("owner", Scalar::Entity(person)) if row.kind.is_agent() => Some(Change::Owner(id, self.person(person)?)),
            ("lead", Scalar::Entity(person)) if row.kind == ActorKind::Team => {
                Some(Change::Lead(id, self.person(person)?))
            }
            _ => None,
        }
    }

    /// Values for what is not there: what has to do with the one who asks.
    fn missing(&self, of: &EntityUid, name: &str) -> Vec<Change> {
        let (me, Some(row)) = (self.caller.actor(), self.row(of)) else { return Vec::new() };
        match (name, row.kind) {
            ("team", ActorKind::Person | ActorKind::Agent | ActorKind::OutsideAgent) => {
                let mine = self.world.card(&me).and_then(|card| card.actor.team.clone());
                let cards = self.world.actors.values();
                let led = cards.filter(|card| card.actor.lead.as_ref() == Some(&me)).map(|card| card.actor.id.clone());
                let mut teams: Vec<ActorId> = led.chain(mine).filter(|team| self.sees(team)).collect();
                teams.sort();
                teams.dedup();
                teams.iter().take(TEAMS).filter_map(|team| self.team(row, &actor_uid(team))).collect()
            }
            ("owner", ActorKind::Agent | ActorKind::OutsideAgent) | ("lead", ActorKind::Team) => {
                self.attribute(of, name, &Scalar::Entity(actor_uid(&me))).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn join(&self, who: &EntityUid, group: &EntityUid) -> Option<Change> {
        let row = self.row(who)?;
        match role_of(group) {
            Some(to) => role(row, to),
            None => self.team(row, group),
        }
    }

    fn leave(&self, who: &EntityUid, group: &EntityUid) -> Option<Change> {
        let row = self.row(who)?;
        match role_of(group) {
            Some(_) => role(row, Role::Member),
            None if row.kind != ActorKind::Team => Some(Change::Team(row.id.clone(), None)),
            None => None,
        }
    }

    /// Only people and agents change their team: a team that moves would move everybody in it.
    fn team(&self, row: &Actor, team: &EntityUid) -> Option<Change> {
        let team = self.row(team).filter(|team| team.kind == ActorKind::Team)?;
        (row.kind != ActorKind::Team).then(|| Change::Team(row.id.clone(), Some(team.id.clone())))
    }

    fn person(&self, uid: &EntityUid) -> Option<ActorId> {
        self.row(uid).filter(|row| row.kind == ActorKind::Person).map(|row| row.id.clone())
    }

    /// Whoever has left, and a team that is gone, cannot be changed.
    fn row(&self, uid: &EntityUid) -> Option<&Actor> {
        let id = ActorId::from_str(uid.id().unescaped()).ok()?;
        let card = self.world.card(&id).filter(|card| actor_uid(&card.actor.id) == *uid)?;
        (card.actor.status == Status::Active).then_some(&card.actor)
    }
}

fn role_of(group: &EntityUid) -> Option<Role> {
    (group.type_name().basename() == "Role").then(|| Role::from_str(group.id().unescaped()).ok()).flatten()
}

/// People have any role but that of agents; agents have no other.
fn role(row: &Actor, to: Role) -> Option<Change> {
    let fits = row.kind == ActorKind::Person && to.is_for(row.kind) && to != row.role;
    fits.then(|| Change::Role(row.id.clone(), to))
}
