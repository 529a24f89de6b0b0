//! `ok ask`, `ok answer`, `ok tasks`, `ok runs`, `ok task`, `ok run`: agents at work. Where no server has the company, what a
//! command sets going goes on within the command.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::client::{self, Opened};
use super::column::{Columns, columns};
use super::command::{Commands, Run, group, own};
use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::operation::{self, change, query};
use super::show::Format;
use super::steps::{line, shown, told};
use super::{Context, models, show};
use crate::background::runner;
use crate::operations::Nothing;
use crate::operations::actor::Me;
use crate::operations::definition::Written;
use crate::operations::run::{
    self, Answer, Ask, Cancel, OneShown, Raise, Reply, Show, ShownRun, ShownStep, WholeRun, Wish,
};
use crate::operations::task::{
    self, Assign, Complete, Completion, Create, Outcome, ShownTask, Update, WholeTask, Work,
};
use crate::types::definition::MAX_BYTES;
use crate::types::id::ActorId;
use crate::types::plan::Plan;
use crate::types::refusal::Code;
use crate::types::time::{Clock as _, SystemClock};
use crate::types::work::{RunStatus, StepStatus, Wait};

pub const COMMANDS: Commands = &[
    &own::<Asking>("ask"),
    &own::<Answering>("answer"),
    &own::<Tasks>("tasks"),
    &own::<Runs>("runs"),
    &group(
        "task",
        "Create, show, assign, run and close tasks",
        &[
            &change::<Create>()
                .command("create")
                .help("Create a task")
                .example("ok task create \"Call the vendor\" --owner ana --due 2026-12-24T12:00:00Z")
                .fields(TASK),
            &query::<task::Show>().command("show").help("Show one task").fields(TASK),
            &change::<Assign>().command("assign").help("Assign a task to a person or an agent").fields(TASK),
            &own::<Working>("run"),
            &change::<Complete>().given::<Closing>().command("complete").help("Close a task").fields(TASK),
            &change::<Update>().command("refer").help("Link something to a task").fields(TASK),
        ],
    ),
    &group(
        "run",
        "Show, follow and cancel runs, and raise their budgets",
        &[
            &query::<Show>().command("show").help("Show one run, step by step").told(shown),
            &own::<Following>("follow"),
            &change::<Cancel>().command("cancel").help("Cancel a run and its parts").fields(RUN),
            &change::<Raise>()
                .command("budget")
                .help("Raise a run's budget; a run that is held because of it resumes")
                .fields(RUN),
        ],
    ),
];

const TASK: Columns<WholeTask> = columns!(
    WholeTask; task.id, task.title, task.status, task.owner, task.created_by, task.priority, task.due_at, goal, note, result
);
const RUN: Columns<ShownRun> = columns!(
    ShownRun; id, task, agent, asker, status, waiting, steps, cost_cents, budget_cents, error, created_at
);

/// Ask an agent, and follow what it does
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

#[derive(clap::Args)]
struct With {
    /// What the agent does, step by step, in place of a model: a YAML or JSON file of at most 64 KiB
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// What it may spend, in cents [default: no limit]
    #[arg(long, value_name = "CENTS")]
    budget_cents: Option<i64>,
}

impl With {
    fn plan(&self) -> Result<Option<Written<Plan>>, Failure> {
        self.plan.as_ref().map(|file| Ok(Written::new(text_of(file, MAX_BYTES)?.into()))).transpose()
    }
}

impl Run for Asking {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let plan = self.with.plan()?;
        let wish = Wish { agent: self.agent, text: self.text, plan, budget_cents: self.with.budget_cents };
        let begun = change::<Ask>().ask(context, &wish).await?;
        follow_begun(context, begun).await
    }
}

/// Let a task's agent work on it, and follow what it does
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
        follow_begun(context, begun).await
    }
}

/// Answer what a run has asked, and follow what it does then
///
/// Where a run asks whether a call has had its effect, the answer is `yes`, `no` or `retry`.
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
        match follow(context, answered.part(columns!(ShownRun; id))?).await {
            // Whoever was asked sees the run as long as it asks them.
            Err(Failure::Refused(refused)) if refused.code == Code::NotFound.name() => {
                let exit = context.show(&answered.value, || show::text(&format!("{} answered", self.reply.id)))?;
                show::note("What it does then is for others to see.");
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
        follow_from(context, self.which).await
    }
}

/// How long a run is followed that takes no step: longer than a model may take to answer.
const PATIENCE: Duration = Duration::from_secs(130);
const PAUSE: Duration = Duration::from_millis(100);

/// Follows a run that was asked for; where whoever asked may not read it, as under a delegation that does not cover that, its id.
async fn follow_begun(context: &Context, begun: operation::Answer<run::Begun>) -> Result<Exit, Failure> {
    let run: String = begun.part(columns!(run::Begun; run))?;
    match follow(context, run.clone()).await {
        Err(Failure::Refused(refused)) => {
            let exit = context.show(&begun.value, || show::text(&run))?;
            show::note(&format!("{run} was asked for, and you may not follow it: {}", refused.message));
            Ok(exit)
        }
        ended => ended,
    }
}

async fn follow(context: &Context, id: String) -> Result<Exit, Failure> {
    follow_from(context, OneShown { id, since: None }).await
}

/// Lets a run go on, or waits for the server that does, until it waits for somebody or has ended; tells of each step once it
/// and all before it are over, and at last of how the run stands.
async fn follow_from(context: &Context, mut which: OneShown) -> Result<Exit, Failure> {
    let is_served = go_on(context).await?.is_none();
    let first = which.since;
    let mut until = Instant::now() + PATIENCE;
    let mut taken = 0;
    loop {
        let run = read(context, &which).await?;
        let parts = ends(context, &run).await?;
        let moves = match (&run.run.waiting, parts.as_slice()) {
            (Some(Wait::Run { .. }), []) => is_served,
            (Some(Wait::Run { .. }), parts) => {
                parts.iter().any(|part| part.run.status.is_over() || moves(part, is_served))
            }
            _ => moves(&run, is_served),
        };
        if !moves || Instant::now() >= until {
            if context.format == Format::Human {
                told(&run, &parts, is_served)?;
            } else {
                let whole = query::<Show>().ask(context, &OneShown { since: first, ..which }).await?;
                context.show(&whole.value, || Ok(()))?;
            }
            return Ok(exit(&run));
        }
        let over: Vec<&ShownStep> = run.trace.iter().filter(|step| step.seq <= run.run.steps).collect();
        if let Some(last) = over.last() {
            if context.format == Format::Human {
                over.iter().try_for_each(|step| show::text(&line(step)))?;
            }
            which.since = Some(last.seq);
        }
        let steps: u64 = parts.iter().chain([&run]).map(|run| u64::from(run.run.steps)).sum();
        if steps != taken {
            (taken, until) = (steps, Instant::now() + PATIENCE);
        }
        sleep(PAUSE).await;
    }
}

async fn read(context: &Context, which: &OneShown) -> Result<WholeRun, Failure> {
    Ok(serde_json::from_value(query::<Show>().ask(context, which).await?.value)?)
}

/// Whether a run goes on without anybody's doing anything.
fn moves(run: &WholeRun, is_served: bool) -> bool {
    match run.run.waiting {
        None => matches!(run.run.status, RunStatus::Queued | RunStatus::Running),
        // These end by themselves where a server has the company.
        Some(Wait::Run { .. }) => is_served,
        Some(Wait::Time { until }) => {
            let left = until.0.saturating_sub(SystemClock.now().0);
            is_served && left <= i64::try_from(PATIENCE.as_millis()).unwrap_or(i64::MAX)
        }
        Some(_) => false,
    }
}

/// Of each part that a run waits for, the part of it that waits for no other one, with the steps that it is at; as far as the
/// caller may read them.
async fn ends(context: &Context, run: &WholeRun) -> Result<Vec<WholeRun>, Failure> {
    let is_waiting = |step: &&ShownStep| step.status == StepStatus::Waiting;
    let waits = run.trace.iter().filter(is_waiting).filter_map(|step| match &step.waiting {
        Some(Wait::Run { run }) => Some(run.to_string()),
        _ => None,
    });
    let mut ends = Vec::new();
    for mut id in waits {
        loop {
            // What it did before says nothing of what it waits for.
            let whole = match read(context, &OneShown { id: id.clone(), since: Some(u32::MAX) }).await {
                Ok(part) => part,
                Err(Failure::Refused(_)) => break,
                Err(failed) => return Err(failed),
            };
            match &whole.run.waiting {
                Some(Wait::Run { run }) => id = run.to_string(),
                _ => {
                    ends.push(read(context, &OneShown { id, since: Some(whole.run.steps) }).await?);
                    break;
                }
            }
        }
    }
    Ok(ends)
}

/// Where no server has the company, runs go on here: those that did. None where a server has it.
pub async fn go_on(context: &Context) -> Result<Option<BTreeSet<String>>, Failure> {
    if context.server.is_some() {
        return Ok(None);
    }
    if !context.state.exists() {
        return Ok(Some(BTreeSet::new()));
    }
    let Opened::Ours(company) = client::open(context).await? else { return Ok(None) };
    let settled = match models::client(context.models()) {
        Ok(models) => runner::settle(&company.gate, context.means(models)).await.map_err(Failure::new),
        Err(failure) => Err(failure),
    };
    company.close().await;
    settled.map(Some)
}

const fn exit(run: &WholeRun) -> Exit {
    match run.run.status {
        RunStatus::Failed | RunStatus::TimedOut | RunStatus::Cancelled => Exit::Failed,
        RunStatus::Completed => Exit::Done,
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::WaitingApproval
        | RunStatus::WaitingInput
        | RunStatus::Held => Exit::Waits,
    }
}

/// List tasks, newest first
#[derive(clap::Args)]
struct Tasks {
    #[command(flatten)]
    which: task::Which,
    /// How many at most
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

/// List runs, newest first
#[derive(clap::Args)]
struct Runs {
    #[command(flatten)]
    which: run::Which,
    /// How many at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

impl Run for Runs {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let rows = query::<run::List>().all(context, &self.which, self.limit).await?;
        rows.table(context, "no runs", columns!(ShownRun; id, agent, asker, status, steps, cost_cents, created_at))
    }
}

/// Somebody who is not in the company has nothing to do; that is no error.
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
    /// What came of it
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
