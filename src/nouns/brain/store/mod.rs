//! The company's own data: collections, their records with all that they were, flags, and proposals to change what records are
//! made of. Each collection is a table of its own, made by the fold; its records are found by the columns that its definition
//! says.

pub mod events;
mod fold;
pub mod query;
pub mod retention;
pub mod sum;
pub mod table;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::{Map, Value};

use super::list::{self, List};
use super::{Position, json, parsed};
use types::brain::{FlagKind, Operation, ProposalStatus, Written};
use types::collection::Collection;
use types::field::FieldKind;
use types::id::ActorId;
use types::time::Time;

/// A record as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub id: String,
    pub version: i64,
    /// Without what is personal.
    pub fields: Map<String, Value>,
    pub created_by: ActorId,
    pub created_at: Time,
    pub updated_by: ActorId,
    pub updated_at: Time,
}

/// A record as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub version: i64,
    pub what: Written,
    pub fields: Map<String, Value>,
    pub by: ActorId,
    /// The run that wrote it.
    pub run: Option<String>,
    pub at: Time,
}

/// What somebody noticed about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub id: String,
    pub collection: String,
    pub record: String,
    pub kind: FlagKind,
    pub note: String,
    pub by: ActorId,
    pub created_at: Time,
}

/// A change of what the records of a collection are made of, on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    pub id: String,
    pub collection: String,
    pub ops: Vec<Operation>,
    /// The collection's version that it was made from; 0 where there was none.
    pub base: i64,
    pub reason: String,
    pub proposer: ActorId,
    pub status: ProposalStatus,
    pub created_at: Time,
}

/// The collection of this name, with its version.
pub fn collection(conn: &Connection, name: &str) -> rusqlite::Result<Option<(Collection, i64)>> {
    conn.prepare_cached("SELECT definition, version FROM collection WHERE name = ?")?
        .query_row([name], |row| Ok((json(row, 0)?, row.get(1)?)))
        .optional()
}

/// Whether there is a collection of this name, whatever it is made of.
pub fn has_collection(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM collection WHERE name = ?)";
    conn.prepare_cached(sql)?.query_row([name], |row| row.get(0))
}

/// Every collection.
pub fn collections(conn: &Connection) -> rusqlite::Result<Vec<Collection>> {
    conn.prepare_cached("SELECT definition FROM collection ORDER BY name")?.query_map([], |row| json(row, 0))?.collect()
}

/// A record, if it is there now.
pub fn get(conn: &Connection, of: &Collection, id: &str) -> rusqlite::Result<Option<Record>> {
    conn.prepare_cached(&format!("{} WHERE id = ?", table::select(of)))?
        .query_row([id], |row| table::read(row, of))
        .optional()
}

/// The record with this key.
pub fn by_key(conn: &Connection, of: &Collection, fields: &Map<String, Value>) -> rusqlite::Result<Option<Record>> {
    let key = &of.spec.key;
    if key.is_empty() {
        return Ok(None);
    }
    let wanted: Vec<String> = key.iter().map(|field| format!("{} = ?", table::column(field))).collect();
    let values: Vec<_> = key.iter().map(|field| table::stored(of, field, fields.get(field))).collect();
    conn.prepare_cached(&format!("{} WHERE {}", table::select(of), wanted.join(" AND ")))?
        .query_row(rusqlite::params_from_iter(values), |row| table::read(row, of))
        .optional()
}

/// Another record that has this value in a field that no two have the same.
pub fn taken(conn: &Connection, of: &Collection, field: &str, value: &Value, id: &str) -> rusqlite::Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM {} WHERE {} = ? AND id <> ?)",
        table::name(of.name()),
        table::column(field)
    );
    conn.prepare_cached(&sql)?.query_row(params![table::stored(of, field, Some(value)), id], |row| row.get(0))
}

/// Whether any record has another text in a field than these.
pub fn has_other(conn: &Connection, of: &Collection, field: &str, texts: &[String]) -> rusqlite::Result<bool> {
    let places = vec!["?"; texts.len()].join(", ");
    let (table, column) = (table::name(of.name()), table::column(field));
    let is_list = of.field(field).is_some_and(|field| field.kind == FieldKind::Choices);
    let sql = match is_list {
        true => format!("SELECT EXISTS (SELECT 1 FROM {table}, json_each({column}) WHERE value NOT IN ({places}))"),
        false => format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} NOT IN ({places}))"),
    };
    conn.prepare(&sql)?.query_row(rusqlite::params_from_iter(texts), |row| row.get(0))
}

/// Whether any record has no value of a field.
pub fn any_lacks(conn: &Connection, of: &Collection, field: &str) -> rusqlite::Result<bool> {
    let (table, column) = (table::name(of.name()), table::column(field));
    conn.prepare(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} IS NULL)"))?
        .query_row([], |row| row.get(0))
}

/// Whether any record has a number below the first or above the second, which are of this type.
pub fn any_beyond(
    conn: &Connection,
    of: &Collection,
    (field, kind): (&str, FieldKind),
    (least, most): (Option<i64>, Option<i64>),
) -> rusqlite::Result<bool> {
    let (table, column) = (table::name(of.name()), table::converted(of.field(field), field, kind));
    conn.prepare(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} < ? OR {column} > ?)"))?
        .query_row(params![least, most], |row| row.get(0))
}

/// Whether any record has values of two fields that differ.
pub fn any_differ(conn: &Connection, of: &Collection, one: &str, other: &str) -> rusqlite::Result<bool> {
    let (table, one, other) = (table::name(of.name()), table::column(one), table::column(other));
    conn.prepare(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {one} <> {other})"))?
        .query_row([], |row| row.get(0))
}

/// How many records there are.
pub fn count(conn: &Connection, of: &Collection) -> rusqlite::Result<i64> {
    conn.prepare_cached(&format!("SELECT count(*) FROM {}", table::name(of.name())))?.query_row([], |row| row.get(0))
}

const VERSION: &str = "SELECT version, what, fields, by, run, at FROM record_version";

fn read_version(row: &Row<'_>) -> rusqlite::Result<Version> {
    Ok(Version {
        version: row.get(0)?,
        what: parsed(row, 1)?,
        fields: json(row, 2)?,
        by: parsed(row, 3)?,
        run: row.get(4)?,
        at: Time(row.get(5)?),
    })
}

/// What a record was, newest first, from before a version.
pub fn versions(
    conn: &Connection,
    collection: &str,
    id: &str,
    before: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Version>> {
    conn.prepare_cached(&format!(
        "{VERSION} WHERE collection = ? AND id = ? AND version < ? AND removed = 0 ORDER BY version DESC LIMIT ?"
    ))?
    .query_map(params![collection, id, before, limit as i64], read_version)?
    .collect()
}

/// What a record was at a time.
pub fn as_of(conn: &Connection, collection: &str, id: &str, at: Time) -> rusqlite::Result<Option<Version>> {
    conn.prepare_cached(&format!(
        "{VERSION} WHERE collection = ? AND id = ? AND at <= ? AND removed = 0 ORDER BY version DESC LIMIT 1"
    ))?
    .query_row(params![collection, id, at.0], read_version)
    .optional()
}

/// The first version of a record: who made it, and when.
pub fn origin(conn: &Connection, collection: &str, id: &str) -> rusqlite::Result<Option<Version>> {
    conn.prepare_cached(&format!("{VERSION} WHERE collection = ? AND id = ? ORDER BY version LIMIT 1"))?
        .query_row(params![collection, id], read_version)
        .optional()
}

/// Ids of a collection's records, of those too that are gone, after an id.
pub fn ids_after(conn: &Connection, collection: &str, after: &str, limit: usize) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT DISTINCT id FROM record_version WHERE collection = ? AND id > ? ORDER BY id LIMIT ?")?
        .query_map(params![collection, after, limit as i64], |row| row.get(0))?
        .collect()
}

/// What is noted of a record.
pub fn flags_of(conn: &Connection, collection: &str, record: &str) -> rusqlite::Result<Vec<Flag>> {
    let sql =
        format!("SELECT {FLAG} FROM record_flag WHERE collection = ? AND record = ? ORDER BY created_at DESC, id");
    conn.prepare_cached(&sql)?.query_map(params![collection, record], read_flag)?.collect()
}

const FLAG: &str = "id, collection, record, kind, note, by, created_at";

fn read_flag(row: &Row<'_>) -> rusqlite::Result<Flag> {
    Ok(Flag {
        id: row.get(0)?,
        collection: row.get(1)?,
        record: row.get(2)?,
        kind: parsed(row, 3)?,
        note: row.get(4)?,
        by: parsed(row, 5)?,
        created_at: Time(row.get(6)?),
    })
}

/// How flags are listed.
pub const FLAGS: List<Flag> = List {
    table: "record_flag",
    columns: FLAG,
    there: "TRUE",
    own: &["by = ?4"],
    theirs: &[],
    read: read_flag,
    complete: list::whole,
    position: |flag| Position { at: flag.created_at.0, id: flag.id.clone() },
};

const PROPOSAL: &str = "id, collection, ops, base, reason, proposer, status, created_at";

fn read_proposal(row: &Row<'_>) -> rusqlite::Result<Proposal> {
    Ok(Proposal {
        id: row.get(0)?,
        collection: row.get(1)?,
        ops: json(row, 2)?,
        base: row.get(3)?,
        reason: row.get(4)?,
        proposer: parsed(row, 5)?,
        status: parsed(row, 6)?,
        created_at: Time(row.get(7)?),
    })
}

pub fn proposal(conn: &Connection, id: &str) -> rusqlite::Result<Option<Proposal>> {
    conn.prepare_cached(&format!("SELECT {PROPOSAL} FROM schema_proposal WHERE id = ?"))?
        .query_row([id], read_proposal)
        .optional()
}

/// The newest proposals about a collection.
pub fn proposals_about(conn: &Connection, collection: &str) -> rusqlite::Result<Vec<Proposal>> {
    let sql = format!(
        "SELECT {PROPOSAL} FROM schema_proposal WHERE collection = ? ORDER BY created_at DESC, id LIMIT {LOOKED_AT}"
    );
    conn.prepare_cached(&sql)?.query_map([collection], read_proposal)?.collect()
}

/// How many of them are looked at.
const LOOKED_AT: usize = 100;

/// How many proposals of somebody are open.
pub fn open_proposals_of(conn: &Connection, proposer: &ActorId) -> rusqlite::Result<usize> {
    conn.prepare_cached("SELECT count(*) FROM schema_proposal WHERE proposer = ? AND status = 'proposed'")?
        .query_row([proposer.as_str()], |row| Ok(usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX)))
}

/// How proposals are listed.
pub const PROPOSALS: List<Proposal> = List {
    table: "schema_proposal",
    columns: PROPOSAL,
    there: "TRUE",
    own: &["proposer = ?4"],
    theirs: &[],
    read: read_proposal,
    complete: list::whole,
    position: |proposal| Position { at: proposal.created_at.0, id: proposal.id.clone() },
};
