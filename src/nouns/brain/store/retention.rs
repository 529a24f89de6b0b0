//! Finds what exceeds a collection's retention: superseded versions of records, and long unchanged records.

use rusqlite::{Connection, params};

use super::table;
use types::collection::Collection;
use types::id::Id;
use types::time::Time;

/// Superseded versions of one record.
pub struct Overtaken {
    pub id: String,
    /// The version that stays; those before it are superseded.
    pub from: i64,
    /// How many are superseded.
    pub count: usize,
}

/// Returns up to `limit` versions of a collection's records superseded before a time.
pub fn overtaken(conn: &Connection, of: &str, before: Time, limit: usize) -> rusqlite::Result<Vec<Overtaken>> {
    let sql = "SELECT id, max(version), count(*) FROM (SELECT id, version FROM record_version WHERE collection = ? \
               AND follows = 1 AND at < ? ORDER BY at, version LIMIT ?) GROUP BY id ORDER BY id";
    conn.prepare_cached(sql)?
        .query_map(params![of, before.0, limit as i64], |row| {
            let count = usize::try_from(row.get::<_, i64>(2)?).unwrap_or(usize::MAX);
            Ok(Overtaken { id: row.get(0)?, from: row.get(1)?, count })
        })?
        .collect()
}

/// Returns records unchanged since a time, with their versions, longest unchanged first.
pub fn unchanged(
    conn: &Connection,
    of: &Collection,
    since: Time,
    limit: usize,
) -> rusqlite::Result<Vec<(String, i64)>> {
    let table = table::name(of.name());
    let sql = format!("SELECT id, version FROM {table} WHERE updated_at < ? ORDER BY updated_at, id LIMIT ?");
    conn.prepare_cached(&sql)?
        .query_map(params![since.0, limit as i64], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Removes a record's versions before one. Who created the record and when stays: policies look at it.
pub(super) fn remove(conn: &Connection, of: &str, id: &Id, from: i64) -> rusqlite::Result<()> {
    let first = "(SELECT min(version) FROM record_version WHERE collection = ?1 AND id = ?2)";
    let which = "collection = ?1 AND id = ?2";
    let row = params![of, id.as_str(), from];
    let sql = format!("DELETE FROM record_version WHERE {which} AND version > {first} AND version < ?3");
    conn.prepare_cached(&sql)?.execute(row)?;
    let sql = format!(
        "UPDATE record_version SET fields = '{{}}', run = NULL, removed = 1 WHERE {which} AND version = {first} \
         AND version < ?3"
    );
    conn.prepare_cached(&sql)?.execute(row)?;
    let sql = format!("UPDATE record_version SET follows = 0 WHERE {which} AND version = ?3");
    conn.prepare_cached(&sql)?.execute(row)?;
    Ok(())
}
