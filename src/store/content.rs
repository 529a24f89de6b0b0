//! What people and agents write in the course of work, apart from what happened: it can be erased without the tables losing
//! anything else.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::{Map, Value};

use super::json;

/// Returns the content that was written with a task, a run or a part of one. None if nothing was written, or if it is
/// erased.
pub fn get(conn: &Connection, id: &str, part: &str) -> rusqlite::Result<Option<Map<String, Value>>> {
    conn.prepare_cached("SELECT kept FROM content WHERE id = ? AND part = ?")?
        .query_row([id, part], |row| json(row, 0))
        .optional()
}

/// The parts of something that are kept, each with the entry that holds it.
pub fn parts(conn: &Connection, id: &str) -> rusqlite::Result<Vec<(String, i64)>> {
    conn.prepare_cached("SELECT part, seq FROM content WHERE id = ? ORDER BY part")?
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
