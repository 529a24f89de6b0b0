//! Follows a run: prints its steps as they are taken, until it waits for somebody or has ended. Without a server for the
//! company, the command executes it.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::client::{self, Opened};
use super::column::columns;
use super::exit::{Exit, Failure};
use super::operation::{self, query};
use super::show::Format;
use super::steps::{line, print};
use super::{Context, models, show};
use crate::background::runner;
use crate::nouns::run::{self, OneShown, Show, ShownStep, WholeRun};
use crate::types::run::{RunStatus, StepStatus, Wait};
use crate::types::time::{Clock as _, SystemClock};

/// How long a run without a new step is followed: longer than a model may take to answer.
const PATIENCE: Duration = Duration::from_secs(130);
const PAUSE: Duration = Duration::from_millis(100);

/// Follows a requested run; prints only its id if the requester may not read it, as under a delegation that does not cover
/// that.
pub(super) async fn begun(context: &Context, begun: operation::Answer<run::Begun>) -> Result<Exit, Failure> {
    let run: String = begun.part(columns!(run::Begun; run))?;
    match self::run(context, run.clone()).await {
        Err(Failure::Refused(refused)) => {
            let exit = context.show(&begun.value, || show::text(&run))?;
            show::note(&format!("{run} was asked for, and you may not follow it: {}", refused.message));
            Ok(exit)
        }
        ended => ended,
    }
}

pub(super) async fn run(context: &Context, id: String) -> Result<Exit, Failure> {
    from(context, OneShown { id, since: None }).await
}

/// Executes a run, or waits for the server that does, until it waits for somebody or has ended. Prints each step once it and
/// all before it are over, and finally the run's state.
pub(super) async fn from(context: &Context, mut which: OneShown) -> Result<Exit, Failure> {
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
                print(&run, &parts, is_served)?;
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

/// Checks whether a run proceeds without anybody acting.
fn moves(run: &WholeRun, is_served: bool) -> bool {
    match run.run.waiting {
        None => matches!(run.run.status, RunStatus::Queued | RunStatus::Running),
        // With a server, these end by themselves.
        Some(Wait::Run { .. }) => is_served,
        Some(Wait::Time { until } | Wait::RateLimit { until, .. }) => {
            let left = until.0.saturating_sub(SystemClock.now().0);
            is_served && left <= i64::try_from(PATIENCE.as_millis()).unwrap_or(i64::MAX)
        }
        Some(_) => false,
    }
}

/// Returns, for each child run waited for, the descendant that waits for no further run, with its current steps, as far as the
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
            // Earlier steps do not tell what it waits for.
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

/// Executes runs if no server has the company, and returns those that proceeded; `None` if a server has it.
pub(super) async fn go_on(context: &Context) -> Result<Option<BTreeSet<String>>, Failure> {
    if context.server.is_some() {
        return Ok(None);
    }
    if !context.state.exists() {
        return Ok(Some(BTreeSet::new()));
    }
    let Opened::Ours(company) = client::open(context).await? else { return Ok(None) };
    let settled = match models::client(context.models()) {
        Ok(models) => runner::settle(&company.gate, context.means(models)?).await.map_err(Failure::new),
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
