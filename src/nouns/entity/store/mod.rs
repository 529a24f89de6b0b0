//! The table of stored entities.

pub mod events;

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::{Map, Value};

use super::{Position, json};
use types::time::Time;

/// A stored entity.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Its id in events.
    pub id: String,
    pub kind: String,
    /// Its id within its type.
    pub name: String,
    pub properties: Map<String, Value>,
    /// The event with its current description.
    pub seq: i64,
    pub kept_at: Time,
}

const COLUMNS: &str = "id, kind, name, properties, seq, kept_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Entity> {
    Ok(Entity {
        id: row.get(0)?,
        kind: row.get(1)?,
        name: row.get(2)?,
        properties: json(row, 3)?,
        seq: row.get(4)?,
        kept_at: Time(row.get(5)?),
    })
}

pub fn named(conn: &Connection, kind: &str, name: &str) -> rusqlite::Result<Option<Entity>> {
    let sql = format!("SELECT {COLUMNS} FROM entity WHERE kind = ? AND name = ?");
    conn.prepare_cached(&sql)?.query_row([kind, name], read).optional()
}

/// Returns entities of a type after a name, by name.
pub fn of_kind(conn: &Connection, kind: &str, after: &str, limit: usize) -> rusqlite::Result<Vec<Entity>> {
    let sql = format!("SELECT {COLUMNS} FROM entity WHERE kind = ? AND name > ? ORDER BY name LIMIT ?");
    conn.prepare_cached(&sql)?.query_map(params![kind, after, limit as i64], read)?.collect()
}

/// Returns entities of all types or one, newest first.
pub fn after(conn: &Connection, kind: Option<&str>, from: &Position, limit: usize) -> rusqlite::Result<Vec<Entity>> {
    // Each form uses an index of its own.
    let of_kind = if kind.is_some() { "kind = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "SELECT {COLUMNS} FROM entity WHERE {of_kind} AND (kept_at < ?2 OR (kept_at = ?2 AND id > ?3)) \
         ORDER BY kept_at DESC, id LIMIT ?4"
    );
    conn.prepare_cached(&sql)?.query_map(params![kind, from.at, from.id, limit as i64], read)?.collect()
}

pub fn position(entity: &Entity) -> Position {
    Position { at: entity.kept_at.0, id: entity.id.clone() }
}

pub fn count(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("SELECT count(*) FROM entity")?.query_row([], |row| row.get(0))
}

/// Returns the types with any entity: one index lookup per type, however many entities there are.
pub fn kinds(conn: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let next = "SELECT kind FROM entity WHERE kind > ? ORDER BY kind LIMIT 1";
    let mut next = conn.prepare_cached(next)?;
    let mut kinds = BTreeSet::new();
    while let Some(kind) = next.query_row([kinds.last().map_or("", String::as_str)], |row| row.get(0)).optional()? {
        kinds.insert(kind);
    }
    Ok(kinds)
}
