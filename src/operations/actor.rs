//! People, agents and teams: listed, shown, added, trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Nothing;
use crate::gate::{Change, Draft, Entry, Permit, Query, Reader, ResourceKind, Spec, Target, get, post};
use crate::store::actors::{self, Actor, Status};
use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::event::{Event, EventKind};
use crate::types::id::ActorId;
use crate::types::page::{Page, PageQuery};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;

pub const ALL: &[Entry] = &[
    Entry::query::<Me>(),
    Entry::query::<List>(),
    Entry::query::<Show>(),
    Entry::change::<Add>(),
    Entry::change::<SetTrust>(),
];

const ACTORS: &[ResourceKind] = &[ResourceKind::Actor, ResourceKind::Team];

/// The caller.
pub enum Me {}

impl Query for Me {
    const SPEC: Spec = Spec {
        name: "me.read",
        doc: "Read the caller's own directory entry.",
        scope: Reach::READ,
        route: get("/me"),
        about: &[ResourceKind::Actor],
        events: &[],
    };
    type Input = Nothing;
    type Output = Actor;

    fn target(_: &Nothing, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Actor(read.caller().actor()))
    }

    fn run(permit: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Actor, Stop> {
        Ok(read.actor(&permit.actor())?.actor.clone())
    }
}

/// Which actors.
#[derive(Deserialize, JsonSchema)]
pub struct Which {
    /// Only this kind.
    pub kind: Option<ActorKind>,
    /// Only members of this team.
    pub team: Option<ActorId>,
    #[serde(flatten)]
    pub page: PageQuery,
}

/// List actors.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "actor.list",
        doc: "List people, agents and teams, newest first.",
        scope: Reach::READ,
        route: get("/actors").slow(),
        about: &[ResourceKind::Company],
        events: &[],
    };
    type Input = Which;
    type Output = Page<Actor>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<Actor>, Stop> {
        let wanted = |actor: &Actor| {
            input.kind.is_none_or(|kind| kind == actor.kind)
                && input.team.as_ref().is_none_or(|team| actor.team.as_ref() == Some(team))
        };
        let (kind, team) = (input.kind.map(ActorKind::name), input.team.as_ref().map(ActorId::as_str));
        let what = format!("actor.list {} {}", kind.unwrap_or_default(), team.unwrap_or_default());
        read.page(
            &input.page,
            what,
            |from, limit| read.actors_after(from, limit),
            |actor| wanted(actor) && read.may("actor.read", &Target::Actor(actor.id.clone())),
            actors::position,
        )
    }

    fn next(output: &Page<Actor>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct OneActor {
    pub id: ActorId,
}

/// An actor with what hangs on it.
#[derive(Serialize, JsonSchema)]
pub struct ShownActor {
    #[serde(flatten)]
    pub actor: Actor,
    /// Of a team: who is in it.
    pub members: Vec<ActorId>,
    /// Of a person: the teams that they lead.
    pub leads: Vec<ActorId>,
    /// Of a person: the agents that they answer for.
    pub agents: Vec<ActorId>,
}

/// Show one actor.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "actor.read",
        doc: "Show one person, agent or team.",
        scope: Reach::READ,
        route: get("/actors/{id}"),
        about: ACTORS,
        events: &[],
    };
    type Input = OneActor;
    type Output = ShownActor;

    fn target(input: &OneActor, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.id)?;
        Ok(Target::Actor(input.id.clone()))
    }

    fn run(_: Permit<Self>, input: OneActor, read: &Reader<'_>) -> Result<ShownActor, Stop> {
        let actor = read.actor(&input.id)?.actor.clone();
        let related = |relation: fn(&Actor) -> &Option<ActorId>| {
            let is_related = |other: &&Actor| relation(other).as_ref() == Some(&input.id);
            let mut ids: Vec<ActorId> =
                read.cards().map(|card| &card.actor).filter(is_related).map(|other| other.id.clone()).collect();
            ids.sort();
            ids
        };
        Ok(ShownActor {
            members: related(|other| &other.team),
            leads: related(|other| &other.lead),
            agents: related(|other| &other.owner),
            actor,
        })
    }
}

/// Somebody to be added.
#[derive(Deserialize, JsonSchema)]
pub struct NewActor {
    /// The id for good; a team's begins with `team:`.
    pub id: ActorId,
    pub kind: ActorKind,
    /// A name for people to read; the id unless given.
    pub name: Option<String>,
    /// `member` for people and `agent` for agents unless given.
    pub role: Option<Role>,
    /// The team that it joins; for a team, the team above it.
    pub team: Option<ActorId>,
    /// Of a team: the person who leads it.
    pub lead: Option<ActorId>,
    /// Of an agent: the person who answers for it; the caller unless given.
    pub owner: Option<ActorId>,
    /// What it can do, in a word each.
    #[serde(default)]
    pub skills: Vec<String>,
}

impl NewActor {
    fn problems(&self, read: &Reader<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |fine: bool, problem: &str| {
            if !fine {
                problems.push(problem.to_owned());
            }
        };
        let is = |id: &Option<ActorId>, kind: ActorKind| {
            let fits = |id: &ActorId| {
                read.card(id).is_some_and(|card| card.actor.kind == kind && card.actor.status == Status::Active)
            };
            id.as_ref().is_none_or(fits)
        };
        let team = self.kind == ActorKind::Team;
        check(self.id.is_team() == team, "id: a team's id begins with `team:`, and no other does");
        check(!self.id.is_reserved(), "id: `ok`, `company` and `global` mean something else");
        check(
            self.name.as_ref().is_none_or(|name| (1..=100).contains(&name.chars().count())),
            "name: must have 1 to 100 characters",
        );
        let role_fits = |role| match self.kind {
            ActorKind::Person => role != Role::Agent,
            ActorKind::Agent => role == Role::Agent,
            ActorKind::Team => false,
        };
        check(self.role.is_none_or(role_fits), "role: people have any role but agent, agents that one, teams none");
        check(is(&self.team, ActorKind::Team), "team: there is no such team");
        check(is(&self.lead, ActorKind::Person), "lead: there is no such person");
        check(is(&self.owner, ActorKind::Person), "owner: there is no such person");
        check(self.lead.is_none() || team, "lead: only a team has a lead");
        check(self.owner.is_none() || self.kind == ActorKind::Agent, "owner: only an agent has an owner");
        let skill = |skill: &String| (1..=64).contains(&skill.chars().count());
        check(
            self.skills.len() <= 50 && self.skills.iter().all(skill),
            "skills: at most 50, of 1 to 64 characters each",
        );
        problems
    }
}

/// Add an actor.
pub enum Add {}

impl Change for Add {
    const SPEC: Spec = Spec {
        name: "actor.add",
        doc: "Add a person, an agent or a team.",
        scope: Reach::Full,
        route: post("/actors").created(),
        about: &[ResourceKind::Company, ResourceKind::Team],
        events: &[EventKind::ActorAdded],
    };
    type Input = NewActor;
    type Output = Actor;

    /// The team that it joins, or the company.
    fn target(input: &NewActor, read: &Reader<'_>) -> Result<Target, Stop> {
        let joined = input.team.as_ref().filter(|team| team.is_team() && read.card(team).is_some());
        Ok(joined.map_or(Target::Company, |team| Target::Actor(team.clone())))
    }

    fn run(permit: Permit<Self>, input: NewActor, draft: &mut Draft<'_>) -> Result<Actor, Stop> {
        let problems = input.problems(draft.read());
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        if draft.read().card(&input.id).is_some() {
            return Err(Refusal::conflict(format!("id: {} is taken", input.id)).into());
        }
        let (role, trust, owner) = match input.kind {
            ActorKind::Agent => (Role::Agent, Trust::Observe, Some(input.owner.unwrap_or_else(|| permit.actor()))),
            ActorKind::Person | ActorKind::Team => (input.role.unwrap_or(Role::Member), Trust::Autonomous, None),
        };
        let actor = Actor {
            name: input.name.unwrap_or_else(|| input.id.to_string()),
            id: input.id,
            kind: input.kind,
            role,
            team: input.team,
            lead: input.lead,
            owner,
            admin: role == Role::Admin,
            skills: input.skills,
            trust,
            status: Status::Active,
            created_at: draft.now(),
        };
        draft.record(Event::ActorAdded {
            id: actor.id.clone(),
            kind: actor.kind,
            name: actor.name.clone(),
            role,
            team: actor.team.clone(),
            lead: actor.lead.clone(),
            owner: actor.owner.clone(),
            skills: actor.skills.clone(),
            trust,
        })?;
        Ok(actor)
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct NewTrust {
    pub id: ActorId,
    pub tier: Trust,
    /// Why; at most 1000 characters.
    pub reason: String,
}

/// Set an agent's trust tier.
pub enum SetTrust {}

impl Change for SetTrust {
    const SPEC: Spec = Spec {
        name: "actor.trust",
        doc: "Set how far an agent is trusted.",
        scope: Reach::Full,
        route: post("/actors/{id}/trust"),
        about: ACTORS,
        events: &[EventKind::TrustChanged],
    };
    type Input = NewTrust;
    type Output = Actor;

    fn target(input: &NewTrust, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.id)?;
        Ok(Target::Actor(input.id.clone()))
    }

    fn run(_: Permit<Self>, input: NewTrust, draft: &mut Draft<'_>) -> Result<Actor, Stop> {
        let actor = draft.read().actor(&input.id)?.actor.clone();
        if actor.kind != ActorKind::Agent {
            return Err(
                Refusal::field("id", format!("{} is not an agent; only agents have a trust tier", actor.id)).into()
            );
        }
        reason(&input.reason)?;
        draft.record(Event::TrustChanged { id: input.id, from: actor.trust, to: input.tier, reason: input.reason })?;
        Ok(Actor { trust: input.tier, ..actor })
    }
}

/// A reason that says something.
pub(super) fn reason(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() || text.chars().count() > 1000 {
        return Err(Refusal::field("reason", "must have 1 to 1000 characters"));
    }
    Ok(())
}
