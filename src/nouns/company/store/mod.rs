//! The table of the company: its name and settings, and what was created with the state file.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _, params};

use types::decision::Recording;
use types::time::Time;

/// Data of the state file itself.
#[derive(Clone)]
pub struct Instance {
    pub ulid: String,
    pub sealing: [u8; 32],
}

pub fn instance(conn: &Connection) -> rusqlite::Result<Option<Instance>> {
    conn.query_row("SELECT ulid, sealing FROM instance", [], |row| {
        Ok(Instance { ulid: row.get(0)?, sealing: row.get(1)? })
    })
    .optional()
}

/// Returns since when entries name the token used: from the beginning, unless an earlier version created the file.
pub fn tokens_named_since(conn: &Connection) -> rusqlite::Result<Option<Time>> {
    let since = conn.query_row("SELECT tokens_named_since FROM instance", [], |row| row.get::<_, Option<i64>>(0));
    Ok(since.optional()?.flatten().map(Time))
}

pub fn make_instance(conn: &Connection, instance: &Instance) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT INTO instance (id, ulid, sealing) VALUES (1, ?, ?)",
        params![instance.ulid, instance.sealing],
    )?;
    Ok(())
}

/// The setting that enables embeddings of knowledge.
pub const VECTOR_SEARCH: &str = "vector_search";

#[derive(Clone, Debug)]
pub struct Company {
    pub name: String,
    pub version: i64,
    pub settings: serde_json::Value,
    pub created_at: Time,
}

pub fn get(conn: &Connection) -> rusqlite::Result<Company> {
    conn.prepare_cached("SELECT name, version, settings, created_at FROM company")?.query_row([], |row| {
        Ok(Company {
            name: row.get(0)?,
            version: row.get(1)?,
            settings: super::json(row, 2)?,
            created_at: Time(row.get(3)?),
        })
    })
}

/// Returns which decisions for other programs are recorded, by the settings.
pub fn recording(conn: &Connection) -> rusqlite::Result<Recording> {
    let set = conn.query_row("SELECT json_extract(settings, '$.decisions.record') FROM company", [], |row| {
        Ok(row.get::<_, Option<String>>(0)?.and_then(|name| Recording::named(&name)))
    });
    Ok(set.optional()?.flatten().unwrap_or_default())
}
