//! The token and delegation that runs were started with, which also apply to their steps.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{COLUMNS, Run, read};
use types::caller::{Caller, Channel, Who};
use types::id::Id;
use types::run::RunFacts;

/// Returns a run's next step with the token and the delegation that the run was started with.
pub fn with(conn: &Connection, facts: RunFacts) -> rusqlite::Result<RunFacts> {
    let sql = "SELECT token_id, delegation FROM run WHERE id = ?";
    let id = |text: Option<String>| text.map(|id| Id::stored(&id));
    let begun = conn.prepare_cached(sql)?.query_row([facts.run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(match begun.optional()? {
        Some((token, delegation)) => RunFacts { token_id: id(token), under: id(delegation), ..facts },
        None => facts,
    })
}

/// Returns a run's agent as the caller of its next step.
pub fn caller(conn: &Connection, run: &Run) -> rusqlite::Result<Caller> {
    let facts = with(conn, run.facts())?;
    let who = Caller::new(Who::Holder(run.agent.clone()), Channel::Run);
    Ok(Caller { under: facts.under.clone(), run: Some(Arc::new(facts)), ..who })
}

/// Returns the first 1,000 open runs started with a token.
pub fn live_with(conn: &Connection, token: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT id FROM run WHERE token_id = ? AND ended_at IS NULL ORDER BY id LIMIT 1000")?
        .query_map([token], |row| row.get(0))?
        .collect()
}

/// Selects runs that wait under a delegation, which its end resumes.
const WAITS: &str = "delegation IS NOT NULL AND ended_at IS NULL AND (wait IS NOT NULL OR due_at IS NULL)";

/// Returns up to `limit` waiting runs started under a delegation.
pub fn waiting_under(conn: &Connection, delegation: &str, limit: usize) -> rusqlite::Result<Vec<Run>> {
    let sql = format!("SELECT {COLUMNS} FROM run WHERE delegation = ? AND {WAITS} ORDER BY id LIMIT ?");
    conn.prepare_cached(&sql)?.query_map(params![delegation, limit as i64], read)?.collect()
}

/// Returns up to `limit` runs that wait although their delegation has ended. The index holds only runs that wait under one.
pub fn stranded(conn: &Connection, limit: usize) -> rusqlite::Result<Vec<Run>> {
    let over = "SELECT 1 FROM delegation d WHERE d.id = run.delegation AND d.ended_at IS NOT NULL";
    let sql = format!("SELECT {COLUMNS} FROM run INDEXED BY run_waits_under WHERE {WAITS} AND EXISTS ({over}) LIMIT ?");
    conn.prepare_cached(&sql)?.query_map([limit as i64], read)?.collect()
}
