//! Webhook subscriptions: addresses outside the company, and the events sent to them. The gate records a message with the event
//! that it reports; this module holds the subscribers and the outcomes of deliveries. A subscription lets data out of the
//! company, so the policies decide about its host.

mod body;
pub mod create;
pub mod deliveries;
mod dispatch;
mod leaving;
pub mod list;
mod resource;
mod settle;
pub mod shown;
pub mod update;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use gate::{Entry, Reader, Target};
use store::webhooks::Webhook;
use store::webhooks::events::{WebhookDisabled, WebhookUpdated};
use types::actor::Role;
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};

pub use dispatch::{Dispatch, Due, Free, Message};
pub(super) use leaving::hand_on;
pub use settle::{Attempt, Settle};

pub use resource::WEBHOOK;

pub const ALL: &[Entry] = &[
    Entry::change::<create::Create>(),
    Entry::query::<list::List>(),
    Entry::query::<list::Show>(),
    Entry::change::<update::Update>(),
    Entry::change::<update::Delete>(),
    Entry::change::<update::Rotate>(),
    Entry::change::<deliveries::Test>(),
    Entry::query::<deliveries::Deliveries>(),
    Entry::change::<deliveries::Redeliver>(),
    Entry::query::<dispatch::Dispatch>(),
    Entry::change::<settle::Settle>(),
];

/// The maximum number of webhooks in a company.
const MOST: i64 = 100;
/// The maximum number of agents in a webhook's filter.
const MOST_AGENTS: usize = 100;
/// The maximum characters of a description.
const DESCRIPTION: usize = 256;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneWebhook {
    /// The subscription.
    #[arg(value_name = "SUBSCRIPTION")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Webhook, Stop> {
    Ok(read.webhook(id)?.ok_or_else(Refusal::not_found)?)
}

fn target(id: &str, read: &Reader<'_>) -> Result<Target, Stop> {
    Ok(read.webhook_target(&find(id, read)?, None))
}

/// Returns the host of a URL; empty if it is invalid.
fn host(url: &str) -> String {
    let url = Url::parse(url).ok();
    url.and_then(|url| Some(url.host_str()?.trim_end_matches('.').to_owned())).unwrap_or_default()
}

/// Returns what is wrong with a webhook; `before` is its previous address and agents, if it existed.
fn problems(webhook: &Webhook, before: Option<(&str, &BTreeSet<ActorId>)>, read: &Reader<'_>) -> Vec<String> {
    let (egress, none) = (read.egress(), BTreeSet::new());
    let url = match before {
        Some((url, _)) if url == webhook.url => egress.destination(url),
        _ => egress.given(&webhook.url),
    };
    let named = before.map_or(&none, |(_, named)| named);
    let mut problems = Vec::new();
    problems.extend(url.err().map(|why| format!("url: {why}")));
    problems.extend(webhook.topics.is_empty().then(|| "events: must name at least one".to_owned()));
    if webhook.description.chars().count() > DESCRIPTION {
        problems.push(format!("description: must have at most {DESCRIPTION} characters"));
    }
    if webhook.agents.len() > MOST_AGENTS {
        problems.push(format!("agents: must name at most {MOST_AGENTS}"));
    }
    let is_agent = |id: &ActorId| read.known(id).is_ok_and(|card| card.actor.kind.is_agent());
    let stranger = webhook.agents.difference(named).find(|id| !is_agent(id));
    problems.extend(stranger.map(|id| format!("agents: there is no agent `{id}`")));
    problems
}

/// Builds the event that updates a webhook.
fn updated(id: &Id, webhook: &Webhook, enabled: bool) -> WebhookUpdated {
    let Webhook { owner, host, url, topics, agents, description, include_output, .. } = webhook.clone();
    WebhookUpdated { id: id.clone(), owner, host, url, topics, agents, description, include_output, enabled }
}

/// Builds the event that disables a webhook; its owner and the admins are notified.
fn disabled(webhook: &Webhook, reason: &str, read: &Reader<'_>) -> WebhookDisabled {
    let notified: BTreeSet<ActorId> = read.people(Role::Admin).chain([&webhook.owner]).cloned().collect();
    WebhookDisabled {
        id: Id::stored(&webhook.id),
        owner: webhook.owner.clone(),
        host: webhook.host.clone(),
        reason: reason.to_owned(),
        notified: notified.into_iter().collect(),
    }
}
