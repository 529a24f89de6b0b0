//! Budgets that nobody raised.

use rusqlite::Connection;

use super::budgets::RAISE;
use super::events::RunHeld;
use super::{COLUMNS, Run, read};
use crate::approvals::Approval;
use types::id::Id;
use types::run::Wait;

/// What a hold says once nobody let the run spend more; what was said before about that is no news.
const MORE: &str = "; more was not approved: ";
/// The most parts of one run that are told.
const MOST: usize = 1_000;

/// The runs that are held and stay so, because nobody let them spend more: whoever asked for them is told why. Nobody is told
/// while another request for the same waits.
pub fn still_held(conn: &Connection, approval: &Approval, why: &str) -> rusqlite::Result<Vec<RunHeld>> {
    if approval.operation != RAISE || is_asked_otherwise(conn, approval)? {
        return Ok(Vec::new());
    }
    let held = |run: Run| {
        let Some(Wait::Budget { reason, payer, until: None, cost_cents, beside: None }) = run.wait.clone() else {
            return None;
        };
        let reason = reason.split(MORE).next().unwrap_or_default();
        Some(RunHeld {
            reason: format!("{reason}{MORE}{why}"),
            until: None,
            payer,
            cost_cents,
            beside: None,
            origin: Some(run.origin()).filter(|origin| **origin != run.asker).cloned(),
            agent: run.agent.clone(),
            asker: run.asker.clone(),
            id: Id::stored(&run.id),
        })
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM run WHERE ended_at IS NULL AND status = 'held' AND due_at IS NULL AND wait IS NOT NULL \
         AND coalesce(json_extract(wait, '$.payer'), id) = ? ORDER BY id LIMIT {MOST}"
    );
    let runs =
        conn.prepare_cached(&sql)?.query_map([&approval.target], read)?.collect::<rusqlite::Result<Vec<Run>>>()?;
    Ok(runs.into_iter().filter_map(held).collect())
}

fn is_asked_otherwise(conn: &Connection, approval: &Approval) -> rusqlite::Result<bool> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM approval WHERE target = ? AND operation = ? AND id <> ? AND status = 'pending')";
    conn.prepare_cached(sql)?.query_row([&approval.target, RAISE, &approval.id], |row| row.get(0))
}
