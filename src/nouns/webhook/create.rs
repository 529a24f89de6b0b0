//! Creates a webhook subscription.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WEBHOOK;
use super::shown::{ShownWebhook, shown};
use super::{MOST, host, problems};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::webhooks::Webhook;
use store::webhooks::events::WebhookCreated;
use types::id::{ActorId, Kind};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::webhook::{SignatureFormat, Topic, WebhookStatus};

/// A webhook to be.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewWebhook {
    /// Where messages are sent: a public https address, at most 2048 bytes.
    #[schemars(length(max = 2_048))]
    pub url: String,
    /// The event types to send.
    #[arg(long = "event", required = true, help = "An event type to send; may be repeated")]
    pub events: Vec<Topic>,
    /// What it is for; at most 256 characters.
    #[schemars(length(max = 256))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
    /// Only events caused by these agents, at most 100; by default, by anybody.
    #[schemars(length(max = 100))]
    #[serde(default)]
    #[arg(long = "agent", value_name = "ID", help = "Only events caused by this agent; may be repeated")]
    pub agents: Vec<ActorId>,
    /// Messages about completed runs include their output, the first 16 kB of it.
    #[serde(default)]
    #[arg(long, help = "Messages about completed runs include their output")]
    pub include_output: bool,
    /// How messages are signed: `v1`, with a shared secret (default), or `v1a`, with a key of which the receiver gets
    /// the public half.
    #[serde(default = "v1")]
    #[arg(long = "signature", value_name = "SIGNATURE", default_value = SignatureFormat::V1.name(), help = SIGNATURE)]
    pub format: SignatureFormat,
}

const SIGNATURE: &str = "How messages are signed: with a shared secret, or with a private key whose public key you get";

const fn v1() -> SignatureFormat {
    SignatureFormat::V1
}

/// A webhook with its secret, which is shown this once.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct CreatedWebhook {
    /// The key to verify messages with: `whsec_…`, or with `v1a` the public key, `whpk_…`. Shown only once.
    pub secret: String,
    #[serde(flatten)]
    pub webhook: ShownWebhook,
}

/// Create a webhook subscription.
pub enum Create {}

impl Change for Create {
    const SPEC: Spec = Spec {
        name: "webhook.create",
        doc: "Create a webhook subscription. Its signing secret is shown only once.",
        scope: Reach::Full,
        route: post("/v1/webhooks").from_root().outward().created().secret("secret"),
        about: &[&WEBHOOK],
        events: &[WebhookCreated::KIND],
    };
    const SAYS: &'static str = "creates a webhook for {events}";
    type Input = NewWebhook;
    type Output = CreatedWebhook;

    fn target(input: &NewWebhook, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.new_webhook_target(&read.caller().actor(), &host(&input.url)))
    }

    fn run(permit: Permit<Self>, input: NewWebhook, draft: &mut Draft<'_>) -> Result<CreatedWebhook, Stop> {
        let id = draft.new_id(Kind::Webhook);
        let NewWebhook { url, events, description, agents, include_output, format } = input;
        let webhook = Webhook {
            id: id.to_string(),
            owner: permit.actor(),
            host: host(&url),
            url,
            topics: events.into_iter().collect(),
            agents: agents.into_iter().collect(),
            description,
            include_output,
            format,
            status: WebhookStatus::Active,
            generation: 1,
            both_until: None,
            failing_since: None,
            created_at: permit.now(),
            updated_at: permit.now(),
            deleted: false,
        };
        let problems = problems(&webhook, None, draft.read());
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        if draft.read().count_webhooks()? >= MOST {
            return Err(Refusal::conflict(format!("there are {MOST} webhooks already; delete one first")).into());
        }
        let secret = draft.read().webhook_secret(&webhook)?;
        let made_from = Some(draft.read().webhook_key()?);
        let Webhook { owner, host, url, topics, agents, description, include_output, format, .. } = webhook.clone();
        let created =
            WebhookCreated { id, owner, host, url, topics, agents, description, include_output, format, made_from };
        draft.record(created)?;
        Ok(CreatedWebhook { secret, webhook: shown(webhook, None) })
    }
}
