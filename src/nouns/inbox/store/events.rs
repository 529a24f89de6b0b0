//! Events of inboxes.

use rusqlite::params;

use super::TABLE;
use crate::event::{Content, Moment, Notify, events};
use crate::memory::{Memory, Touched};

use crate::settles::Settles;
events! {
    /// Somebody marked an item of their own inbox as read.
    InboxItemRead = "inbox_item_read" {
        item: String,
    } about [] => {
        says: "read an inbox item",
        content: Content::SHOWN.minor(), tables: &[TABLE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(read), notify: Notify::Nobody, news: None,
    }
}

/// Marks an item as read; the first time counts.
fn read(event: &InboxItemRead, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE inbox SET read_at = ? WHERE id = ? AND read_at IS NULL";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, event.item])?;
    Ok(Touched::Nothing)
}
