//! `ok task` and `ok tasks`: commands for tasks. Without a server for the company, a run that a command starts is executed by
//! the command.

use super::column::{Columns, columns};
use super::command::{Commands, Run, group, own};
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::run::With;
use super::{Context, client, follow, show};
use crate::nouns::Nothing;
use crate::nouns::actor::Me;
use crate::nouns::run::ShownRun;
use crate::nouns::task::{
    self, Assign, Complete, Completion, Create, Outcome, ShownRef, ShownTask, Update, WholeTask, Work,
};
use crate::types::refusal::Code;

pub const COMMANDS: Commands = &[
    &own::<Tasks>("tasks"),
    &group(
        "task",
        "Create, show, assign, run and close tasks",
        &[
            &change::<Create>()
                .command("create")
                .help("Create a task")
                .example("ok task create \"Call the vendor\" --owner ana --due 2026-12-24T12:00:00Z")
                .fields(TASK),
            &query::<task::Show>()
                .command("show")
                .help("Show one task, with what it is about and its runs")
                .print(whole),
            &change::<Assign>().command("assign").help("Assign a task to a person or an agent").fields(TASK),
            &own::<Working>("run"),
            &change::<Complete>().given::<Closing>().command("complete").help("Close a task").fields(TASK),
            &change::<Update>().command("refer").help("Link something to a task").print(whole),
        ],
    ),
];

const TASK: Columns<WholeTask> = columns!(
    WholeTask; task.id, task.title, task.status, task.owner, task.created_by, task.priority, task.due_at, task.sla, task.parent, goal, note, result
);

/// Prints a task with its references and its runs.
fn whole(task: &WholeTask) -> Result<(), Failure> {
    show::one(TASK, task)?;
    if !task.refs.is_empty() {
        show::text("")?;
        show::rows(columns!(ShownRef; collection, id, note, by, at), &task.refs)?;
    }
    if !task.runs.is_empty() {
        show::text("")?;
        show::rows(columns!(ShownRun; id, agent, status, steps, cost_cents, created_at), &task.runs)?;
    }
    Ok(())
}

/// Start a run of a task's agent, and follow it
#[derive(clap::Args)]
struct Working {
    /// The task
    #[arg(value_name = "TASK")]
    id: String,
    #[command(flatten)]
    with: With,
}

impl Run for Working {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let plan = self.with.plan()?;
        let work = Work { id: self.id, plan, budget_cents: self.with.budget_cents };
        let begun = change::<task::Run>().ask(context, &work).await?;
        follow::begun(context, begun).await
    }
}

/// List tasks, newest first
#[derive(clap::Args)]
struct Tasks {
    #[command(flatten)]
    which: task::Which,
    /// The maximum number of results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

impl Run for Tasks {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if !is_known(context).await? {
            return Ok(Exit::Done);
        }
        let rows = query::<task::List>().all(context, &self.which, self.limit).await?;
        rows.table(context, "no tasks", columns!(ShownTask; id, title, status, owner, priority, due_at, created_at))
    }
}

/// Checks whether the actor is in the company. One who is not has no tasks, which is no error.
async fn is_known(context: &Context) -> Result<bool, Failure> {
    match query::<Me>().attempt(context, &Nothing {}).await? {
        Err(refused) if refused.code == Code::Unauthorized.name() => {
            client::begin(context).await?;
            Ok(false)
        }
        Ok(_) | Err(_) => Ok(true),
    }
}

#[derive(clap::Args)]
struct Closing {
    /// The task
    #[arg(value_name = "TASK")]
    id: String,
    /// It was given up
    #[arg(long)]
    cancelled: bool,
    /// The result
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    result: String,
}

impl From<Closing> for Completion {
    fn from(closing: Closing) -> Completion {
        let Closing { id, cancelled, result } = closing;
        let outcome = if cancelled { Outcome::Cancelled } else { Outcome::Done };
        Completion { id, outcome, result, version: None }
    }
}
