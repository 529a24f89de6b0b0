//! A log in a state file.
//!
//! The caller opens the file, read-only. Everything is read in one transaction, so a server may continue to append.
//! Each value is checked for its actual type, whatever type the table declares.

use super::finding::Findings;
use super::note::Note;
use super::source::{Entry, Payload, Signed, Stored, Tiles, until_error};
use super::{Ask, Report, Unreadable};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows};

const HEAD: &str = "SELECT size, root, note, vkey, origin FROM log_head";
const ENTRIES: &str = "SELECT seq, leaf, salt, body FROM log_entry ORDER BY seq";
const LAST: &str = "SELECT max(seq) FROM log_entry";
const PUBLISHED: &str = "SELECT size, root, note FROM log_checkpoint ORDER BY size";
const TILE: &str = "SELECT hashes FROM log_tile WHERE level = ?1 AND idx = ?2";
const TILE_NAMES: &str = "SELECT level, idx FROM log_tile ORDER BY level, idx";

/// Verifies the log in a state file.
pub fn verify_sqlite(db: &Connection, ask: &Ask<'_>) -> Result<Report, Unreadable> {
    let snapshot = if db.is_autocommit() { Some(db.unchecked_transaction()?) } else { None };
    let report = verify(db, ask);
    drop(snapshot);
    report
}

fn verify(db: &Connection, ask: &Ask<'_>) -> Result<Report, Unreadable> {
    let mut findings = Findings::default();
    let (head, vkey) = head(db, &mut findings)?;
    let (mut entries, mut published) = (db.prepare(ENTRIES)?, db.prepare(PUBLISHED)?);
    let published = each(published.query(())?, |row| Ok(signed(row)));
    let stored = Stored {
        vkey,
        head,
        entries: each(entries.query(())?, entry),
        published: published.map(|row| row.unwrap_or_else(Signed::unreadable)),
        tiles: Some(db as &dyn Tiles),
    };
    super::walk::walk(stored, ask, findings)
}

/// The rows until the first that cannot be read.
fn each<'a, T>(
    mut rows: Rows<'a>,
    read: impl Fn(&Row<'_>) -> Result<T, String> + 'a,
) -> impl Iterator<Item = Result<T, String>> + 'a {
    until_error(move || rows.next().map_err(|why| why.to_string())?.map(&read).transpose())
}

fn entry(row: &Row<'_>) -> Result<Entry, String> {
    let payload = match (row.get_ref(2), row.get_ref(3)) {
        (Ok(ValueRef::Null), Ok(ValueRef::Null)) => Ok(None),
        _ => blob(row, 2, "salt").and_then(|salt| Ok(Some(Payload { salt, body: blob(row, 3, "body")? }))),
    };
    Ok(Entry { seq: integer(row, 0, "seq")?, leaf: blob(row, 1, "leaf"), payload })
}

/// A checkpoint of which size, root and note are the first columns.
fn signed(row: &Row<'_>) -> Signed {
    let size = integer(row, 0, "size").and_then(|size| u64::try_from(size).map_err(|_| "its size is negative".into()));
    let root = blob(row, 1, "root");
    let note = text(row, 2, "note").and_then(|text| Note::parse(&text).map_err(|e| e.to_string()));
    let flaw = match (&size, &root, &note) {
        (Err(why), ..) | (_, Err(why), _) => Some(why.clone()),
        (Ok(size), _, Ok(note)) if *size != note.size => Some("the stored size is not the signed one".into()),
        (_, Ok(root), Ok(note)) if root.as_slice() != note.root => Some("the stored root is not the signed one".into()),
        _ => None,
    };
    Signed { size: size.ok(), note, flaw }
}

fn head(db: &Connection, findings: &mut Findings) -> Result<(Signed, Result<String, String>), Unreadable> {
    let mut select = db.prepare(HEAD)?;
    let mut rows = select.query(())?;
    let Some(row) = rows.next()? else {
        let size = db.query_row(LAST, (), |row| row.get(0)).ok().and_then(|seq: i64| u64::try_from(seq).ok());
        return Ok((Signed { size, note: Err("there is none".into()), flaw: None }, Err("there is none".into())));
    };
    let (mut head, vkey) = (signed(row), text(row, 3, "vkey"));
    let origin = text(row, 4, "origin");
    if let (Ok(note), None) = (&head.note, &head.flaw) {
        let differs = origin.as_ref() != Ok(&note.origin);
        head.flaw = differs.then(|| "the stored origin is not the signed one".into());
    }
    if !matches!(rows.next(), Ok(None)) {
        findings.add(None, "there is more than one newest checkpoint");
    }
    Ok((head, vkey))
}

/// The level and index of a tile, if a log can have it.
fn tile_name(row: &Row<'_>) -> Option<(u32, u64)> {
    let level = integer(row, 0, "level").ok().and_then(|level| u32::try_from(level).ok()).filter(|level| *level < 7)?;
    let index = integer(row, 1, "idx").ok().and_then(|index| u64::try_from(index).ok())?;
    Some((level, index))
}

impl Tiles for Connection {
    fn tile(&self, level: u32, index: u64) -> Result<Option<Vec<u8>>, String> {
        let read = || {
            let mut select = self.prepare(TILE)?;
            let mut rows = select.query((level, i64::try_from(index).unwrap_or(-1)))?;
            rows.next()?.map(|row| Ok(blob(row, 0, "hashes"))).transpose()
        };
        read().map_err(|why: rusqlite::Error| format!("cannot be read: {why}"))?.transpose()
    }
    fn extra(&self, size: u64) -> Result<u64, String> {
        let count = || {
            let mut select = self.prepare(TILE_NAMES)?;
            let mut rows = select.query(())?;
            let (mut extra, mut before) = (0, None);
            while let Some(row) = rows.next()? {
                let name = tile_name(row);
                let is_due = name.is_some_and(|(level, index)| index < size >> (8 * (level + 1)));
                extra += u64::from(!is_due || name == before);
                before = name;
            }
            Ok(extra)
        };
        count().map_err(|why: rusqlite::Error| format!("cannot be read: {why}"))
    }
}

fn integer(row: &Row<'_>, column: usize, name: &str) -> Result<i64, String> {
    match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => Ok(number),
        other => Err(unexpected(name, other)),
    }
}

fn blob(row: &Row<'_>, column: usize, name: &str) -> Result<Vec<u8>, String> {
    match row.get_ref(column) {
        Ok(ValueRef::Blob(bytes)) => Ok(bytes.to_vec()),
        other => Err(unexpected(name, other)),
    }
}

fn text(row: &Row<'_>, column: usize, name: &str) -> Result<String, String> {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8(bytes.into()).map_err(|_| format!("its `{name}` is not UTF-8")),
        other => Err(unexpected(name, other)),
    }
}

fn unexpected(name: &str, value: rusqlite::Result<ValueRef<'_>>) -> String {
    match value {
        Ok(value) => format!("its `{name}` cannot be of the type {}", value.data_type()),
        Err(why) => format!("its `{name}` cannot be read: {why}"),
    }
}
