//! How often a run was refused the same.

use rusqlite::{Connection, params};

use types::id::Id;
use types::run::StepStatus;

/// Of a step that was denied: how often its run was refused the same on the same target for the same reason, whatever it did
/// between. None of another.
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
