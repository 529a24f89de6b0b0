//! What is to be done outside, as the log intends it: kept from the transaction that wants it until its outcome is
//! recorded. Only deliveries to webhooks so far.

pub mod events;
pub(crate) mod table;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use serde_json::Value;

use super::{Position, parsed, parsed_or_null};
use types::id::ActorId;
use types::target::Target;
use types::time::Time;
use types::webhook::{IntentState, Outcome};

/// One thing that can be told outside.
pub struct News {
    pub topic: &'static str,
    /// The one subscription that it is for; all of its topic if none.
    pub only: Option<String>,
    /// Whose doing it is, where that is not who brought it about.
    pub of: Option<ActorId>,
    /// What its owner must be allowed to read, and by which operation.
    pub about: Option<(&'static str, Target)>,
    pub data: Value,
}

/// How many ended ones are kept for each recipient; the log has them all.
pub const KEPT: i64 = 1_000;

/// One thing to do, or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    pub id: String,
    /// Whom it goes to: a webhook's id.
    pub recipient: String,
    pub topic: String,
    pub body: String,
    pub state: IntentState,
    /// Attempts so far, since it was last wanted.
    pub attempts: u32,
    /// When it is tried next; unless it has ended.
    pub due_at: Option<Time>,
    pub created_at: Time,
    pub ended_at: Option<Time>,
    pub last_at: Option<Time>,
    pub last_outcome: Option<Outcome>,
    pub http_status: Option<u16>,
    pub error: Option<String>,
}

const COLUMNS: &str = "id, recipient, topic, body, state, attempts, due_at, created_at, ended_at, last_at, last_outcome, \
                       http_status, error";

fn read(row: &Row<'_>) -> rusqlite::Result<Intent> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Time));
    Ok(Intent {
        id: row.get(0)?,
        recipient: row.get(1)?,
        topic: row.get(2)?,
        body: row.get(3)?,
        state: parsed(row, 4)?,
        attempts: row.get(5)?,
        due_at: time(6)?,
        created_at: Time(row.get(7)?),
        ended_at: time(8)?,
        last_at: time(9)?,
        last_outcome: parsed_or_null(row, 10)?,
        http_status: row.get(11)?,
        error: row.get(12)?,
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Intent>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM outbox WHERE id = ?"))?.query_row([id], read).optional()
}

/// The first thing to do for a recipient.
pub fn first(conn: &Connection, recipient: &str) -> rusqlite::Result<Option<Intent>> {
    let sql =
        format!("SELECT {COLUMNS} FROM outbox WHERE recipient = ? AND state = 'pending' ORDER BY due_at, id LIMIT 1");
    conn.prepare_cached(&sql)?.query_row([recipient], read).optional()
}

/// What was tried last for a recipient.
pub fn last_tried(conn: &Connection, recipient: &str) -> rusqlite::Result<Option<Intent>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outbox WHERE recipient = ? AND last_at IS NOT NULL ORDER BY last_at DESC, id DESC LIMIT 1"
    );
    conn.prepare_cached(&sql)?.query_row([recipient], read).optional()
}

/// What there is for a recipient after a position, newest first.
pub fn after(conn: &Connection, recipient: &str, from: &Position, limit: usize) -> rusqlite::Result<Vec<Intent>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM outbox WHERE recipient = ?4 AND (created_at < ?1 OR (created_at = ?1 AND id > ?2)) \
         ORDER BY created_at DESC, id LIMIT ?3"
    ))?
    .query_map(params![from.at, from.id, limit as i64, recipient], read)?
    .collect()
}

pub fn position(intent: &Intent) -> Position {
    Position { at: intent.created_at.0, id: intent.id.clone() }
}
