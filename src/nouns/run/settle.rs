//! Records what the server itself does for a run: what its agent says, pauses, failures, and its end.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::budget::Wanted;
use super::budgets::{self, set_aside};
use super::moves::{Move, Own, Stage, Thought, Todo};
use super::next::{next, next_by};
use super::prompt::asking;
use super::under_way::UnderWay;
use super::why;
use super::{RUN, find};
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::approvals::events::ApprovalStale;
use store::content::events::ContentKept;
use store::runs::events::{
    RunCancelled, RunCompleted, RunFailed, RunHeld, RunResumed, RunWaiting, StepCompleted, StepDispatched, StepFailed,
    StepUnknown,
};
use store::runs::{Run, duration};
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::run::{Failure, StepKind, Wait};
use types::scope::Reach;
use types::time::Time;

use super::cancel::{cancel_with_parts, end_requests};

/// The name of a step that was to call an unknown tool.
const UNKNOWN: &str = "unknown";
/// The maximum characters of the reason for a failed step.
const REASON: usize = 1_000;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    pub id: String,
    /// The step that is settled; the run must be at it.
    pub step: u32,
    /// Why an operation could not be performed, where the gate had let it through.
    #[schemars(extend("x-erasable" = true))]
    pub failed: Option<String>,
    /// A model is about to be asked, as was decided before; its prompt is made.
    #[serde(default)]
    pub sends: bool,
}

/// Whether there was anything to record.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    pub settled: bool,
    /// What is to be asked of people, so that the run, which is held, may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Wanted>,
}

/// Record what a run has done.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "run.settle",
        doc: "Record what a run does by itself, or its end. Called by the server itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&RUN],
        events: &[
            StepCompleted::KIND,
            StepDispatched::KIND,
            StepUnknown::KIND,
            StepFailed::KIND,
            RunWaiting::KIND,
            RunHeld::KIND,
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
        let why = input.failed.map(|why| why.chars().take(REASON).collect::<String>());
        let own = match (next(&run, draft.read())?, why) {
            (Move::Calls(todo), why) => {
                let todo = todo.into_iter().find(|todo| todo.number == input.step);
                let todo = todo.ok_or_else(|| elsewhere(&run, input.step))?;
                of_call(&run, todo, why, input.sends, draft.read())?
            }
            _ if run.facts().step() != input.step => return Err(elsewhere(&run, input.step).into()),
            (Move::Own(_), _) if input.sends => None,
            (Move::Own(own), _) => Some(own),
            (Move::Think(Thought { decided: Some(call), .. }), None) if input.sends => Some(Own::Dispatch(call)),
            (Move::Think(thought), why) => thought_of(&run, thought, why, draft.read())?,
            (Move::NoModel | Move::Nothing, _) => None,
        };
        let settled = own.is_some();
        let wants = own.map(|own| record(&run, input.step, own, draft)).transpose()?.flatten();
        Ok(Settled { settled, wants })
    }
}

fn elsewhere(run: &Run, step: u32) -> Refusal {
    Refusal::conflict(format!("{} is not at step {step}", run.id))
}

/// Returns what to record of a call: why it cannot be made, or that it begins as already decided. Results of calls that have
/// begun are recorded elsewhere.
fn of_call(run: &Run, todo: Todo, why: Option<String>, sends: bool, read: &Reader<'_>) -> Result<Option<Own>, Stop> {
    let Todo { number, operation, input, stage } = todo;
    Ok(match (stage, input.err().or(why)) {
        (Stage::Dispatched, _) => None,
        // It is about to be sent and must not be: that is recorded separately.
        (_, Some(_)) if sends => None,
        (_, Some(reason)) => {
            // An unknown operation name is a model's own text, which must be erasable with the reason.
            let is_known = crate::OPERATIONS.iter().any(|entry| entry.spec.name == operation);
            let operation = if is_known { operation } else { UNKNOWN.to_owned() };
            Some(Own::Unable { kind: StepKind::Tool, operation, reason })
        }
        (Stage::Decided, None) if sends => read.step(&run.id, number)?.map(|step| Own::Dispatch(UnderWay::of(&step))),
        (Stage::Decided | Stage::Fresh, None) => None,
    })
}

/// Returns what to record if a model call is not made: why.
fn thought_of(run: &Run, thought: Thought, failed: Option<String>, read: &Reader<'_>) -> Result<Option<Own>, Stop> {
    if let Err(Move::Own(own)) = asking(run, &thought, read)? {
        return Ok(Some(own));
    }
    Ok(failed.map(|reason| Own::Unable { kind: StepKind::Model, operation: thought.model, reason }))
}

/// Times out waits by a time, and returns how many runs proceed. Runs held by a kill switch are skipped, however many there
/// are, and hide none behind them.
pub fn end_waits(now: Time, most: usize, draft: &mut Draft<'_>) -> Result<usize, Stop> {
    let (mut ended, mut last) = (0, None);
    while ended < most {
        let overdue = draft.read().overdue_runs(now, last.as_ref(), most)?;
        for run in &overdue {
            if let (true, Move::Own(own)) = (ended < most, next_by(run, now, draft.read())?) {
                record(run, run.facts().step(), own, draft)?;
                ended += 1;
            }
        }
        if overdue.len() < most {
            break;
        }
        last = overdue.into_iter().next_back();
    }
    Ok(ended)
}

/// Records it. Returns a raise to be requested from people, if any.
fn record(run: &Run, step: u32, own: Own, draft: &mut Draft<'_>) -> Result<Option<Wanted>, Stop> {
    let id = Id::stored(&run.id);
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
        Own::Hold(cost) => return Ok(budgets::hold(run, cost, draft)?.and_then(|held| held.wants)),
        Own::Resume => draft.record(RunResumed { id, agent, asker, step })?,
        Own::Unable { kind, operation, reason } => {
            let (name, labels) = (operation, BTreeSet::new());
            draft.record(StepFailed { id: id.clone(), agent, asker, step, kind, name, reason: None, labels })?;
            why::keep(&id, step, reason, draft)?;
        }
        Own::Dispatch(under_way) => draft.record(under_way.dispatched(run))?,
        Own::Lost(under_way, reason) => under_way.lose(run, reason, draft)?,
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
        Own::GiveUp(why) => {
            record(run, step, Own::Fail(Failure::Failed, None), draft)?;
            why::keep_of_run(&id, why, draft)?;
        }
        Own::Fail(reason, message) => {
            let took = duration(run.started_at, draft.now());
            // Whether it was spent will remain unknown, so it counts as spent.
            let set_aside = set_aside(run, draft.read())?;
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
            end_requests(run, draft)?;
            for part in draft.read().open_parts(&run.id)? {
                cancel_with_parts(&part, Some("the run that it is a part of has failed"), draft)?;
            }
        }
    }
    Ok(None)
}

/// Records a step that the server itself has taken.
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
        calls: None,
    })?;
    Ok(())
}
