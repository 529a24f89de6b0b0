//! `ok kill`: stops an actor, a team, a tool or everything, until it is released.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::actor::KillScope;

/// Engage a kill switch, or release it
///
/// Example: `ok kill actor:invoice-clerk --reason "pays twice"`
#[derive(clap::Args)]
pub struct Kill {
    /// What it stops: global, actor:<id>, tool:<id> or team:<id>
    scope: KillScope,
    /// Release it
    #[arg(long)]
    off: bool,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
}

impl Kill {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let input = json!({ "scope": self.scope, "off": self.off, "reason": self.reason });
        let answer = client::call(context, "kill", input).await?;
        let state = if self.off { "released" } else { "engaged" };
        context.show(&answer, || show::text(&format!("{} {state}", self.scope)))
    }
}
