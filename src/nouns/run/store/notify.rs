//! Notifies people of events of runs, by inbox and webhook.

use serde_json::json;

use super::{get, waits};
use crate::event::Moment;
use crate::inbox;
use crate::outbox::News;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::run::{Failure, RunStatus, Wait};
use types::target::Thing;
use types::webhook::Topic;

/// Notifies those asked at a step with this name.
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

/// Resolves the items of those to whom the run has no open question any more.
pub(super) fn of_less(moment: &Moment<'_>, run: &Id, over: u32) -> rusqlite::Result<()> {
    let Some(run) = get(moment.conn, run.as_str())? else { return Ok(()) };
    let mut asked = Vec::new();
    for step in waits(moment.conn, &run)?.into_iter().filter(|step| step.number != over) {
        asked.extend(step.wait.iter().flat_map(|wait| wait.asks().iter().cloned()));
    }
    inbox::resolve_but(moment, &run.id, &asked)
}

/// A run as policies see it once it has ended, and how it ended.
pub(super) struct Ended<'a> {
    pub id: &'a Id,
    pub agent: &'a ActorId,
    pub asker: &'a ActorId,
    pub askers: &'a [ActorId],
    pub failure: Option<Failure>,
    /// Input and output tokens.
    pub tokens: (i64, i64),
    pub duration_ms: i64,
}

impl Ended<'_> {
    /// Builds the webhook message for whoever may read the run.
    pub fn news(&self) -> News {
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

/// Notifies whoever asked for a run that has ended.
pub(super) fn of_end(
    moment: &Moment<'_>,
    id: &Id,
    asker: &ActorId,
    kind: ItemKind,
    title: &str,
) -> rusqlite::Result<()> {
    inbox::resolve(moment, id.as_str())?;
    inbox::add(moment, asker, kind, id.as_str(), title)
}
