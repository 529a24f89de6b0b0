//! Engaged kill switches.

use rusqlite::{Connection, params};

use super::parsed;
use crate::types::actor::KillScope;
use crate::types::time::Time;

/// A switch that is engaged.
#[derive(Clone, Debug, PartialEq, Eq)]
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

pub(super) fn switched(conn: &Connection, kill: &Kill, engaged: bool) -> rusqlite::Result<()> {
    let scope = kill.scope.to_string();
    if engaged {
        conn.execute(
            "INSERT OR REPLACE INTO kill (scope, reason, by, at) VALUES (?, ?, ?, ?)",
            params![scope, kill.reason, kill.by, kill.at.0],
        )?;
    } else {
        conn.execute("DELETE FROM kill WHERE scope = ?", [scope])?;
    }
    Ok(())
}
