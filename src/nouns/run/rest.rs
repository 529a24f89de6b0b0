//! Explains why a run rests: rate limits apply to whoever asked for it, or to its agent.

use super::moves::{Move, Stage};
use super::next::next;
use gate::{Reader, Rest};
use store::done::MODEL_CALL;
use store::runs::Run;
use types::refusal::Stop;
use types::run::RunStatus;
use types::time::SECOND;

/// Seconds. A tool call that a limit delays for longer is made all the same, so that the run learns of it.
pub const SOON: i64 = 60;

/// Returns until when it rests, and why; `None` if it can proceed.
pub(super) fn rests(run: &Run, read: &Reader<'_>) -> Result<Option<Rest>, Stop> {
    match read.rests(run) {
        None if read.any_limit_holds(run) => held_up(run, &next(run, read)?, read),
        // The result of a call in progress is recorded when it arrives: it was counted when it began.
        Some(_) if is_under_way(&next(run, read)?) => Ok(None),
        rest => Ok(rest),
    }
}

fn is_under_way(next: &Move) -> bool {
    matches!(next, Move::Calls(todo) if todo.iter().any(|one| one.stage == Stage::Dispatched))
}

/// Same, given its next move. If any of several calls can be made, the run proceeds with that.
fn held_up(run: &Run, next: &Move, read: &Reader<'_>) -> Result<Option<Rest>, Stop> {
    let operations: Vec<&str> = match next {
        Move::Calls(todo) if todo.iter().all(|one| one.stage == Stage::Fresh && one.input.is_ok()) => {
            todo.iter().map(|one| one.operation.as_str()).collect()
        }
        Move::Think(thought) if thought.decided.is_none() => vec![MODEL_CALL],
        _ => Vec::new(),
    };
    let mut first: Option<Rest> = None;
    for operation in operations {
        let rest = read.rests_before(run, operation);
        let Some(rest) = rest.filter(|rest| operation == MODEL_CALL || rest.ms <= SOON * SECOND) else {
            return Ok(None);
        };
        first = first.filter(|first| first.ms <= rest.ms).or(Some(rest));
    }
    Ok(first)
}

/// Explains why a run that needs a model rests until this server has one; `None` if it does not.
pub(super) fn lacks_model(run: &Run, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let may_lack = !run.planned && run.status == RunStatus::Running && read.models_of(&run.agent)?.is_empty();
    let rests = may_lack && matches!(next(run, read)?, Move::NoModel);
    Ok(rests.then(|| read.models().nothing()))
}
