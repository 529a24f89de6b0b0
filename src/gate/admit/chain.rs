//! Acting under a delegation: the chain from the delegation that the caller was given up to whoever gave it in their
//! own right.
//!
//! Always true: a chain counts whole or not at all. If one link has ended or run out, or one giver may no longer act,
//! nothing is allowed under it.

use std::sync::Arc;

use crate::decide::context;
use crate::decide::world::World;
use crate::declare::target::actor_uid;
use policy::{Giver, Record};
use store::actors::Status;
use types::caller::{Caller, Who};
use types::delegation::{Authority, DEEPEST, Terms};
use types::id::ActorId;
use types::operations::Operations;
use types::refusal::{Code, Refusal};
use types::target::{Fact, Target};
use types::time::Time;

/// The links of a chain, starting with the delegation that the caller was given. Empty for callers who act in their own
/// right.
pub(crate) type Links = Vec<Arc<Terms>>;

/// The chain that a caller acts under; `None` where it does not hold.
pub(crate) fn links(world: &World, caller: &Caller, now: Time) -> Option<Links> {
    let Some(under) = &caller.under else { return Some(Vec::new()) };
    let mut taker: Option<ActorId> = None;
    let mut next = Some(under.as_str());
    let mut links = Links::new();
    while let Some(id) = next {
        let link = world.delegations.get(id)?;
        let is_theirs = taker.as_ref().map_or_else(|| is_taker(caller, &link.to), |taker| link.to == *taker);
        if !link.is_live(now) || !is_theirs || links.len() >= DEEPEST as usize || !is_active(world, &link.from) {
            return None;
        }
        taker = Some(link.from.clone());
        links.push(Arc::clone(link));
        next = link.parent.as_deref();
    }
    Some(links)
}

/// Whether a delegation to somebody is one that the caller acts under. What a run does, it does under what one of those was
/// given for whom it is done.
fn is_taker(caller: &Caller, to: &ActorId) -> bool {
    caller.actor() == *to || caller.run.as_ref().is_some_and(|run| run.askers.contains(to))
}

fn is_active(world: &World, actor: &ActorId) -> bool {
    world.card(actor).is_some_and(|card| card.actor.status == Status::Active)
}

/// That a caller may act under the delegation that it names. What was never theirs and what has ended read the same.
pub(crate) fn holds(world: &World, caller: &Caller, now: Time) -> Result<(), Refusal> {
    match &caller.under {
        Some(under) if links(world, caller, now).is_none() => {
            let shown: String = under.as_str().chars().take(80).collect();
            let message = format!("you do not act under `{shown}`: it has ended, or was never given to you");
            Err(Refusal::new(Code::Denied, message))
        }
        _ => Ok(()),
    }
}

/// All on whose behalf a caller acts, the nearest first.
pub(crate) fn behalf(world: &World, caller: &Caller) -> Vec<ActorId> {
    // What a run does, it does for whoever asked for it, and on whose behalf they asked: they do not approve it either.
    if let Some(run) = &caller.run {
        return run.askers.iter().filter(|asker| caller.actor() != **asker).cloned().collect();
    }
    let given = caller.under.as_ref().and_then(|under| world.delegations.get(under.as_str()));
    given.map(|terms| terms.chain.clone()).unwrap_or_default()
}

/// Returns everyone on whose behalf a caller makes a request about a target. If an agent makes a request about its own
/// run, that includes those for whom the run is done. They do not approve it.
pub(crate) fn behalf_about(world: &World, caller: &Caller, target: &Target) -> Vec<ActorId> {
    let mut behalf = behalf(world, caller);
    let agent = Fact::Actor(caller.actor());
    let own = target.thing("Run").filter(|run| caller.run.is_none() && run.fact("agent") == Some(&agent));
    if let Some(Fact::Actors(askers)) = own.and_then(|run| run.fact("askers")) {
        behalf.extend(askers.iter().filter(|asker| caller.actor() != **asker).cloned());
    }
    behalf
}

/// The agents that asked for a part of what they do: in it, nothing is allowed that they may not do themselves.
pub(crate) fn agents_above(world: &World, caller: &Caller) -> Vec<ActorId> {
    let askers = caller.run.iter().flat_map(|run| run.askers.iter());
    let is_agent = |id: &&ActorId| world.card(id).is_some_and(|card| card.actor.kind.is_agent());
    askers.filter(is_agent).cloned().collect()
}

/// One of them, as the policies are asked about it.
pub(crate) fn above(world: &World, caller: &Caller, agent: &ActorId, now: Time) -> Giver {
    let run = caller.run.as_ref().map(|run| run.run.to_string()).unwrap_or_default();
    let who = Caller { run: caller.run.clone(), ..Caller::new(Who::Holder(agent.clone()), caller.channel) };
    Giver {
        name: agent.to_string(),
        principal: actor_uid(agent),
        facts: context::of(world, &who, &[], now),
        delegation: run,
        scope: Operations([Operations::ALL.to_owned()].into()),
        authority: Authority::Act,
        ended: !is_active(world, agent),
    }
}

/// Those whom the policies are asked about beside the caller, nearest first.
pub(crate) fn givers(world: &World, caller: &Caller, links: Option<&[Arc<Terms>]>, now: Time) -> Vec<Giver> {
    let Some(links) = links else { return vec![ended(caller)] };
    let giver = |(place, link): (usize, &Arc<Terms>)| {
        // In their own right, or under what they were given themselves.
        let above = links.get(place + 1..).unwrap_or_default();
        let who = Caller { run: caller.run.clone(), ..Caller::new(Who::Holder(link.from.clone()), caller.channel) };
        Giver {
            name: link.from.to_string(),
            principal: actor_uid(&link.from),
            facts: context::of(world, &who, above, now),
            delegation: link.id.clone(),
            scope: if caller.run.is_some() { with_work(&link.scope) } else { link.scope.clone() },
            authority: link.authority,
            ended: false,
        }
    };
    links.iter().enumerate().map(giver).collect()
}

/// What was handed on, and what a run does for itself: whoever hands on that an agent is asked lets it think and ask.
fn with_work(scope: &Operations) -> Operations {
    Operations(scope.0.iter().cloned().chain(["model.call", "run.ask"].map(str::to_owned)).collect())
}

/// Stands for a chain that does not hold.
fn ended(caller: &Caller) -> Giver {
    Giver {
        name: String::new(),
        principal: actor_uid(&caller.actor()),
        facts: Record::new(),
        delegation: caller.under.as_ref().map(ToString::to_string).unwrap_or_default(),
        scope: Default::default(),
        authority: types::delegation::Authority::Inform,
        ended: true,
    }
}
