//! Lists, shows and adds people, agents and teams, and sets the trust tier of agents.

pub mod hire;
pub mod joining;
pub mod offboard;
pub mod resource;
pub mod standing;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::hire::ruling_of_trust;
use self::joining::{Known, NewActor, joined, joining};
use self::resource::{ACTOR, TEAM};
use crate::Nothing;
use crate::company::COMPANY;
use crate::kill::stopping;
use gate::Card;
use gate::{Change, Draft, Entry, Permit, Query, Reader, Resource, Spec, Target, get, post};
use store::actors::events::{ActorAdded, TrustChanged};
use store::actors::{self, Actor, Status};
use types::actor::{ActorKind, KillScope, Trust};
use types::definition::AgentDefinition;
use types::id::{ActorId, Id};
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::visible::is_blank;

pub const ALL: &[Entry] = &[
    Entry::query::<Me>(),
    Entry::query::<List>(),
    Entry::query::<Show>(),
    Entry::change::<Add>(),
    Entry::change::<SetTrust>(),
];

const ACTORS: &[&Resource] = &[&ACTOR, &TEAM];

/// The caller's own directory entry.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct OwnEntry {
    #[serde(flatten)]
    pub actor: Actor,
    /// The id of the caller's token; none for the state file's holder and for a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<Id>,
}

/// Show the caller.
pub enum Me {}

impl Query for Me {
    const SPEC: Spec = Spec {
        name: "me.read",
        doc: "Read the caller's own directory entry.",
        scope: Reach::READ,
        route: get("/me"),
        about: &[&ACTOR],
        events: &[],
    };
    type Input = Nothing;
    type Output = OwnEntry;

    fn target(_: &Nothing, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Actor(read.caller().actor()))
    }

    fn run(permit: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<OwnEntry, Stop> {
        let actor = read.actor(&permit.actor())?.actor.clone();
        // A run's agent does not learn whose token started it.
        let token_id = read.caller().token.clone().filter(|_| read.caller().run.is_none());
        Ok(OwnEntry { actor, token_id })
    }
}

/// Which actors.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only this kind.
    #[arg(long)]
    pub kind: Option<ActorKind>,
    /// Only members of this team.
    #[arg(long, value_name = "TEAM")]
    pub team: Option<ActorId>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List actors.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "actor.list",
        doc: "List people, agents and teams, newest first.",
        scope: Reach::READ,
        route: get("/actors").listed(),
        about: &[&COMPANY],
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
                && input.team.as_ref().is_none_or(|team| actor.team.as_ref() == Some(team) && read.knows(team))
        };
        let (kind, team) = (input.kind.map(ActorKind::name), input.team.as_ref().map(ActorId::as_str));
        let what = format!("actor.list {} {}", kind.unwrap_or_default(), team.unwrap_or_default());
        let seen = |actor: &Actor| wanted(actor) && read.may("actor.read", &Target::Actor(actor.id.clone()));
        read.list(&actors::LIST, &input.page, what, seen)
    }

    fn next(output: &Page<Actor>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneActor {
    /// The person's, agent's or team's id.
    pub id: ActorId,
}

/// An actor with what hangs on it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownActor {
    #[serde(flatten)]
    pub actor: Actor,
    /// For a team: its members.
    pub members: Vec<ActorId>,
    /// Of a person: the teams that they lead.
    pub leads: Vec<ActorId>,
    /// Of a person: the agents that they answer for.
    pub agents: Vec<ActorId>,
    /// The engaged kill switches that stop it, as far as the caller may see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped_by: Vec<KillScope>,
    /// For a hired agent: the definition it was hired with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<AgentDefinition>,
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
        let card = read.actor(&input.id)?;
        let actor = card.actor.clone();
        let definition = if actor.kind.is_agent() { read.definition(&input.id)? } else { None };
        let id = |card: &Arc<Card>| card.actor.id.clone();
        Ok(ShownActor {
            members: read.within(&input.id).filter(|card| card.actor.status == Status::Active).map(id).collect(),
            leads: read.led_by(&input.id).map(id).collect(),
            agents: read.owned_by(&input.id).map(id).collect(),
            stopped_by: stopping(card, read),
            definition: definition.map(serde_json::from_value).transpose()?,
            actor,
        })
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
        about: &[&COMPANY, &TEAM],
        events: &[ActorAdded::KIND],
    };
    const SAYS: &'static str = "adds {id} as {role|kind}[ to {team}]";
    type Input = NewActor;
    type Output = Actor;

    /// The team that the actor joins, or the company.
    fn target(input: &NewActor, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(joining(input.team.as_ref(), read))
    }

    fn run(permit: Permit<Self>, input: NewActor, draft: &mut Draft<'_>) -> Result<Actor, Stop> {
        let problems = input.problems(&Known::of(draft.read()));
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        if draft.is_taken(&input.id) {
            return Err(Refusal::conflict(format!("id: {} is taken", input.id)).into());
        }
        let trust = input.trust;
        let mut actor = input.actor(&permit.actor(), draft.read());
        if let Some(tier) = trust.filter(|tier| *tier > actor.trust) {
            let ruling = ruling_of_trust(&actor, tier, &Known::of(draft.read()));
            if !ruling.is_allowed() {
                let why = format!("trust: you may not give {} this trust tier: {}", actor.id, ruling.reason());
                return Err(Refusal::invalid(vec![why]).into());
            }
            actor.trust = tier;
        }
        draft.record(joined(&actor))?;
        Ok(actor)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewTrust {
    /// The agent's id.
    pub id: ActorId,
    /// The tier, from proposing only to acting alone.
    #[schemars(extend("x-sets" = "trust"))]
    pub tier: Trust,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "set on the command line")]
    pub reason: String,
}

/// Set an agent's trust tier.
pub enum SetTrust {}

impl Change for SetTrust {
    const SPEC: Spec = Spec {
        name: "actor.trust",
        doc: "Set an agent's trust tier.",
        scope: Reach::Full,
        route: post("/actors/{id}/trust"),
        about: ACTORS,
        events: &[TrustChanged::KIND],
    };
    const SAYS: &'static str = "sets the trust of {id} to {tier}";
    type Input = NewTrust;
    type Output = Actor;

    fn target(input: &NewTrust, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.id)?;
        Ok(Target::Actor(input.id.clone()))
    }

    fn run(_: Permit<Self>, input: NewTrust, draft: &mut Draft<'_>) -> Result<Actor, Stop> {
        let actor = draft.read().actor(&input.id)?.actor.clone();
        if !actor.kind.is_agent() {
            return Err(
                Refusal::field("id", format!("{} is not an agent; only agents have a trust tier", actor.id)).into()
            );
        }
        has_not_left(&actor)?;
        reason(&input.reason)?;
        draft.record(TrustChanged { id: input.id, from: actor.trust, to: input.tier, reason: input.reason })?;
        Ok(Actor { trust: input.tier, ..actor })
    }
}

/// Refuses changes to an actor that has left.
pub(super) fn has_not_left(actor: &Actor) -> Result<(), Refusal> {
    if actor.status == Status::Active { Ok(()) } else { Err(Refusal::conflict(format!("{} has left", actor.id))) }
}

/// Checks that a reason is not empty.
pub(super) fn reason(text: &str) -> Result<(), Refusal> {
    if is_blank(text) || text.chars().count() > 1000 {
        return Err(Refusal::field("reason", "must have 1 to 1000 characters"));
    }
    Ok(())
}
