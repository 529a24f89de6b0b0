//! Table of inbox items. They come and go with their subjects, as folds of the log; only the read mark is set by the reader.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::Serialize;

use super::actors::{self, Status};
use super::moment::{Moment, Table};
use super::{Position, parsed, to_json};
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::mention::mentions;
use types::time::Time;

/// One thing to look at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Item {
    pub id: String,
    #[serde(skip)]
    pub actor: ActorId,
    pub kind: ItemKind,
    /// The id of what it is about.
    pub subject: String,
    #[schemars(extend("x-names" = "text"))]
    pub title: String,
    pub created_at: Time,
    pub read_at: Option<Time>,
    /// Set once there is nothing left to do about it.
    pub resolved_at: Option<Time>,
}

const COLUMNS: &str = "id, actor, kind, subject, title, created_at, read_at, resolved_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        id: row.get(0)?,
        actor: parsed(row, 1)?,
        kind: parsed(row, 2)?,
        subject: row.get(3)?,
        title: row.get(4)?,
        created_at: Time(row.get(5)?),
        read_at: row.get::<_, Option<i64>>(6)?.map(Time),
        resolved_at: row.get::<_, Option<i64>>(7)?.map(Time),
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Item>> {
    let sql = format!("SELECT {COLUMNS} FROM inbox WHERE id = ?");
    conn.prepare_cached(&sql)?.query_row([id], read).optional()
}

/// Returns an actor's items after a position, newest first: all, or only open ones. An item that waits for something is open
/// until resolved; one that only informs, until read.
pub fn after(
    conn: &Connection,
    actor: &ActorId,
    all: bool,
    from: &Position,
    limit: usize,
) -> rusqlite::Result<Vec<Item>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM inbox \
         WHERE actor = ?1 AND (?2 OR resolved_at IS NULL AND (kind IN ('approval', 'alert', 'question') OR read_at IS NULL)) AND (created_at < ?3 OR (created_at = ?3 AND id > ?4)) \
         ORDER BY created_at DESC, id LIMIT ?5"
    );
    let rows = params![actor.as_str(), all, from.at, from.id, limit as i64];
    conn.prepare_cached(&sql)?.query_map(rows, read)?.collect()
}

/// Returns the runs whose questions wait for an actor's answer.
pub fn questions(conn: &Connection, actor: &ActorId) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT subject FROM inbox WHERE actor = ? AND kind = 'question' AND resolved_at IS NULL ORDER BY id";
    conn.prepare_cached(sql)?.query_map([actor.as_str()], |row| row.get(0))?.collect()
}

/// Checks whether an actor's inbox covers an event at `at` about `subject`: the event added or resolved an item, or is a later
/// one about a thing that the actor was told of. Being mentioned in a text reveals that text only.
pub fn tells(conn: &Connection, actor: &ActorId, subject: &str, at: Time) -> rusqlite::Result<bool> {
    // Items about an actor's kill switch have its scope as subject.
    let sql = "SELECT EXISTS (SELECT 1 FROM inbox WHERE actor = ?1 AND subject IN (?2, 'actor:' || ?2) \
               AND (created_at = ?3 OR resolved_at = ?3 OR (?4 AND kind <> 'mention')))";
    // Later events about an actor whom somebody is responsible for are not covered.
    let thing = subject.parse::<ActorId>().is_err();
    conn.prepare_cached(sql)?.query_row(params![actor.as_str(), subject, at.0, thing], |row| row.get(0))
}

pub fn position(item: &Item) -> Position {
    Position { at: item.created_at.0, id: item.id.clone() }
}

pub(super) const TABLE: Table = Table { name: "inbox", key: "id" };

/// Adds an item: one per actor, subject and kind; adding it again makes it new.
pub(super) fn add(
    moment: &Moment<'_>,
    actor: &ActorId,
    kind: ItemKind,
    subject: &str,
    title: &str,
) -> rusqlite::Result<()> {
    add_as(moment, actor, kind, (subject, subject), title)
}

/// Adds one of several items about the same subject, told apart by `which`.
pub(super) fn add_as(
    moment: &Moment<'_>,
    actor: &ActorId,
    kind: ItemKind,
    (subject, which): (&str, &str),
    title: &str,
) -> rusqlite::Result<()> {
    // Ids of people and agents contain no colon, so no two items share an id.
    let id = format!("inb_{}.{which}:{actor}", kind.name());
    let sql = "INSERT OR REPLACE INTO inbox (id, actor, kind, subject, title, created_at, read_at, resolved_at) \
               VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)";
    let row = params![id, actor.as_str(), kind.name(), subject, title, moment.at.0];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// Returns who has an unresolved item about a subject.
pub(super) fn pending(conn: &Connection, kind: ItemKind, subject: &str) -> rusqlite::Result<Vec<ActorId>> {
    let sql = "SELECT actor FROM inbox WHERE subject = ? AND kind = ? AND resolved_at IS NULL ORDER BY actor";
    conn.prepare_cached(sql)?.query_map([subject, kind.name()], |row| parsed(row, 0))?.collect()
}

/// Resolves all items about a subject.
pub(super) fn resolve(moment: &Moment<'_>, subject: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE inbox SET resolved_at = ? WHERE subject = ? AND resolved_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, subject])?;
    Ok(())
}

/// Resolves the alerts about a subject.
pub(super) fn resolve_alerts(moment: &Moment<'_>, subject: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE inbox SET resolved_at = ? WHERE subject = ? AND kind = 'alert' AND resolved_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, subject])?;
    Ok(())
}

/// Resolves one actor's items about a subject.
pub(super) fn resolve_for(moment: &Moment<'_>, subject: &str, actor: &ActorId) -> rusqlite::Result<()> {
    let sql = "UPDATE inbox SET resolved_at = ? WHERE subject = ? AND actor = ? AND resolved_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, subject, actor.as_str()])?;
    Ok(())
}

/// Resolves all items about a subject, except questions to those still asked.
pub(super) fn resolve_but(moment: &Moment<'_>, subject: &str, asked: &[ActorId]) -> rusqlite::Result<()> {
    let sql = "UPDATE inbox SET resolved_at = ?1 WHERE subject = ?2 AND resolved_at IS NULL \
               AND NOT (kind = 'question' AND actor IN (SELECT value FROM json_each(?3)))";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, subject, to_json(&asked)?])?;
    Ok(())
}

/// Notifies people mentioned in a text.
pub(super) fn mention(moment: &Moment<'_>, subject: &Id, text: &str) -> rusqlite::Result<()> {
    let title = format!("{} mentions you in {subject}", moment.by);
    for person in mentions(text).iter().filter(|person| *person != moment.by) {
        if actors::get(moment.conn, person)?.is_some_and(|actor| actor.status == Status::Active) {
            add(moment, person, ItemKind::Mention, subject.as_str(), &title)?;
        }
    }
    Ok(())
}
