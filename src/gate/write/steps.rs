//! A call that is a step of a run. Its outcome is recorded in the same transaction as the call itself, so a step is
//! taken exactly once, whatever breaks off in between, and a run knows what was refused.
//!
//! Always true: a call counts only if it is the run's current step; a run whose request is decided, stale or over
//! continues in the transaction that says so.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::admit::rate;
use crate::decide::world::World;
use crate::declare::spec::Spec;
use crate::declare::target::Target;
use crate::write::record::Entry;
use store::approvals::{self, Approval};
use store::content::events::ContentKept;
use store::event::Event;
use store::runs::events::{RunResumed, RunWaiting, StepCompleted, StepDenied};
use store::runs::{self, Run};
use store::settles::{End, Standing};
use types::caller::Caller;
use types::field::Label;
use types::id::Id;
use types::json;
use types::refusal::{Fault, Refusal, Stop};
use types::run::{RunStatus, StepStatus, Wait};
use types::time::Time;

/// The most bytes of an answer that a run keeps of a step. Of a longer one, or one that nests too deep to be
/// recorded, it keeps how long it was.
const MOST_KEPT: usize = 64 << 10;

/// That a call's run is at this very step, and nothing stops it.
pub(crate) fn is_at(conn: &Connection, world: &World, caller: &Caller) -> Result<(), Stop> {
    let Some(facts) = &caller.run else { return Ok(()) };
    let run = runs::get(conn, facts.run.as_str())?.ok_or_else(Refusal::not_found)?;
    let goes_on = [RunStatus::Running, RunStatus::Queued].contains(&run.status) && run.wait.is_none();
    let within = run.steps < facts.step() && facts.step() <= run.reach();
    let is_free =
        || Ok::<_, Stop>(runs::step(conn, &run.id, facts.step())?.is_none_or(|step| step.status == StepStatus::Due));
    if run.agent != caller.actor() || !goes_on || !within || !is_free()? {
        return Err(Refusal::conflict(format!("{} is not at step {}", facts.run, facts.step())).into());
    }
    if world.is_held(&run.agent, &run.askers) {
        return Err(Refusal::conflict(format!("{} is held by a kill switch", facts.run)).into());
    }
    Ok(())
}

/// Returns whether a call was not carried out because a budget holds its run. Its approval is then not used up.
pub(crate) fn is_held<'e>(caller: &Caller, mut events: impl Iterator<Item = &'e Event>) -> bool {
    let Some(run) = &caller.run else { return false };
    events.any(|event| !event.kind().is_done && event.step_of() == Some(&run.run))
}

/// One call, as its run tells of it.
pub(crate) struct Step<'a> {
    pub caller: &'a Caller,
    pub spec: &'a Spec,
    pub target: &'a Target,
}

impl Step<'_> {
    /// Returns the events that record the step as done, with its answer and the answer's labels, unless the call has
    /// made the run wait or has moved it on by itself. What is kept of the answer counts towards the limits of whoever
    /// requested the run as a whole.
    pub fn completed<'e>(
        &self,
        mut events: impl Iterator<Item = &'e Event>,
        answer: &[u8],
        labels: BTreeSet<Label>,
        (world, now): (&World, Time),
    ) -> Vec<Event> {
        let Some(run) = &self.caller.run else { return Vec::new() };
        if events.any(|event| event.step_of() == Some(&run.run)) {
            return Vec::new();
        }
        let completed = StepCompleted {
            id: run.run.clone(),
            agent: self.caller.actor(),
            asker: run.asker.clone(),
            step: run.step(),
            kind: self.spec.route.step,
            name: self.spec.name.to_owned(),
            target: self.target.id(),
            tokens_in: 0,
            tokens_out: 0,
            cost_cents: 0,
            labels,
            calls: None,
        };
        let kept = ContentKept { id: run.run.clone(), part: run.step().to_string(), kept: output(answer) };
        rate::kept(world, run.origin(), if answer.len() > MOST_KEPT { 0 } else { answer.len() }, now);
        vec![completed.into(), kept.into()]
    }

    pub fn denied(&self, reason: &str) -> Option<Event> {
        let run = self.caller.run.as_ref()?;
        let denied = StepDenied {
            id: run.run.clone(),
            agent: self.caller.actor(),
            asker: run.asker.clone(),
            step: run.step(),
            kind: self.spec.route.step,
            name: self.spec.name.to_owned(),
            target: self.target.id(),
            reason: reason.to_owned(),
        };
        Some(denied.into())
    }

    /// It waits for this approval.
    pub fn waits(&self, approval: &Id) -> Option<Event> {
        let run = self.caller.run.as_ref()?;
        let waiting = RunWaiting {
            id: run.run.clone(),
            agent: self.caller.actor(),
            asker: run.asker.clone(),
            step: run.step(),
            kind: self.spec.route.step,
            name: self.spec.name.to_owned(),
            target: self.target.id(),
            wait: Wait::Approval { approval: approval.clone() },
        };
        Some(waiting.into())
    }
}

/// An answer as a run keeps it.
fn output(answer: &[u8]) -> Map<String, Value> {
    let whole = serde_json::from_slice::<Value>(answer).ok().filter(|_| answer.len() <= MOST_KEPT);
    let whole = whole.filter(|answer| !json::is_deep(answer));
    match whole {
        Some(output) => Map::from_iter([("output".to_owned(), output)]),
        None => Map::from_iter([("bytes".to_owned(), answer.len().into())]),
    }
}

/// The run that waits for this approval, and at which step.
pub(crate) fn waiting_for(conn: &Connection, approval: &Approval) -> Result<Option<(Run, runs::Step)>, Fault> {
    let Some(facts) = &approval.run else { return Ok(None) };
    let run = runs::get(conn, facts.run.as_str())?.filter(|run| !run.status.is_over());
    let step = runs::step(conn, facts.run.as_str(), facts.step())?;
    let waits = Some(Wait::Approval { approval: Id::stored(&approval.id) });
    Ok(run.zip(step.filter(|step| step.status == StepStatus::Waiting && step.wait == waits)))
}

/// What follows for runs from how requests of theirs ended, but for runs that are over themselves.
pub(crate) fn go_on(conn: &Connection, ends: &[End], entries: &[Entry], now: Time) -> Result<Vec<Entry>, Fault> {
    let over: BTreeSet<&str> = ends.iter().filter_map(End::over_thing).collect();
    let (carried_out, resumes) = (carried_out(entries), resumes(entries));
    let (mut follow, mut seen, mut unraised) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    for entry in entries {
        let Some((id, refused)) = without_effect(&entry.event) else { continue };
        // One that is decided may be stale at once.
        if !seen.insert(id.as_str()) || carried_out.contains(id) {
            continue;
        }
        let Some(approval) = approvals::get(conn, id.as_str())? else { continue };
        if let Some(why) = refused.as_ref().filter(|_| approval.operation == runs::RAISE) {
            unraised.insert(approval.target.clone(), (why.clone(), entry));
        }
        let Some((run, step)) = waiting_for(conn, &approval)?.filter(|(run, _)| !over.contains(run.id.as_str())) else {
            continue;
        };
        follow.push(match refused {
            Some(reason) => entry.followed_by(refused_step(&run, &step, &approval, reason)),
            None if resumes.contains(&(run.id.as_str(), step.number)) => continue,
            None => entry.followed_by(resumed(&run, &step)),
        });
    }
    for (payer, (why, entry)) in unraised {
        let is_raised = ends.iter().any(|end| end.is_of(&payer, runs::RAISE));
        if is_raised || is_asked_otherwise(conn, &payer, &seen, now)? {
            continue;
        }
        let goes_on = |run: &str| over.contains(run) || resumes.iter().any(|(resumed, _)| *resumed == run);
        let held = runs::still_held(conn, &payer, &why)?.into_iter().filter(|held| !goes_on(held.id.as_str()));
        follow.extend(held.map(|held| entry.followed_by(held)));
    }
    Ok(follow)
}

/// Whether somebody is asked to let a run spend more, by another request than these.
fn is_asked_otherwise(conn: &Connection, run: &str, but: &BTreeSet<&str>, now: Time) -> Result<bool, Fault> {
    let mut open = approvals::open_about(conn, run, now)?.into_iter();
    Ok(open.any(|other| other.operation == runs::RAISE && !but.contains(other.id.as_str())))
}

/// The steps at which runs are taken up again by what was done itself.
fn resumes(entries: &[Entry]) -> BTreeSet<(&str, u32)> {
    let resumed = entries.iter().filter_map(|entry| entry.event.get::<RunResumed>());
    resumed.map(|event| (event.id.as_str(), event.step)).collect()
}

/// What was carried out has said itself how the step stands: it may wait for a part, or an answer.
fn carried_out(entries: &[Entry]) -> BTreeSet<&Id> {
    let requests = entries.iter().filter_map(|entry| entry.event.request());
    requests.filter(|(_, standing)| matches!(standing, Standing::CarriedOut)).map(|(id, _)| id).collect()
}

/// The request that an event ends without its effect, and why the call is refused; none where it is to be made again.
fn without_effect(event: &Event) -> Option<(&Id, Option<String>)> {
    match event.request()? {
        (_, Standing::Open | Standing::CarriedOut) => None,
        (id, Standing::Refused(reason)) => Some((id, Some(reason))),
        (id, Standing::Again) => Some((id, None)),
    }
}

fn refused_step(run: &Run, step: &runs::Step, approval: &Approval, reason: String) -> StepDenied {
    StepDenied {
        id: Id::stored(&run.id),
        agent: run.agent.clone(),
        asker: run.asker.clone(),
        step: step.number,
        kind: step.kind,
        name: approval.operation.clone(),
        target: approval.target.clone(),
        reason,
    }
}

fn resumed(run: &Run, step: &runs::Step) -> RunResumed {
    let (agent, asker) = (run.agent.clone(), run.asker.clone());
    RunResumed { id: Id::stored(&run.id), agent, asker, step: step.number }
}
