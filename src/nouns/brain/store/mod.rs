//! Tables of the company's own data: collections, their records with all versions, flags, and schema proposals. Each collection
//! is a table of its own, created by the fold; its records are found by the columns that its definition names.

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
    /// The fields without personal data.
    pub fields: Map<String, Value>,
    pub created_by: ActorId,
    pub created_at: Time,
    pub updated_by: ActorId,
    pub updated_at: Time,
}

/// An earlier version of a record.
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

/// A problem that somebody noticed with a record.
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

/// A proposed schema change of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    pub id: String,
    pub collection: String,
    pub ops: Vec<Operation>,
    /// The base version of the collection; 0 if there was none.
    pub base: i64,
    pub reason: String,
    pub proposer: ActorId,
    pub status: ProposalStatus,
    pub created_at: Time,
}

/// Returns a collection by name, with its version.
pub fn collection(conn: &Connection, name: &str) -> rusqlite::Result<Option<(Collection, i64)>> {
    conn.prepare_cached("SELECT definition, version FROM collection WHERE name = ?")?
        .query_row([name], |row| Ok((json(row, 0)?, row.get(1)?)))
        .optional()
}

/// Checks whether a collection of this name exists, without parsing it.
pub fn has_collection(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM collection WHERE name = ?)";
    conn.prepare_cached(sql)?.query_row([name], |row| row.get(0))
}

/// Returns every collection.
pub fn collections(conn: &Connection) -> rusqlite::Result<Vec<Collection>> {
    conn.prepare_cached("SELECT definition FROM collection ORDER BY name")?.query_map([], |row| json(row, 0))?.collect()
}

/// Returns a record, if it exists.
pub fn get(conn: &Connection, of: &Collection, id: &str) -> rusqlite::Result<Option<Record>> {
    conn.prepare_cached(&format!("{} WHERE id = ?", table::select(of)))?
        .query_row([id], |row| table::read(row, of))
        .optional()
}

/// Returns the record with this key.
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

/// Checks whether another record has this value in a unique field.
pub fn taken(conn: &Connection, of: &Collection, field: &str, value: &Value, id: &str) -> rusqlite::Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM {} WHERE {} = ? AND id <> ?)",
        table::name(of.name()),
        table::column(field)
    );
    conn.prepare_cached(&sql)?.query_row(params![table::stored(of, field, Some(value)), id], |row| row.get(0))
}

/// Checks whether any record has a text in this field other than these.
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

/// Checks whether any record lacks a value of a field.
pub fn any_lacks(conn: &Connection, of: &Collection, field: &str) -> rusqlite::Result<bool> {
    let (table, column) = (table::name(of.name()), table::column(field));
    conn.prepare(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} IS NULL)"))?
        .query_row([], |row| row.get(0))
}

/// Checks whether any record has a number below the first or above the second bound, given in this type.
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

/// Checks whether any record has different values in two fields.
pub fn any_differ(conn: &Connection, of: &Collection, one: &str, other: &str) -> rusqlite::Result<bool> {
    let (table, one, other) = (table::name(of.name()), table::column(one), table::column(other));
    conn.prepare(&format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {one} <> {other})"))?
        .query_row([], |row| row.get(0))
}

/// Counts the records.
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

/// Returns a record's versions before one, newest first.
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

/// Returns a record's version at a time.
pub fn as_of(conn: &Connection, collection: &str, id: &str, at: Time) -> rusqlite::Result<Option<Version>> {
    conn.prepare_cached(&format!(
        "{VERSION} WHERE collection = ? AND id = ? AND at <= ? AND removed = 0 ORDER BY version DESC LIMIT 1"
    ))?
    .query_row(params![collection, id, at.0], read_version)
    .optional()
}

/// Returns a record's first version: who created it, and when.
pub fn origin(conn: &Connection, collection: &str, id: &str) -> rusqlite::Result<Option<Version>> {
    conn.prepare_cached(&format!("{VERSION} WHERE collection = ? AND id = ? ORDER BY version LIMIT 1"))?
        .query_row(params![collection, id], read_version)
        .optional()
}

/// Returns record ids of a collection after an id, including deleted records.
pub fn ids_after(conn: &Connection, collection: &str, after: &str, limit: usize) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT DISTINCT id FROM record_version WHERE collection = ? AND id > ? ORDER BY id LIMIT ?")?
        .query_map(params![collection, after, limit as i64], |row| row.get(0))?
        .collect()
}

/// Returns a record's flags.
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

/// Returns the newest proposals for a collection.
pub fn proposals_about(conn: &Connection, collection: &str) -> rusqlite::Result<Vec<Proposal>> {
    let sql = format!(
        "SELECT {PROPOSAL} FROM schema_proposal WHERE collection = ? ORDER BY created_at DESC, id LIMIT {LOOKED_AT}"
    );
    conn.prepare_cached(&sql)?.query_map([collection], read_proposal)?.collect()
}

/// How many of them are read.
const LOOKED_AT: usize = 100;

/// Counts somebody's open proposals.
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
