//! What budgets make of runs: what is spent and set aside, whom that holds, and who looks again when some of it is free.

use rusqlite::{Connection, params};

use super::events::{RunBudgetRaised, RunHeld};
use super::fold::{stand, task_waits};
use super::{COLUMNS, Run, get, open_parts, read, step};
use crate::store::done::{self, MODEL_CALL, PLANNED};
use crate::store::event::Moment;
use crate::store::memory::Touched;
use crate::store::{parsed, to_json};
use crate::types::id::{ActorId, Id};
use crate::types::time::Time;
use crate::types::work::{Beside, Wait};

/// Whether any run is held until somebody raises a budget.
pub fn any_held_by_budget(conn: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM run WHERE ended_at IS NULL AND status = 'held' AND due_at IS NULL)";
    conn.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Runs that are held until somebody raises a budget.
pub fn held_by_budgets(conn: &Connection) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE ended_at IS NULL AND status = 'held' AND due_at IS NULL AND wait IS NOT NULL \
         ORDER BY id LIMIT 10000"
    ))?
    .query_map([], read)?
    .collect()
}

/// Runs that wait for what is set aside from a budget, the one of each who asked for it that has waited longest: first those for
/// whom the fewest runs are under way.
fn held_beside(conn: &Connection, payer: &ActorId, now: Time, limit: usize) -> rusqlite::Result<Vec<String>> {
    const OF: &str = "status = 'held' AND json_extract(wait, '$.beside.of') = ?1";
    const SINCE: &str = "json_extract(wait, '$.beside.since')";
    let sql = format!(
        "SELECT (SELECT id FROM run WHERE {OF} AND origin = asker.origin AND due_at > ?2 ORDER BY {SINCE}, id LIMIT 1) \
         FROM (SELECT origin, min({SINCE}) AS since FROM run WHERE {OF} AND due_at > ?2 GROUP BY origin) AS asker \
         ORDER BY (SELECT count(*) FROM run WHERE status = 'running' AND origin = asker.origin), since, origin LIMIT ?3"
    );
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    conn.prepare_cached(&sql)?.query_map(params![payer.as_str(), now.0, most], |row| row.get(0))?.collect()
}

/// What is set aside for calls of models under way: whose, and whether for a plan.
pub fn set_aside(conn: &Connection) -> rusqlite::Result<Vec<(ActorId, bool, i64)>> {
    let sql = "SELECT run.agent, run.planned, step.cost_cents FROM step JOIN run ON run.id = step.run \
               WHERE step.status IN ('decided', 'dispatched') AND step.cost_cents > 0";
    conn.prepare_cached(sql)?.query_map([], |row| Ok((parsed(row, 0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// Counts what asking a model costs, or may cost: beside what was counted of this step before, when it began.
pub(super) fn spend(moment: &Moment<'_>, run: &Id, (number, cost_cents): (u32, u32)) -> rusqlite::Result<()> {
    let before = step(moment.conn, run.as_str(), number)?;
    let more = i64::from(cost_cents) - before.as_ref().map_or(0, |step| step.cost_cents);
    let Some(run) = get(moment.conn, run.as_str())?.filter(|_| more != 0) else { return Ok(()) };
    let counted_at = before.filter(|step| step.cost_cents > 0).map_or(moment.at, |step| step.started_at);
    done::spend(moment.conn, &run.agent, if run.planned { PLANNED } else { MODEL_CALL }, counted_at, more)
}

/// How many runs, each for somebody else, look again at a budget when a call has ended, or another run has found that there is
/// not enough: one for what has come free, and one in case it is more.
const LOOK_AGAIN: usize = 2;

/// Nothing is set aside any more for a call of an agent: some of the runs that this kept waiting look again.
pub(super) fn others_look_again(moment: &Moment<'_>, agent: &ActorId) -> rusqlite::Result<()> {
    for payer in done::payers(moment.conn, agent)? {
        for run in held_beside(moment.conn, &payer, moment.at, LOOK_AGAIN)? {
            let sql = "UPDATE run SET due_at = ? WHERE id = ?";
            moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, run])?;
        }
    }
    Ok(())
}

pub(super) fn held(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET status = 'held', wait = ?, due_at = ? WHERE id = ?";
    let until = event.until.map(|until| until.0);
    let (reason, payer) = (event.reason.clone(), event.payer.clone());
    let beside = event.beside.clone().map(|of| Beside { of, since: moment.at });
    let wait = Wait::Budget { reason, payer, until: event.until, cost_cents: event.cost_cents, beside };
    moment.conn.prepare_cached(sql)?.execute(params![to_json(&wait)?, until, event.id.as_str()])?;
    // What holds this one for good may hold others that still wait for calls under way.
    if event.beside.is_none() && event.until.is_some() {
        others_look_again(moment, &event.agent)?;
    }
    get(moment.conn, event.id.as_str())?.map_or(Ok(Touched::Nothing), |run| task_waits(moment, &run))
}

/// What the budget of a day or a month holds looks again: there may be another one.
pub fn look_again(moment: &Moment<'_>) -> rusqlite::Result<()> {
    let sql = "UPDATE run SET due_at = ? WHERE status = 'held' AND due_at IS NOT NULL AND ended_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute([moment.at.0])?;
    Ok(())
}

pub(super) fn raised(event: &RunBudgetRaised, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET budget_cents = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![event.budget_cents, event.id.as_str()])?;
    let run = get(moment.conn, event.id.as_str())?;
    if run.is_some_and(|run| run.wait.as_ref().is_some_and(Wait::is_for_a_runs_budget)) {
        stand(moment, &event.id)?;
    }
    go_on_below(moment, event.id.as_str()).map(|()| Touched::Nothing)
}

/// What one part did not spend any other of the same whole may: those that are held look again, however deep they are.
pub(super) fn go_on_beside(moment: &Moment<'_>, parent: &Run) -> rusqlite::Result<()> {
    let mut whole = parent.clone();
    while let Some(above) = whole.parent.as_deref().map(|id| get(moment.conn, id)).transpose()?.flatten() {
        whole = above;
    }
    go_on_below(moment, &whole.id)
}

/// The parts of a run that a budget holds look again, and theirs.
fn go_on_below(moment: &Moment<'_>, whole: &str) -> rusqlite::Result<()> {
    for part in open_parts(moment.conn, whole)? {
        if part.wait.as_ref().is_some_and(Wait::is_for_a_runs_budget) {
            stand(moment, &Id::stored(&part.id))?;
        }
        go_on_below(moment, &part.id)?;
    }
    Ok(())
}
