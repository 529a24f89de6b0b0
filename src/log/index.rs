//! What events are found by: type, actor, and what they are about. The index is derived from the leaves and written a
//! full tile at a time, so that a single append touches no page of it; readers look through the rest one by one.

use rusqlite::{Connection, params};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::tree::TILE;
use crate::types::refusal::Fault;

/// A key's number. Two keys may share one: readers compare what they find.
pub(super) fn key(what: &str, id: &str) -> i64 {
    let digest: [u8; 32] = Sha256::new().chain_update(what).chain_update([0]).chain_update(id).finalize().into();
    digest.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// The entries that the index covers in a log of this size.
pub(super) fn covered(size: i64) -> i64 {
    size - size % TILE as i64
}

/// The keys of the entries after the last full tile.
#[derive(Default)]
pub(super) struct Unindexed(Vec<(i64, i64)>);

#[derive(Deserialize)]
struct Keyed {
    actor: String,
    refs: Vec<String>,
    r#type: String,
}

impl Unindexed {
    pub fn push(&mut self, seq: i64, kind: &str, actor: &str, refs: &[String]) {
        self.0.extend([(key("type", kind), seq), (key("actor", actor), seq)]);
        self.0.extend(refs.iter().map(|id| (key("ref", id), seq)));
    }

    /// Reads the keys of the unfinished tile again.
    pub fn resume(conn: &Connection, size: u64) -> Result<Unindexed, Fault> {
        let mut unindexed = Unindexed::default();
        let mut statement = conn.prepare("SELECT seq, leaf FROM log_entry WHERE seq > ? ORDER BY seq")?;
        let mut rows = statement.query([covered(size as i64)])?;
        while let Some(row) = rows.next()? {
            let leaf: Keyed = serde_json::from_slice(row.get_ref(1)?.as_blob().unwrap_or_default())?;
            unindexed.push(row.get(0)?, &leaf.r#type, &leaf.actor, &leaf.refs);
        }
        Ok(unindexed)
    }

    /// Writes what has gathered, in the order of the index.
    pub fn write(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.0.sort_unstable();
        let mut insert = conn.prepare_cached("INSERT OR IGNORE INTO log_index (key, seq) VALUES (?, ?)")?;
        for (key, seq) in self.0.drain(..) {
            insert.execute(params![key, seq])?;
        }
        Ok(())
    }
}

/// The first entry that the index does not lead to as its leaf says, or 0 if it leads to entries that are not there.
pub fn astray(conn: &Connection) -> Result<Option<i64>, Fault> {
    let last: i64 = conn.query_row("SELECT coalesce(max(seq), 0) FROM log_entry", [], |row| row.get(0))?;
    let mut leads = conn.prepare("SELECT 1 FROM log_index WHERE key = ? AND seq = ?")?;
    let mut leaves = conn.prepare("SELECT seq, leaf FROM log_entry WHERE seq <= ? ORDER BY seq")?;
    let mut rows = leaves.query([covered(last)])?;
    let mut expected: i64 = 0;
    while let Some(row) = rows.next()? {
        let seq = row.get(0)?;
        let leaf: Keyed = serde_json::from_slice(row.get_ref(1)?.as_blob().unwrap_or_default())?;
        let mut keys = Unindexed::default();
        keys.push(seq, &leaf.r#type, &leaf.actor, &leaf.refs);
        keys.0.sort_unstable();
        keys.0.dedup();
        for (key, seq) in &keys.0 {
            if !leads.exists(params![key, seq])? {
                return Ok(Some(*seq));
            }
        }
        expected += keys.0.len() as i64;
    }
    let found: i64 = conn.query_row("SELECT count(*) FROM log_index", [], |row| row.get(0))?;
    Ok((found != expected).then_some(0))
}
