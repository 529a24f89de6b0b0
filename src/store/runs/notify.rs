//! Whom what happens to runs is told, in inboxes and outside.

use serde_json::{Value, json};

use super::events::{RunCompleted, RunFailed, RunHeld, RunWaiting};
use super::{get, waits};
use crate::store::event::{Moment, Teller};
use crate::store::inbox;
use crate::store::outbox::News;
use crate::types::id::{ActorId, Id};
use crate::types::inbox::ItemKind;
use crate::types::target::Thing;
use crate::types::webhook::Topic;
use crate::types::work::{Failure, RunStatus, Wait};

pub(super) fn notify_of_question(event: &RunWaiting, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = match &event.wait {
        Wait::Outcome { .. } => format!("{} asks you whether {} has happened", event.agent, event.name),
        _ => format!("{} asks you something", event.agent),
    };
    event
        .wait
        .asks()
        .iter()
        .try_for_each(|actor| inbox::add(moment, actor, ItemKind::Question, event.id.as_str(), &title))
}

/// Nothing is asked at a step any more: who is asked nothing else by the run is told so.
pub(super) fn notify_of_less(run: &Id, over: u32, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let Some(run) = get(moment.conn, run.as_str())? else { return Ok(()) };
    let mut asked = Vec::new();
    for step in waits(moment.conn, &run)?.into_iter().filter(|step| step.number != over) {
        asked.extend(step.wait.iter().flat_map(|wait| wait.asks().iter().cloned()));
    }
    inbox::resolve_but(moment, &run.id, &asked)
}

pub(super) fn notify_of_hold(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<()> {
    // That ends by itself, within minutes as a rule.
    if event.beside.is_some() {
        return Ok(());
    }
    let title = format!("a run of {} is held: {}", event.agent, event.reason);
    inbox::add(moment, &event.asker, ItemKind::Alert, event.id.as_str(), &title)
}

pub(super) fn notify_of_completion(event: &RunCompleted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let title = format!("{} has finished what you asked", event.agent);
    inbox::add(moment, &event.asker, ItemKind::Decision, event.id.as_str(), &title)
}

pub(super) fn notify_of_failure(event: &RunFailed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let why = event.message.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let title = format!("a run of {} failed{why}", event.agent);
    inbox::add(moment, &event.asker, ItemKind::Failure, event.id.as_str(), &title)
}

/// A run as policies see it once it has ended.
fn seen(id: &Id, agent: &ActorId, asker: &ActorId, askers: &[ActorId], status: RunStatus) -> Thing {
    let thing = Thing::new("Run", id.as_str()).actor("agent", agent).actor("asker", asker);
    thing.actors("askers", askers.iter().cloned()).actors("asked", []).text("status", status.name())
}

pub(super) fn news_of_completion(event: &RunCompleted, _: &Teller<'_>) -> Option<News> {
    let RunCompleted { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, .. } = event;
    let thing = seen(id, agent, asker, askers, RunStatus::Completed);
    let data = told((id, agent), RunStatus::Completed, (*tokens_in, *tokens_out, *duration_ms));
    Some(news(Topic::RunCompleted, agent, thing, data))
}

pub(super) fn news_of_failure(event: &RunFailed, _: &Teller<'_>) -> Option<News> {
    let RunFailed { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, reason, .. } = event;
    let status = if *reason == Failure::TimedOut { RunStatus::TimedOut } else { RunStatus::Failed };
    let thing = seen(id, agent, asker, askers, status);
    let mut data = told((id, agent), status, (*tokens_in, *tokens_out, *duration_ms));
    if let Some(fields) = data.as_object_mut() {
        fields.insert("reason".into(), reason.name().into());
    }
    Some(news(Topic::RunFailed, agent, thing, data))
}

/// For whoever may read the run.
fn news(topic: Topic, agent: &ActorId, run: Thing, data: Value) -> News {
    News { topic: topic.name(), only: None, of: Some(agent.clone()), about: Some(("run.read", run.into())), data }
}

fn told(
    (id, agent): (&Id, &ActorId),
    status: RunStatus,
    (tokens_in, tokens_out, duration_ms): (i64, i64, i64),
) -> Value {
    json!({
        "run_id": id, "agent_id": agent, "status": status, "tokens": { "input": tokens_in, "output": tokens_out },
        "duration_ms": duration_ms, "channel": "api", "user_id": null,
    })
}
