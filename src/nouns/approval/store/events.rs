//! The events of requests for approval.

use std::collections::BTreeSet;

use rusqlite::params;
use serde_json::json;

use crate::event::{Author, Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::outbox::News;
use crate::settles::{Settles, Standing};
use crate::{inbox, parsed, to_json};
use types::approval::{ApprovalStatus, Notice, Verdict};
use types::caller::Channel;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::quoted::quoted;
use types::run::RunFacts;
use types::target::Thing;
use types::time::Time;
use types::webhook::Topic;

pub(crate) const APPROVAL: Table = Table { name: "approval", key: "id" };
const DECISION: Table = Table { name: "approval_decision", key: "approval || ' ' || by" };
const NOTICE: Table = Table { name: "approval_notice", key: "approval || ' ' || kind || ' ' || notice" };

/// The maximum characters of a summary sent to webhooks.
const SUMMARY: usize = 500;

events! {
    /// An operation waits for approval.
    ApprovalRequested = "approval_requested" {
        id: Id, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        #[schemars(extend("x-names" = "text"))] summary: String,
        #[schemars(extend("x-names" = "json"))] input: serde_json::Value,
        #[schemars(extend("x-names" = "json"))] resource: serde_json::Value,
        kinds: Vec<String>, digest: String, reason: String, channel: Channel, expires_at: Time,
        approvers: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        under: Option<Id>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        on_behalf_of: Vec<ActorId>,
        /// The token that it was made with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_id: Option<Id>,
        /// Who issued that token, where it was another than the requester.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunFacts>,
    // Not its target: who sees a request is for the approval's own rules.
    } about [id] => {
        says: "requested approval[: {id:«summary»}]",
        content: Content::SHOWN.hiding(&["token_id"]), tables: &[APPROVAL], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(requested), notify: Notify::AndShow(notify_approvers), news: Some(pending),
    }
    /// Arguments of a pending call, in an entry of their own so that they can be erased.
    ArgumentsKept = "arguments_kept" {
        id: Id, requester: ActorId, arguments: serde_json::Map<String, serde_json::Value>,
    } about [id, requester] => {
        says: "gave arguments with a request",
        content: Content::ERASABLE.hiding(&["arguments"]).minor(), tables: &[APPROVAL], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(kept), notify: Notify::Nobody, news: None,
    }
    /// Somebody approved or rejected.
    ApprovalDecided = "approval_decided" {
        id: Id, requester: ActorId, kind: String, verdict: Verdict, note: String, outcome: ApprovalStatus,
        /// Whether the requester has to repeat the call: its answer is for them alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repeat: bool,
        /// The token that it was given with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_id: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
    } about [id, requester] => {
        says: "{verdict=approve?approved|rejected} {id:a request} of @{requester}[: «{note}»]",
        content: Content::SHOWN.hiding(&["token_id"]), tables: &[APPROVAL, DECISION], memory: Memory::Nothing,
        settles: Settles::Request(|event| (&event.id, standing(event))),
        fold: Some(decided), notify: Notify::AndShow(notify_of_decision), news: None,
    }
    /// The approved operation was performed; the approval is used.
    ApprovalUsed = "approval_used" {
        id: Id, requester: ActorId,
    } about [id, requester] => {
        says: "carried out {id:an approved request} of @{requester}",
        content: Content::SHOWN, tables: &[APPROVAL], memory: Memory::Nothing,
        settles: Settles::Request(|event| (&event.id, Standing::CarriedOut)),
        fold: Some(|event, moment| became(moment, &event.id, ApprovalStatus::Used)),
        notify: Notify::AndShow(|event, moment| {
            inbox::resolve_alerts(moment, event.id.as_str())?;
            notify_requester(moment, &event.requester, &event.id, ApprovalStatus::Used)
        }),
        news: None,
    }
    /// The approval is stale: what would happen now is not what was approved. It must be requested again.
    ApprovalStale = "approval_stale" {
        id: Id, requester: ActorId, #[schemars(extend("x-names" = "text"))] reason: String,
    } about [id, requester] => {
        says: "found {id:a request} of @{requester} stale[: «{reason}»]",
        content: Content::SHOWN, tables: &[APPROVAL], memory: Memory::Nothing,
        settles: Settles::Request(|event| (&event.id, Standing::Again)),
        fold: Some(stale),
        notify: Notify::AndShow(|event, moment| {
            inbox::resolve(moment, event.id.as_str())?;
            let title = format!("your request is stale ({}): {}", event.reason, summary(moment, &event.id)?);
            inbox::add(moment, &event.requester, ItemKind::Decision, event.id.as_str(), &title)
        }),
        news: None,
    }
    /// Nobody has decided yet: the approvers are reminded. Once for each kind of approval.
    ApprovalReminded = "approval_reminded" {
        id: Id, requester: ActorId, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        kind: String, approvers: Vec<ActorId>,
    } about [id, requester] => {
        says: "reminded those who may decide {id:a request} of @{requester}",
        content: Content::SHOWN, tables: &[NOTICE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| noticed(moment, &event.id, &event.kind, Notice::Reminded)),
        notify: Notify::AndShow(|event, moment| {
            let title = format!("{} {}: still waits for you", event.requester, summary(moment, &event.id)?);
            notify_all(moment, &event.approvers, &event.id, &title)
        }), news: None,
    }
    /// The approval was escalated: more people may decide, and are notified. Once for each kind of approval.
    ApprovalEscalated = "approval_escalated" {
        id: Id, requester: ActorId, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        kind: String, approvers: Vec<ActorId>,
    } about [id, requester] => {
        says: "escalated {id:a request} of @{requester}",
        content: Content::SHOWN, tables: &[NOTICE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| noticed(moment, &event.id, &event.kind, Notice::Escalated)),
        notify: Notify::AndShow(|event, moment| {
            let what = summary(moment, &event.id)?;
            let title = format!("{} {what}: has waited long and now waits for you too", event.requester);
            notify_all(moment, &event.approvers, &event.id, &title)
        }), news: None,
    }
    /// The request was cancelled: its requester withdrew it or left, or performed the operation without approval, under a
    /// break-glass grant or because it needs none any more.
    ApprovalCancelled = "approval_cancelled" {
        id: Id, requester: ActorId,
    } about [id, requester] => {
        says: "cancelled {id:a request}",
        content: Content::SHOWN, tables: &[APPROVAL], memory: Memory::Nothing,
        settles: Settles::Request(|event| (&event.id, Standing::Refused("the request was taken back".into()))),
        fold: Some(|event, moment| became(moment, &event.id, ApprovalStatus::Cancelled)),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A token was revoked that an open request was made with, or that somebody decided it with. Whoever decides is told; the request
    /// waits on, and what was decided counts.
    ApprovalTokenRevoked = "approval_token_revoked" {
        id: Id, requester: ActorId,
    } about [id, requester] => {
        says: "revoked a token with which {id:a request} of @{requester} was made or decided",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None,
        notify: Notify::AndShow(|event, moment| {
            let what = summary(moment, &event.id)?;
            let title = format!("a token that this was requested or decided with was revoked: {} {what}", event.requester);
            // Whoever has decided has no item of it any more; what was done in their name may not have been their doing.
            let mut told: BTreeSet<ActorId> = inbox::pending(moment.conn, ItemKind::Approval, event.id.as_str())?.into_iter().collect();
            told.extend(deciders(moment, &event.id)?);
            told.insert(event.requester.clone());
            told.iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Alert, event.id.as_str(), &title))
        }),
        news: None,
    }
    /// The approval expired; the operation will not be performed.
    ApprovalExpired = "approval_expired" {
        id: Id,
        /// Who learns of it; in entries of before, nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")] requester: Option<ActorId>,
    } about [id, requester] => {
        says: "recorded that {id:a request} expired",
        content: Content::SHOWN, tables: &[APPROVAL], memory: Memory::Nothing,
        settles: Settles::Request(|event| (&event.id, Standing::Refused("no decision in time".into()))),
        fold: Some(|event, moment| became(moment, &event.id, ApprovalStatus::Expired)),
        notify: Notify::AndShow(notify_of_expiry), news: None,
    }
}

/// Returns the standing of the request: an approved call that was not carried out with the decision is carried out by the
/// requester's next call.
fn standing(event: &ApprovalDecided) -> Standing {
    match event.outcome {
        ApprovalStatus::Rejected if event.note.is_empty() => Standing::Refused("an approver rejected it".into()),
        ApprovalStatus::Rejected => Standing::Refused(format!("an approver rejected it: {}", quoted(&event.note))),
        ApprovalStatus::Approved => Standing::Again,
        _ => Standing::Open,
    }
}

fn notify_of_expiry(event: &ApprovalExpired, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let Some(requester) = &event.requester else { return Ok(()) };
    let title = format!("your request has expired: {}", summary(moment, &event.id)?);
    inbox::add(moment, requester, ItemKind::Decision, event.id.as_str(), &title)
}

fn requested(event: &ApprovalRequested, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "INSERT INTO approval (id, actor, operation, target, input, resource, channel, kinds, digest, reason, created_at, \
               expires_at, under, behalf, issuer, summary, run, status, erasable) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', '{}')";
    moment.conn.prepare_cached(sql)?.execute(params![
        event.id.as_str(),
        moment.by.as_str(),
        event.operation,
        event.target,
        to_json(&event.input)?,
        to_json(&event.resource)?,
        event.channel.name(),
        to_json(&event.kinds)?,
        event.digest,
        event.reason,
        moment.at.0,
        event.expires_at.0,
        event.under.as_ref().map(Id::as_str),
        to_json(&event.on_behalf_of)?,
        event.issuer.as_ref().map(ActorId::as_str),
        event.summary,
        event.run.as_ref().map(to_json).transpose()?
    ])?;
    // A separate statement, because a file of an earlier version lacks this column and is verified unchanged.
    if let Some(token) = &event.token_id {
        let sql = "UPDATE approval SET token_id = ? WHERE id = ?";
        moment.conn.prepare_cached(sql)?.execute([token.as_str(), event.id.as_str()])?;
    }
    Ok(Touched::Nothing)
}

fn kept(event: &ArgumentsKept, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE approval SET erasable = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![to_json(&event.arguments)?, event.id.as_str()])?;
    Ok(Touched::Nothing)
}

/// Erases the erasable part of a call.
pub(crate) fn forgotten(moment: &Moment<'_>, id: &Id) -> rusqlite::Result<()> {
    moment.conn.prepare_cached("UPDATE approval SET erasable = NULL WHERE id = ?")?.execute([id.as_str()])?;
    Ok(())
}

fn decided(event: &ApprovalDecided, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let ApprovalDecided { id, kind, verdict, note, outcome, issuer, token_id, .. } = event;
    let sql = "INSERT OR REPLACE INTO approval_decision (approval, by, kind, verdict, note, at, issuer) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let issuer = issuer.as_ref().map(ActorId::as_str);
    let row = params![id.as_str(), moment.by.as_str(), kind, verdict.name(), note, moment.at.0, issuer];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    if let Some(token) = token_id {
        let sql = "UPDATE approval_decision SET token_id = ? WHERE approval = ? AND by = ?";
        moment.conn.prepare_cached(sql)?.execute([token.as_str(), id.as_str(), moment.by.as_str()])?;
    }
    if *outcome == ApprovalStatus::Pending { Ok(Touched::Nothing) } else { became(moment, id, *outcome) }
}

fn stale(event: &ApprovalStale, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE approval SET stale = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute([&event.reason, event.id.as_str()])?;
    became(moment, &event.id, ApprovalStatus::Stale)
}

fn noticed(moment: &Moment<'_>, id: &Id, kind: &str, notice: Notice) -> rusqlite::Result<Touched> {
    let sql = "INSERT INTO approval_notice (approval, kind, notice, at) VALUES (?, ?, ?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), kind, notice.name(), moment.at.0])?;
    Ok(Touched::Nothing)
}

/// Sets the status of an approval. `approved` is not final.
fn became(moment: &Moment<'_>, id: &Id, to: ApprovalStatus) -> rusqlite::Result<Touched> {
    let ended = (to != ApprovalStatus::Approved).then_some(moment.at.0);
    let sql = "UPDATE approval SET status = ?, ended_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![to.name(), ended, id.as_str()])?;
    Ok(Touched::Nothing)
}

fn notify_approvers(event: &ApprovalRequested, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("{} {}: waits for you", moment.by, event.summary);
    notify_all(moment, &event.approvers, &event.id, &title)
}

fn notify_all(moment: &Moment<'_>, approvers: &[ActorId], id: &Id, title: &str) -> rusqlite::Result<()> {
    approvers.iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Approval, id.as_str(), title))
}

fn notify_of_decision(event: &ApprovalDecided, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let ApprovalDecided { id, requester, note, outcome, repeat, .. } = event;
    // While further approvals are needed, the request stays open for the others.
    if *outcome == ApprovalStatus::Pending {
        inbox::resolve_for(moment, id.as_str(), moment.by)?;
    } else {
        inbox::resolve(moment, id.as_str())?;
        if *outcome != ApprovalStatus::Approved || *repeat {
            notify_requester(moment, requester, id, *outcome)?;
        }
    }
    inbox::mention(moment, id, note)
}

/// Notifies the requester of the outcome.
fn notify_requester(
    moment: &Moment<'_>,
    requester: &ActorId,
    id: &Id,
    outcome: ApprovalStatus,
) -> rusqlite::Result<()> {
    let came = match outcome {
        ApprovalStatus::Used => "was carried out",
        ApprovalStatus::Rejected => "was rejected",
        ApprovalStatus::Approved => "was approved; repeat the call to carry it out",
        _ => "has ended",
    };
    let title = format!("your request {came}: {}", summary(moment, id)?);
    inbox::add(moment, requester, ItemKind::Decision, id.as_str(), &title)
}

/// Returns who has decided a request.
fn deciders(moment: &Moment<'_>, id: &Id) -> rusqlite::Result<Vec<ActorId>> {
    let sql = "SELECT by FROM approval_decision WHERE approval = ? ORDER BY by";
    moment.conn.prepare_cached(sql)?.query_map([id.as_str()], |row| parsed(row, 0))?.collect()
}

/// Returns the summary of a pending call.
fn summary(moment: &Moment<'_>, id: &Id) -> rusqlite::Result<String> {
    let sql = "SELECT summary FROM approval WHERE id = ?";
    moment.conn.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0))
}

/// Returns the webhook message for an agent's call, without its arguments or anything secret; `None` for a person's.
fn pending(event: &ApprovalRequested, author: &Author<'_>) -> Option<News> {
    let ApprovalRequested { id, operation, target, reason, expires_at, .. } = event;
    let Author { by, is_person: false } = *author else { return None };
    let summary: String = format!("{by} asks for {operation} of {target}: {reason}").chars().take(SUMMARY).collect();
    let about = Thing::new("Approval", id.as_str())
        .actor("requester", by)
        .text("operation", operation)
        .actors("approvers", event.approvers.iter().cloned())
        .actors("behalf", event.on_behalf_of.iter().cloned())
        .maybe("issuer", event.issuer.as_ref());
    Some(News {
        topic: Topic::GatePending.name(),
        only: None,
        of: None,
        about: Some(("approval.read", about.into())),
        data: json!({
            "approval_id": id,
            "run_id": event.run.as_ref().map(|run| &run.run),
            "action": operation,
            "summary": summary,
            "expires_at": expires_at,
            "user_id": null,
            "agent_id": by,
        }),
    })
}
