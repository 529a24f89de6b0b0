//! The server's clock: it performs `tick` every half minute, until it is told to stop. A failure is logged once, not
//! each time, until the tick works again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::call::{change, in_words};
use crate::gate::Gate;
use crate::operations::tick::{Tick, When};

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
async fn all_due(gate: &Arc<Gate>) -> Result<(), String> {
    while change::<Tick>(gate, &When { now: None }).await.map_err(in_words)?.more {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use serde_json::json;

    use super::*;
    use crate::gate::Request;
    use crate::gate::state::open::{Options, open};
    use crate::log::journal::InFile;
    use crate::operations;
    use crate::policy::Bundle;
    use crate::types::caller::{Channel, Credential, Presented};
    use crate::types::entropy::SystemEntropy;
    use crate::types::time::{Clock, DAY, Time};

    /// A clock that is set by hand.
    struct ByHand(AtomicI64);

    impl Clock for ByHand {
        fn now(&self) -> Time {
            Time(self.0.load(Ordering::Relaxed))
        }
    }

    async fn name_an_admin(gate: &Arc<Gate>) {
        let entry = gate.entry("company.init").unwrap();
        let presented = Presented { credential: Credential::Server, channel: Channel::Cli, address: None, under: None };
        let caller = gate.admit(&presented, &entry.spec).unwrap();
        let call = entry.prepare(json!({ "id": "ana" })).unwrap();
        gate.perform(Request { caller, call, idem: None }).await.unwrap();
    }

    #[tokio::test]
    async fn a_token_ends_by_itself_once() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ByHand(AtomicI64::new(1_800_000_000_000)));
        let options = Options {
            path: folder.path().join("state.db"),
            entries: &operations::ALL,
            policies: Bundle::built_in(),
            compiled: Vec::new(),
            dev_auth: false,
            tools: Arc::default(),
            loopback: false,
            secrets: None,
            ports: vec![443],
            systems: Arc::default(),
            embedder: None,
            models: Arc::default(),
            journal: Arc::new(InFile),
            low_water: None,
            clock: clock.clone(),
            entropy: Arc::new(SystemEntropy),
        };
        let company = open(&options).unwrap();
        name_an_admin(&company.gate).await;
        let size = || *company.gate.grown().borrow();
        let before = size();
        all_due(&company.gate).await.unwrap();
        assert_eq!(size(), before);
        clock.0.fetch_add(31 * DAY, Ordering::Relaxed);
        all_due(&company.gate).await.unwrap();
        all_due(&company.gate).await.unwrap();
        assert_eq!(size(), before + 1);
        company.close().await;
    }
}
