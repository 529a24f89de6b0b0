//! Answers kept for the same Idempotency-Key. A row is written in the transaction of the effect, so there is never an
//! effect without its answer.

use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use types::time::{DAY, Time};

/// How long an answer is given again.
pub const KEPT_MS: i64 = DAY;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// HMAC of the key, bound to who used it where.
    pub key: [u8; 32],
    /// HMAC of the request that the answer belongs to.
    pub request: [u8; 32],
    pub status: u16,
    pub body: Vec<u8>,
}

impl KeptAnswer {
    /// What stands for an answer that was erased: the request is not carried out again, and no other request either.
    fn erased(key: [u8; 32]) -> KeptAnswer {
        KeptAnswer { key, request: [0; 32], status: 0, body: Vec::new() }
    }

    /// Whether the answer was erased, and with it which request it belonged to.
    pub fn is_erased(&self) -> bool {
        *self == KeptAnswer::erased(self.key)
    }

    /// What the log holds of it.
    pub fn digest(&self) -> [u8; 32] {
        let answer = Sha256::new().chain_update(b"ok/answer/v1\0").chain_update(self.request);
        answer.chain_update(self.status.to_be_bytes()).chain_update(&self.body).finalize().into()
    }
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<KeptAnswer> {
    Ok(KeptAnswer { key: row.get(0)?, request: row.get(1)?, status: row.get(2)?, body: row.get(3)? })
}

pub fn get(conn: &Connection, key: &[u8; 32], now: Time) -> rusqlite::Result<Option<KeptAnswer>> {
    conn.prepare_cached("SELECT key, request, status, body FROM idem WHERE key = ? AND expires_at > ?")?
        .query_row(params![key, now.0], read)
        .optional()
}

/// The answer under a key, whether it is still given or not.
pub fn stored(conn: &Connection, key: &[u8; 32]) -> rusqlite::Result<Option<KeptAnswer>> {
    conn.prepare_cached("SELECT key, request, status, body FROM idem WHERE key = ?")?.query_row([key], read).optional()
}

/// One kept answer, as it stands in the table.
pub struct Row {
    pub key: Vec<u8>,
    /// None where it is damaged.
    pub digest: Option<[u8; 32]>,
    pub is_erased: bool,
    pub until: Time,
}

/// What is kept beyond this time.
pub fn beyond(conn: &Connection, at: Time) -> rusqlite::Result<Vec<Row>> {
    conn.prepare_cached("SELECT key, request, status, body, expires_at FROM idem WHERE expires_at > ? ORDER BY key")?
        .query_map([at.0], |row| {
            let kept = read(row).ok();
            let (digest, is_erased) =
                (kept.as_ref().map(KeptAnswer::digest), kept.is_some_and(|kept| kept.is_erased()));
            Ok(Row { key: row.get(0)?, digest, is_erased, until: Time(row.get(4)?) })
        })?
        .collect()
}

/// Keeps the answer to what is recorded at this time.
pub fn keep(conn: &Connection, kept: &KeptAnswer, at: Time) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO idem (key, request, status, body, expires_at) VALUES (?, ?, ?, ?, ?)")?
        .execute(params![kept.key, kept.request, kept.status, kept.body, at.plus_ms(KEPT_MS).0])?;
    Ok(())
}

/// Erases the answer to what was recorded at this time, unless a later one stands under its key. Until it would have gone
/// anyway, the key stays used.
pub fn erase(conn: &Connection, key: [u8; 32], at: Time) -> rusqlite::Result<()> {
    let KeptAnswer { request, status, body, .. } = KeptAnswer::erased(key);
    let sql = "INSERT INTO idem (key, request, status, body, expires_at) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (key) DO UPDATE SET request = ?2, status = ?3, body = ?4 WHERE expires_at = ?5";
    conn.prepare_cached(sql)?.execute(params![key, request, status, body, at.plus_ms(KEPT_MS).0])?;
    Ok(())
}

/// Forgets answers that nobody can ask for any more, some at a time.
pub fn forget_old(conn: &Connection, now: Time) -> rusqlite::Result<usize> {
    conn.prepare_cached("DELETE FROM idem WHERE key IN (SELECT key FROM idem WHERE expires_at <= ? LIMIT 1000)")?
        .execute([now.0])
}
