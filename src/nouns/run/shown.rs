//! A run as shown to people.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rest::{lacks_model, rests};
use super::why;
use gate::Reader;
use store::runs::{Run, duration};
use types::field::Label;
use types::id::{ActorId, Id};
use types::refusal::Stop;
use types::run::{Failure, RunStatus, StepStatus, Wait};
use types::time::Time;

/// An agent at work.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownRun {
    pub id: String,
    pub task: String,
    pub agent: ActorId,
    /// Who asked for it.
    pub asker: ActorId,
    /// The delegation that it is done under.
    pub delegation: Option<Id>,
    /// The run that it is a part of.
    pub parent: Option<String>,
    pub status: RunStatus,
    /// What it waits for; of several parallel calls, the first that waits for somebody.
    pub waiting: Option<Wait>,
    /// All steps up to this one are over.
    pub steps: u32,
    pub tokens: Tokens,
    pub cost_cents: i64,
    /// The labels of what it has read.
    pub labels: BTreeSet<Label>,
    /// What it may spend; none where there is no limit.
    pub budget_cents: Option<i64>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// Why somebody cancelled it; none where they did not say, or where that is erased.
    #[schemars(extend("x-names" = "text"))]
    pub reason: Option<String>,
    pub created_at: Time,
    pub started_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// When it was archived.
    pub archived_at: Option<Time>,
    /// How long it has taken, or took.
    pub duration_ms: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    pub input: i64,
    pub output: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RunError {
    pub code: Failure,
    #[schemars(extend("x-names" = "text"))]
    pub message: String,
}

/// Returns a run's status: held if a kill switch stops it.
pub(super) fn stands(run: &Run, read: &Reader<'_>) -> RunStatus {
    if !run.status.is_over() && read.is_held(run) { RunStatus::Held } else { run.status }
}

/// Explains why a run that could proceed does not, which no event tells: it follows from the server's models, and from others'
/// runs.
fn stands_still(run: &Run, read: &Reader<'_>) -> Result<Option<Wait>, Stop> {
    let goes_on = matches!(run.status, RunStatus::Running | RunStatus::Queued) && run.due_at.is_some();
    if !goes_on || run.wait.is_some() || read.is_held(run) {
        return Ok(None);
    }
    if let Some(reason) = lacks_model(run, read)? {
        return Ok(Some(Wait::Model { reason }));
    }
    let Some(rest) = rests(run, read)? else { return Ok(None) };
    let is_under_way = read.begun_steps(run)?.iter().any(|step| step.status == StepStatus::Dispatched);
    let wait = Wait::RateLimit { reason: rest.why, until: read.now().plus_ms(rest.ms) };
    Ok(Some(wait).filter(|_| !is_under_way))
}

/// Returns a run as shown.
pub fn shown(run: Run, read: &Reader<'_>) -> Result<ShownRun, Stop> {
    let status = stands(&run, read);
    let why = why::of_run(&run, read)?;
    let (error, reason) = match run.failure {
        Some(code) => (Some(RunError { code, message: why.unwrap_or_default() }), None),
        None => (None, why),
    };
    let stands_still = stands_still(&run, read)?;
    let delegation = read.caller_of(&run)?.under;
    Ok(ShownRun {
        status,
        waiting: run.wait.or(stands_still),
        id: run.id,
        task: run.task,
        agent: run.agent,
        asker: run.asker,
        delegation,
        parent: run.parent,
        steps: run.steps,
        tokens: Tokens { input: run.tokens_in, output: run.tokens_out },
        cost_cents: run.cost_cents,
        labels: run.labels,
        budget_cents: run.budget_cents,
        error,
        reason,
        created_at: run.created_at,
        started_at: run.started_at,
        ended_at: run.ended_at,
        archived_at: run.archived_at,
        duration_ms: duration(run.started_at, run.ended_at.unwrap_or(read.now())),
    })
}
