//! Resumes runs that wait for what will not come, so that they learn what has become of it.

use gate::Draft;
use store::runs::Run;
use store::runs::events::RunResumed;
use types::id::Id;
use types::refusal::Stop;

/// The maximum number of runs resumed when delegations end; the tick resumes the others.
const MOST_RUNS: usize = 1_000;

/// Resumes these runs.
pub fn resume(runs: Vec<Run>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    for run in runs {
        let step = run.facts().step();
        draft.record(RunResumed { id: Id::stored(&run.id), agent: run.agent, asker: run.asker, step })?;
    }
    Ok(())
}

/// Resumes waiting runs started under delegations that have ended: they end, too.
pub fn resume_under(delegations: &[String], draft: &mut Draft<'_>) -> Result<(), Stop> {
    let mut left = MOST_RUNS;
    for delegation in delegations {
        let runs = draft.read().waiting_runs_under(delegation, left)?;
        left = left.saturating_sub(runs.len());
        resume(runs, draft)?;
    }
    Ok(())
}
