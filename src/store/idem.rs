//! Answers kept for the same Idempotency-Key. A row is written in the transaction of the effect, so there is never an
//! effect without its answer.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::types::time::{DAY, Time};

/// How long an answer is given again.
pub const KEPT_MS: i64 = DAY;

pub struct Kept {
    /// SHA-256 of the request that the answer belongs to.
    pub request: [u8; 32],
    pub status: u16,
    pub body: Vec<u8>,
}

pub fn get(conn: &Connection, key: &[u8; 32], now: Time) -> rusqlite::Result<Option<Kept>> {
    conn.prepare_cached("SELECT request, status, body FROM idem WHERE key = ? AND expires_at > ?")?
        .query_row(params![key, now.0], |row| Ok(Kept { request: row.get(0)?, status: row.get(1)?, body: row.get(2)? }))
        .optional()
}

pub fn keep(conn: &Connection, key: &[u8; 32], kept: &Kept, now: Time) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO idem (key, request, status, body, expires_at) VALUES (?, ?, ?, ?, ?)")?
        .execute(params![key, kept.request, kept.status, kept.body, now.plus_ms(KEPT_MS).0])?;
    Ok(())
}

/// Forgets answers that nobody can ask for any more, some at a time.
pub fn forget_old(conn: &Connection, now: Time) -> rusqlite::Result<usize> {
    conn.prepare_cached("DELETE FROM idem WHERE key IN (SELECT key FROM idem WHERE expires_at <= ? LIMIT 1000)")?
        .execute([now.0])
}
