//! Runs as policies see them.

use serde_json::{Value, json};

use crate::task::with_leads;
use gate::{Brief, FactSpec, Noun, Reader, Resource, Staged, Target};
use store::runs::Run;
use store::tasks::title_of_ask;
use types::refusal::{Fault, Stop};
use types::work::RunStatus;

pub static RUN: Resource = Resource {
    noun: Noun {
        name: "Run",
        doc: "An agent at work.",
        sight: Some("run.read"),
        own: None,
        facts: &[
            FactSpec::actor("agent", "who works"),
            FactSpec::actor("asker", "who asked for it"),
            FactSpec::actors("askers", "all requesters of the run and its parents, the asker among them"),
            FactSpec::actors("asked", "whose answer it waits for"),
            FactSpec::text(
                "status",
                "queued, running, waiting_approval, waiting_input, held, completed, failed, timed_out, cancelled",
            )
            .one_of("running", || RunStatus::ALL.iter().map(|status| status.name()).collect()),
            FactSpec::actors("leads", "who leads the agent's team").linked().derived(),
        ],
        staged: Staged::Rows { list: "runs", complete: |thing, company| with_leads(thing, "agent", company) },
    },
    title: Some(title),
    brief,
    find,
    state,
};

/// That of its task, unless it says only who was asked.
fn title(target: &Target, read: &Reader<'_>) -> Result<Option<String>, Fault> {
    let Some(run) = read.run(&target.id())? else { return Ok(None) };
    let title = read.task(&run.task)?.map(|task| task.title);
    Ok(title.filter(|title| *title != title_of_ask(&run.agent)))
}

fn brief(target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
    let Some(run) = read.run(&target.id())? else { return Ok(Brief::new()) };
    let task = read.task(&run.task)?.map(|task| task.title).unwrap_or_default();
    let spent = match run.budget_cents {
        Some(budget) => format!("{} of {budget} cents", run.cost_cents),
        None => format!("{} cents", run.cost_cents),
    };
    Ok(vec![
        ("agent", run.agent.to_string()),
        ("asked for by", run.asker.to_string()),
        ("task", task),
        ("status", run.status.to_string()),
        ("spent", spent),
        ("steps", run.steps.to_string()),
        ("all of it", format!("ok run show {}", run.id)),
    ])
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.run(id)?.filter(|run| run.created_at <= read.now());
    Ok(found.map(|run| read.run_target(&run)))
}

/// Another step is another state: what was approved about a run is approved for this step of it. That it waits for the
/// approval meanwhile is none, nor what comes of calls that are made together with it.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let state = |run: Run| json!({ "is_over": run.status.is_over(), "steps": run.under_way().unwrap_or(run.steps) });
    Ok(json!(read.run(&target.id())?.map(state)))
}
