//! Records the outcome of a delivery attempt and what follows: a retry, giving up, or disabling the webhook.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::disabled;
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::outbox::Intent;
use store::outbox::events::DeliveryAttempted;
use store::webhooks::Webhook;
use store::webhooks::events::WebhookDisabled;
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::{DAY, HOUR, SECOND, Time};
use types::webhook::{IntentState, Outcome, WebhookStatus};

/// The delay after each failed attempt, in milliseconds.
const WAITS: [i64; 9] =
    [5 * SECOND, 300 * SECOND, 1800 * SECOND, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
/// The longest delay that a receiver can ask for.
const LONGEST: i64 = 24 * HOUR;
/// How long deliveries may fail before the webhook is disabled.
const PATIENCE: i64 = 5 * DAY;
/// The maximum characters of an error.
const ERROR: usize = 300;

/// One attempt that was made.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// The message.
    pub id: String,
    pub attempt: u32,
    /// What the receiver answered.
    pub http_status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// Seconds for which the receiver wants nothing.
    pub retry_after: Option<u32>,
}

/// What follows.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    pub outcome: Outcome,
    pub next_at: Option<Time>,
}

/// Record the outcome of an attempt.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "webhook.settle",
        doc: "Record the outcome of a delivery attempt. Called by the server itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&COMPANY],
        events: &[DeliveryAttempted::KIND, WebhookDisabled::KIND],
    };
    const SAYS: &'static str = "records the outcome of {id}";
    type Input = Attempt;
    type Output = Settled;

    fn target(_: &Attempt, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Attempt, draft: &mut Draft<'_>) -> Result<Settled, Stop> {
        let (intent, webhook) = find(&input.id, draft.read())?;
        if input.attempt != intent.attempts.saturating_add(1) {
            return Err(Refusal::conflict(format!("{} is not at attempt {}", intent.id, input.attempt)).into());
        }
        let outlived = webhook.failing_since.is_some_and(|since| permit.now().0 - since.0 >= PATIENCE);
        let arrived = input.http_status.is_some_and(|status| (200..300).contains(&status));
        let over = match input.http_status {
            _ if arrived => None,
            Some(410) => Some("it answered 410: it accepts no more messages"),
            _ if outlived => Some("nothing has arrived for five days"),
            _ => None,
        };
        let wanted = intent.state == IntentState::Pending && over.is_none();
        let wait = WAITS.get(intent.attempts as usize).filter(|_| wanted && !arrived);
        let next_at = wait.map(|wait| {
            let jittered = wait + draft.below(wait / 10);
            let asked = i64::from(input.retry_after.unwrap_or(0)) * SECOND;
            permit.now().plus_ms(jittered.max(asked.min(LONGEST)))
        });
        let outcome = match next_at {
            _ if arrived => Outcome::Delivered,
            Some(_) => Outcome::Failed,
            None => Outcome::GivenUp,
        };
        draft.record(DeliveryAttempted {
            id: Id::stored(&intent.id),
            webhook: Id::stored(&webhook.id),
            owner: webhook.owner.clone(),
            attempt: input.attempt,
            outcome,
            http_status: input.http_status,
            error: input.error.map(|error| error.chars().take(ERROR).collect()),
            next_at,
        })?;
        if let Some(reason) = over.filter(|_| !webhook.deleted && webhook.status != WebhookStatus::Disabled) {
            draft.record(disabled(&webhook, reason, draft.read()))?;
        }
        Ok(Settled { outcome, next_at })
    }
}

/// Returns a message with its webhook, which may be deleted by now.
fn find(id: &str, read: &Reader<'_>) -> Result<(Intent, Webhook), Stop> {
    let intent = read.delivery(id)?.ok_or_else(Refusal::not_found)?;
    let webhook = read.any_webhook(&intent.recipient)?.ok_or_else(Refusal::not_found)?;
    Ok((intent, webhook))
}
