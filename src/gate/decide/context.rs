//! The context of a decision: what the server itself knows about a request, never what a caller claims.

use std::sync::Arc;

use crate::admit::chain;
use crate::decide::usage;
use crate::decide::world::World;
use crate::declare::target::actor_uid;
use policy::Record;
use types::actor::KillScope;
use types::caller::{Caller, Who};
use types::delegation::Terms;
use types::id::ActorId;
use types::scope::Scope;
use types::time::Time;
use types::work::RunFacts;

/// The engaged switches that touch a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Killed {
    pub global: bool,
    pub actor: bool,
    pub team: bool,
    /// Who issued the caller's token, where that is another: they could have kept it.
    pub issuer: bool,
}

impl Killed {
    /// Whether one of them stops the caller in particular.
    pub fn is_theirs(self) -> bool {
        self.actor || self.team || self.issuer
    }
}

pub(crate) fn killed(world: &World, caller: &Caller) -> Killed {
    if world.kills.is_empty() {
        return Killed::default();
    }
    let is = |scope: KillScope| world.kills.contains_key(&scope);
    let actor = stoppable(caller);
    let teams = actor.and_then(|actor| world.card(actor)).map(|card| &*card.teams).unwrap_or_default();
    Killed {
        global: is(KillScope::Global),
        actor: actor.is_some_and(|actor| is(KillScope::Actor(actor.clone()))),
        team: teams.iter().any(|team| is(KillScope::Team(team.clone()))),
        issuer: caller.issuer.as_ref().is_some_and(|issuer| is(KillScope::Actor(issuer.clone()))),
    }
}

fn stoppable(caller: &Caller) -> Option<&ActorId> {
    match &caller.who {
        Who::Visitor | Who::Server => None,
        Who::Token { actor, .. } | Who::Holder(actor) => Some(actor),
    }
}

/// The engaged switches that touch a caller, by name.
pub(crate) fn touching(world: &World, caller: &Caller) -> impl Iterator<Item = KillScope> {
    let actor = stoppable(caller);
    let teams = actor.and_then(|actor| world.card(actor)).map(|card| &*card.teams).unwrap_or_default();
    let touches = |scope: &&KillScope| match *scope {
        KillScope::Global => true,
        KillScope::Actor(id) => actor == Some(id) || caller.issuer.as_ref() == Some(id),
        KillScope::Team(team) => teams.contains(team),
        KillScope::Tool(_) => false,
    };
    world.kills.keys().filter(touches).cloned().collect::<Vec<_>>().into_iter()
}

/// What policies see of the run that a call is a step of.
fn of_run(run: &RunFacts) -> Record {
    let askers: Vec<_> = run.askers.iter().map(actor_uid).collect();
    Record::new()
        .entity("asker", &actor_uid(&run.asker))
        .entities("askers", &askers)
        .long("depth", run.depth.into())
        .long("steps", run.steps.into())
        .long("calls", run.calls.into())
        .long("cost_cents", run.cost_cents)
        .strings("labels", run.labels.iter().map(|label| label.name()))
}

/// `links`: the chain of delegations that the caller acts under.
pub(crate) fn of(world: &World, caller: &Caller, links: &[Arc<Terms>], now: Time) -> Record {
    let killed = killed(world, caller);
    let kill = Record::new()
        .bool("engaged", killed.global || killed.is_theirs())
        .bool("global", killed.global)
        .bool("actor", killed.actor)
        .bool("team", killed.team)
        .bool("issuer", killed.issuer);
    let (scoped, reads) = match &caller.who {
        Who::Token { scopes, .. } if !scopes.is_empty() => (true, scopes.contains(&Scope::Read)),
        Who::Token { .. } | Who::Visitor | Who::Server | Who::Holder(_) => (false, true),
    };
    let token = Record::new().bool("scoped", scoped).bool("reads", reads);
    let issuer = caller.issuer.iter().filter(|issuer| world.card(issuer).is_some());
    let token = issuer.fold(token, |token, issuer| token.entity("issuer", &actor_uid(issuer)));
    let facts = Record::new()
        .bool("break_glass", caller.break_glass.is_some())
        .string("channel", caller.channel.name())
        .record("kill", kill)
        .datetime("now", now.0)
        .record("token", token);
    let facts = usage::facts(world, caller, now).iter().fold(facts, |facts, done| facts.record("hist", done.clone()));
    let facts = caller.run.iter().fold(facts, |facts, run| facts.record("run", of_run(run)));
    match chain::facts_of(links) {
        Some(delegation) => facts.record("delegation", delegation),
        None => facts,
    }
}
