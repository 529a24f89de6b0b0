//! Ends requests together with the thing that they are about: nobody is asked about what can no longer happen, or has
//! happened in another way.
//!
//! Always true: the end is recorded in the transaction that ended the thing, whatever the operation; a request that
//! this same transaction decides or uses is not touched.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use crate::write::record::Entry;
use log::record::Decision;
use store::actors::events::ActorOffboarded;
use store::approvals::events::{ApprovalCancelled, ApprovalDecided, ApprovalExpired, ApprovalStale, ApprovalUsed};
use store::changes::events::{ChangePromoted, ChangeRejected};
use store::context::events::ContextForgotten;
use store::delegations::events::{DelegationExpired, DelegationRevoked};
use store::event::Event;
use store::runs::events::{RunBudgetRaised, RunCancelled, RunCompleted, RunFailed};
use store::tokens::events::{TokenExpired, TokenRevoked};
use store::webhooks::events::WebhookDeleted;
use store::{approvals, changes};
use types::id::{ActorId, Id};
use types::refusal::Fault;
use types::time::Time;

/// Nobody can agree to a call of which a part is gone.
pub(crate) const ERASED: &str = "a part of what was asked for has been erased";
/// The operation by which a run may spend more.
const RAISE: &str = "budget.raise";

/// The requests that have nothing to be about any more, once these entries are recorded.
pub(crate) fn requests(conn: &Connection, entries: &[Entry], now: Time) -> Result<Vec<Entry>, Fault> {
    let (mut stale, mut decided) = (Vec::new(), BTreeSet::new());
    for entry in entries {
        decided.extend(decides(&entry.event));
        for (thing, reason) in ended(conn, &entry.event)? {
            stale.extend(
                approvals::open_about(conn, &thing, now)?.into_iter().map(|open| (open, reason.clone(), entry)),
            );
        }
    }
    for entry in entries {
        // Unless it is what was asked for: then it is used.
        let Some(RunBudgetRaised { id, .. }) = entry.event.get() else { continue };
        let open = approvals::open_about(conn, id.as_str(), now)?.into_iter();
        let reason = format!("the budget of {id} was raised");
        stale.extend(open.filter(|open| open.operation == RAISE).map(|open| (open, reason.clone(), entry)));
    }
    for entry in entries {
        let Some((id, why)) = ended_delegation(&entry.event) else { continue };
        let open = approvals::open_under(conn, id.as_str(), now)?.into_iter();
        stale.extend(open.map(|open| (open, format!("{id}, under which it was asked for, {why}"), entry)));
    }
    for entry in entries {
        let Some(ContextForgotten { approvals, .. }) = entry.event.get() else { continue };
        for id in approvals {
            let open = approvals::get(conn, id.as_str())?.filter(|open| open.is_open(now));
            stale.extend(open.map(|open| (open, ERASED.to_owned(), entry)));
        }
    }
    stale.retain(|(open, ..)| !decided.contains(open.id.as_str()));
    // A thing may end twice over, as a change that is superseded: its requests end once.
    let stale: BTreeMap<String, _> = stale.into_iter().map(|of| (of.0.id.clone(), of)).collect();
    let event = |(open, reason, entry): (approvals::Approval, String, &Entry)| {
        let event = ApprovalStale { id: Id::stored(&open.id), requester: open.actor, reason }.into();
        Entry { actor: ActorId::system(), event, decision: Decision::System, ..entry.clone() }
    };
    Ok(stale.into_values().map(event).collect())
}

/// The request that an event decides, uses or ends.
fn decides(event: &Event) -> Option<String> {
    let decided = event.get::<ApprovalDecided>().map(|event| &event.id);
    let used = || event.get::<ApprovalUsed>().map(|event| &event.id);
    let stale = || event.get::<ApprovalStale>().map(|event| &event.id);
    let cancelled = || event.get::<ApprovalCancelled>().map(|event| &event.id);
    let expired = || event.get::<ApprovalExpired>().map(|event| &event.id);
    decided.or_else(used).or_else(stale).or_else(cancelled).or_else(expired).map(Id::to_string)
}

fn ended_delegation(event: &Event) -> Option<(&Id, &'static str)> {
    let revoked = event.get::<DelegationRevoked>().map(|event| (&event.id, "was revoked"));
    revoked.or_else(|| event.get::<DelegationExpired>().map(|event| (&event.id, "has expired")))
}

/// What an event puts an end to, and why nobody need be asked about it any more.
fn ended(conn: &Connection, event: &Event) -> Result<Vec<(String, String)>, Fault> {
    let one = |id: &dyn std::fmt::Display, why: &str| Ok(vec![(id.to_string(), format!("{id} {why}"))]);
    if let Some(ChangePromoted { id, version, .. }) = event.get() {
        let mut all = vec![(id.to_string(), format!("{id} came into force by other means"))];
        let superseded = changes::open_before(conn, *version)?.into_iter().filter(|other| other != id.as_str());
        all.extend(superseded.map(|other| (other, format!("{id} came into force first"))));
        return Ok(all);
    }
    if let Some(ChangeRejected { id, withdrawn, .. }) = event.get() {
        return one(id, if *withdrawn { "was taken back" } else { "was rejected" });
    }
    if let Some(ActorOffboarded { id, .. }) = event.get() {
        return one(id, "was offboarded");
    }
    if let Some(TokenRevoked { id, .. }) = event.get() {
        return one(id, "was revoked");
    }
    if let Some(TokenExpired { id, .. }) = event.get() {
        return one(id, "has expired");
    }
    if let Some((id, why)) = ended_delegation(event) {
        return one(id, why);
    }
    let run = event.get::<RunCompleted>().map(|event| &event.id);
    let run = run.or_else(|| event.get::<RunFailed>().map(|event| &event.id));
    if let Some(id) = run.or_else(|| event.get::<RunCancelled>().map(|event| &event.id)) {
        return one(id, "has ended");
    }
    event.get::<WebhookDeleted>().map_or_else(|| Ok(Vec::new()), |event| one(&event.id, "was removed"))
}
