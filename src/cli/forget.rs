//! `ok forget`: erases the content of events; their entries stay in the log.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::{Context, client, show};

/// Erase the content of events; the log still verifies
#[derive(clap::Args)]
pub struct Forget {
    /// The numbers of the events: only records of refusals and of expiries
    #[arg(required = true, value_name = "SEQ")]
    events: Vec<i64>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Forget {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer =
            client::call(context, "context.forget", json!({ "events": self.events, "reason": self.reason })).await?;
        context.show(&answer, || show::fields(&["forgotten"], &answer))
    }
}
