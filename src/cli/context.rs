//! `ok context`: content that can be forgotten. `ok context forget` erases that of events; their entries stay in the log.

use clap::Subcommand;
use serde_json::json;

use super::command::{Commands, Run, owns};
use super::exit::{Exit, Failure};
use super::{Context, client, show};

pub const COMMANDS: Commands = &[&owns::<Captured>("context")];

/// Erase recorded content
#[derive(Subcommand)]
pub enum Captured {
    Forget(Forget),
}

impl Run for Captured {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Captured::Forget(forget) => forget.run(context).await,
        }
    }
}

/// Erase the content of events; the log still verifies
#[derive(clap::Args)]
pub struct Forget {
    /// The event numbers; only content that no state rests on: refusals, decisions for other programs, kept arguments
    #[arg(required = true, value_name = "SEQ")]
    events: Vec<i64>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Run for Forget {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer =
            client::call(context, "context.forget", json!({ "events": self.events, "reason": self.reason })).await?;
        context.show(&answer, || show::fields(&["forgotten"], &answer))
    }
}
