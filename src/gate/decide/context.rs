//! The context of a decision: what the server itself knows about a request, never what a caller claims.

use std::sync::Arc;

use crate::decide::done;
use crate::decide::world::World;
use crate::declare::target::actor_uid;
use policy::Record;
use types::caller::{Caller, Who};
use types::delegation::{DelegationStatus, Terms};
use types::run::RunFacts;
use types::scope::Scope;
use types::time::Time;

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

/// What policies see of the delegation that somebody acts under.
fn of_delegation(links: &[Arc<Terms>]) -> Option<Record> {
    let (given, root) = (links.first()?, links.last()?);
    let exhausted = links.iter().any(|link| link.status == DelegationStatus::Exhausted);
    let chain: Vec<_> = links.iter().map(|link| actor_uid(&link.from)).collect();
    Some(
        Record::new()
            .entity("from", &actor_uid(&given.from))
            .entity("root", &actor_uid(&root.from))
            .entities("chain", &chain)
            .string("authority", given.authority.name())
            .long("depth", i64::from(given.depth))
            .strings("tools", given.tools.iter().map(String::as_str))
            .bool("exhausted", exhausted),
    )
}

/// `links`: the chain of delegations that the caller acts under.
pub(crate) fn of(world: &World, caller: &Caller, links: &[Arc<Terms>], now: Time) -> Record {
    let killed = world.killed(caller);
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
    let facts = done::facts(world, caller, now).iter().fold(facts, |facts, done| facts.record("hist", done.clone()));
    let facts = caller.run.iter().fold(facts, |facts, run| facts.record("run", of_run(run)));
    match of_delegation(links) {
        Some(delegation) => facts.record("delegation", delegation),
        None => facts,
    }
}
