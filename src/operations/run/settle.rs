//! What the server itself records of a run: what its agent says, that it waits, what could not be done, and its end.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::next::{Move, Own, next, next_by};
use super::prompt::asking;
use super::{RUN, find};
use crate::gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use crate::store::approvals::events::ApprovalStale;
use crate::store::content::events::ContentKept;
use crate::store::runs::events::{
    RunCancelled, RunCompleted, RunFailed, RunResumed, RunWaiting, StepCompleted, StepDispatched, StepFailed,
    StepUnknown,
};
use crate::store::runs::{Run, duration};
use crate::types::id::Id;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::time::Time;
use crate::types::work::{StepKind, StepStatus, Wait};

use super::cancel::cancel_with_parts;

/// The most characters of why a step failed.
const REASON: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
pub struct Outcome {
    pub id: String,
    /// The step that is settled; the run must be at it.
    pub step: u32,
    /// Why an operation could not be performed, where the gate had let it through.
    pub failed: Option<String>,
}

/// Whether there was anything to record.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    pub settled: bool,
}

/// Record what a run has done.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "run.settle",
        doc: "Record what a run does by itself, or its end. The server does so itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&RUN],
        events: &[
            StepCompleted::KIND,
            StepDispatched::KIND,
            StepUnknown::KIND,
            StepFailed::KIND,
            RunWaiting::KIND,
            RunResumed::KIND,
            RunCompleted::KIND,
            RunFailed::KIND,
            RunCancelled::KIND,
            ApprovalStale::KIND,
            ContentKept::KIND,
        ],
    };
    const SAYS: &'static str = "records step {step} of {id}";
    type Input = Outcome;
    type Output = Settled;

    fn target(input: &Outcome, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Outcome, draft: &mut Draft<'_>) -> Result<Settled, Stop> {
        let run = find(&input.id, draft.read())?;
        if run.facts().step() != input.step {
            return Err(Refusal::conflict(format!("{} is not at step {}", run.id, input.step)).into());
        }
        match next(&run, draft.read())? {
            Move::Own(own) => record(&run, own, draft)?,
            Move::Call(operation, _) if input.failed.is_some() => {
                let reason = input.failed.unwrap_or_default().chars().take(REASON).collect();
                record(&run, Own::Unable { kind: StepKind::Tool, operation, reason }, draft)?;
            }
            Move::Think(thought) => match (asking(&run, &thought, draft.read())?, input.failed, thought.decided) {
                (Err(Move::Own(own)), _, _) => record(&run, own, draft)?,
                (_, None, Some(call)) => record(&run, Own::Dispatch(call), draft)?,
                (_, Some(reason), _) => {
                    let reason = reason.chars().take(REASON).collect();
                    record(&run, Own::Unable { kind: StepKind::Model, operation: thought.model, reason }, draft)?;
                }
                _ => return Ok(Settled { settled: false }),
            },
            Move::Call(..) | Move::Nothing => return Ok(Settled { settled: false }),
        }
        Ok(Settled { settled: true })
    }
}

/// Lets runs go on whose waiting ends by itself by a time; how many there were.
pub fn end_waits(now: Time, most: usize, draft: &mut Draft<'_>) -> Result<usize, Stop> {
    let mut ended = 0;
    for run in draft.read().overdue_runs(now, most)? {
        if let Move::Own(own) = next_by(&run, now, draft.read())? {
            record(&run, own, draft)?;
            ended += 1;
        }
    }
    Ok(ended)
}

fn record(run: &Run, own: Own, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let (id, step) = (Id::stored(&run.id), run.facts().step());
    let (agent, asker) = (run.agent.clone(), run.asker.clone());
    match own {
        Own::Say(text) => {
            completed(run, StepKind::Say, draft)?;
            let text = Value::from(text);
            for (part, field) in [(step.to_string(), "output"), ("output".to_owned(), "text")] {
                let kept = Map::from_iter([(field.to_owned(), text.clone())]);
                draft.record(ContentKept { id: id.clone(), part, kept })?;
            }
        }
        Own::Pause(until) => {
            let (name, target, wait) = (String::new(), String::new(), Wait::Time { until });
            draft.record(RunWaiting { id, agent, asker, step, kind: StepKind::Wait, name, target, wait })?;
        }
        Own::Awake => completed(run, StepKind::Wait, draft)?,
        Own::Resume => draft.record(RunResumed { id, agent, asker, step })?,
        Own::Unable { kind, operation, reason } => {
            draft.record(StepFailed { id, agent, asker, step, kind, name: operation, reason })?;
        }
        Own::Dispatch(under_way) => draft.record(under_way.dispatched(run))?,
        Own::Lost(under_way, reason) => draft.record(under_way.unknown(run, reason))?,
        Own::Complete => {
            let took = duration(run.started_at, draft.now());
            draft.record(RunCompleted {
                id,
                task: Id::stored(&run.task),
                agent,
                asker,
                askers: run.askers.clone(),
                tokens_in: run.tokens_in,
                tokens_out: run.tokens_out,
                cost_cents: run.cost_cents,
                duration_ms: took,
            })?;
        }
        Own::Fail(reason, message) => {
            let took = duration(run.started_at, draft.now());
            let set_aside = in_flight(run, draft.read())?;
            draft.record(RunFailed {
                id,
                task: Id::stored(&run.task),
                agent,
                asker,
                askers: run.askers.clone(),
                tokens_in: run.tokens_in,
                tokens_out: run.tokens_out,
                cost_cents: run.cost_cents + set_aside,
                duration_ms: took,
                reason,
                message,
            })?;
            for part in draft.read().open_parts(&run.id)? {
                cancel_with_parts(&part, "the run that it is a part of has failed", draft)?;
            }
        }
    }
    Ok(())
}

/// What is set aside for a call that is under way: nobody will know whether it was spent, so it counts as spent.
fn in_flight(run: &Run, read: &Reader<'_>) -> Result<i64, Stop> {
    let step = read.step(&run.id, run.facts().step())?;
    Ok(step.filter(|step| step.status == StepStatus::Dispatched).map_or(0, |step| step.cost_cents))
}

/// A step that the server itself has taken.
fn completed(run: &Run, kind: StepKind, draft: &mut Draft<'_>) -> Result<(), Stop> {
    draft.record(StepCompleted {
        id: Id::stored(&run.id),
        agent: run.agent.clone(),
        asker: run.asker.clone(),
        step: run.facts().step(),
        kind,
        name: String::new(),
        target: String::new(),
        tokens_in: 0,
        tokens_out: 0,
        cost_cents: 0,
        labels: BTreeSet::new(),
    })?;
    Ok(())
}
