//! Asks a model for a run: sends the request that was decided and dispatched, and records the outcome. It stops
//! immediately if the run is cancelled or held in the meantime, because nobody waits for the answer any more.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::call::{change, next};
use super::models::Chat;
use crate::gate::Gate;
use crate::nouns::run::{Heard, ModelOutcome, Next, SettleModel};
use crate::types::chat::{Failed, Prompt};
use crate::types::refusal::{Code, Stop};

/// How often it is looked whether the answer is still wanted, at most.
const LOOK: Duration = Duration::from_millis(250);
/// How long until an answer that could not be recorded is recorded again, and how often that is tried.
const AGAIN: Duration = Duration::from_millis(500);
const TRIES: u32 = 20;

/// Asks a model for a run's dispatched step, and has the answer recorded.
pub(super) async fn think(
    gate: &Arc<Gate>,
    models: &Arc<dyn Chat>,
    (run, step): (&str, u32),
    prompt: &Prompt,
) -> Result<(), Stop> {
    let saying = gate.live().say(run, step);
    let hear = |text: &str| saying.more(text);
    let late = |_| Err(Failed::Unknown("the run has been at work for as long as it may".into()));
    let asked =
        async { timeout(Duration::from_millis(prompt.most_ms), models.ask(prompt, &hear)).await.unwrap_or_else(late) };
    let heard = tokio::select! {
        answer = asked => answer.map_or_else(Heard::Failed, Heard::Answer),
        () = is_over(gate, run, step) => return Ok(()),
    };
    let outcome = ModelOutcome { id: run.to_owned(), step, heard };
    for _ in 1..TRIES {
        match settle(gate, &outcome).await {
            Err(Stop::Refused(refusal)) if matches!(refusal.code, Code::Unavailable | Code::AuditUnavailable) => {
                sleep(refusal.retry_after.map_or(AGAIN, Duration::from_secs)).await;
            }
            settled => return settled,
        }
    }
    settle(gate, &outcome).await
}

/// A run that is elsewhere by now needs no answer.
async fn settle(gate: &Arc<Gate>, outcome: &ModelOutcome) -> Result<(), Stop> {
    match change::<SettleModel>(gate, outcome).await {
        Err(Stop::Refused(refusal)) if refusal.code == Code::Conflict => Ok(()),
        other => other.map(drop),
    }
}

/// Waits until a run does not wait at this step any more.
async fn is_over(gate: &Arc<Gate>, run: &str, step: u32) {
    let mut grown = gate.grown();
    loop {
        sleep(LOOK).await;
        if grown.changed().await.is_err() {
            return;
        }
        match next(gate, run).await {
            Ok(Next::Settle { step: at, under_way: true }) if at == step => {}
            Ok(_) => return,
            // Whether it is over cannot be told now.
            Err(_) => {}
        }
    }
}
