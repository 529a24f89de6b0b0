//! Ends requests together with the thing that they are about: nobody is asked about what can no longer happen, or has
//! happened in another way.
//!
//! Always true: the end is recorded in the transaction that ended the thing, whatever the operation; a request that
//! this same transaction decides or uses is not touched.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use crate::write::record::Entry;
use log::record::Decision;
use store::approvals::{self, Approval, events::ApprovalStale};
use store::settles::Over;
use types::id::{ActorId, Id};
use types::refusal::Fault;
use types::time::Time;

/// The requests that have nothing to be about any more, once these entries are recorded.
pub(crate) fn requests(conn: &Connection, entries: &[Entry], now: Time) -> Result<Vec<Entry>, Fault> {
    let decided: BTreeSet<&str> = entries.iter().filter_map(|entry| Some(entry.event.request()?.0.as_str())).collect();
    // A thing may end twice over, as a change that is superseded: its requests end once.
    let mut stale = BTreeMap::new();
    for entry in entries {
        for end in entry.event.ends(conn)? {
            let open = open(conn, &end.over, now)?.into_iter().filter(|open| !decided.contains(open.id.as_str()));
            stale.extend(open.map(|open| (open.id.clone(), (open, end.because.clone(), entry))));
        }
    }
    let recorded = |(open, reason, entry): (Approval, String, &Entry)| {
        let event = ApprovalStale { id: Id::stored(&open.id), requester: open.actor, reason }.into();
        Entry { actor: ActorId::system(), event, decision: Decision::System, ..entry.clone() }
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
