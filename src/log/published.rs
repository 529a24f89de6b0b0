//! Whether the published checkpoints are there, and dated, as a writer leaves them. No signature covers when one was
//! published, nor how many there are; but the entries' own times, which the tree does cover, bound both.

use std::iter::Peekable;

use rusqlite::Connection;
use serde::Deserialize;

use super::append::{PUBLISH_EVENTS, PUBLISH_MS};
use types::refusal::Fault;

/// The most by which the clocks of servers that continue one log may differ, in milliseconds: times that are closer are
/// not distinguished.
pub const SLACK_MS: i64 = 10_000;

/// A checkpoint that is not as a writer leaves it, or is missing.
pub struct Amiss {
    /// The size that it covers, or after which one is missing.
    pub place: String,
    pub what: &'static str,
}

const MISSING: &str = "one is missing that was due";

#[derive(Deserialize)]
struct Dated {
    ts: i64,
}

/// Walks the entries with the checkpoints that cover them.
pub fn amiss(conn: &Connection) -> Result<Vec<Amiss>, Fault> {
    let mut checkpoints = conn.prepare("SELECT size, ts FROM log_checkpoint ORDER BY size")?;
    let mut checkpoints = checkpoints.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.peekable();
    let mut leaves = conn.prepare("SELECT seq, leaf FROM log_entry ORDER BY seq")?;
    let mut leaves = leaves.query([])?;
    let mut walk = Walk::default();
    while let Some(row) = leaves.next()? {
        let leaf: Dated = serde_json::from_slice(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
        let seq = row.get(0)?;
        walk.entry(seq, leaf.ts);
        if let Some(published) = next_of(&mut checkpoints, seq)? {
            walk.checkpoint(seq, leaf.ts, published);
        }
    }
    walk.end();
    Ok(walk.found)
}

/// When the checkpoint of this size was published, if there is one.
fn next_of(
    checkpoints: &mut Peekable<impl Iterator<Item = rusqlite::Result<(i64, i64)>>>,
    size: i64,
) -> rusqlite::Result<Option<i64>> {
    let next = checkpoints.next_if(|next| next.as_ref().map_or(true, |(at, _)| *at <= size)).transpose()?;
    Ok(next.map(|(_, published)| published))
}

#[derive(Default)]
struct Walk {
    /// The size of the last checkpoint, and when it says that it was published.
    last: i64,
    published: Option<i64>,
    /// The time of the first entry after it.
    first: Option<i64>,
    /// The time of the batch that has to end with a checkpoint.
    due: Option<i64>,
    /// Whether it is told that some are missing after the last one.
    is_reported: bool,
    found: Vec<Amiss>,
}

impl Walk {
    fn entry(&mut self, seq: i64, ts: i64) {
        // All entries of a batch have its time, so one of another time comes after the checkpoint that was due.
        if self.due.is_some_and(|due| due != ts) {
            self.missing();
            (self.last, self.published, self.first, self.due) = (seq - 1, None, None, None);
        }
        if self.first.is_none() && self.published.is_some_and(|published| published > ts + SLACK_MS) {
            self.amiss(self.last, "is dated after the entry that came after it");
        }
        let first = *self.first.get_or_insert(ts);
        let since = self.published.unwrap_or(first);
        let is_due = seq >= self.last + PUBLISH_EVENTS as i64 || ts >= since + PUBLISH_MS + SLACK_MS;
        if is_due && self.due.is_none() {
            self.due = Some(ts);
        }
    }

    fn checkpoint(&mut self, size: i64, ts: i64, published: i64) {
        if published < ts {
            self.amiss(size, "is dated before the last entry that it covers");
        }
        *self =
            Walk { last: size, published: Some(published), found: std::mem::take(&mut self.found), ..Walk::default() };
    }

    fn end(&mut self) {
        if self.due.is_some() {
            self.missing();
        }
    }

    /// Told once, up to the next that is there.
    fn missing(&mut self) {
        if !std::mem::replace(&mut self.is_reported, true) {
            self.found.push(Amiss { place: format!("after {}", self.last), what: MISSING });
        }
    }

    fn amiss(&mut self, size: i64, what: &'static str) {
        self.found.push(Amiss { place: size.to_string(), what });
    }
}
