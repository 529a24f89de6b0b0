//! Rate limits. Each actor's calls are counted against the limits of the policies before any other check. Fixed limits,
//! which policies cannot change, apply to what could fill the disk: recorded refusals, calls that stop or revoke, and
//! kept answers.
//!
//! Always true: what an agent does in runs for one asker uses up nothing of what it may do for another asker, or for
//! itself.

use crate::admit::limiter::{Counted, Key};
use crate::decide::world::World;
use crate::declare::operation::{Call, Prepared};
use crate::declare::spec::Spec;
use log::idem::KEPT_MS;
use policy::limits::Rate;
use types::caller::{Caller, Who};
use types::id::ActorId;
use types::refusal::{Code, Refusal};
use types::run::RunFacts;
use types::time::{SECOND, Time};

/// Entries that one actor's refusals lead to in a minute. What is refused beyond them is answered 429 and leaves none; what is
/// allowed goes on, and so do refusals that are only counted.
const REFUSALS: u32 = 300;
/// Calls that stop or revoke, of somebody who is no admin, in a minute.
const STOPS: u32 = 600;
/// Calls with an `Idempotency-Key` of somebody who is no admin, in a day: each may leave an answer that is kept.
const ANSWERS: u32 = 10_000;
const MINUTE: i64 = 60 * SECOND;

/// A limit that applies to somebody's calls, and what is left of it.
pub struct Left {
    pub id: String,
    pub most: u32,
    pub seconds: u32,
    pub left: u32,
}

/// Why a run takes no step for a while.
pub struct Rest {
    pub why: String,
    pub ms: i64,
}

/// Bytes of a change's input that count as one call: what it leaves in the log grows with them.
const BYTES: usize = 4 << 10;

/// What a call counts for.
pub(crate) struct Weight {
    calls: u32,
    /// Where changes are counted by their size.
    sized: u32,
}

impl Weight {
    pub(crate) const ONE: Weight = Weight { calls: 1, sized: 1 };

    pub(crate) fn of(prepared: &Prepared) -> Weight {
        let at_least_one = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).max(1);
        match &prepared.call {
            Call::Change(_) => Weight { sized: at_least_one(prepared.bytes.div_ceil(BYTES)), ..Weight::ONE },
            Call::Query(query) => {
                let decisions = at_least_one(query.decisions());
                Weight { calls: decisions, sized: decisions }
            }
        }
    }
}

/// Counts one call against every limit that it falls under. One that is larger than what is left is let through, and uses it up.
pub(crate) fn count(world: &World, caller: &Caller, (spec, weight): (&Spec, Weight), now: Time) -> Result<(), Refusal> {
    let (Who::Token { actor, .. } | Who::Holder(actor)) = &caller.who else { return Ok(()) };
    if spec.route.is_stop() {
        return stops(world, actor, now);
    }
    for (id, rate) in limits(world, actor, spec) {
        let length = i64::from(rate.seconds) * SECOND;
        let weight = if rate.counts_size() { weight.sized } else { weight.calls };
        let key = within(caller.run.as_deref(), Counted::Limit(id.to_owned()), actor);
        world.rates.add((key, weight), rate.most, length, now).map_err(|seconds| {
            let message =
                format!("over the limit {id}: {} calls in {} s; try again in {seconds} s", rate.most, rate.seconds);
            over(world, message, seconds)
        })?;
    }
    Ok(())
}

/// Whatever stops or revokes is held up by no limit; but also where the disk is nearly full it is recorded, so only admins
/// may do it without an end.
fn stops(world: &World, actor: &ActorId, now: Time) -> Result<(), Refusal> {
    let message = |seconds| format!("over {STOPS} calls a minute that stop or revoke; try again in {seconds} s");
    unless_admin(world, actor, (Counted::Stops, STOPS, MINUTE), message, now)
}

/// Counts a call whose answer is kept for a day, to be given again.
pub(crate) fn keyed(world: &World, caller: &Caller, now: Time) -> Result<(), Refusal> {
    let (Who::Token { actor, .. } | Who::Holder(actor)) = &caller.who else { return Ok(()) };
    let message =
        |seconds| format!("over {ANSWERS} calls a day with an Idempotency-Key; retry without one, or in {seconds} s");
    unless_admin(world, actor, (Counted::Answers, ANSWERS, KEPT_MS), message, now)
}

fn unless_admin(
    world: &World,
    actor: &ActorId,
    (what, most, length): (Counted, u32, i64),
    message: impl Fn(u64) -> String,
    now: Time,
) -> Result<(), Refusal> {
    if world.card(actor).is_some_and(|card| card.actor.is_active_admin()) {
        return Ok(());
    }
    let key = Key { what, by: actor.clone(), run_for: None };
    world.rates.count(key, most, length, now).map_err(|seconds| over(world, message(seconds), seconds))
}

fn over(world: &World, message: String, seconds: u64) -> Refusal {
    let stands = Some(Box::new(world.stands()));
    Refusal { retry_after: Some(seconds), stands, ..Refusal::new(Code::RateLimited, message) }
}

/// Counts an entry that a refusal is about to lead to. All who come without a token share one count.
pub(crate) fn refused(world: &World, caller: &Caller, now: Time) -> Result<(), Refusal> {
    if matches!(caller.who, Who::Server) {
        return Ok(());
    }
    let key = within(caller.run.as_deref(), Counted::Refusals, &caller.actor());
    world.rates.count(key, REFUSALS, MINUTE, now).map_err(|seconds| {
        let message = format!("refused, like {REFUSALS} others this minute; try again in {seconds} s");
        over(world, message, seconds)
    })
}

/// Whether no step is taken of an agent's runs that somebody asked for. The limits of the asker's changes hold for steps too,
/// which are counted apart: so what somebody has done writes to the log as fast as what they do. And the agent has its own.
pub(crate) fn rests(world: &World, (agent, asker): (&ActorId, &ActorId), now: Time) -> Option<Rest> {
    let askers = paces(world, asker).filter_map(|(id, rate)| {
        let ms = world.rates.rests(&steps_of(asker, id), rate.most, now)?;
        let whose = "the steps of all runs of the requester are over";
        Some(Rest { why: format!("{whose} the limit {id}: {} in {} s", rate.most, rate.seconds), ms })
    });
    let agents = paces(world, agent).filter_map(|(id, rate)| held(world, (agent, asker), (id, rate), now));
    askers.chain(agents).max_by_key(|rest| rest.ms)
}

/// Returns whether any limit stops what an agent does in the runs of this asker.
pub(crate) fn any_holds(world: &World, (agent, asker): (&ActorId, &ActorId), now: Time) -> bool {
    let concerns = concerns(world, agent);
    let mut all = world.policy.limits().rates.iter().filter(|(_, rate)| concerns(rate));
    all.any(|(id, rate)| held(world, (agent, asker), (id, rate), now).is_some())
}

/// Returns whether a limit of this operation stops an agent in the runs of this asker, and for how long.
pub(crate) fn rests_before(world: &World, run: (&ActorId, &ActorId), operation: &str, now: Time) -> Option<Rest> {
    world.policy.rates_of(operation).filter_map(|limit| held(world, run, limit, now)).max_by_key(|rest| rest.ms)
}

/// Whether this limit holds what an agent does in runs that somebody asked for. What does not concern it has counted nothing.
fn held(world: &World, (agent, asker): (&ActorId, &ActorId), (id, rate): (&str, &Rate), now: Time) -> Option<Rest> {
    let key = Key { what: Counted::Limit(id.to_owned()), by: agent.clone(), run_for: Some(asker.clone()) };
    let ms = world.rates.rests(&key, rate.most, now)?;
    let why =
        format!("what its agent does for the requester is over the limit {id}: {} in {} s", rate.most, rate.seconds);
    Some(Rest { why, ms })
}

fn steps_of(asker: &ActorId, limit: &str) -> Key {
    Key { what: Counted::Steps(limit.to_owned()), by: asker.clone(), run_for: None }
}

/// What is counted of somebody, by themselves or in a run.
fn within(run: Option<&RunFacts>, what: Counted, by: &ActorId) -> Key {
    Key { what, by: by.clone(), run_for: run.map(|run| run.origin().clone()) }
}

/// Counts steps of runs that somebody asked for.
pub(crate) fn took(world: &World, asker: &ActorId, steps: u32, now: Time) {
    for (id, rate) in paces(world, asker) {
        let (key, length) = (steps_of(asker, id), i64::from(rate.seconds) * SECOND);
        // Whether there was room is asked before the next one.
        let _ = world.rates.add((key, steps), rate.most, length, now);
    }
}

/// Counts what a run keeps of an answer in the same way as the bytes of a change.
pub(crate) fn kept(world: &World, asker: &ActorId, bytes: usize, now: Time) {
    let more = u32::try_from(bytes / BYTES).unwrap_or(u32::MAX);
    if more > 0 {
        took(world, asker, more, now);
    }
}

/// Whether a limit is for somebody of this kind and role.
fn concerns<'a>(world: &'a World, actor: &ActorId) -> impl Fn(&Rate) -> bool + use<'a> {
    let card = world.card(actor);
    move |rate| card.is_some_and(|card| rate.concerns(card.actor.kind, card.actor.role))
}

/// The limits that count all changes of somebody.
fn paces<'a>(world: &'a World, asker: &ActorId) -> impl Iterator<Item = (&'a String, &'a Rate)> {
    let concerns = concerns(world, asker);
    world.policy.limits().rates.iter().filter(move |(_, rate)| rate.counts_size() && concerns(rate))
}

/// The limits of an actor's calls, by themselves or in a run, and what is left of them.
pub(crate) fn left(world: &World, (actor, run): (&ActorId, Option<&RunFacts>), spec: &Spec, now: Time) -> Vec<Left> {
    let left = |(id, rate): (&str, &Rate)| {
        let counted = world.rates.counted(&within(run, Counted::Limit(id.to_owned()), actor), now);
        Left { id: id.to_owned(), most: rate.most, seconds: rate.seconds, left: rate.most.saturating_sub(counted) }
    };
    limits(world, actor, spec).map(left).collect()
}

/// What stops somebody is held up by no limit.
fn limits<'a>(world: &'a World, actor: &ActorId, spec: &Spec) -> impl Iterator<Item = (&'a str, &'a Rate)> {
    let (concerns, stops) = (concerns(world, actor), spec.route.is_stop());
    world.policy.rates_of(spec.name).filter(move |(_, rate)| !stops && concerns(rate))
}
