//! Tables of the policy bundles in force and before.

pub mod events;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::parsed;
use types::change::SourceKind;
use types::id::ActorId;
use types::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub version: i64,
    pub hash: String,
    pub source: String,
    /// The change that brought it into force, if any.
    pub change: Option<String>,
    /// The schema proposal that brought it into force, if any: its policies are those of the version before.
    pub proposal: Option<String>,
    /// The commit that the change came with.
    pub commit: Option<String>,
    pub by: ActorId,
    pub at: Time,
}

/// Where the company keeps its policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySource {
    pub kind: SourceKind,
    pub url: Option<String>,
    pub r#ref: Option<String>,
    pub path: Option<String>,
    /// Whether what the repository proposes comes into force as soon as the policies allow it.
    pub auto: bool,
}

/// Returns the source, if set.
pub fn source(conn: &Connection) -> rusqlite::Result<Option<PolicySource>> {
    conn.query_row("SELECT kind, url, ref, path, auto FROM policy_source", [], |row| {
        let (url, r#ref, path) = (row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(PolicySource { kind: parsed(row, 0)?, url, r#ref, path, auto: row.get(4)? })
    })
    .optional()
}

pub fn applied(conn: &Connection) -> rusqlite::Result<Option<Applied>> {
    Ok(before(conn, i64::MAX, 1)?.pop())
}

/// Returns the versions before this one, newest first.
pub fn before(conn: &Connection, version: i64, limit: usize) -> rusqlite::Result<Vec<Applied>> {
    conn.prepare_cached(
        // A commit may declare a version only after it came into force.
        "SELECT version, hash, source, change, by, applied_at, \
         coalesce((SELECT commit_id FROM change WHERE change.id = policy.change), \
         (SELECT commit_id FROM change WHERE change.version = policy.version AND commit_id IS NOT NULL LIMIT 1)), proposal \
         FROM policy WHERE version < ? ORDER BY version DESC LIMIT ?",
    )?
    .query_map(params![version, limit as i64], |row| {
        let (version, hash, source, change) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let (commit, proposal) = (row.get(6)?, row.get(7)?);
        let (by, at) = (parsed(row, 4)?, Time(row.get(5)?));
        Ok(Applied { version, hash, source, change, proposal, commit, by, at })
    })?
    .collect()
}

/// Returns the last version that changed the policies, not just the schema of collections.
pub fn changed(conn: &Connection) -> rusqlite::Result<Option<Applied>> {
    let version: Option<i64> =
        conn.query_row("SELECT max(version) FROM policy WHERE proposal IS NULL", [], |row| row.get(0))?;
    Ok(version.map_or(Ok(Vec::new()), |version| before(conn, version.saturating_add(1), 1))?.pop())
}

/// Checks whether the policies in force are those of a version: only the schema of collections has changed since.
pub fn stands(conn: &Connection, version: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM policy WHERE version = ?1) \
         AND NOT EXISTS (SELECT 1 FROM policy WHERE version > ?1 AND proposal IS NULL)",
    )?
    .query_row([version], |row| row.get(0))
}

/// Returns the bundle's files by path.
pub fn files(conn: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    conn.prepare("SELECT path, text FROM policy_file")?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
