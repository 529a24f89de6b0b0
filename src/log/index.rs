//! What events are found by: type, actor, and what they are about. The index is derived from the leaves and written a
//! full tile at a time, so that a single append touches no page of it; readers look through the rest one by one.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::tree::TILE;
use types::refusal::Fault;

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

    /// Writes what has gathered, one row for each key, in the order of the index.
    pub fn write(&mut self, conn: &Connection) -> Result<(), Fault> {
        let mut insert = conn.prepare_cached("INSERT INTO log_index (key, tile, offsets) VALUES (?, ?, ?)")?;
        for (key, tile, offsets) in self.rows() {
            insert.execute(params![key, tile, offsets])?;
        }
        self.0.clear();
        Ok(())
    }

    /// Key, tile and offsets. What has gathered is of one tile.
    fn rows(&mut self) -> Vec<(i64, i64, Vec<u8>)> {
        self.0.sort_unstable();
        self.0.dedup();
        let same_key = self.0.chunk_by(|left, right| left.0 == right.0);
        let row = |chunk: &[(i64, i64)]| {
            let (key, seq) = *chunk.first()?;
            let offsets = chunk.iter().map(|(_, seq)| ((seq - 1) % SPAN) as u8).collect();
            Some((key, (seq - 1) / SPAN, offsets))
        };
        same_key.filter_map(row).collect()
    }
}

/// Entries of a tile.
const SPAN: i64 = TILE as i64;
/// Tiles that are read at once.
const TILES: i64 = 32;

/// Some of the seqs of a key after `at`, or before it, in that order; and whether there may be more.
pub(super) fn seqs(conn: &Connection, key: i64, at: i64, descending: bool) -> Result<(Vec<i64>, bool), Fault> {
    let (compare, direction) = if descending { ("<=", "DESC") } else { (">=", "ASC") };
    let sql = format!(
        "SELECT tile, offsets FROM log_index WHERE key = ?1 AND tile {compare} ?2 ORDER BY tile {direction} LIMIT {TILES}"
    );
    // The seq next to `at` in the direction of reading.
    let next = if descending { at.saturating_sub(2) } else { at };
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![key, next.div_euclid(SPAN)])?;
    let (mut seqs, mut tiles) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let tile: i64 = row.get(0)?;
        let all =
            row.get_ref(1)?.as_blob().unwrap_or_default().iter().map(|offset| tile * SPAN + i64::from(*offset) + 1);
        let wanted = all.filter(|seq| if descending { *seq < at } else { *seq > at });
        if descending {
            seqs.extend(wanted.rev())
        } else {
            seqs.extend(wanted)
        }
        tiles += 1;
    }
    Ok((seqs, tiles == TILES))
}

/// The first entry of the first tile that the index does not lead to as its leaves say, or 0 if it leads to entries that
/// are not there.
pub fn astray(conn: &Connection) -> Result<Option<i64>, Fault> {
    let last: i64 = conn.query_row("SELECT coalesce(max(seq), 0) FROM log_entry", [], |row| row.get(0))?;
    let mut stored = conn.prepare("SELECT offsets FROM log_index WHERE key = ? AND tile = ?")?;
    let mut leaves = conn.prepare("SELECT seq, leaf FROM log_entry WHERE seq <= ? ORDER BY seq")?;
    let mut rows = leaves.query([covered(last)])?;
    let (mut gathered, mut expected) = (Unindexed::default(), 0);
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let leaf: Keyed = serde_json::from_slice(row.get_ref(1)?.as_blob().unwrap_or_default())?;
        gathered.push(seq, &leaf.r#type, &leaf.actor, &leaf.refs);
        if seq % SPAN != 0 {
            continue;
        }
        for (key, tile, offsets) in gathered.rows() {
            let found = stored.query_row(params![key, tile], |row| row.get::<_, Vec<u8>>(0)).optional()?;
            if found.as_ref() != Some(&offsets) {
                return Ok(Some(tile * SPAN + 1));
            }
            expected += 1;
        }
        gathered.0.clear();
    }
    let found: i64 = conn.query_row("SELECT count(*) FROM log_index", [], |row| row.get(0))?;
    Ok((found != expected).then_some(0))
}
