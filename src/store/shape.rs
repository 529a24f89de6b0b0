//! Whether a file's schema is the one that this version makes: its tables, indexes and nothing else. A trigger or a view that
//! somebody adds changes what is allowed without an entry in the log.

use std::collections::BTreeMap;

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::brain::table;

/// The digest of all that a fresh file has, which `tests/reference.rs` writes. To make a fresh file takes longer than to open one.
const FRESH: &str = include_str!("shape.txt");

/// What is otherwise than in a fresh file of the same version; empty where nothing is. `schemas` are the migrations, oldest first.
pub fn strange(conn: &Connection, schemas: &[&str]) -> rusqlite::Result<Vec<String>> {
    let (version, found) = (version(conn)?, parts(conn)?);
    if version == schemas.len() && digest(&found) == FRESH.trim_end() {
        return Ok(Vec::new());
    }
    let fresh = made(schemas.iter().take(version))?;
    // A file that is not ours has no collections, and that is told below.
    for collection in super::brain::collections(conn).unwrap_or_default() {
        table::made_by(&collection).iter().try_for_each(|sql| fresh.execute_batch(sql))?;
    }
    let mut wanted = parts(&fresh)?;
    let mut strange = Vec::new();
    for ((kind, name), sql) in found {
        match wanted.remove(&(kind.clone(), name.clone())) {
            None => strange.push(format!("the {kind} `{name}` is none of this version")),
            Some(own) if own != sql => strange.push(format!("the {kind} `{name}` is not as this version makes it")),
            Some(_) => {}
        }
    }
    strange.extend(wanted.into_keys().map(|(kind, name)| format!("the {kind} `{name}` is missing")));
    Ok(strange)
}

/// The digest of all that a fresh file has after these migrations.
pub fn of_fresh(schemas: &[&str]) -> rusqlite::Result<String> {
    Ok(digest(&parts(&made(schemas.iter())?)?))
}

fn made<'a>(mut schemas: impl Iterator<Item = &'a &'a str>) -> rusqlite::Result<Connection> {
    let fresh = Connection::open_in_memory()?;
    schemas.try_for_each(|sql| fresh.execute_batch(sql))?;
    Ok(fresh)
}

fn digest(parts: &Parts) -> String {
    hex::encode(Sha256::digest(format!("{parts:?}")))
}

/// How many migrations a file has seen.
pub fn version(conn: &Connection) -> rusqlite::Result<usize> {
    conn.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).map(|version| version.unsigned_abs() as usize)
}

/// The comments of a table say nothing of what it holds.
fn without_comments(sql: &str) -> String {
    sql.lines().map(|line| line.split("--").next().unwrap_or_default().trim_end()).collect::<Vec<_>>().join("\n")
}

type Parts = BTreeMap<(String, String), Option<String>>;

/// Everything in a schema by kind and name, with its text. What `ANALYZE` leaves behind only guides queries.
fn parts(conn: &Connection) -> rusqlite::Result<Parts> {
    conn.prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'")?
        .query_map([], |row| {
            let sql: Option<String> = row.get(2)?;
            Ok(((row.get(0)?, row.get(1)?), sql.as_deref().map(without_comments)))
        })?
        .collect()
}
