//! What budgets make of runs: what is spent and set aside, whom that holds, and who looks again when some of it is free.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{COLUMNS, Run, Step, get, read, step};
use crate::done::{self, MODEL_CALL, PLANNED};
use crate::event::Moment;
use crate::parsed;
use crate::settles::{End, Over};
use types::id::{ActorId, Id};
use types::run::Wait;
use types::time::Time;

/// The operation by which a run may spend more.
pub const RAISE: &str = "budget.raise";

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
    let counted_at = match before.filter(|step| step.cost_cents > 0) {
        Some(step) => decided_at(moment.conn, &step)?.unwrap_or(step.started_at),
        None => moment.at,
    };
    done::spend(moment.conn, &run.agent, if run.planned { PLANNED } else { MODEL_CALL }, counted_at, more)
}

/// When a call was decided that had waited for an approval. A fold asks this, also of a file of an earlier version: no more is
/// read of the approval.
fn decided_at(conn: &Connection, step: &Step) -> rusqlite::Result<Option<Time>> {
    let Some(Wait::Approval { approval }) = &step.wait else { return Ok(None) };
    let sql = "SELECT ended_at FROM approval WHERE id = ? AND status = 'used'";
    let used =
        conn.prepare_cached(sql)?.query_row([approval.as_str()], |row| row.get::<_, Option<i64>>(0)).optional()?;
    Ok(used.flatten().map(Time))
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

/// What the budget of a day or a month holds looks again: there may be another one.
pub fn look_again(moment: &Moment<'_>) -> rusqlite::Result<()> {
    let sql = "UPDATE run SET due_at = ? WHERE status = 'held' AND due_at IS NOT NULL AND ended_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute([moment.at.0])?;
    Ok(())
}

/// Nobody need allow what is allowed already.
pub(super) fn more_to_spend(id: &Id) -> End {
    let over = Over::Operation { on: id.to_string(), operation: RAISE };
    End { over, because: format!("the budget of {id} was raised") }
}
