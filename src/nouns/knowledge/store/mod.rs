//! Table of knowledge. Statements are content that can be erased (`store::content`).

pub mod documents;
pub mod events;
pub mod vectors;

use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::list::{self, List};
use super::{Position, json, parsed, parsed_or_null};
use types::field::Label;
use types::id::ActorId;
use types::knowledge::{KnowledgeKind, KnowledgeStatus, Origin, SourceKind};
use types::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge {
    pub id: String,
    pub kind: KnowledgeKind,
    pub topics: Vec<String>,
    /// The team it is about; `None` with `person`, or for the whole company.
    pub team: Option<ActorId>,
    pub person: Option<ActorId>,
    pub status: KnowledgeStatus,
    pub origin: Origin,
    pub source: SourceKind,
    /// Why it was quarantined.
    pub reasons: Vec<String>,
    /// The labels of what its run had read.
    pub labels: Vec<Label>,
    /// Whether it was edited on acceptance.
    pub edited: bool,
    /// The proposer's confidence, in percent.
    pub confidence: Option<u8>,
    pub proposer: ActorId,
    /// The run in which it was learnt.
    pub run: Option<String>,
    pub supersedes: Option<String>,
    pub superseded_by: Option<String>,
    pub decided_by: Option<ActorId>,
    pub expires_at: Option<Time>,
    pub version: i64,
    pub created_at: Time,
    pub updated_at: Time,
}

const COLUMNS: &str = "id, kind, topics, team, person, status, origin, source, reasons, labels, edited, confidence, proposer, \
                       run, supersedes, superseded_by, decided_by, expires_at, version, created_at, updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Knowledge> {
    Ok(Knowledge {
        id: row.get(0)?,
        kind: parsed(row, 1)?,
        topics: json(row, 2)?,
        team: parsed_or_null(row, 3)?,
        person: parsed_or_null(row, 4)?,
        status: parsed(row, 5)?,
        origin: parsed(row, 6)?,
        source: parsed(row, 7)?,
        reasons: json(row, 8)?,
        labels: json(row, 9)?,
        edited: row.get(10)?,
        confidence: row.get(11)?,
        proposer: parsed(row, 12)?,
        run: row.get(13)?,
        supersedes: row.get(14)?,
        superseded_by: row.get(15)?,
        decided_by: parsed_or_null(row, 16)?,
        expires_at: row.get::<_, Option<i64>>(17)?.map(Time),
        version: row.get(18)?,
        created_at: Time(row.get(19)?),
        updated_at: Time(row.get(20)?),
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Knowledge>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM knowledge WHERE id = ?"))?.query_row([id], read).optional()
}

fn position(entry: &Knowledge) -> Position {
    Position { at: entry.created_at.0, id: entry.id.clone() }
}

/// How entries are listed.
pub const LIST: List<Knowledge> = List {
    table: "knowledge",
    columns: COLUMNS,
    there: "TRUE",
    own: &["proposer = ?4", "person = ?4"],
    theirs: &[],
    read,
    complete: list::whole,
    position,
};

/// How quarantined entries are listed.
pub const QUARANTINE: List<Knowledge> =
    List { there: "status = 'quarantined'", own: &["status = 'quarantined' AND proposer = ?4"], ..LIST };

/// Returns accepted entries, newest first: those with any of these topics, or all.
pub fn accepted(conn: &Connection, topics: &[String], limit: usize) -> rusqlite::Result<Vec<Knowledge>> {
    let order = "ORDER BY created_at DESC, id LIMIT";
    if topics.is_empty() {
        let sql = format!("SELECT {COLUMNS} FROM knowledge WHERE status = 'accepted' {order} ?");
        return conn.prepare_cached(&sql)?.query_map([limit as i64], read)?.collect();
    }
    let places = vec!["?"; topics.len()].join(", ");
    let sql = format!(
        "SELECT {COLUMNS} FROM knowledge WHERE id IN (SELECT knowledge FROM knowledge_topic WHERE topic IN ({places})) \
         AND status = 'accepted' {order} {limit}"
    );
    conn.prepare(&sql)?.query_map(params_from_iter(topics), read)?.collect()
}

/// Counts a proposer's undecided entries, up to `most`.
pub fn open_of(conn: &Connection, proposer: &ActorId, most: usize) -> rusqlite::Result<usize> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM knowledge WHERE proposer = ? \
               AND status IN ('proposed', 'quarantined') LIMIT ?)";
    conn.prepare_cached(sql)?
        .query_row(params![proposer.as_str(), most as i64], |row| Ok(row.get::<_, u32>(0)? as usize))
}

/// Returns accepted entries past their expiry.
pub fn overdue(conn: &Connection, now: Time, limit: usize) -> rusqlite::Result<Vec<Knowledge>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM knowledge WHERE status = 'accepted' AND expires_at <= ? ORDER BY expires_at, id LIMIT ?"
    );
    conn.prepare_cached(&sql)?.query_map(params![now.0, limit as i64], read)?.collect()
}
