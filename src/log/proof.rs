//! Proofs for outsiders: that an entry is in the log, and that the log of today continues that of before
//! (RFC 6962 §2.1.1 and §2.1.2), as the texts of docs/concepts/log-format.md.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::Connection;

use super::append::{tile, tile_root};
use super::head::Head;
use super::tree::{Hash, Peaks, TILE, TILE_HEIGHT, leaf_hash};
use types::refusal::Fault;

/// A C2SP tlog-proof of the entry `seq` against the head; its extra data is the leaf, so that it is whole by itself.
pub fn inclusion(conn: &Connection, head: &Head, seq: u64) -> Result<String, Fault> {
    let index = seq - 1;
    let mut path = Vec::new();
    audit_path(conn, index, 0, head.size, &mut path)?;
    let leaf = BASE64.encode(leaf(conn, seq)?);
    Ok(format!("c2sp.org/tlog-proof@v1\nextra {leaf}\nindex {index}\n{}\n{}", lines(&path), head.note))
}

/// That the tree of `to` leaves, which `note` is the checkpoint of, continues the tree of `from` leaves.
pub fn consistency(conn: &Connection, from: u64, to: u64, note: &str) -> Result<String, Fault> {
    let mut path = Vec::new();
    if from > 0 {
        subproof(conn, from, 0, to, true, &mut path)?;
    }
    Ok(format!("ok/consistency-proof@v1\nfrom {from}\nto {to}\n{}\n{note}", lines(&path)))
}

fn lines(path: &[Hash]) -> String {
    path.iter().map(|hash| BASE64.encode(hash) + "\n").collect()
}

/// PATH(m, D[start..end]) of RFC 6962 §2.1.1.
fn audit_path(conn: &Connection, index: u64, start: u64, end: u64, path: &mut Vec<Hash>) -> Result<(), Fault> {
    if end - start <= 1 {
        return Ok(());
    }
    let middle = start + split(end - start);
    if index < middle {
        audit_path(conn, index, start, middle, path)?;
        path.push(range_root(conn, middle, end)?);
    } else {
        audit_path(conn, index, middle, end, path)?;
        path.push(range_root(conn, start, middle)?);
    }
    Ok(())
}

/// SUBPROOF(m, D[start..end], whole) of RFC 6962 §2.1.2; `m` counts from `start`.
fn subproof(conn: &Connection, m: u64, start: u64, end: u64, whole: bool, path: &mut Vec<Hash>) -> Result<(), Fault> {
    if m == end - start {
        if !whole {
            path.push(range_root(conn, start, end)?);
        }
        return Ok(());
    }
    let k = split(end - start);
    if m <= k {
        subproof(conn, m, start, start + k, whole, path)?;
        path.push(range_root(conn, start + k, end)?);
    } else {
        subproof(conn, m - k, start + k, end, false, path)?;
        path.push(range_root(conn, start, start + k)?);
    }
    Ok(())
}

/// The largest power of two smaller than `n`, for n > 1.
fn split(n: u64) -> u64 {
    1 << (63 - (n - 1).leading_zeros())
}

/// The root of the leaves start..end, where start is a multiple of every power of two that the range needs.
pub(super) fn range_root(conn: &Connection, start: u64, end: u64) -> Result<Hash, Fault> {
    let mut peaks = Peaks::default();
    let mut at = start;
    while at < end {
        let fits = 63 - (end - at).leading_zeros();
        let height = fits.min(at.trailing_zeros());
        peaks.push(height, node(conn, height, at >> height)?);
        at += 1 << height;
    }
    Ok(peaks.root())
}

fn leaf(conn: &Connection, seq: u64) -> Result<Vec<u8>, Fault> {
    let mut statement = conn.prepare_cached("SELECT leaf FROM log_entry WHERE seq = ?")?;
    Ok(statement.query_row([seq as i64], |row| row.get(0))?)
}

/// The root of the complete subtree `index` of the given height.
fn node(conn: &Connection, height: u32, index: u64) -> Result<Hash, Fault> {
    let level = height / TILE_HEIGHT;
    let within = height % TILE_HEIGHT;
    let first = index << within;
    let hashes = (first..first + (1 << within)).map(|at| tile_hash(conn, level, at)).collect::<Result<Vec<_>, _>>()?;
    Ok(Peaks::root_of(&hashes))
}

/// One hash of a tile, full or not.
fn tile_hash(conn: &Connection, level: u32, at: u64) -> Result<Hash, Fault> {
    if level == 0 {
        return Ok(leaf_hash(&leaf(conn, at + 1)?));
    }
    // One level down it is a whole tile; that one is full, or this subtree would not be complete.
    let full = tile(conn, level, at / TILE as u64).ok();
    match full.and_then(|hashes| hashes.get((at % TILE as u64) as usize).copied()) {
        Some(hash) => Ok(hash),
        None => tile_root(conn, level - 1, at),
    }
}
