//! `ok ask`, `ok answer`, `ok runs` and `ok run`: commands for agents' runs. Without a server for the company, the command
//! executes the runs that it starts.

use std::path::PathBuf;

use super::column::{Columns, columns};
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::steps::shown;
use super::{Context, follow, show};
use crate::nouns::definition::Written;
use crate::nouns::run::{self, Answer, Ask, Cancel, OneShown, Raise, Reply, Show, ShownRun, Wish};
use crate::types::definition::MAX_BYTES;
use crate::types::id::ActorId;
use crate::types::plan::Plan;
use crate::types::refusal::Code;

pub const COMMANDS: Commands = &[
    &own::<Asking>("ask"),
    &own::<Answering>("answer"),
    &own::<Runs>("runs"),
    &group(
        "run",
        "Show, follow and cancel runs, and raise their budgets",
        &[
            &query::<Show>().command("show").help("Show one run, step by step").print(shown),
            &own::<Following>("follow"),
            &change::<Cancel>().command("cancel").help("Cancel a run and its parts").fields(RUN),
            &change::<Raise>()
                .command("budget")
                .help("Raise a run's budget; a run that is held because of it resumes")
                .fields(RUN),
        ],
    ),
];

const RUN: Columns<ShownRun> = columns!(
    ShownRun; id, task, agent, asker, delegation, status, waiting, steps, cost_cents, budget_cents, error, created_at
);

/// Ask an agent, and follow its run
///
/// Example: `ok ask --agent clerk "Call the vendor" --plan plan.yaml`
#[derive(clap::Args)]
struct Asking {
    /// The agent
    #[arg(long, value_name = "ID")]
    agent: ActorId,
    /// What is asked
    text: String,
    #[command(flatten)]
    with: With,
}

/// What a run is begun with.
#[derive(clap::Args)]
pub(super) struct With {
    /// The agent's steps, used instead of a model: a YAML or JSON file of at most 64 KiB
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// What it may spend, in cents: at most what the agent's definition says [default: what the definition says, or no limit]
    #[arg(long, value_name = "CENTS")]
    pub(super) budget_cents: Option<i64>,
}

impl With {
    pub(super) fn plan(&self) -> Result<Option<Written<Plan>>, Failure> {
        self.plan.as_ref().map(|file| Ok(Written::new(text_of(file, MAX_BYTES)?.into()))).transpose()
    }
}

impl Run for Asking {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let plan = self.with.plan()?;
        let wish = Wish { agent: self.agent, text: self.text, plan, budget_cents: self.with.budget_cents };
        let begun = change::<Ask>().ask(context, &wish).await?;
        follow::begun(context, begun).await
    }
}

/// Answer a run's question, and follow the run
///
/// Where a run asks whether a call took effect, the answer is `yes`, `no` or `retry`.
///
/// Example: `ok answer run_01M7… "the 14th"`
#[derive(clap::Args)]
struct Answering {
    #[command(flatten)]
    reply: Reply,
}

impl Run for Answering {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answered = change::<Answer>().ask(context, &self.reply).await?;
        let run: String = answered.part(columns!(ShownRun; id))?;
        match follow::run(context, run.clone()).await {
            // Somebody who is asked sees the run only while it asks them.
            Err(Failure::Refused(refused)) if refused.code == Code::NotFound.name() => {
                let exit = context.show(&answered.value, || show::text(&format!("{run} answered")))?;
                show::note("You may not see what it does next.");
                Ok(exit)
            }
            ended => ended,
        }
    }
}

/// Follow a run step by step until it waits for somebody or has ended
#[derive(clap::Args)]
struct Following {
    #[command(flatten)]
    which: OneShown,
}

impl Run for Following {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        follow::from(context, self.which).await
    }
}

/// List runs, newest first
#[derive(clap::Args)]
struct Runs {
    #[command(flatten)]
    which: run::Which,
    /// The maximum number of results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

impl Run for Runs {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let rows = query::<run::List>().all(context, &self.which, self.limit).await?;
        rows.table(context, "no runs", columns!(ShownRun; id, agent, asker, status, steps, cost_cents, created_at))
    }
}
