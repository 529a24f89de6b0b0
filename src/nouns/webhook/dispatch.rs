//! Selects the messages to send now, for the courier. The policies are asked about each webhook as the server: what they deny
//! is held back silently.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WEBHOOK;
use super::body::body;
use crate::company::COMPANY;
use gate::state::vault::Signed;
use gate::{Permit, Query, Reader, Route, Spec, Target};
use store::outbox::Intent;
use store::webhooks::Webhook;
use types::refusal::Stop;
use types::scope::Reach;
use types::time::Time;
use url::Url;

/// What the courier can take.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Free {
    /// Webhooks that something is being sent to already.
    pub busy: BTreeSet<String>,
    /// How many messages at most.
    pub most: usize,
    /// The machine's own time: receivers compare a message's with theirs.
    pub stamp: Time,
}

/// What is due.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Due {
    pub messages: Vec<Message>,
    /// In how many milliseconds the next is due, as far as is known.
    pub wait_ms: Option<i64>,
}

/// One message, signed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub id: String,
    pub webhook: String,
    /// Which attempt this is.
    pub attempt: u32,
    pub url: String,
    /// Seconds since 1970.
    pub timestamp: i64,
    pub signature: String,
    pub body: String,
}

/// List the messages to send now.
pub enum Dispatch {}

impl Query for Dispatch {
    const SPEC: Spec = Spec {
        name: "webhook.dispatch",
        doc: "List the messages to send now, at most one for each webhook. Called by the server itself, for each \
              webhook.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&COMPANY, &WEBHOOK],
        events: &[],
    };
    type Input = Free;
    type Output = Due;

    fn target(_: &Free, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Free, read: &Reader<'_>) -> Result<Due, Stop> {
        let mut due: Vec<(i64, &Webhook, Intent)> = Vec::new();
        for webhook in read.enabled_webhooks().iter().filter(|webhook| !input.busy.contains(&webhook.id)) {
            let Some(intent) = read.first_delivery(&webhook.id)? else { continue };
            let Some(at) = intent.due_at else { continue };
            if read.may("webhook.dispatch", &read.webhook_target(webhook, None)) {
                due.push((at.0, webhook, intent));
            }
        }
        // Longest waiting first.
        due.sort_by(|(one, _, a), (other, _, b)| (one, &a.id).cmp(&(other, &b.id)));
        let now = permit.now();
        let ready = due.iter().take_while(|(at, ..)| *at <= now.0).count();
        let wait_ms = due.get(ready).map(|(at, ..)| at - now.0);
        let mut places = Places::new(&input, read.enabled_webhooks());
        let ready = due.into_iter().take(ready).filter(|(_, webhook, _)| places.take(webhook));
        let messages =
            ready.map(|(_, webhook, intent)| message(webhook, intent, input.stamp, read)).collect::<Result<_, _>>()?;
        Ok(Due { messages, wait_ms })
    }
}

/// The maximum number of concurrent messages to failing webhooks: those that hang block nobody else.
const MOST_FAILING: usize = 4;
/// The maximum number of concurrent messages to one origin.
const MOST_OF_ORIGIN: usize = 4;

/// The courier's free slots.
struct Places {
    free: usize,
    failing: usize,
    /// Slots taken, by origin.
    of: BTreeMap<String, usize>,
}

impl Places {
    fn new(free: &Free, all: &[Webhook]) -> Places {
        let mut places = Places { free: free.most, failing: 0, of: BTreeMap::new() };
        all.iter().filter(|webhook| free.busy.contains(&webhook.id)).for_each(|webhook| places.add(webhook));
        places
    }

    fn add(&mut self, webhook: &Webhook) {
        self.failing += usize::from(webhook.failing_since.is_some());
        *self.of.entry(origin(&webhook.url)).or_default() += 1;
    }

    /// Takes a slot for a message, if one is free for such a webhook.
    fn take(&mut self, webhook: &Webhook) -> bool {
        let is_held = webhook.failing_since.is_some() && self.failing >= MOST_FAILING;
        let there = self.of.get(&origin(&webhook.url)).copied().unwrap_or_default();
        if self.free == 0 || is_held || there >= MOST_OF_ORIGIN {
            return false;
        }
        self.free -= 1;
        self.add(webhook);
        true
    }
}

/// Returns a URL's origin, such as `https://hooks.example.com:8443`.
fn origin(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.origin().ascii_serialization())
}

fn message(webhook: &Webhook, intent: Intent, stamp: Time, read: &Reader<'_>) -> Result<Message, Stop> {
    let timestamp = stamp.0.div_euclid(1000);
    let body = body(webhook, &intent, read)?;
    let signature = read.webhook_signatures(webhook, &Signed { id: &intent.id, timestamp, body: &body })?;
    let (id, attempt) = (intent.id, intent.attempts.saturating_add(1));
    Ok(Message { id, webhook: webhook.id.clone(), attempt, url: webhook.url.clone(), timestamp, signature, body })
}
