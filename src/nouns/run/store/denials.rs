//! Counts equal denials of a run.

use rusqlite::{Connection, params};

use types::id::Id;
use types::run::StepStatus;

/// Counts how often a denied step's run was denied the same operation on the same target for the same reason, whatever it did
/// in between. 0 for other steps.
pub(super) fn equal(
    conn: &Connection,
    (run, status): (&Id, StepStatus),
    (name, target, reason): (&str, &str, Option<&str>),
) -> rusqlite::Result<u32> {
    if status != StepStatus::Denied {
        return Ok(0);
    }
    let sql =
        "SELECT count(*) FROM step WHERE run = ? AND status = 'denied' AND name = ? AND target = ? AND reason IS ?";
    conn.prepare_cached(sql)?.query_row(params![run.as_str(), name, target, reason], |row| row.get(0))
}
