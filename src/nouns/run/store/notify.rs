//! Whom what happens to runs is told, in inboxes and outside.

use serde_json::json;

use super::events::{RunCompleted, RunFailed, RunHeld};
use super::{get, waits};
use crate::event::{Author, Moment};
use crate::inbox;
use crate::outbox::News;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::run::{Failure, RunStatus, Wait};
use types::target::Thing;
use types::webhook::Topic;

/// Something is asked at a step, whose name this is.
pub(super) fn of_question(
    moment: &Moment<'_>,
    (id, agent): (&Id, &ActorId),
    name: &str,
    wait: &Wait,
) -> rusqlite::Result<()> {
    let title = match wait {
        Wait::Outcome { .. } => format!("{agent} asks you whether {name} has happened"),
        _ => format!("{agent} asks you something"),
    };
    wait.asks().iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Question, id.as_str(), &title))
}

/// Nothing is asked at a step any more: who is asked nothing else by the run is told so.
pub(super) fn of_less(moment: &Moment<'_>, run: &Id, over: u32) -> rusqlite::Result<()> {
    let Some(run) = get(moment.conn, run.as_str())? else { return Ok(()) };
    let mut asked = Vec::new();
    for step in waits(moment.conn, &run)?.into_iter().filter(|step| step.number != over) {
        asked.extend(step.wait.iter().flat_map(|wait| wait.asks().iter().cloned()));
    }
    inbox::resolve_but(moment, &run.id, &asked)
}

/// A run as policies see it once it has ended, and how it ended.
struct Ended<'a> {
    id: &'a Id,
    agent: &'a ActorId,
    asker: &'a ActorId,
    askers: &'a [ActorId],
    failure: Option<Failure>,
    /// Read and written.
    tokens: (i64, i64),
    duration_ms: i64,
}

impl Ended<'_> {
    /// For whoever may read the run.
    fn news(&self) -> News {
        let (topic, status) = match self.failure {
            None => (Topic::RunCompleted, RunStatus::Completed),
            Some(Failure::TimedOut) => (Topic::RunFailed, RunStatus::TimedOut),
            Some(_) => (Topic::RunFailed, RunStatus::Failed),
        };
        let run = Thing::new("Run", self.id.as_str()).actor("agent", self.agent).actor("asker", self.asker);
        let run = run.actors("askers", self.askers.iter().cloned()).actors("asked", []).text("status", status.name());
        let (tokens_in, tokens_out) = self.tokens;
        let mut data = json!({
            "run_id": self.id, "agent_id": self.agent, "status": status,
            "tokens": { "input": tokens_in, "output": tokens_out }, "duration_ms": self.duration_ms,
            "channel": "api", "user_id": null,
        });
        if let (Some(failure), Some(fields)) = (self.failure, data.as_object_mut()) {
            fields.insert("reason".into(), failure.name().into());
        }
        let about = Some(("run.read", run.into()));
        News { topic: topic.name(), only: None, of: Some(self.agent.clone()), about, data }
    }
}

pub(super) fn of_hold(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<()> {
    // That ends by itself, within minutes as a rule.
    if event.beside.is_some() {
        return Ok(());
    }
    let title = format!("a run of {} is held: {}", event.agent, event.reason);
    inbox::add(moment, event.origin.as_ref().unwrap_or(&event.asker), ItemKind::Alert, event.id.as_str(), &title)
}

pub(super) fn of_completion(event: &RunCompleted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let title = format!("{} has finished what you asked", event.agent);
    inbox::add(moment, &event.asker, ItemKind::Decision, event.id.as_str(), &title)
}

pub(super) fn of_failure(event: &RunFailed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let why = event.message.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let title = format!("a run of {} failed{why}", event.agent);
    inbox::add(moment, &event.asker, ItemKind::Failure, event.id.as_str(), &title)
}

pub(super) fn news_of_completion(event: &RunCompleted, _: &Author<'_>) -> Option<News> {
    let RunCompleted { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, .. } = event;
    let (tokens, duration_ms) = ((*tokens_in, *tokens_out), *duration_ms);
    Some(Ended { id, agent, asker, askers, failure: None, tokens, duration_ms }.news())
}

pub(super) fn news_of_failure(event: &RunFailed, _: &Author<'_>) -> Option<News> {
    let RunFailed { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, reason, .. } = event;
    let (tokens, duration_ms) = ((*tokens_in, *tokens_out), *duration_ms);
    Some(Ended { id, agent, asker, askers, failure: Some(*reason), tokens, duration_ms }.news())
}
