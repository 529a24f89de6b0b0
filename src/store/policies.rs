//! The policy bundle in force.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::types::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub version: i64,
    pub hash: String,
    pub source: String,
}

pub fn applied(conn: &Connection) -> rusqlite::Result<Option<Applied>> {
    conn.query_row("SELECT version, hash, source FROM policy", [], |row| {
        Ok(Applied { version: row.get(0)?, hash: row.get(1)?, source: row.get(2)? })
    })
    .optional()
}

/// The bundle's files, by path.
pub fn files(conn: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    conn.prepare("SELECT path, text FROM policy_file")?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

pub(super) fn apply(
    conn: &Connection,
    at: Time,
    applied: &Applied,
    files: &BTreeMap<String, String>,
) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO policy (id, version, hash, source, applied_at) VALUES (1, ?, ?, ?, ?)",
        params![applied.version, applied.hash, applied.source, at.0],
    )?;
    conn.execute("DELETE FROM policy_file", [])?;
    let mut insert = conn.prepare("INSERT INTO policy_file (path, text) VALUES (?, ?)")?;
    for (path, text) in files {
        insert.execute(params![path, text])?;
    }
    Ok(())
}
