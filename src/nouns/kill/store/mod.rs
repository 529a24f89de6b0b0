//! The table of engaged kill switches.

pub mod events;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::parsed;
use types::actor::KillScope;
use types::time::Time;

/// An engaged kill switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill {
    pub scope: KillScope,
    pub reason: String,
    pub by: String,
    pub at: Time,
}

pub fn all(conn: &Connection) -> rusqlite::Result<Vec<Kill>> {
    conn.prepare_cached("SELECT scope, reason, by, at FROM kill ORDER BY scope")?
        .query_map([], |row| {
            Ok(Kill { scope: parsed(row, 0)?, reason: row.get(1)?, by: row.get(2)?, at: Time(row.get(3)?) })
        })?
        .collect()
}
