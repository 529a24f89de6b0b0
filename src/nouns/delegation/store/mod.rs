//! The tables of delegations and their budgets. What is reserved of a budget is either the holder's own reservation or the
//! budget of a delegation that was passed on; a delegation that ends releases what it no longer needs.

pub mod events;

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::list::{self, List};
use super::{Position, json, parsed};
use types::delegation::Terms;
use types::id::ActorId;
use types::operations::Operations;
use types::time::Time;

/// A delegation with its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    pub terms: Terms,
    /// `None` without a limit by its giver.
    pub budget_cents: Option<i64>,
    pub spent_cents: i64,
    pub reserved_cents: i64,
    pub created_at: Time,
    pub ended_at: Option<Time>,
}

impl Delegation {
    /// Returns what can still be reserved; `None` without a budget.
    pub fn left_cents(&self) -> Option<i64> {
        self.budget_cents.map(|budget| (budget - self.spent_cents - self.reserved_cents).max(0))
    }

    /// Returns what goes back to the giver's budget when it ends.
    fn unused(&self) -> i64 {
        self.budget_cents.map_or(0, |budget| (budget - self.reserved_cents).max(0))
    }
}

/// A reserved part of a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub delegation: String,
    pub cents: i64,
    /// The actual cost, once settled.
    pub settled_cents: Option<i64>,
}

const COLUMNS: &str = "id, giver, taker, scope, authority, tools, expires_at, parent, depth, chain, status, \
                       budget_cents, spent_cents, reserved_cents, created_at, ended_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Delegation> {
    Ok(Delegation {
        terms: Terms {
            id: row.get(0)?,
            from: parsed(row, 1)?,
            to: parsed(row, 2)?,
            scope: json::<Operations>(row, 3)?,
            authority: parsed(row, 4)?,
            tools: json::<BTreeSet<String>>(row, 5)?,
            expires_at: Time(row.get(6)?),
            parent: row.get(7)?,
            depth: row.get(8)?,
            chain: json(row, 9)?,
            status: parsed(row, 10)?,
        },
        budget_cents: row.get(11)?,
        spent_cents: row.get(12)?,
        reserved_cents: row.get(13)?,
        created_at: Time(row.get(14)?),
        ended_at: row.get::<_, Option<i64>>(15)?.map(Time),
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Delegation>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM delegation WHERE id = ?"))?.query_row([id], read).optional()
}

/// Returns every live delegation, for the in-memory directory.
pub fn all_live(conn: &Connection) -> rusqlite::Result<Vec<Delegation>> {
    conn.prepare(&format!("SELECT {COLUMNS} FROM delegation WHERE ended_at IS NULL"))?.query_map([], read)?.collect()
}

/// How delegations are listed.
pub const LIST: List<Delegation> = List {
    table: "delegation",
    columns: COLUMNS,
    there: "TRUE",
    own: &["giver = ?4", "taker = ?4"],
    theirs: &[],
    read,
    complete: list::whole,
    position,
};

pub fn position(delegation: &Delegation) -> Position {
    Position { at: delegation.created_at.0, id: delegation.terms.id.clone() }
}

/// Returns the live sub-delegations of a delegation.
pub fn live_children(conn: &Connection, id: &str) -> rusqlite::Result<Vec<Delegation>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM delegation WHERE parent = ? AND ended_at IS NULL ORDER BY created_at, id"
    ))?
    .query_map([id], read)?
    .collect()
}

/// Returns the live delegations from or to an actor.
pub fn live_of(conn: &Connection, actor: &ActorId) -> rusqlite::Result<Vec<Delegation>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM delegation WHERE (giver = ?1 OR taker = ?1) AND ended_at IS NULL ORDER BY created_at, id"
    ))?
    .query_map([actor.as_str()], read)?
    .collect()
}

/// Counts the live delegations that an actor granted.
pub fn count_live_from(conn: &Connection, giver: &ActorId) -> rusqlite::Result<i64> {
    conn.prepare_cached("SELECT count(*) FROM delegation WHERE giver = ? AND ended_at IS NULL")?
        .query_row([giver.as_str()], |row| row.get(0))
}

/// Returns delegations past their expiry, the deepest first, because they give back to those above.
pub fn overdue(conn: &Connection, now: Time, limit: usize) -> rusqlite::Result<Vec<Delegation>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM delegation WHERE ended_at IS NULL AND expires_at <= ? \
         ORDER BY depth DESC, expires_at, id LIMIT ?"
    ))?
    .query_map(params![now.0, limit as i64], read)?
    .collect()
}

pub fn reservation(conn: &Connection, id: &str) -> rusqlite::Result<Option<Reservation>> {
    conn.prepare_cached("SELECT delegation, cents, settled_cents FROM delegation_reservation WHERE id = ?")?
        .query_row([id], |row| {
            Ok(Reservation { delegation: row.get(0)?, cents: row.get(1)?, settled_cents: row.get(2)? })
        })
        .optional()
}

/// Returns the unsettled reservations of a run: reservation, delegation, cents.
pub fn reserved_for(conn: &Connection, run: &str) -> rusqlite::Result<Vec<(String, String, i64)>> {
    conn.prepare_cached(
        "SELECT id, delegation, cents FROM delegation_reservation WHERE run = ? AND settled_cents IS NULL ORDER BY id",
    )?
    .query_map([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
    .collect()
}

/// Counts the unsettled reservations of a delegation.
pub fn count_open(conn: &Connection, id: &str) -> rusqlite::Result<i64> {
    conn.prepare_cached("SELECT count(*) FROM delegation_reservation WHERE delegation = ? AND settled_cents IS NULL")?
        .query_row([id], |row| row.get(0))
}
