//! `ok tick`: performs once whatever is due.

use super::Context;
use super::column::columns;
use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::operation::change;
use super::{follow, show};
use crate::nouns::tick::{Tick, Ticked, When};

pub const COMMANDS: Commands = &[&own::<Ticking>("tick")];

/// Advance the clock once: expire tokens and approvals, send reminders, escalate, archive old tasks and runs, and resume runs
#[derive(clap::Args)]
struct Ticking {
    #[command(flatten)]
    when: When,
}

impl Run for Ticking {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = change::<Tick>().ask(context, &self.when).await?;
        for run in follow::go_on(context).await?.unwrap_or_default() {
            show::note(&format!("{run} went on: `ok run show {run}`"));
        }
        answer.fields(context, columns!(Ticked; now, expired, reminded, escalated, stalled, archived, removed, more))
    }
}
