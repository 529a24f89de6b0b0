//! Requests end with what they are about: nobody is asked about what cannot happen any more, or has happened otherwise.
//!
//! Always true: it is recorded in the transaction that ended the thing, whatever operation did; a request that this very
//! transaction decides or uses is not touched.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use crate::log::record::{Decision, Entry};
use crate::store::{approvals, changes};
use crate::types::event::Event;
use crate::types::id::{ActorId, Id};
use crate::types::refusal::Fault;
use crate::types::time::Time;

/// The requests that have nothing to be about any more, once these entries are recorded.
pub(super) fn requests(conn: &Connection, entries: &[Entry], now: Time) -> Result<Vec<Entry>, Fault> {
    let (mut stale, mut decided) = (Vec::new(), BTreeSet::new());
    for entry in entries {
        decided.extend(decides(&entry.event));
        for (thing, reason) in ended(conn, &entry.event)? {
            stale.extend(
                approvals::open_about(conn, &thing, now)?.into_iter().map(|open| (open, reason.clone(), entry)),
            );
        }
    }
    stale.retain(|(open, ..)| !decided.contains(open.id.as_str()));
    // A thing may end twice over, as a change that is superseded: its requests end once.
    let stale: BTreeMap<String, _> = stale.into_iter().map(|of| (of.0.id.clone(), of)).collect();
    let event = |(open, reason, entry): (approvals::Approval, String, &Entry)| {
        let event = Event::ApprovalStale { id: Id::stored(&open.id), requester: open.actor, reason };
        Entry { actor: ActorId::system(), event, decision: Decision::System, ..entry.clone() }
    };
    Ok(stale.into_values().map(event).collect())
}

/// The request that an event decides, uses or ends.
fn decides(event: &Event) -> Option<String> {
    match event {
        Event::ApprovalDecided { id, .. }
        | Event::ApprovalUsed { id, .. }
        | Event::ApprovalStale { id, .. }
        | Event::ApprovalCancelled { id, .. }
        | Event::ApprovalExpired { id } => Some(id.to_string()),
        _ => None,
    }
}

/// What an event puts an end to, and why nobody need be asked about it any more.
fn ended(conn: &Connection, event: &Event) -> Result<Vec<(String, String)>, Fault> {
    let one = |id: &dyn std::fmt::Display, why: &str| Ok(vec![(id.to_string(), format!("{id} {why}"))]);
    match event {
        Event::ChangePromoted { id, version, .. } => {
            let mut all = vec![(id.to_string(), format!("{id} came into force otherwise"))];
            let superseded = changes::open_before(conn, *version)?.into_iter().filter(|other| other != id.as_str());
            all.extend(superseded.map(|other| {
                let why = format!("{id} came into force first");
                (other, why)
            }));
            Ok(all)
        }
        Event::ChangeRejected { id, withdrawn: true, .. } => one(id, "was taken back"),
        Event::ChangeRejected { id, .. } => one(id, "was rejected"),
        Event::ActorOffboarded { id, .. } => one(id, "was offboarded"),
        Event::TokenRevoked { id, .. } => one(id, "was revoked"),
        Event::TokenExpired { id, .. } | Event::DelegationExpired { id, .. } => one(id, "has expired"),
        Event::DelegationRevoked { id, .. } => one(id, "was revoked"),
        Event::WebhookDeleted { id, .. } => one(id, "was removed"),
        _ => Ok(Vec::new()),
    }
}
