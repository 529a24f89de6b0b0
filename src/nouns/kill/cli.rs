//! `ok kill`: stops an actor, a team, a tool or everything, until released.

use super::client::is_served;
use super::column::columns;
use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::{Context, show};
use crate::nouns::Nothing;
use crate::nouns::kill::{self, Before, Engaged, List, Switch};
use crate::types::actor::KillScope;

pub const COMMANDS: Commands = &[&own::<Kill>("kill")];

/// Engage or release a kill switch, or list those engaged
///
/// Example: `ok kill actor:invoice-clerk --reason "pays twice"`
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["scope", "list"]))]
struct Kill {
    /// What it stops: global, actor:<id>, tool:<id> or team:<id>
    scope: Option<KillScope>,
    /// Release it
    #[arg(long)]
    off: bool,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// List the engaged kill switches: by whom, since when, why, and how many actors each stops
    #[arg(long, conflicts_with_all = ["off", "reason"])]
    list: bool,
}

impl Run for Kill {
    const NEEDS: Needs = Needs::NamedFile;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Kill { scope, off, reason, .. } = self;
        let Some(scope) = scope else {
            let answer = query::<List>().ask(context, &Nothing {}).await?;
            return answer.table(context, "no kill switch is engaged", columns!(Engaged; scope, by, at, holds, reason));
        };
        let answer = change::<kill::Kill>().ask(context, &Switch { scope, off, reason }).await?;
        let switched = answer.read()?;
        let state = if off { "released" } else { "engaged" };
        let exit = context.show(&answer.value, || show::text(&format!("{} {state}", switched.scope)))?;
        match switched.before {
            None if off => {
                show::note("It was not engaged, as far as you may see; `ok kill --list` lists those that are.")
            }
            Some(Before { by, at, reason }) if !off => {
                let reason = if reason.is_empty() { "no reason".into() } else { format!("the reason «{reason}»") };
                show::note(&format!("{by} had engaged it at {at} with {reason}; this takes its place."));
            }
            _ => {}
        }
        if switched.engaged && switched.stops_caller {
            show::note("It stops you, too: only an admin whom it does not stop can release it.");
        }
        if switched.engaged && switched.tokens > 0 {
            let what = "tokens that they issued for others: it stops these, too, since they may have kept copies";
            show::note(&format!("{} {what}.", switched.tokens));
        }
        // Releasing is quick; the runs that it resumes may take long.
        if off && switched.runs > 0 && !is_served(context).await? {
            show::note("No server is running: runs continue when one starts, or run `ok tick` now.");
        }
        Ok(exit)
    }
}
