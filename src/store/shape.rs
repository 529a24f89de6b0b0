//! Whether a file's schema is the one that this version makes: its tables, indexes and nothing else. A trigger or a view that
//! somebody adds changes what is allowed without an entry in the log.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::brain::table;

/// What is otherwise than in a fresh file; empty where nothing is. `schemas` are the migrations, oldest first.
pub fn strange(conn: &Connection, schemas: &[&str]) -> rusqlite::Result<Vec<String>> {
    let fresh = Connection::open_in_memory()?;
    schemas.iter().try_for_each(|sql| fresh.execute_batch(sql))?;
    // A file that is not ours has no collections, and that is told below.
    for collection in super::brain::collections(conn).unwrap_or_default() {
        table::made_by(&collection).iter().try_for_each(|sql| fresh.execute_batch(sql))?;
    }
    let (mut wanted, found) = (parts(&fresh)?, parts(conn)?);
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

type Parts = BTreeMap<(String, String), Option<String>>;

/// Everything in a schema by kind and name, with its text. What `ANALYZE` leaves behind only guides queries.
fn parts(conn: &Connection) -> rusqlite::Result<Parts> {
    conn.prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'")?
        .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
        .collect()
}
