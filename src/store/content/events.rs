//! What is written in the course of work.

use rusqlite::params;

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::Settles;
use crate::to_json;
use types::id::Id;

pub(crate) const CONTENT: Table = Table { name: "content", key: "id || ' ' || part" };

events! {
    /// Text of a task, a run, a step or a knowledge entry, in an entry of its own so that it can be erased.
    ContentKept = "content_kept" {
        id: Id, part: String, kept: serde_json::Map<String, serde_json::Value>,
    } about [id] => {
        says: "stored the content of an event",
        content: Content::ERASABLE.hiding(&["kept"]).minor(), tables: &[CONTENT], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(kept), notify: Notify::Nobody, news: None,
    }
}

fn kept(event: &ContentKept, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "INSERT OR REPLACE INTO content (id, part, kept, seq) VALUES (?, ?, ?, ?)";
    let row = params![event.id.as_str(), event.part, to_json(&event.kept)?, moment.seq];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(Touched::Nothing)
}

pub(crate) fn forgotten(moment: &Moment<'_>, id: &str, part: &str) -> rusqlite::Result<()> {
    moment.conn.prepare_cached("DELETE FROM content WHERE id = ? AND part = ?")?.execute([id, part])?;
    Ok(())
}
