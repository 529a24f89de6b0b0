//! Ends requests together with the thing that they are about: nobody is asked about what can no longer happen, or has
//! happened in another way.
//!
//! Always true: the end is recorded in the transaction that ended the thing, whatever the operation; a request that
//! this same transaction decides or uses is not touched.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use crate::write::record::Entry;
use store::approvals::{self, Approval, events::ApprovalStale};
use store::settles::{End, Over};
use types::id::Id;
use types::refusal::Fault;
use types::time::Time;

/// What is over, and the entry with which it is.
pub(crate) type Ended<'e> = (End, &'e Entry);

/// All that these entries end, each with the entry that does; what a request was made under after what it is about, and a
/// part of a request that is erased last.
pub(crate) fn of<'e>(conn: &Connection, entries: &'e [Entry]) -> Result<Vec<Ended<'e>>, Fault> {
    let mut ends = Vec::new();
    for entry in entries {
        ends.extend(entry.event.ends(conn)?.into_iter().map(|end| (end, entry)));
    }
    ends.sort_by_key(|(end, _)| end.over.rank());
    Ok(ends)
}

/// The requests that have nothing to be about any more, once these entries are recorded.
pub(crate) fn requests(
    conn: &Connection,
    ends: &[Ended<'_>],
    entries: &[Entry],
    now: Time,
) -> Result<Vec<Entry>, Fault> {
    let decided: BTreeSet<&str> = entries.iter().filter_map(|entry| Some(entry.event.request()?.0.as_str())).collect();
    // What is asked may end twice over: the last reason stands.
    let mut stale = BTreeMap::new();
    for (end, entry) in ends {
        let open = open(conn, &end.over, now)?.into_iter().filter(|open| !decided.contains(open.id.as_str()));
        stale.extend(open.map(|open| (open.id.clone(), (open, &end.because, entry))));
    }
    let recorded = |(open, because, entry): (Approval, &String, &&Entry)| {
        let reason = because.clone();
        entry.followed_by(ApprovalStale { id: Id::stored(&open.id), requester: open.actor, reason })
    };
    Ok(stale.into_values().map(recorded).collect())
}

/// The open requests that are about what is over.
fn open(conn: &Connection, over: &Over, now: Time) -> Result<Vec<Approval>, Fault> {
    let mut open = match over {
        Over::Thing(id) | Over::Operation { on: id, .. } => approvals::open_about(conn, id, now)?,
        Over::Delegation(id) => approvals::open_under(conn, id, now)?,
        Over::Request(id) => approvals::get(conn, id)?.filter(|open| open.is_open(now)).into_iter().collect(),
    };
    if let Over::Operation { operation, .. } = over {
        open.retain(|open| open.operation == *operation);
    }
    Ok(open)
}
