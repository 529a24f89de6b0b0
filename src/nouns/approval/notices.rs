//! Reminders and escalations: approvers are reminded, and after a while more people are asked. The tick says when; each
//! notice is sent once, since the table of notices is a fold of the log.

use std::collections::BTreeSet;

use gate::Reader;
use store::approvals::events::{ApprovalEscalated, ApprovalReminded};
use store::approvals::{Approval, Decided};
use store::event::Event;
use types::approval::Notice;
use types::id::{ActorId, Id};
use types::refusal::Fault;
use types::time::{HOUR, Time};

/// Returns the notices due at a time, at most `most`.
pub fn due(read: &Reader<'_>, now: Time, most: usize) -> Result<Vec<Event>, Fault> {
    let mut events = Vec::new();
    for approval in read.long_pending(now)? {
        let given = read.approval_notices(&approval.id)?;
        for kind in approval.kinds.iter().filter(|kind| !read.is_met(&approval, kind)) {
            for (notice, hours) in read.approval_rule(kind).waits() {
                let waited = now.0 - approval.created_at.0 >= i64::from(hours) * HOUR;
                let people = if waited && !given.contains(&(kind.clone(), notice)) {
                    recipients(&approval, kind, notice, now, read)
                } else {
                    Vec::new()
                };
                events.extend((!people.is_empty()).then(|| event(&approval, kind, notice, people)));
                if events.len() == most {
                    return Ok(events);
                }
            }
        }
    }
    Ok(events)
}

/// Returns the recipients: of a reminder, approvers who have not decided; of an escalation, those newly allowed to.
fn recipients(approval: &Approval, kind: &str, notice: Notice, now: Time, read: &Reader<'_>) -> Vec<ActorId> {
    let may = read.approvers_at(kind, approval, now);
    let already: BTreeSet<ActorId> = match notice {
        Notice::Reminded => {
            let stands = |decided: &&Decided| read.decision_stands(decided);
            approval.decisions.iter().filter(stands).map(|decided| decided.by.clone()).collect()
        }
        Notice::Escalated => read.approvers_at(kind, approval, approval.created_at),
    };
    may.difference(&already).cloned().collect()
}

fn event(approval: &Approval, kind: &str, notice: Notice, approvers: Vec<ActorId>) -> Event {
    let (id, requester, kind) = (Id::stored(&approval.id), approval.actor.clone(), kind.to_owned());
    let (operation, target) = (approval.operation.clone(), approval.target.clone());
    match notice {
        Notice::Reminded => ApprovalReminded { id, requester, operation, target, kind, approvers }.into(),
        Notice::Escalated => ApprovalEscalated { id, requester, operation, target, kind, approvers }.into(),
    }
}
