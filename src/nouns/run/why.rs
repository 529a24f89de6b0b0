//! Reasons for failed steps, and failed or cancelled runs, that may repeat what somebody wrote or what a model or a tool said:
//! kept as content, which can be erased.

use serde_json::{Map, Value};

use gate::{Draft, Reader};
use store::content::events::ContentKept;
use store::runs::{Run, Step};
use types::id::Id;
use types::refusal::Stop;
use types::run::{RunStatus, StepStatus};

const OF_RUN: &str = "failure";

fn part(step: u32) -> String {
    format!("{step}/reason")
}

/// Keeps the reason for a failed step.
pub(super) fn keep(run: &Id, step: u32, why: String, draft: &mut Draft<'_>) -> Result<(), Stop> {
    keep_as(run, part(step), why, draft)
}

/// Keeps the reason for a failed or cancelled run.
pub(super) fn keep_of_run(run: &Id, why: String, draft: &mut Draft<'_>) -> Result<(), Stop> {
    keep_as(run, OF_RUN.to_owned(), why, draft)
}

fn keep_as(run: &Id, part: String, why: String, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let kept = Map::from_iter([("reason".to_owned(), why.into())]);
    draft.record(ContentKept { id: run.clone(), part, kept })?;
    Ok(())
}

/// Returns the reason for a failed step; `None` if it did not fail, or the reason is erased.
pub(super) fn of_step(run: &str, step: &Step, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    match (&step.reason, step.status) {
        (None, StepStatus::Failed | StepStatus::Unknown) => kept(run, &part(step.number), read),
        (reason, _) => Ok(reason.clone()),
    }
}

/// Returns the reason why a run failed or was cancelled; `None` if none was given, or it is erased.
pub(super) fn of_run(run: &Run, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    match (&run.error, run.status) {
        (None, RunStatus::Failed | RunStatus::TimedOut | RunStatus::Cancelled) => kept(&run.id, OF_RUN, read),
        (error, _) => Ok(error.clone()),
    }
}

fn kept(run: &str, part: &str, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let why = read.kept(run, part)?.and_then(|mut kept| kept.remove("reason"));
    Ok(why.and_then(|why| match why {
        Value::String(why) => Some(why),
        _ => None,
    }))
}
