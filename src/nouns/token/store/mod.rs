//! The table of API tokens, by hash. An ended token stays, so that its record can be shown.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::list::{self, List};
use super::{Position, json, parsed, parsed_or_null};
use types::id::ActorId;
use types::scope::Scopes;
use types::time::Time;
use types::token::TokenHash;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: String,
    pub holder: ActorId,
    pub label: String,
    pub scopes: Scopes,
    /// The issuer, if not its holder: they could have kept a copy.
    pub issuer: Option<ActorId>,
    pub created_at: Time,
    pub expires_at: Time,
    pub ended: bool,
    /// When it was revoked; `None` if live or expired.
    pub revoked_at: Option<Time>,
}

impl Token {
    pub fn is_live(&self, now: Time) -> bool {
        !self.ended && now < self.expires_at
    }
}

const COLUMNS: &str = "id, holder, label, scopes, created_at, expires_at, ended IS NOT NULL, issuer, \
                       iif(ended = 'revoked', ended_at, NULL)";

fn read(row: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        id: row.get(0)?,
        holder: parsed(row, 1)?,
        label: row.get(2)?,
        scopes: json(row, 3)?,
        created_at: Time(row.get(4)?),
        expires_at: Time(row.get(5)?),
        ended: row.get(6)?,
        issuer: parsed_or_null(row, 7)?,
        revoked_at: row.get::<_, Option<i64>>(8)?.map(Time),
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Token>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM token WHERE id = ?"))?.query_row([id], read).optional()
}

/// Returns a token with its hash.
pub fn with_hash(conn: &Connection, id: &str) -> rusqlite::Result<Option<(TokenHash, Token)>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS}, hash FROM token WHERE id = ?"))?
        .query_row([id], |row| Ok((TokenHash(row.get(9)?), read(row)?)))
        .optional()
}

/// Returns the ended token whose value has this hash. (Live ones are found in memory.)
pub fn ended_with_hash(conn: &Connection, hash: &TokenHash) -> rusqlite::Result<Option<Token>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM token WHERE hash = ? AND ended IS NOT NULL"))?
        .query_row([hash.0], read)
        .optional()
}

/// Calls `each` with every token that has not ended, for the in-memory directory.
pub fn all_live(conn: &Connection, mut each: impl FnMut(TokenHash, Token)) -> rusqlite::Result<()> {
    conn.prepare(&format!("SELECT {COLUMNS}, hash FROM token WHERE ended IS NULL"))?
        .query_map([], |row| Ok((TokenHash(row.get(9)?), read(row)?)))?
        .try_for_each(|row| row.map(|(hash, token)| each(hash, token)))
}

/// How tokens are listed.
pub const LIST: List<Token> = List {
    table: "token",
    columns: COLUMNS,
    there: "TRUE",
    own: &["holder = ?4"],
    theirs: &[],
    read,
    complete: list::whole,
    position,
};

/// Returns a holder's tokens that have not ended.
pub fn live_of(conn: &Connection, holder: &ActorId) -> rusqlite::Result<Vec<(String, ActorId)>> {
    conn.prepare_cached("SELECT id, holder FROM token WHERE holder = ? AND ended IS NULL ORDER BY id")?
        .query_map([holder.as_str()], with_holder)?
        .collect()
}

fn with_holder(row: &Row<'_>) -> rusqlite::Result<(String, ActorId)> {
    Ok((row.get(0)?, parsed(row, 1)?))
}

/// Returns the tokens that somebody issued for others and that have not ended, with their holders.
pub fn live_issued_by(conn: &Connection, issuer: &ActorId, limit: usize) -> rusqlite::Result<Vec<(String, ActorId)>> {
    conn.prepare_cached("SELECT id, holder FROM token WHERE issuer = ? AND ended IS NULL ORDER BY id LIMIT ?")?
        .query_map(params![issuer.as_str(), limit as i64], with_holder)?
        .collect()
}

/// Returns tokens past their expiry.
pub fn overdue(conn: &Connection, now: Time, limit: usize) -> rusqlite::Result<Vec<Token>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM token WHERE ended IS NULL AND expires_at <= ? ORDER BY expires_at, id LIMIT ?"
    ))?
    .query_map(params![now.0, limit as i64], read)?
    .collect()
}

pub fn position(token: &Token) -> Position {
    Position { at: token.created_at.0, id: token.id.clone() }
}
