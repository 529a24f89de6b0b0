//! Updates a webhook (topics, address, enabled, secret), or deletes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WEBHOOK;
use super::shown::{ShownWebhook, whole};
use super::{OneWebhook, find, host, problems, target, updated};
use gate::{Change, Draft, Permit, Reader, Spec, Target, delete, patch, post};
use store::webhooks::Webhook;
use store::webhooks::events::{WebhookDeleted, WebhookRotated, WebhookUpdated};
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::{DAY, Time};
use types::webhook::{Topic, WebhookStatus};

/// How long the previous secret still signs after a rotation.
const BOTH: i64 = DAY;

/// What is to be otherwise. What is absent stays as it is.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    pub id: String,
    /// Where messages are sent: a public https address, at most 2048 bytes.
    #[schemars(length(max = 2_048))]
    pub url: Option<String>,
    /// The event types to send.
    pub events: Option<Vec<Topic>>,
    /// At most 256 characters.
    #[schemars(length(max = 256))]
    #[schemars(extend("x-erasable" = true))]
    pub description: Option<String>,
    /// Only events caused by these agents; an empty list for anybody.
    pub agents: Option<Vec<ActorId>>,
    /// Whether messages about completed runs hold their output, the first 16 kB of it.
    pub include_output: Option<bool>,
    /// `disabled` stops all messages; `active` goes on with new ones.
    pub status: Option<Switch>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    Active,
    Disabled,
}

/// Update a webhook.
pub enum Update {}

impl Change for Update {
    const SPEC: Spec = Spec {
        name: "webhook.update",
        doc: "Update a webhook subscription, or enable or disable it. The policies decide about the new host.",
        scope: Reach::Full,
        route: patch("/v1/webhooks/{id}").from_root().outward(),
        about: &[&WEBHOOK],
        events: &[WebhookUpdated::KIND],
    };
    const SAYS: &'static str = "changes the webhook {id}";
    type Input = Changes;
    type Output = ShownWebhook;

    fn target(input: &Changes, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.webhook_target(&find(&input.id, read)?, input.url.as_deref().map(host).as_deref()))
    }

    fn run(permit: Permit<Self>, input: Changes, draft: &mut Draft<'_>) -> Result<ShownWebhook, Stop> {
        let before = find(&input.id, draft.read())?;
        let was_enabled = before.status != WebhookStatus::Disabled;
        let enabled = input.status.map_or(was_enabled, |status| status == Switch::Active);
        let moved = input.url.as_ref().is_some_and(|url| *url != before.url);
        let (former, named) = (before.url.clone(), before.agents.clone());
        let url = input.url.unwrap_or_else(|| former.clone());
        let webhook = Webhook {
            host: host(&url),
            url,
            topics: input.events.map_or(before.topics, |events| events.into_iter().collect()),
            description: input.description.unwrap_or(before.description),
            agents: input.agents.map_or(before.agents, |agents| agents.into_iter().collect()),
            include_output: input.include_output.unwrap_or(before.include_output),
            updated_at: permit.now(),
            status: match before.status {
                _ if !enabled => WebhookStatus::Disabled,
                WebhookStatus::Failing if !moved => WebhookStatus::Failing,
                _ => WebhookStatus::Active,
            },
            ..before
        };
        let problems = problems(&webhook, Some((&former, &named)), draft.read());
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        draft.record(updated(&Id::stored(&webhook.id), &webhook, enabled))?;
        whole(webhook, draft.read())
    }
}

/// What was deleted.
#[derive(Serialize, JsonSchema)]
pub struct DeletedWebhook {
    pub id: String,
    pub deleted: bool,
}

/// Delete a webhook.
pub enum Delete {}

impl Change for Delete {
    const SPEC: Spec = Spec {
        name: "webhook.delete",
        doc: "Delete a webhook subscription. Pending messages are not sent.",
        scope: Reach::Full,
        route: delete("/v1/webhooks/{id}").stops().from_root(),
        about: &[&WEBHOOK],
        events: &[WebhookDeleted::KIND],
    };
    const SAYS: &'static str = "deletes the webhook {id}";
    type Input = OneWebhook;
    type Output = DeletedWebhook;

    fn target(input: &OneWebhook, read: &Reader<'_>) -> Result<Target, Stop> {
        target(&input.id, read)
    }

    fn run(_: Permit<Self>, input: OneWebhook, draft: &mut Draft<'_>) -> Result<DeletedWebhook, Stop> {
        let webhook = find(&input.id, draft.read())?;
        draft.record(WebhookDeleted { id: Id::stored(&webhook.id), owner: webhook.owner })?;
        Ok(DeletedWebhook { id: webhook.id, deleted: true })
    }
}

/// A webhook's new secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RotatedWebhook {
    pub id: String,
    /// The key to verify messages with from now on. Shown only once.
    pub secret: String,
    /// Until then, the previous secret signs, too.
    pub both_until: Time,
}

/// Rotate a webhook's secret.
pub enum Rotate {}

impl Change for Rotate {
    const SPEC: Spec = Spec {
        name: "webhook.rotate",
        doc: "Rotate a webhook's signing secret. The new one is shown only once; for a day, the previous one signs \
              too.",
        scope: Reach::Full,
        route: post("/v1/webhooks/{id}/rotate").from_root().secret("secret"),
        about: &[&WEBHOOK],
        events: &[WebhookRotated::KIND],
    };
    const SAYS: &'static str = "rotates the secret of the webhook {id}";
    type Input = OneWebhook;
    type Output = RotatedWebhook;

    fn target(input: &OneWebhook, read: &Reader<'_>) -> Result<Target, Stop> {
        target(&input.id, read)
    }

    fn run(permit: Permit<Self>, input: OneWebhook, draft: &mut Draft<'_>) -> Result<RotatedWebhook, Stop> {
        let before = find(&input.id, draft.read())?;
        let both_until = permit.now().plus_ms(BOTH);
        let webhook = Webhook { generation: before.generation.saturating_add(1), ..before };
        let secret = draft.read().webhook_secret(&webhook)?;
        let (id, owner, generation) = (Id::stored(&webhook.id), webhook.owner, webhook.generation);
        let made_from = Some(draft.read().webhook_key()?);
        draft.record(WebhookRotated { id, owner, generation, both_until, made_from })?;
        Ok(RotatedWebhook { id: webhook.id, secret, both_until })
    }
}
