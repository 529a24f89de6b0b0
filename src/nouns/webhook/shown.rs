//! A webhook and its deliveries as shown to people.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::Reader;
use store::outbox::Intent;
use store::webhooks::Webhook;
use types::id::ActorId;
use types::refusal::Stop;
use types::time::Time;
use types::webhook::{IntentState, Outcome, SignatureFormat, Topic, WebhookStatus};

/// A webhook subscription: an address outside the company, and the events that are sent to it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownWebhook {
    pub id: String,
    pub url: String,
    pub events: BTreeSet<Topic>,
    /// Only events caused by these agents; by anybody if empty.
    pub agents: BTreeSet<ActorId>,
    pub description: String,
    pub include_output: bool,
    pub format: SignatureFormat,
    pub status: WebhookStatus,
    /// It is sent only what they may see.
    pub owner: ActorId,
    /// Until when the previous secret signs, too.
    pub both_until: Option<Time>,
    pub last_delivery: Option<LastDelivery>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// What was tried last.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct LastDelivery {
    pub id: String,
    pub at: Option<Time>,
    pub outcome: Option<Outcome>,
    pub http_status: Option<u16>,
    pub error: Option<String>,
}

/// One message to a webhook.
#[derive(Serialize, JsonSchema)]
pub struct ShownDelivery {
    /// The `webhook-id` of the message; the same each time that it is sent.
    pub id: String,
    /// The event type.
    pub r#type: String,
    pub state: IntentState,
    /// Attempts since it was queued or last redelivered.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_at: Option<Time>,
    /// What the receiver answered last.
    pub http_status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    pub created_at: Time,
    pub tried_at: Option<Time>,
    pub ended_at: Option<Time>,
}

pub(super) fn shown(webhook: Webhook, last: Option<Intent>) -> ShownWebhook {
    let delivery = |intent: Intent| LastDelivery {
        id: intent.id,
        at: intent.last_at,
        outcome: intent.last_outcome,
        http_status: intent.http_status,
        error: intent.error,
    };
    ShownWebhook {
        id: webhook.id,
        url: webhook.url,
        events: webhook.topics,
        agents: webhook.agents,
        description: webhook.description,
        include_output: webhook.include_output,
        format: webhook.format,
        status: webhook.status,
        owner: webhook.owner,
        both_until: webhook.both_until,
        last_delivery: last.map(delivery),
        created_at: webhook.created_at,
        updated_at: webhook.updated_at,
    }
}

/// Returns a webhook with its last delivery.
pub(super) fn whole(webhook: Webhook, read: &Reader<'_>) -> Result<ShownWebhook, Stop> {
    let last = read.last_delivery(&webhook.id)?;
    Ok(shown(webhook, last))
}

pub(super) fn delivery(intent: Intent) -> ShownDelivery {
    ShownDelivery {
        id: intent.id,
        r#type: intent.topic,
        state: intent.state,
        attempts: intent.attempts,
        next_at: intent.due_at,
        http_status: intent.http_status,
        error: intent.error,
        created_at: intent.created_at,
        tried_at: intent.last_at,
        ended_at: intent.ended_at,
    }
}
