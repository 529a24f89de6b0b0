//! Of what every fold is given and says: when something happened, and which table it changes.

use rusqlite::Connection;
use types::id::ActorId;
use types::time::Time;

/// A table that is a fold of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Table {
    pub name: &'static str,
    /// The columns that order its rows.
    pub key: &'static str,
}

/// When and by whom something happened, and the tables as they were before it.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub conn: &'a Connection,
    /// The number of its entry.
    pub seq: i64,
    pub at: Time,
    pub by: &'a ActorId,
}
