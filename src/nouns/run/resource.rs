//! Declares runs as a resource of policies.

use serde_json::{Value, json};

use crate::task::with_leads;
use gate::{Brief, FactSpec, Noun, Reader, Resource, Staged, Target};
use policy::testing::{Cast, Row, Sample, other_than};
use store::runs::Run;
use store::tasks::title_of_ask;
use types::id::ActorId;
use types::refusal::{Fault, Stop};
use types::run::RunStatus;

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
        staged: Staged::Rows { list: "runs", complete: |thing, company| with_leads(thing, "agent", company), samples },
    },
    title: Some(title),
    version: None,
    brief,
    find,
    state,
};

/// Returns sample runs: requested by everybody, waiting for their answer, and their own.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    cast.everybody.iter().flat_map(|who| runs_of(who, cast.agents)).collect()
}

fn runs_of(who: &ActorId, agents: &[ActorId]) -> Vec<Sample> {
    let other = other_than(who);
    let run = |what: String, agent: &ActorId, asker: &str| {
        Row::new("runs", format!("run_{what}.{who}")).with("agent", agent).with("asker", asker)
    };
    let waiting = RunStatus::WaitingInput.name();
    let of_agents = agents.iter().enumerate().flat_map(|(number, agent)| {
        let asked_for = run(format!("of{number}"), agent, who.as_str()).with("askers", [who]);
        let asks = run(format!("to{number}"), agent, other).with("askers", [other]).with("asked", [who]);
        [asked_for, asks.with("status", waiting)]
    });
    // A child of a run that somebody requested, with questions to them and another.
    let part = agents.first().zip(agents.get(1)).map(|(agent, asker)| {
        let row = run("part".into(), agent, asker.as_str()).with("askers", [asker, who]);
        row.with("asked", [who.as_str(), other]).with("status", waiting)
    });
    let own = [run("by".into(), who, other)];
    of_agents.chain(own).chain(part).map(|row| Sample::own(who, &["max"], row)).collect()
}

/// Returns the title of its task, unless that only says who was asked.
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

/// Returns the state to which approvals are bound: this step of the run. That it waits for the approval meanwhile does not
/// count, nor the results of calls made together with it.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let state = |run: Run| json!({ "is_over": run.status.is_over(), "steps": run.under_way().unwrap_or(run.steps) });
    Ok(json!(read.run(&target.id())?.map(state)))
}
