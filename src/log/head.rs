//! The signed head of the log, as the state file has it.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::tree::Hash;
use types::refusal::Fault;
use types::time::Time;

/// The log's newest state, as sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    pub ts: Time,
    pub note: String,
    /// The verifier key and, if it replaces a lost one, the former keys: one per line, in the format of
    /// docs/concepts/log-format.md.
    pub vkeys: String,
}

impl Head {
    /// The key that the log is signed with now.
    pub fn vkey(&self) -> &str {
        self.vkeys.lines().next().unwrap_or_default()
    }
}

/// A head with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    pub head: Head,
    /// Which owner of the log wrote last, counted from the first.
    pub epoch: i64,
    /// The log's signature under that.
    pub owner: Vec<u8>,
}

/// What is compared before a batch is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub size: u64,
    pub epoch: i64,
}

impl Tip {
    pub fn mark(&self) -> Mark {
        Mark { size: self.head.size, epoch: self.epoch }
    }
}

/// The sealed head, if the log has begun.
pub fn head(conn: &Connection) -> Result<Option<Head>, Fault> {
    Ok(tip(conn)?.map(|tip| tip.head))
}

pub fn tip(conn: &Connection) -> Result<Option<Tip>, Fault> {
    Ok(conn
        .prepare_cached("SELECT origin, size, root, ts, note, vkey, epoch, owner FROM log_head")?
        .query_row([], |row| {
            let head = Head {
                origin: row.get(0)?,
                size: row.get::<_, i64>(1)? as u64,
                root: row.get(2)?,
                ts: Time(row.get(3)?),
                note: row.get(4)?,
                vkeys: row.get(5)?,
            };
            Ok(Tip { head, epoch: row.get(6)?, owner: row.get(7)? })
        })
        .optional()?)
}

pub(super) fn mark(conn: &Connection) -> Result<Option<Mark>, Fault> {
    Ok(conn
        .prepare_cached("SELECT size, epoch FROM log_head")?
        .query_row([], |row| Ok(Mark { size: row.get::<_, i64>(0)? as u64, epoch: row.get(1)? }))
        .optional()?)
}

pub(super) fn set(conn: &Connection, Tip { head, epoch, owner }: &Tip) -> Result<(), Fault> {
    conn.prepare_cached(
        "INSERT OR REPLACE INTO log_head (id, origin, vkey, size, root, ts, note, epoch, owner) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![head.origin, head.vkeys, head.size as i64, head.root, head.ts.0, head.note, epoch, owner])?;
    Ok(())
}
