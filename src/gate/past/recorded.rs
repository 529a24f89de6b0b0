//! What an entry of the log records, and which entry was the last before a time.

use rusqlite::Connection;

use log::read::{self, Logged};
use store::event::Event;
use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

/// The event behind an entry, and who did it; none once it is erased.
pub(crate) fn event_of(logged: Logged) -> Result<Option<(ActorId, Event)>, Fault> {
    let Some(event) = logged.event else { return Ok(None) };
    let actor = logged.actor.parse().map_err(|_| Fault::Broken(format!("event {} has no actor", logged.seq)))?;
    Ok(Some((actor, Event::read(event)?)))
}

/// The last event that had happened by a time; 0 before the first. Times in the log never run back.
pub(crate) fn newest_by(conn: &Connection, time: Time) -> Result<i64, Fault> {
    let (mut low, mut high) = (0, read::last_seq(conn)?);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if read::one(conn, middle)?.at <= time { low = middle } else { high = middle - 1 }
    }
    Ok(low)
}
