//! What happens to what is to be done outside.

use rusqlite::params;

use super::table::{OUTBOX, forget_old};
use crate::event::{Content, Moment, Notify, events};
use crate::memory::{Memory, Touched};
use crate::settles::Settles;
use crate::webhooks::events::{WEBHOOK, attempted};
use types::id::{ActorId, Id};
use types::time::Time;
use types::webhook::Outcome;

events! {
    /// A message is to be delivered. Recorded in the transaction of the event that it reports.
    DeliveryIntended = "delivery_intended" {
        id: Id, webhook: Id, owner: ActorId, topic: String, body: String,
    } about [id, webhook, owner] => {
        says: "is to deliver `{topic}`",
        content: Content::SHOWN.hiding(&["body"]).minor(), tables: &[OUTBOX], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(intended), notify: Notify::Nobody, news: None,
    }
    /// The outcome of one delivery attempt.
    DeliveryAttempted = "delivery_attempted" {
        id: Id, webhook: Id, owner: ActorId, attempt: u32, outcome: Outcome, http_status: Option<u16>,
        error: Option<String>, next_at: Option<Time>,
    } about [id, webhook, owner] => {
        says: "{outcome=delivered?delivered|could not deliver} a message[: «{error}»]",
        content: Content::SHOWN.minor(), tables: &[OUTBOX, WEBHOOK], memory: Memory::Webhooks, settles: Settles::Nothing,
        fold: Some(tried), notify: Notify::Nobody, news: None,
    }
    /// Somebody had a message redelivered.
    DeliveryRequeued = "delivery_requeued" {
        id: Id, webhook: Id, owner: ActorId,
    } about [id, webhook, owner] => {
        says: "requeued a delivery",
        content: Content::SHOWN, tables: &[OUTBOX], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(requeued), notify: Notify::Nobody, news: None,
    }
}

fn intended(event: &DeliveryIntended, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let DeliveryIntended { id, webhook, topic, body, .. } = event;
    let sql = "INSERT INTO outbox (id, kind, recipient, topic, body, state, attempts, due_at, created_at) \
               VALUES (?, 'webhook', ?, ?, ?, 'pending', 0, ?, ?)";
    let row = params![id.as_str(), webhook.as_str(), topic, body, moment.at.0, moment.at.0];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    forget_old(moment, webhook.as_str())?;
    Ok(Touched::Nothing)
}

/// One that was cancelled under way stays so, unless it has arrived.
fn tried(event: &DeliveryAttempted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let DeliveryAttempted { id, webhook, attempt, outcome, http_status, error, next_at, .. } = event;
    let sql = "UPDATE outbox SET attempts = ?2, last_at = ?3, last_outcome = ?4, http_status = ?5, error = ?6, \
               state = iif(state = 'cancelled' AND ?4 <> 'delivered', state, ?7), \
               due_at = iif(state = 'cancelled', NULL, ?8), ended_at = iif(?7 = 'pending', ended_at, ?3) WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        attempt,
        moment.at.0,
        outcome.name(),
        http_status,
        error,
        outcome.state().name(),
        next_at.map(|at| at.0)
    ])?;
    attempted(moment, webhook, *outcome)
}

fn requeued(event: &DeliveryRequeued, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE outbox SET state = 'pending', attempts = 0, due_at = ?2, ended_at = NULL WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute(params![event.id.as_str(), moment.at.0])?;
    Ok(Touched::Nothing)
}
