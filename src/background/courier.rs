//! Delivers what the outbox holds: asks the gate what is due, sends it, and reports the outcome to the gate. It keeps
//! no state, so after a crash a message is sent again under the same id: at least once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::call::{change, in_words, query};
use super::egress::Client;
use crate::gate::Gate;
use crate::nouns::webhook::{Attempt, Dispatch, Due, Free, Message, Settle};
use crate::types::refusal::Stop;

/// Messages under way at once; never two to one webhook. Whoever does not answer takes a place for 20 seconds: the dispatch sees
/// to it that such ones do not take all.
const AT_ONCE: usize = 16;
/// It asks at least so often: what the policies held may be fine by now.
const PERIOD: Duration = Duration::from_secs(30);
/// It asks at most so often, however fast the log grows.
const PAUSE: Duration = Duration::from_millis(50);
/// After something went wrong with the gate.
const AFTER_FAULT: Duration = Duration::from_secs(5);
/// How long what is under way may take when the server stops.
const STOPPING: Duration = Duration::from_secs(3);

/// Sends until `stop`.
pub async fn run(gate: Arc<Gate>, stop: CancellationToken) {
    match Client::new(gate.egress()) {
        Ok(client) => Courier { gate, client: Arc::new(client), under_way: JoinSet::new() }.run(stop).await,
        Err(why) => tracing::error!(%why, "webhooks cannot be sent"),
    }
}

struct Courier {
    gate: Arc<Gate>,
    client: Arc<Client>,
    /// Each ends with the webhook that it was for.
    under_way: JoinSet<String>,
}

impl Courier {
    async fn run(mut self, stop: CancellationToken) {
        let mut grown = self.gate.grown();
        let mut busy: BTreeSet<String> = BTreeSet::new();
        let mut failing = false;
        loop {
            grown.mark_unchanged();
            let asked = due(&self.gate, &busy).await;
            let wait = match asked {
                Ok(Due { messages, wait_ms }) => {
                    failing = false;
                    for message in messages {
                        busy.insert(message.webhook.clone());
                        self.send(message);
                    }
                    wait_ms.map_or(PERIOD, |ms| Duration::from_millis(ms.unsigned_abs()).min(PERIOD))
                }
                Err(why) => {
                    let wait = if matches!(why, Stop::Refused(_)) { PERIOD } else { AFTER_FAULT };
                    if !failing {
                        tracing::error!(why = in_words(why), "pending deliveries cannot be read");
                    }
                    failing = true;
                    wait
                }
            };
            let until = Instant::now() + wait;
            let full = busy.len() >= AT_ONCE;
            tokio::select! {
                () = stop.cancelled() => break,
                Some(done) = self.under_way.join_next() => {
                    match done {
                        Ok(webhook) => drop(busy.remove(&webhook)),
                        // Which one is not known: all that are over are asked about again.
                        Err(_) if self.under_way.is_empty() => busy.clear(),
                        Err(_) => {}
                    }
                }
                changed = grown.changed(), if !full && !failing => if changed.is_err() { break },
                () = sleep_until(until) => {}
            }
            sleep(PAUSE).await;
        }
        // What does not end in time is sent again by the next server.
        let rest = async { while self.under_way.join_next().await.is_some() {} };
        let _ = timeout(STOPPING, rest).await;
    }

    fn send(&mut self, message: Message) {
        let (gate, client) = (Arc::clone(&self.gate), Arc::clone(&self.client));
        self.under_way.spawn(async move {
            let (id, webhook, attempt) = (message.id.clone(), message.webhook.clone(), message.attempt);
            let headers = [
                ("webhook-id", message.id),
                ("webhook-timestamp", message.timestamp.to_string()),
                ("webhook-signature", message.signature),
            ];
            let answered = client.post(&message.url, &headers, message.body, message.timestamp).await;
            let (http_status, error, retry_after) = (answered.status, answered.error, answered.retry_after);
            let attempt = Attempt { id, attempt, http_status, error, retry_after };
            if let Err(Stop::Failed(why)) = change::<Settle>(&gate, &attempt).await {
                tracing::error!(%why, message = attempt.id, "the outcome of a delivery cannot be recorded");
            }
            webhook
        });
    }
}

/// Returns the messages that are due. Does not ask if there is nowhere to send to: policies that do not know webhooks
/// would refuse, and refusals are recorded.
pub async fn due(gate: &Arc<Gate>, busy: &BTreeSet<String>) -> Result<Due, Stop> {
    if !gate.sends() {
        return Ok(Due { messages: Vec::new(), wait_ms: None });
    }
    let most = AT_ONCE.saturating_sub(busy.len());
    query::<Dispatch>(gate, &Free { busy: busy.clone(), most, stamp: gate.wall() }).await
}
