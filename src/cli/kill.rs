//! `ok kill`: stops an actor, a team, a tool or everything, until it is released.

use serde_json::json;

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::actor::KillScope;

pub const COMMANDS: Commands = &[&own::<Kill>("kill")];

/// Engage a kill switch, or release it, or list what is engaged
///
/// Example: `ok kill actor:invoice-clerk --reason "pays twice"`
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["scope", "list"]))]
pub struct Kill {
    /// What it stops: global, actor:<id>, tool:<id> or team:<id>
    scope: Option<KillScope>,
    /// Release it
    #[arg(long)]
    off: bool,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// List what is engaged: by whom, since when, why, and how many it stops
    #[arg(long, conflicts_with_all = ["off", "reason"])]
    list: bool,
}

impl Run for Kill {
    const NEEDS: Needs = Needs::NamedFile;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Some(scope) = self.scope else {
            let answer = client::call(context, "kill.list", json!({})).await?;
            let columns = ["scope", "by", "at", "holds", "reason"];
            return context.show(&answer, || {
                show::list("no kill switch is engaged", &columns, answer.as_array().map_or(&[], Vec::as_slice))
            });
        };
        let input = json!({ "scope": scope, "off": self.off, "reason": self.reason });
        let answer = client::call(context, "kill", input).await?;
        let state = if self.off { "released" } else { "engaged" };
        context.show(&answer, || show::text(&format!("{scope} {state}")))
    }
}
