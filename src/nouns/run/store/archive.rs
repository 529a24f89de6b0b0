//! Archived runs: those that ended longer ago than the company keeps runs in lists.

use rusqlite::{Connection, params};

use super::{COLUMNS, LIST, Run, read};
use crate::list::List;
use types::time::Time;

/// How all runs are listed, including archived ones.
pub const ALL: List<Run> = List { there: "TRUE", ..LIST };
/// How archived runs are listed.
pub const ARCHIVED: List<Run> = List { there: "archived_at IS NOT NULL", ..LIST };

/// Returns unarchived runs that ended before a time, in the order in which they ended.
pub fn due(conn: &Connection, before: Time, limit: usize) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE ended_at < ? AND archived_at IS NULL ORDER BY ended_at, id LIMIT ?"
    ))?
    .query_map(params![before.0, limit as i64], read)?
    .collect()
}
