//! What actors have done: how often, and what it cost. Policies look at it as `context.hist`, and budgets hang on it.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::event::Table;
use super::parsed;
use types::history::{Count, Counts};
use types::id::ActorId;
use types::time::Time;

pub const DONE: Table = Table { name: "done", key: "actor || ' ' || operation" };

/// The operation that costs something.
pub const MODEL_CALL: &str = "model.call";
/// Where the answers are a plan's: what they cost is made up, and counted apart.
pub const PLANNED: &str = "model.call of a plan";

/// One actor's, by operation.
pub type Of = BTreeMap<String, Counts>;

const COLUMNS: &str = "hour, hour_times, hour_cents, day, day_times, day_cents, month, month_times, month_cents";

fn read(row: &Row<'_>) -> rusqlite::Result<Counts> {
    let count = |at: usize| {
        Ok::<_, rusqlite::Error>(Count { since: row.get(at)?, times: row.get(at + 1)?, cents: row.get(at + 2)? })
    };
    Ok(Counts { hour: count(0)?, day: count(3)?, month: count(6)? })
}

/// How often an actor has done something, and what that cost.
pub fn get(conn: &Connection, actor: &ActorId, operation: &str) -> rusqlite::Result<Option<Counts>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM done WHERE actor = ? AND operation = ?"))?
        .query_row(params![actor.as_str(), operation], read)
        .optional()
}

/// Counts so many times and cents more, at a time.
pub fn add(
    conn: &Connection,
    actor: &ActorId,
    operation: &str,
    at: Time,
    (times, cents): (i64, i64),
) -> rusqlite::Result<()> {
    put(conn, actor, operation, get(conn, actor, operation)?.unwrap_or_default().plus(at, times, cents))
}

/// Sets how often an actor has done something.
pub fn put(conn: &Connection, actor: &ActorId, operation: &str, counts: Counts) -> rusqlite::Result<()> {
    let Counts { hour, day, month } = counts;
    let sql =
        format!("INSERT OR REPLACE INTO done (actor, operation, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    conn.prepare_cached(&sql)?.execute(params![
        actor.as_str(),
        operation,
        hour.since,
        hour.times,
        hour.cents,
        day.since,
        day.times,
        day.cents,
        month.since,
        month.times,
        month.cents
    ])?;
    Ok(())
}

/// What an actor has done.
pub fn of(conn: &Connection, actor: &ActorId) -> rusqlite::Result<Of> {
    conn.prepare_cached(&format!("SELECT {COLUMNS}, operation FROM done WHERE actor = ?"))?
        .query_map([actor.as_str()], |row| Ok((row.get(9)?, read(row)?)))?
        .collect()
}

/// Counts what an agent spends: for itself, for each team that it is in by then, and, under the system's id, for the company.
pub fn spend(conn: &Connection, agent: &ActorId, operation: &str, at: Time, cents: i64) -> rusqlite::Result<()> {
    payers(conn, agent)?.iter().try_for_each(|payer| add(conn, payer, operation, at, (0, cents)))
}

/// Whose budgets an agent spends: its own, those of the teams that it is in, and the company's, under the system's id.
pub fn payers(conn: &Connection, agent: &ActorId) -> rusqlite::Result<Vec<ActorId>> {
    let mut payers: Vec<ActorId> = super::actors::teams_above(conn, agent)?.into_iter().collect();
    payers.extend([agent.clone(), ActorId::system()]);
    Ok(payers)
}

/// What everybody has done who has done anything since the beginning of a month.
pub fn all(conn: &Connection, month: i64) -> rusqlite::Result<BTreeMap<ActorId, Of>> {
    let mut all: BTreeMap<ActorId, Of> = BTreeMap::new();
    let mut statement =
        conn.prepare_cached(&format!("SELECT {COLUMNS}, operation, actor FROM done WHERE month >= ?"))?;
    let rows = statement.query_map([month], |row| Ok((parsed(row, 10)?, row.get(9)?, read(row)?)))?;
    for row in rows {
        let (actor, operation, counts): (ActorId, String, Counts) = row?;
        all.entry(actor).or_default().insert(operation, counts);
    }
    Ok(all)
}
