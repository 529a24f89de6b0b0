//! Folds of budgets: what is spent and reserved, which runs that holds, and which retry when some of it is released.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{COLUMNS, Run, Step, get, read, step};
use crate::done::{self, MODEL_CALL, PLANNED};
use crate::event::Moment;
use crate::parsed;
use crate::settles::{End, Over};
use types::id::{ActorId, Id};
use types::run::Wait;
use types::time::Time;

/// The operation that raises a run's budget.
pub const RAISE: &str = "budget.raise";

/// Checks whether any run is held until somebody raises a budget.
pub fn any_held_by_budget(conn: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM run WHERE ended_at IS NULL AND status = 'held' AND due_at IS NULL)";
    conn.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Returns runs held until somebody raises a budget.
pub fn held_by_budgets(conn: &Connection) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE ended_at IS NULL AND status = 'held' AND due_at IS NULL AND wait IS NOT NULL \
         ORDER BY id LIMIT 10000"
    ))?
    .query_map([], read)?
    .collect()
}

/// Returns runs that wait for reserved amounts of a budget: for each asker the one that has waited longest, and first the
/// askers with the fewest runs in progress.
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

/// Returns the amounts reserved for model calls in progress: whose, and whether for a plan.
pub fn set_aside(conn: &Connection) -> rusqlite::Result<Vec<(ActorId, bool, i64)>> {
    let sql = "SELECT run.agent, run.planned, step.cost_cents FROM step JOIN run ON run.id = step.run \
               WHERE step.status IN ('decided', 'dispatched') AND step.cost_cents > 0";
    conn.prepare_cached(sql)?.query_map([], |row| Ok((parsed(row, 0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// Counts the actual or maximum cost of a model call, minus what was counted for this step when it began.
pub(super) fn spend(moment: &Moment<'_>, run: &Id, (number, cost_cents): (u32, u32)) -> rusqlite::Result<()> {
    let before = step(moment.conn, run.as_str(), number)?;
    let more = i64::from(cost_cents) - before.as_ref().map_or(0, |step| step.cost_cents);
    let Some(run) = get(moment.conn, run.as_str())?.filter(|_| more != 0) else { return Ok(()) };
    let counted_at = match before.filter(|step| step.cost_cents > 0) {
        Some(step) => decided_at(moment.conn, &step)?.unwrap_or(step.started_at),
        None => moment.at,
    };
    done::spend(moment.conn, &run.agent, if run.planned { PLANNED } else { MODEL_CALL }, counted_at, more)
}

/// Returns when a call that waited for approval was decided. Folds read this, also from files of an earlier version, so no more
/// of the approval is read.
fn decided_at(conn: &Connection, step: &Step) -> rusqlite::Result<Option<Time>> {
    let Some(Wait::Approval { approval }) = &step.wait else { return Ok(None) };
    let sql = "SELECT ended_at FROM approval WHERE id = ? AND status = 'used'";
    let used =
        conn.prepare_cached(sql)?.query_row([approval.as_str()], |row| row.get::<_, Option<i64>>(0)).optional()?;
    Ok(used.flatten().map(Time))
}

/// How many runs, each of another asker, retry a budget when a call has ended or another run has found too little: one for what
/// was released, and one in case it is more.
const LOOK_AGAIN: usize = 2;

/// Lets some waiting runs retry, because an amount reserved for a call of an agent was released.
pub(super) fn others_look_again(moment: &Moment<'_>, agent: &ActorId) -> rusqlite::Result<()> {
    for payer in done::payers(moment.conn, agent)? {
        for run in held_beside(moment.conn, &payer, moment.at, LOOK_AGAIN)? {
            let sql = "UPDATE run SET due_at = ? WHERE id = ?";
            moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, run])?;
        }
    }
    Ok(())
}

/// Lets runs held by a daily or monthly budget retry, since a new period may have started.
pub fn look_again(moment: &Moment<'_>) -> rusqlite::Result<()> {
    let sql = "UPDATE run SET due_at = ? WHERE status = 'held' AND due_at IS NOT NULL AND ended_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute([moment.at.0])?;
    Ok(())
}

/// Ends requests to raise a budget that was raised.
pub(super) fn more_to_spend(id: &Id) -> End {
    let over = Over::Operation { on: id.to_string(), operation: RAISE };
    End { over, because: format!("the budget of {id} was raised") }
}
