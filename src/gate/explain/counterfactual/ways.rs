//! From what should be different to the changes that could make it so.

use std::str::FromStr as _;

use cedar_policy::EntityUid;

use super::Alteration;
use crate::admit::chain;
use crate::decide::index::Group;
use crate::declare::target::actor_uid;
use crate::explain::inquiry::Inquiry;
use policy::{Scalar, Want};
use store::actors::{Actor, Status};
use types::actor::{ActorKind, KillScope, Role, Trust};
use types::caller::{Caller, Channel, Who};
use types::id::ActorId;
use types::target::Target;
use types::time::Time;

/// Teams that are tried for one who should be in another.
const TEAMS: usize = 4;
/// Teams above somebody that could be put elsewhere: their own, and the one above it.
const ABOVE: usize = 2;

impl Inquiry<'_> {
    /// The changes that could fulfil a want; none where nobody could make such a change.
    pub(super) fn ways_to(&self, want: &Want) -> Vec<Alteration> {
        match want {
            Want::Approval(kind) => vec![Alteration::Approval(kind.clone())],
            Want::Now(at) => vec![Alteration::At(Time(*at))],
            Want::Fact(path, to) => self.facts(path, to),
            Want::Absent(path) => absent(path).into_iter().collect(),
            Want::Attribute { of, name, to } => self.attribute(of, name, to),
            Want::Has { of, name } => self.missing(of, name),
            Want::Join { who, group } => self.join(who, group),
            Want::Leave { who, group } => self.leave(who, group),
        }
    }

    fn facts(&self, path: &[String], to: &Scalar) -> Vec<Alteration> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match (path.as_slice(), to) {
            (["channel"], Scalar::Text(name)) => {
                let channel = Channel::from_str(name).ok().filter(|channel| *channel != Channel::Tick);
                channel.map(Alteration::Channel).into_iter().collect()
            }
            (["input", ..], to) => {
                let path = path.iter().skip(1).map(|name| (*name).to_owned()).collect();
                vec![Alteration::Input(path, Some(to.clone()))]
            }
            (["kill", which], Scalar::Bool(false)) => {
                self.engaged(which).into_iter().map(Alteration::Release).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The caller, and everybody on whose behalf it would be.
    fn askers(&self) -> Vec<ActorId> {
        let mut all = chain::behalf(self.world, &self.caller);
        all.insert(0, self.caller.actor());
        all
    }

    /// The engaged switches behind a fact.
    fn engaged(&self, which: &str) -> Vec<KillScope> {
        let is_meant = |scope: &KillScope| match scope {
            KillScope::Global => matches!(which, "global" | "engaged"),
            KillScope::Actor(_) => matches!(which, "actor" | "engaged"),
            KillScope::Team(_) => matches!(which, "team" | "engaged"),
            KillScope::Tool(_) => false,
        };
        let giver = |id| Caller::new(Who::Holder(id), self.caller.channel);
        let callers =
            [self.caller.clone()].into_iter().chain(chain::behalf(self.world, &self.caller).into_iter().map(giver));
        let touching = callers.flat_map(|caller| self.world.touching(&caller));
        touching.filter(is_meant).collect()
    }

    fn attribute(&self, of: &EntityUid, name: &str, to: &Scalar) -> Vec<Alteration> {
        let Some(row) = self.row(of) else { return Vec::new() };
        let id = row.id.clone();
        match (name, to) {
            ("admin", Scalar::Bool(true)) => role(row, Role::Admin).into_iter().collect(),
            ("admin", Scalar::Bool(false)) => role(row, Role::Member).into_iter().collect(),
            ("trust", Scalar::Long(level)) if row.kind.is_agent() => {
                let tier = Trust::ALL.iter().find(|tier| tier.level() == *level);
                tier.map(|tier| Alteration::Trust(id, *tier)).into_iter().collect()
            }
            ("team", Scalar::Entity(team)) => self.team(row, team).into_iter().collect(),
            ("owner", Scalar::Entity(person)) if row.kind.is_agent() => {
                self.person(person).map(|person| Alteration::Owner(id, person)).into_iter().collect()
            }
            ("lead", Scalar::Entity(person)) if row.kind == ActorKind::Team => {
                let Some(person) = self.person(person) else { return Vec::new() };
                let elsewhere = self.members(&id).into_iter().flat_map(|row| self.put_under(row, &person));
                elsewhere.chain([Alteration::Lead(id.clone(), person.clone())]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Those of the question who are in a team themselves.
    fn members(&self, team: &ActorId) -> Vec<&Actor> {
        let target = match self.target {
            Target::Actor(id) => Some(id.clone()),
            _ => None,
        };
        let all = self.askers().into_iter().chain(target);
        let rows = all.filter_map(|id| self.row(&actor_uid(&id)));
        rows.filter(|row| row.kind != ActorKind::Team && row.team.as_ref() == Some(team)).collect()
    }

    /// The teams that somebody leads, as far as the asker may see them.
    fn led_by(&self, lead: &ActorId) -> Vec<ActorId> {
        let led = self.world.people.of(&Group::Led(lead.clone()));
        led.filter(|team| self.sees(team)).cloned().collect()
    }

    fn put_under(&self, row: &Actor, lead: &ActorId) -> Vec<Alteration> {
        let teams = self.led_by(lead).into_iter().filter(|team| row.team.as_ref() != Some(team));
        teams.filter_map(|team| self.team(row, &actor_uid(&team))).take(TEAMS).collect()
    }

    /// Values for what is not there: what has to do with those who ask.
    fn missing(&self, of: &EntityUid, name: &str) -> Vec<Alteration> {
        let Some(row) = self.row(of) else { return Vec::new() };
        match (name, row.kind) {
            ("team", ActorKind::Person | ActorKind::Agent | ActorKind::OutsideAgent) => {
                let mine = |id: &ActorId| self.world.card(id).and_then(|card| card.actor.team.clone());
                let theirs = |id: &ActorId| self.led_by(id).into_iter().chain(mine(id)).collect::<Vec<_>>();
                let teams = self.askers();
                let mut teams: Vec<ActorId> = teams.iter().flat_map(theirs).filter(|team| self.sees(team)).collect();
                teams.sort();
                teams.dedup();
                teams.iter().take(TEAMS).filter_map(|team| self.team(row, &actor_uid(team))).collect()
            }
            ("owner", ActorKind::Agent | ActorKind::OutsideAgent) | ("lead", ActorKind::Team) => {
                let askers = self.askers();
                askers.iter().flat_map(|id| self.attribute(of, name, &Scalar::Entity(actor_uid(id)))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Into a group: oneself, or one of the teams that one is in.
    fn join(&self, who: &EntityUid, group: &EntityUid) -> Vec<Alteration> {
        let Some(row) = self.row(who) else { return Vec::new() };
        if let Some(to) = role_of(group) {
            return role(row, to).into_iter().collect();
        }
        let teams = self.world.card(&row.id).map(|card| self.world.teams(card)).unwrap_or_default();
        let above = teams.iter().take(ABOVE).filter(|team| self.sees(team));
        let above = above.filter_map(|team| self.row(&actor_uid(team)));
        let rows = self.members(&row.id).into_iter().chain([row]).chain(above);
        rows.filter_map(|row| self.team(row, group)).collect()
    }

    /// Out of a group: oneself, or the teams on the way to it.
    fn leave(&self, who: &EntityUid, group: &EntityUid) -> Vec<Alteration> {
        let Some(row) = self.row(who) else { return Vec::new() };
        if role_of(group).is_some() {
            return role(row, Role::Member).into_iter().collect();
        }
        let teams = self.world.card(&row.id).map(|card| self.world.teams(card)).unwrap_or_default();
        let between = teams.iter().take_while(|team| actor_uid(team) != *group).take(ABOVE);
        let between = between.filter(|team| self.sees(team)).filter_map(|team| self.row(&actor_uid(team)));
        let beyond = self.row(group).and_then(|group| group.team.clone()).filter(|team| self.sees(team));
        let rows = self.members(&row.id).into_iter().chain([row]).chain(between);
        let ways = |row: &Actor| {
            let higher = beyond.as_ref().and_then(|team| self.team(row, &actor_uid(team)));
            [Some(Alteration::Team(row.id.clone(), None)), higher].into_iter().flatten().collect::<Vec<_>>()
        };
        rows.flat_map(ways).collect()
    }

    /// Into another team, unless that one is within it.
    fn team(&self, row: &Actor, team: &EntityUid) -> Option<Alteration> {
        let team = self.row(team).filter(|team| team.kind == ActorKind::Team && team.id != row.id)?;
        let is_within = self.world.teams(self.world.card(&team.id)?).contains(&row.id);
        (!is_within && row.team.as_ref() != Some(&team.id))
            .then(|| Alteration::Team(row.id.clone(), Some(team.id.clone())))
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
fn role(row: &Actor, to: Role) -> Option<Alteration> {
    let fits = row.kind == ActorKind::Person && to.is_for(row.kind) && to != row.role;
    fits.then(|| Alteration::Role(row.id.clone(), to))
}

/// A field that is left out of the input.
fn absent(path: &[String]) -> Option<Alteration> {
    let (first, field) = path.split_first()?;
    (first == "input" && !field.is_empty()).then(|| Alteration::Input(field.to_vec(), None))
}
