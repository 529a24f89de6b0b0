//! The directory's history: each row that decisions read, from the entry that created it in this form to the entry that
//! changed it.
//!
//! Always true: what a fold changes in the directory is kept here in the same step, so the company at any point of the
//! log can be read without folding again.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::actors::{self, Actor};
use super::break_glass::{self, BreakGlass};
use super::delegations;
use super::kills::{self, Kill};
use super::memory::Touched;
use super::moment::{Moment, Table};
use super::{json, parsed, to_json};
use types::actor::Role;
use types::delegation::Terms;
use types::id::ActorId;
use types::time::Time;

pub(super) const TABLE: Table =
    Table { name: "directory_row", key: "kind || ' ' || id || ' ' || printf('%019d', since)" };

/// A part of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Actors,
    Kills,
    Delegations,
    BreakGlass,
}

impl Part {
    const ALL: [Part; 4] = [Part::Actors, Part::Kills, Part::Delegations, Part::BreakGlass];

    const fn name(self) -> &'static str {
        match self {
            Part::Actors => "actor",
            Part::Kills => "kill",
            Part::Delegations => "delegation",
            Part::BreakGlass => "break_glass",
        }
    }
}

/// A row of the directory.
pub trait Entry: Serialize + DeserializeOwned {
    const PART: Part;
    fn id(&self) -> String;
}

impl Entry for Actor {
    const PART: Part = Part::Actors;
    fn id(&self) -> String {
        self.id.to_string()
    }
}

impl Entry for Kill {
    const PART: Part = Part::Kills;
    fn id(&self) -> String {
        self.scope.to_string()
    }
}

impl Entry for Terms {
    const PART: Part = Part::Delegations;
    fn id(&self) -> String {
        self.id.clone()
    }
}

impl Entry for BreakGlass {
    const PART: Part = Part::BreakGlass;
    fn id(&self) -> String {
        self.id.to_string()
    }
}

/// Keeps what a fold has touched.
pub(super) fn keep(touched: &Touched, moment: &Moment<'_>) -> rusqlite::Result<()> {
    match touched {
        Touched::Actor(id) => actors::get(moment.conn, id)?.iter().try_for_each(|actor| put(moment, actor)),
        Touched::Delegations(ids) => {
            ids.iter().try_for_each(|id| match delegations::get(moment.conn, id)?.map(|delegation| delegation.terms) {
                Some(terms) if terms.status.is_live() => put(moment, &terms),
                Some(_) | None => end::<Terms>(moment, id),
            })
        }
        Touched::Kills => keep_all(moment, &kills::all(moment.conn)?),
        Touched::BreakGlass => keep_all(moment, &break_glass::unreviewed(moment.conn)?),
        // No decision reads them, or the log itself tells how they were.
        Touched::Nothing
        | Touched::Token(_)
        | Touched::Policy
        | Touched::Company
        | Touched::Trial
        | Touched::Webhooks
        | Touched::Entities => Ok(()),
    }
}

/// Keeps a part that is small: these rows, and no others.
fn keep_all<E: Entry>(moment: &Moment<'_>, rows: &[E]) -> rusqlite::Result<()> {
    let there: BTreeSet<String> = rows.iter().map(Entry::id).collect();
    let known: Vec<String> = moment
        .conn
        .prepare_cached("SELECT id FROM directory_row WHERE kind = ? AND until IS NULL")?
        .query_map([E::PART.name()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    known.iter().filter(|id| !there.contains(*id)).try_for_each(|id| end::<E>(moment, id))?;
    rows.iter().try_for_each(|row| put(moment, row))
}

/// Keeps one row, unless it is as it was.
fn put<E: Entry>(moment: &Moment<'_>, entry: &E) -> rusqlite::Result<()> {
    let (kind, id, row) = (E::PART.name(), entry.id(), to_json(entry)?);
    let known: Option<(i64, String)> = moment
        .conn
        .prepare_cached("SELECT since, row FROM directory_row WHERE kind = ? AND id = ? AND until IS NULL")?
        .query_row([kind, id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match known {
        Some((_, known)) if known == row => return Ok(()),
        Some(_) => end::<E>(moment, &id)?,
        None => {}
    }
    let sql = "INSERT INTO directory_row (kind, id, since, row) VALUES (?, ?, ?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![kind, id, moment.seq, row])?;
    Ok(())
}

fn end<E: Entry>(moment: &Moment<'_>, id: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE directory_row SET until = ?, ended = ? WHERE kind = ? AND id = ? AND until IS NULL";
    moment.conn.prepare_cached(sql)?.execute(params![moment.seq, moment.at.0, E::PART.name(), id])?;
    Ok(())
}

/// The rows as they were after the entry `seq`.
pub fn standing<E: Entry>(conn: &Connection, seq: i64) -> rusqlite::Result<Vec<E>> {
    // Two statements in one, because each is found by an index.
    let sql = "SELECT row FROM directory_row WHERE kind = ?1 AND until IS NULL AND since <= ?2 \
               UNION ALL SELECT row FROM directory_row WHERE kind = ?1 AND until > ?2 AND since <= ?2";
    conn.prepare_cached(sql)?.query_map(params![E::PART.name(), seq], |row| json(row, 0))?.collect()
}

/// Returns the actors whose rows as active admins ended after `since`. Times come from the clocks of all servers; a
/// clock that runs ahead leaves nobody out.
pub fn admins_since(conn: &Connection, since: Time) -> rusqlite::Result<BTreeSet<ActorId>> {
    let sql = "SELECT DISTINCT id FROM directory_row INDEXED BY directory_row_admin WHERE kind = 'actor' \
               AND row ->> 'role' = 'admin' AND ended IS NOT NULL AND ended > ? AND row ->> 'status' = 'active'";
    conn.prepare_cached(sql)?.query_map([since.0], |row| parsed(row, 0))?.collect()
}

/// The role that somebody had at a time, and whether they were there.
pub fn standing_at(conn: &Connection, id: &ActorId, at: Time) -> rusqlite::Result<Option<(Role, bool)>> {
    let sql = "SELECT row ->> 'role', row ->> 'status' = 'active' FROM directory_row \
               WHERE kind = 'actor' AND id = ? AND (ended IS NULL OR ended > ?) ORDER BY since LIMIT 1";
    conn.prepare_cached(sql)?.query_row(params![id.as_str(), at.0], |row| Ok((parsed(row, 0)?, row.get(1)?))).optional()
}

/// The rows that the entry `seq` made as they are.
pub fn made<E: Entry>(conn: &Connection, seq: i64) -> rusqlite::Result<Vec<E>> {
    conn.prepare_cached("SELECT row FROM directory_row WHERE since = ? AND kind = ?")?
        .query_map(params![seq, E::PART.name()], |row| json(row, 0))?
        .collect()
}

/// The ids of the rows that the entry `seq` changed or ended.
pub fn ended<E: Entry>(conn: &Connection, seq: i64) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT id FROM directory_row WHERE until = ? AND kind = ?")?
        .query_map(params![seq, E::PART.name()], |row| row.get(0))?
        .collect()
}

/// The parts that the entry `seq` changed.
pub fn moved(conn: &Connection, seq: i64) -> rusqlite::Result<BTreeSet<Part>> {
    let names: BTreeMap<&str, Part> = Part::ALL.map(|part| (part.name(), part)).into();
    let sql = "SELECT kind FROM directory_row WHERE since = ?1 UNION SELECT kind FROM directory_row WHERE until = ?1";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map([seq], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(found.iter().filter_map(|name| names.get(name.as_str()).copied()).collect())
}
