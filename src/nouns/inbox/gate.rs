//! Reads inboxes for operations.

use super::Reader;
use store::Position;
use store::inbox::{self, Item};
use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

impl Reader<'_> {
    /// Returns an inbox item.
    pub fn inbox_item(&self, id: &str) -> Result<Option<Item>, Fault> {
        Ok(inbox::get(self.conn()?, id)?)
    }

    /// Returns an actor's inbox items: all, or only unresolved ones.
    pub fn inbox_after(&self, actor: &ActorId, all: bool, from: &Position, limit: usize) -> Result<Vec<Item>, Fault> {
        Ok(inbox::after(self.conn()?, actor, all, from, limit)?)
    }

    /// Checks whether the caller's inbox covers an event at `at` about one of `subjects`.
    pub fn inbox_tells(&self, subjects: &[String], at: Time) -> Result<bool, Fault> {
        let (conn, actor) = (self.conn()?, self.caller.actor());
        for subject in subjects {
            if inbox::tells(conn, &actor, subject, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
