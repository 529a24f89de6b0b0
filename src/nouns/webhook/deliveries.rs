//! Deliveries of a webhook: send a test, list, redeliver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WEBHOOK;
use super::shown::{ShownDelivery, delivery};
use super::{OneWebhook, find, target};
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, get, post};
use store::outbox::events::DeliveryRequeued;
use store::outbox::{self, Intent};
use store::webhooks::Webhook;
use store::webhooks::events::WebhookTested;
use types::id::Id;
use types::page::{ListQuery, Listed};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::webhook::{IntentState, TEST, WebhookStatus};

fn enabled(webhook: Webhook) -> Result<Webhook, Refusal> {
    if webhook.status == WebhookStatus::Disabled {
        return Err(Refusal::conflict(format!("{} is disabled; enable it first", webhook.id)));
    }
    Ok(webhook)
}

/// That a message was asked for.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TestedWebhook {
    pub id: String,
    /// `webhook.test`
    pub r#type: String,
}

/// Send a test message.
pub enum Test {}

impl Change for Test {
    const SPEC: Spec = Spec {
        name: "webhook.test",
        doc: "Send a `webhook.test` message to check that it arrives; its deliveries show the outcome.",
        scope: Reach::Full,
        route: post("/v1/webhooks/{id}/test").from_root().outward(),
        about: &[&WEBHOOK],
        events: &[WebhookTested::KIND],
    };
    const SAYS: &'static str = "tests the webhook {id}";
    type Input = OneWebhook;
    type Output = TestedWebhook;

    fn target(input: &OneWebhook, read: &Reader<'_>) -> Result<Target, Stop> {
        target(&input.id, read)
    }

    fn run(_: Permit<Self>, input: OneWebhook, draft: &mut Draft<'_>) -> Result<TestedWebhook, Stop> {
        let webhook = enabled(find(&input.id, draft.read())?)?;
        draft.record(WebhookTested { id: Id::stored(&webhook.id), owner: webhook.owner })?;
        Ok(TestedWebhook { id: webhook.id, r#type: TEST.into() })
    }
}

/// Which deliveries.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// The subscription.
    #[arg(value_name = "SUBSCRIPTION")]
    pub id: String,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: ListQuery,
}

/// List deliveries.
pub enum Deliveries {}

impl Query for Deliveries {
    const SPEC: Spec = Spec {
        name: "webhook.deliveries",
        doc: "List the deliveries of a webhook subscription, newest first: those that are pending, and the last 1000 \
              that ended.",
        scope: Reach::Full,
        route: get("/v1/webhooks/{id}/deliveries").from_root().listed(),
        about: &[&WEBHOOK],
        events: &[],
    };
    type Input = Which;
    type Output = Listed<ShownDelivery>;

    fn target(input: &Which, read: &Reader<'_>) -> Result<Target, Stop> {
        target(&input.id, read)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Listed<ShownDelivery>, Stop> {
        let what = format!("webhook.deliveries {}", input.id);
        let fetch = |from: &_, limit| read.deliveries_after(&input.id, from, limit);
        let page: Listed<Intent> = read.page(&input.page.page()?, what, fetch, |_| true, outbox::position)?.into();
        let data = page.data.into_iter().map(delivery).collect();
        Ok(Listed { data, has_more: page.has_more, next_cursor: page.next_cursor })
    }

    fn next(output: &Listed<ShownDelivery>) -> Option<String> {
        output.next_cursor.clone()
    }
}

/// One message of one webhook.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneDelivery {
    /// The subscription.
    #[arg(value_name = "SUBSCRIPTION")]
    pub id: String,
    /// The message's id.
    #[arg(value_name = "MESSAGE")]
    pub message: String,
}

/// Redeliver a message.
pub enum Redeliver {}

impl Change for Redeliver {
    const SPEC: Spec = Spec {
        name: "webhook.redeliver",
        doc: "Redeliver a message at once, under the same id.",
        scope: Reach::Full,
        route: post("/v1/webhooks/{id}/deliveries/{message}/redeliver").from_root().outward(),
        about: &[&WEBHOOK],
        events: &[DeliveryRequeued::KIND],
    };
    const SAYS: &'static str = "redelivers {message} of the webhook {id}";
    type Input = OneDelivery;
    type Output = ShownDelivery;

    fn target(input: &OneDelivery, read: &Reader<'_>) -> Result<Target, Stop> {
        let ours = read.delivery(&input.message)?.is_some_and(|intent| intent.recipient == input.id);
        if ours { target(&input.id, read) } else { Err(Refusal::not_found().into()) }
    }

    fn run(permit: Permit<Self>, input: OneDelivery, draft: &mut Draft<'_>) -> Result<ShownDelivery, Stop> {
        let webhook = enabled(find(&input.id, draft.read())?)?;
        let intent = draft.read().delivery(&input.message)?.ok_or_else(Refusal::not_found)?;
        let (id, owner) = (Id::stored(&intent.id), webhook.owner);
        draft.record(DeliveryRequeued { id, webhook: Id::stored(&webhook.id), owner })?;
        let (state, due_at) = (IntentState::Pending, Some(permit.now()));
        Ok(delivery(Intent { state, attempts: 0, due_at, ended_at: None, ..intent }))
    }
}
