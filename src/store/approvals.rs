//! Operations that wait for people.

use rusqlite::{Connection, params};

use super::to_json;
use crate::types::event::Event;
use crate::types::time::Time;

/// Pending approvals whose time is over.
pub fn overdue(conn: &Connection, now: Time, limit: usize) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT id FROM approval WHERE status = 'pending' AND expires_at <= ? ORDER BY expires_at, id LIMIT ?",
    )?
    .query_map(params![now.0, limit as i64], |row| row.get(0))?
    .collect()
}

pub(super) fn requested(conn: &Connection, at: Time, by: &str, event: &Event) -> rusqlite::Result<()> {
    if let Event::ApprovalRequested { id, operation, target, input, kinds, digest, reason, expires_at } = event {
        conn.prepare_cached(
            "INSERT INTO approval (id, actor, operation, target, input, kinds, digest, reason, status, created_at, expires_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
        )?
        .execute(params![
            id.as_str(),
            by,
            operation,
            target,
            to_json(input)?,
            to_json(kinds)?,
            digest,
            reason,
            at.0,
            expires_at.0
        ])?;
    }
    Ok(())
}

pub(super) fn expired(conn: &Connection, id: &str) -> rusqlite::Result<()> {
    conn.execute("UPDATE approval SET status = 'expired' WHERE id = ?", [id])?;
    Ok(())
}
