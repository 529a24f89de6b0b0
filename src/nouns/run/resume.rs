//! Runs that wait for what will not come are taken up again, and learn what has become of it.

use gate::Draft;
use store::runs::Run;
use store::runs::events::RunResumed;
use types::id::Id;
use types::refusal::Stop;

/// The most runs under one delegation that are looked at when it ends.
const MOST_RUNS: usize = 1_000;

/// Takes these runs up again.
pub fn resume(runs: Vec<Run>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    for run in runs {
        let step = run.facts().step();
        draft.record(RunResumed { id: Id::stored(&run.id), agent: run.agent, asker: run.asker, step })?;
    }
    Ok(())
}

/// Takes up the runs that were asked for under a delegation that has ended: they end, too.
pub fn resume_under(delegation: &str, draft: &mut Draft<'_>) -> Result<(), Stop> {
    resume(draft.read().live_runs_under(delegation, MOST_RUNS)?, draft)
}
