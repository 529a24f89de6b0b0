//! The server's clock: performs `tick` every half minute until it is told to stop. A persistent failure is logged only
//! once, until `tick` works again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::call::{change, in_words};
use crate::gate::Gate;
use crate::nouns::tick::{Tick, When};

const PERIOD: Duration = Duration::from_secs(30);

/// Ticks until `stop`.
pub async fn run(gate: Arc<Gate>, stop: CancellationToken) {
    let mut due = tokio::time::interval(PERIOD);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = due.tick() => {}
        }
        let done = all_due(&gate).await;
        if let Err(why) = &done
            && !failing
        {
            tracing::error!(%why, "the tick fails");
        }
        failing = done.is_err();
    }
}

/// Ticks until nothing more is due.
pub async fn all_due(gate: &Arc<Gate>) -> Result<(), String> {
    while change::<Tick>(gate, &When { now: None }).await.map_err(in_words)?.more {}
    Ok(())
}
