//! The table of people, agents and teams.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::{self, List};
use super::{Position, json, parsed, parsed_or_null};
use types::actor::{ActorKind, Role, Trust};
use types::id::ActorId;
use types::time::Time;

/// Whether an actor may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    Offboarded,
}

/// A person, an agent or a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    pub id: ActorId,
    pub kind: ActorKind,
    pub name: String,
    pub role: Role,
    /// The team it belongs to; for a team, the team above it.
    pub team: Option<ActorId>,
    /// For a team: the person who leads it.
    pub lead: Option<ActorId>,
    /// For an agent: the person who answers for it.
    pub owner: Option<ActorId>,
    /// Whether its role is `admin`.
    pub admin: bool,
    pub skills: Vec<String>,
    pub trust: Trust,
    pub status: Status,
    pub created_at: Time,
}

impl Actor {
    pub fn is_active_admin(&self) -> bool {
        self.admin && self.kind == ActorKind::Person && self.status == Status::Active
    }
}

const COLUMNS: &str = "id, kind, name, role, team, lead, owner, skills, trust, status, created_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Actor> {
    let role = parsed(row, 3)?;
    let status = match row.get_ref(9)?.as_str()? {
        "active" => Status::Active,
        _ => Status::Offboarded,
    };
    Ok(Actor {
        id: parsed(row, 0)?,
        kind: parsed(row, 1)?,
        name: row.get(2)?,
        role,
        team: parsed_or_null(row, 4)?,
        lead: parsed_or_null(row, 5)?,
        owner: parsed_or_null(row, 6)?,
        admin: role == Role::Admin,
        skills: json(row, 7)?,
        trust: parsed(row, 8)?,
        status,
        created_at: Time(row.get(10)?),
    })
}

pub fn get(conn: &Connection, id: &ActorId) -> rusqlite::Result<Option<Actor>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM actor WHERE id = ?"))?.query_row([id.as_str()], read).optional()
}

/// Returns all teams above an actor, direct and indirect. Each team of a cycle is returned once.
pub fn teams_above(conn: &Connection, id: &ActorId) -> rusqlite::Result<Vec<ActorId>> {
    let sql = "WITH RECURSIVE above (team) AS (SELECT team FROM actor WHERE id = ? \
               UNION SELECT actor.team FROM above JOIN actor ON actor.id = above.team) \
               SELECT team FROM above WHERE team IS NOT NULL";
    conn.prepare_cached(sql)?.query_map([id.as_str()], |row| parsed(row, 0))?.collect()
}

/// Returns up to `limit` ids with a prefix, after a given id.
pub fn ids_after(conn: &Connection, after: &str, beginning: &str, limit: usize) -> rusqlite::Result<Vec<ActorId>> {
    // Ids contain no character after `z`.
    let sql = "SELECT id FROM actor WHERE id > ?1 AND id >= ?2 AND id < ?2 || '~' ORDER BY id LIMIT ?3";
    let given = rusqlite::params![after, beginning, limit as i64];
    conn.prepare_cached(sql)?.query_map(given, |row| parsed(row, 0))?.collect()
}

/// Returns every actor, for the in-memory directory.
pub fn all(conn: &Connection) -> rusqlite::Result<Vec<Actor>> {
    conn.prepare(&format!("SELECT {COLUMNS} FROM actor"))?.query_map([], read)?.collect()
}

/// How actors are listed.
pub const LIST: List<Actor> = List {
    table: "actor",
    columns: COLUMNS,
    there: "TRUE",
    own: &[
        "id = ?4",
        "owner = ?4",
        "lead = ?4",
        "team = (SELECT team FROM actor WHERE id = ?4)",
        "team IN (SELECT id FROM actor WHERE lead = ?4)",
    ],
    theirs: &[],
    read,
    complete: list::whole,
    position,
};

pub fn position(actor: &Actor) -> Position {
    Position { at: actor.created_at.0, id: actor.id.to_string() }
}

/// Returns the definition from which an agent was hired.
pub fn definition(conn: &Connection, id: &ActorId) -> rusqlite::Result<Option<serde_json::Value>> {
    conn.prepare_cached("SELECT definition FROM agent_definition WHERE actor = ?")?
        .query_row([id.as_str()], |row| json(row, 0))
        .optional()
}
