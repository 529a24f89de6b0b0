//! Table of webhook subscriptions. A deleted one is kept because of its deliveries, and shown nowhere.

pub mod events;

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::list::{self, List};
use super::{Position, json, parsed};
use types::id::ActorId;
use types::time::Time;
use types::webhook::{SignatureFormat, Topic, WebhookStatus};

/// A webhook subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: String,
    pub owner: ActorId,
    pub host: String,
    pub url: String,
    pub topics: BTreeSet<Topic>,
    /// Only events caused by these agents; by anybody if empty.
    pub agents: BTreeSet<ActorId>,
    pub description: String,
    pub include_output: bool,
    pub format: SignatureFormat,
    pub status: WebhookStatus,
    /// The number of the signing secret, counted from the first.
    pub generation: u32,
    /// Until when the previous secret signs too.
    pub both_until: Option<Time>,
    /// The first failure since the last delivery.
    pub failing_since: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    pub deleted: bool,
}

const COLUMNS: &str = "id, owner, host, url, topics, agents, description, include_output, format, status, generation, \
                       both_until, failing_since, created_at, updated_at, deleted";

fn read(row: &Row<'_>) -> rusqlite::Result<Webhook> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Time));
    Ok(Webhook {
        id: row.get(0)?,
        owner: parsed(row, 1)?,
        host: row.get(2)?,
        url: row.get(3)?,
        topics: json(row, 4)?,
        agents: json(row, 5)?,
        description: row.get(6)?,
        include_output: row.get(7)?,
        format: parsed(row, 8)?,
        status: parsed(row, 9)?,
        generation: row.get(10)?,
        both_until: time(11)?,
        failing_since: time(12)?,
        created_at: Time(row.get(13)?),
        updated_at: Time(row.get(14)?),
        deleted: row.get(15)?,
    })
}

/// Returns a subscription, even a deleted one.
pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Webhook>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM webhook WHERE id = ?"))?.query_row([id], read).optional()
}

/// Returns every enabled subscription, oldest first, for the in-memory directory.
pub fn enabled(conn: &Connection) -> rusqlite::Result<Vec<Webhook>> {
    let sql =
        format!("SELECT {COLUMNS} FROM webhook WHERE deleted = 0 AND status <> 'disabled' ORDER BY created_at, id");
    conn.prepare_cached(&sql)?.query_map([], read)?.collect()
}

/// How webhooks are listed.
pub const LIST: List<Webhook> = List {
    table: "webhook",
    columns: COLUMNS,
    there: "deleted = 0",
    own: &["owner = ?4"],
    theirs: &[],
    read,
    complete: list::whole,
    position,
};

pub fn position(webhook: &Webhook) -> Position {
    Position { at: webhook.created_at.0, id: webhook.id.clone() }
}

/// Returns the webhooks that somebody owns.
pub fn of(conn: &Connection, owner: &ActorId) -> rusqlite::Result<Vec<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM webhook WHERE deleted = 0 AND owner = ? ORDER BY created_at, id");
    conn.prepare_cached(&sql)?.query_map([owner.as_str()], read)?.collect()
}

pub fn count(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("SELECT count(*) FROM webhook WHERE deleted = 0", [], |row| row.get(0))
}

/// Returns the enabled ones with the fingerprint of the key that their secrets derive from; `None` if not recorded. Separate,
/// because no fold reads it: a file from before it was recorded is folded without it.
pub fn made_from(conn: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT id, made_from FROM webhook WHERE deleted = 0 AND status <> 'disabled' ORDER BY created_at, id";
    conn.prepare_cached(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
