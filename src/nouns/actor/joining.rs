//! Validates a new actor, whichever operation adds it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Reader, Target};
use store::actors::events::ActorAdded;
use store::actors::{Actor, Status};
use types::actor::{ActorKind, Role, Trust};
use types::id::ActorId;
use types::visible::{NO_NAME, is_name};

/// The directory plus the actors added by the same operation.
pub struct Known<'a> {
    pub read: &'a Reader<'a>,
    pub more: BTreeMap<ActorId, Actor>,
}

impl<'a> Known<'a> {
    pub fn of(read: &'a Reader<'a>) -> Known<'a> {
        Known { read, more: BTreeMap::new() }
    }

    pub fn get(&self, id: &ActorId) -> Option<&Actor> {
        // An actor whom the caller may not see counts as missing.
        self.more.get(id).or_else(|| self.read.known(id).ok().map(|card| &card.actor))
    }

    /// Checks whether `id` is an active actor of this kind.
    pub fn is(&self, id: &ActorId, kind: ActorKind) -> bool {
        self.get(id).is_some_and(|actor| actor.kind == kind && actor.status == Status::Active)
    }
}

/// Returns the target of adding an actor: the team, or the company if there is no team that the caller may know of.
pub fn joining(team: Option<&ActorId>, read: &Reader<'_>) -> Target {
    let known = |team: &&ActorId| read.knows(team);
    team.filter(|team| team.is_team()).filter(known).map_or(Target::Company, |team| Target::Actor(team.clone()))
}

/// Somebody to be added.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewActor {
    /// The id; it cannot be changed; a team's begins with `team:`.
    #[schemars(extend("x-new" = true))]
    pub id: ActorId,
    pub kind: ActorKind,
    /// A name for people to read; the id unless given.
    #[schemars(extend("x-erasable" = true))]
    pub name: Option<String>,
    /// `member` for people unless given; agents have a role of their own.
    pub role: Option<Role>,
    /// The team that it joins; for a team, the team above it.
    pub team: Option<ActorId>,
    /// For a team: the new lead.
    pub lead: Option<ActorId>,
    /// For an agent: the new owner; the caller unless given.
    pub owner: Option<ActorId>,
    /// Its skills, one word each.
    #[serde(default)]
    pub skills: Vec<String>,
    /// For an agent: its trust tier, `observe` by default. A higher one requires permission to set trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

impl NewActor {
    pub fn problems(&self, known: &Known<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |fine: bool, problem: &str| {
            if !fine {
                problems.push(problem.to_owned());
            }
        };
        let is = |id: &Option<ActorId>, kind: ActorKind| id.as_ref().is_none_or(|id| known.is(id, kind));
        let team = self.kind == ActorKind::Team;
        check(self.id.is_team() == team, "id: team ids, and no others, begin with `team:`");
        check(
            !self.id.is_reserved(),
            "id: `ok`, `company`, `global`, `hidden`, `hire`, `server` and `visitor` are reserved",
        );
        check(self.name.as_ref().is_none_or(|name| is_name(name)), NO_NAME);
        check(
            self.role.is_none_or(|role| role.is_for(self.kind)),
            "role: people have any role but an agent's, agents only their own, teams none",
        );
        let seen = |team: &ActorId| known.more.contains_key(team) || known.read.sees(&Target::Actor(team.clone()));
        let joins = is(&self.team, ActorKind::Team) && self.team.as_ref().is_none_or(seen);
        check(joins, "team: there is no such team");
        check(is(&self.lead, ActorKind::Person), "lead: there is no such person");
        check(is(&self.owner, ActorKind::Person), "owner: there is no such person");
        check(self.lead.is_none() || team, "lead: only a team has a lead");
        check(self.owner.is_none() || self.kind.is_agent(), "owner: only an agent has an owner");
        check(self.trust.is_none() || self.kind.is_agent(), "trust: only an agent has a trust tier");
        let skill = |skill: &String| (1..=64).contains(&skill.chars().count());
        check(
            self.skills.len() <= 50 && self.skills.iter().all(skill),
            "skills: at most 50, of 1 to 64 characters each",
        );
        problems
    }

    /// Builds the actor. Agents start at the lowest trust tier; `by` becomes the owner if none is named.
    pub fn actor(self, by: &ActorId, read: &Reader<'_>) -> Actor {
        let role = self.role.unwrap_or(self.kind.usual_role());
        let (trust, owner) = match self.kind.is_agent() {
            true => (Trust::Observe, Some(self.owner.unwrap_or_else(|| by.clone()))),
            false => (Trust::Autonomous, None),
        };
        Actor {
            name: self.name.unwrap_or_else(|| self.id.to_string()),
            id: self.id,
            kind: self.kind,
            role,
            team: self.team,
            lead: self.lead,
            owner,
            admin: role == Role::Admin,
            skills: self.skills,
            trust,
            status: Status::Active,
            created_at: read.now(),
        }
    }
}

/// Builds the event that adds the actor.
pub fn joined(actor: &Actor) -> ActorAdded {
    ActorAdded {
        id: actor.id.clone(),
        kind: actor.kind,
        name: actor.name.clone(),
        role: actor.role,
        team: actor.team.clone(),
        lead: actor.lead.clone(),
        owner: actor.owner.clone(),
        skills: actor.skills.clone(),
        trust: actor.trust,
    }
}
