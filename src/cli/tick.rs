//! `ok tick`: what time brings about, once.

use serde_json::json;

use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::time::Time;

pub const COMMANDS: Commands = &[&own::<Tick>("tick")];

/// Advance the clock once: end the tokens and approvals whose time is over, remind and escalate
#[derive(clap::Args)]
pub struct Tick {
    /// The time to advance to, such as 2026-11-20T09:00:00Z [default: the present]
    #[arg(long, value_name = "TIME")]
    now: Option<Time>,
}

impl Run for Tick {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = client::call(context, "tick", json!({ "now": self.now })).await?;
        context.show(&answer, || show::fields(&["now", "expired", "reminded", "escalated", "more"], &answer))
    }
}
