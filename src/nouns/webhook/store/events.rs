//! Events of webhook subscriptions.

use std::collections::BTreeSet;

use rusqlite::params;
use serde_json::json;

use super::{Webhook, get};
use crate::event::{Author, Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::outbox::News;
use crate::outbox::table::{OUTBOX, cancel};
use crate::settles::{End, Settles};
use crate::{inbox, to_json};
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::time::Time;
use types::webhook::{Outcome, SignatureFormat, TEST, Topic, WebhookStatus};

pub(crate) const WEBHOOK: Table = Table { name: "webhook", key: "id" };

events! {
    /// A webhook subscription was created.
    WebhookCreated = "webhook_created" {
        id: Id, owner: ActorId, host: String, url: String, topics: BTreeSet<Topic>, agents: BTreeSet<ActorId>,
        description: String, include_output: bool, format: SignatureFormat,
        /// The fingerprint of the key that its secret is made from.
        #[serde(default, skip_serializing_if = "Option::is_none")] made_from: Option<String>,
    } about [id, owner] => {
        says: "created a webhook subscription to {host}",
        content: Content::SHOWN.hiding(&["url", "made_from"]), tables: &[WEBHOOK], memory: Memory::Webhooks,
        settles: Settles::Nothing,
        fold: Some(created), notify: Notify::Nobody, news: None,
    }
    /// A webhook subscription was updated: its events, its URL, or whether it is enabled.
    WebhookUpdated = "webhook_updated" {
        id: Id, owner: ActorId, host: String, url: String, topics: BTreeSet<Topic>, agents: BTreeSet<ActorId>,
        description: String, include_output: bool, enabled: bool,
    } about [id, owner] => {
        says: "changed the webhook subscription to {host}",
        content: Content::SHOWN.hiding(&["url"]), tables: &[WEBHOOK, OUTBOX], memory: Memory::Webhooks,
        settles: Settles::Nothing,
        fold: Some(updated), notify: Notify::AndShow(notify_of_update), news: None,
    }
    /// A webhook's signing secret was rotated; the previous one is valid until this time.
    WebhookRotated = "webhook_rotated" {
        id: Id, owner: ActorId, generation: u32, both_until: Time,
        #[serde(default, skip_serializing_if = "Option::is_none")] made_from: Option<String>,
    } about [id, owner] => {
        says: "rotated the secret of a webhook subscription",
        content: Content::SHOWN.hiding(&["made_from"]), tables: &[WEBHOOK], memory: Memory::Webhooks,
        settles: Settles::Nothing,
        fold: Some(rotated), notify: Notify::Nobody, news: None,
    }
    /// A webhook's owner changed.
    WebhookHandedOn = "webhook_handed_on" {
        id: Id, from: ActorId, owner: ActorId,
    } about [id, from, owner] => {
        says: "handed a webhook subscription over to @{owner}",
        content: Content::SHOWN, tables: &[WEBHOOK], memory: Memory::Webhooks, settles: Settles::Nothing,
        fold: Some(handed_on), notify: Notify::Nobody, news: None,
    }
    /// A webhook was disabled: nothing is sent until it is enabled. Its owner is notified.
    WebhookDisabled = "webhook_disabled" {
        id: Id, owner: ActorId, host: String, reason: String, notified: Vec<ActorId>,
    } about [id, owner] => {
        says: "disabled the webhook subscription to {host}[: «{reason}»]",
        content: Content::SHOWN, tables: &[WEBHOOK, OUTBOX], memory: Memory::Webhooks, settles: Settles::Nothing,
        fold: Some(|event, moment| disabled(moment, &event.id)), notify: Notify::AndShow(notify_of_end), news: None,
    }
    /// A webhook was deleted; nothing more is sent.
    WebhookDeleted = "webhook_deleted" {
        id: Id, owner: ActorId,
    } about [id, owner] => {
        says: "deleted a webhook subscription",
        content: Content::SHOWN, tables: &[WEBHOOK, OUTBOX], memory: Memory::Webhooks,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, "was removed"))),
        fold: Some(deleted),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())),
        news: None,
    }
    /// A test message was sent.
    WebhookTested = "webhook_tested" {
        id: Id, owner: ActorId,
    } about [id, owner] => {
        says: "sent a test to a webhook subscription",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: Some(test),
    }
}

fn created(event: &WebhookCreated, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "INSERT INTO webhook (id, owner, host, url, topics, agents, description, include_output, format, status, \
               generation, created_at, updated_at, deleted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', 1, ?, ?, 0)";
    moment.conn.prepare_cached(sql)?.execute(params![
        event.id.as_str(),
        event.owner.as_str(),
        event.host,
        event.url,
        to_json(&event.topics)?,
        to_json(&event.agents)?,
        event.description,
        event.include_output,
        event.format.name(),
        moment.at.0,
        moment.at.0
    ])?;
    made_from(&event.id, event.made_from.as_deref(), moment)?;
    Ok(Touched::Webhooks)
}

/// Stores the key's fingerprint. A log without it is also folded into tables without the column, if a file is only read.
fn made_from(id: &Id, key: Option<&str>, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let Some(key) = key else { return Ok(()) };
    let sql = "UPDATE webhook SET made_from = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute([key, id.as_str()]).map(drop)
}

fn updated(event: &WebhookUpdated, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let before = get(moment.conn, event.id.as_str())?;
    let sql = "UPDATE webhook SET host = ?, url = ?, topics = ?, agents = ?, description = ?, include_output = ?, \
               updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![
        event.host,
        event.url,
        to_json(&event.topics)?,
        to_json(&event.agents)?,
        event.description,
        event.include_output,
        moment.at.0,
        event.id.as_str()
    ])?;
    // At a new address it has not failed yet.
    let fresh = |before: Webhook| before.status == WebhookStatus::Disabled || before.url != event.url;
    if !event.enabled {
        return disabled(moment, &event.id);
    }
    if before.is_some_and(fresh) {
        stands(moment, &event.id, WebhookStatus::Active, None)?;
    }
    Ok(Touched::Webhooks)
}

fn rotated(event: &WebhookRotated, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let WebhookRotated { id, generation, both_until, .. } = event;
    let sql = "UPDATE webhook SET generation = ?, both_until = ?, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![generation, both_until.0, moment.at.0, id.as_str()])?;
    made_from(id, event.made_from.as_deref(), moment)?;
    Ok(Touched::Webhooks)
}

fn handed_on(event: &WebhookHandedOn, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE webhook SET owner = ?, updated_at = ? WHERE id = ?";
    let row = params![event.owner.as_str(), moment.at.0, event.id.as_str()];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(Touched::Webhooks)
}

fn deleted(event: &WebhookDeleted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    cancel(moment, event.id.as_str())?;
    let sql = "UPDATE webhook SET deleted = 1, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, event.id.as_str()])?;
    Ok(Touched::Webhooks)
}

/// Cancels pending messages: they are not sent when the webhook is enabled again.
fn disabled(moment: &Moment<'_>, id: &Id) -> rusqlite::Result<Touched> {
    cancel(moment, id.as_str())?;
    stands(moment, id, WebhookStatus::Disabled, None)?;
    Ok(Touched::Webhooks)
}

fn stands(moment: &Moment<'_>, id: &Id, status: WebhookStatus, failing_since: Option<Time>) -> rusqlite::Result<()> {
    let sql = "UPDATE webhook SET status = ?, failing_since = ?, updated_at = ? WHERE id = ?";
    let row = params![status.name(), failing_since.map(|at| at.0), moment.at.0, id.as_str()];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// Sets the status after an attempt, and returns whether it changed.
pub(crate) fn attempted(moment: &Moment<'_>, id: &Id, outcome: Outcome) -> rusqlite::Result<Touched> {
    let Some(before) = get(moment.conn, id.as_str())? else { return Ok(Touched::Nothing) };
    match (outcome, before.status) {
        (_, WebhookStatus::Disabled)
        | (Outcome::Delivered, WebhookStatus::Active)
        | (Outcome::Failed | Outcome::GivenUp, WebhookStatus::Failing) => return Ok(Touched::Nothing),
        (Outcome::Delivered, WebhookStatus::Failing) => stands(moment, id, WebhookStatus::Active, None)?,
        (Outcome::Failed | Outcome::GivenUp, WebhookStatus::Active) => {
            stands(moment, id, WebhookStatus::Failing, Some(moment.at))?;
        }
    }
    Ok(Touched::Webhooks)
}

fn notify_of_update(event: &WebhookUpdated, moment: &Moment<'_>) -> rusqlite::Result<()> {
    if event.enabled { inbox::resolve(moment, event.id.as_str()) } else { Ok(()) }
}

fn notify_of_end(event: &WebhookDisabled, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let WebhookDisabled { id, host, reason, notified, .. } = event;
    let title = format!("deliveries to {host} stopped: {reason}");
    notified.iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Alert, id.as_str(), &title))
}

/// Sent to the webhook itself only, whatever its topics.
fn test(event: &WebhookTested, _: &Author<'_>) -> Option<News> {
    let data = json!({ "webhook_id": event.id });
    Some(News { topic: TEST, only: Some(event.id.to_string()), of: None, about: None, data })
}
