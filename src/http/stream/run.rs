//! `GET /api/runs/{id}/stream`: the run as its reader may see it, read again whenever the log has grown, and in between
//! the partial output of models. The id of each message is the last step up to which all steps are over and were sent:
//! a client that reconnects passes it as `since` and misses nothing.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::Event;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{HEARTBEAT, SLOWEST};
use crate::gate::admit::shares::Place;
use crate::gate::declare::operation::Entry;
use crate::gate::reader::live::Listening;
use crate::gate::{Gate, Request};
use crate::nouns::run::{ShownStep, WholeRun};
use crate::types::caller::Presented;
use crate::types::refusal::{Code, Stop};
use crate::types::run::{RunStatus, StepStatus, Wait};

/// The operation that begins such a stream.
pub(super) const STREAM: &str = "run.stream";
/// It looks at most so often, however fast the log grows.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Follower {
    gate: Arc<Gate>,
    shown: &'static Entry,
    presented: Presented,
    id: String,
    /// All steps up to this one are over and told.
    since: u32,
    /// How the later ones were told.
    sent: BTreeMap<u32, (StepStatus, Option<Wait>)>,
    status: Option<(RunStatus, Option<Wait>)>,
    live: Listening,
    /// The step of which something was told that a model says, and how many bytes of it.
    heard: (u32, usize),
    stop: CancellationToken,
    to: mpsc::Sender<Event>,
    _place: Place,
}

/// The stream is over.
struct Over;

impl Follower {
    pub fn new(
        gate: Arc<Gate>,
        shown: &'static Entry,
        (presented, asked): (Presented, Value),
        (stop, to): (CancellationToken, mpsc::Sender<Event>),
        place: Place,
    ) -> Follower {
        let id = asked.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let since = asked.get("since").and_then(Value::as_u64).and_then(|since| u32::try_from(since).ok()).unwrap_or(0);
        let live = gate.live().listen(&id);
        let (sent, status, heard) = (BTreeMap::new(), None, (0, 0));
        Follower { gate, shown, presented, id, since, sent, status, live, heard, stop, to, _place: place }
    }

    pub async fn run(mut self) {
        // Whatever ends it, its reader sees the stream end.
        let _ = self.follow().await;
    }

    async fn follow(&mut self) -> Result<(), Over> {
        let mut grown = self.gate.grown();
        loop {
            grown.mark_unchanged();
            self.look().await?;
            let mut changed = pin!(timeout(HEARTBEAT, grown.changed()));
            loop {
                self.say().await?;
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return Err(Over),
                    () = self.to.closed() => return Err(Over),
                    // Without news the caller is looked at again all the same: its token may have expired.
                    _ = changed.as_mut() => break,
                    said = self.live.said.changed() => said.map_err(|_| Over)?,
                }
            }
            sleep(PAUSE).await;
        }
    }

    /// Tells what has changed, as the reader is shown it.
    async fn look(&mut self) -> Result<(), Over> {
        let caller = self.gate.admit(&self.presented, &self.shown.spec).map_err(|_| Over)?;
        let call = self.shown.prepare(json!({ "id": self.id, "since": self.since })).map_err(|_| Over)?;
        let reply = match self.gate.go_on(Request { caller, call, idem: None }).await {
            Ok(reply) => reply,
            // It is looked at again.
            Err(Stop::Refused(refused)) if refused.code == Code::Unavailable => return Ok(()),
            Err(_) => return Err(Over),
        };
        let whole: WholeRun = serde_json::from_slice(&reply.body).map_err(|_| Over)?;
        let WholeRun { run, trace, output, .. } = whole;
        if self.status.is_none() && self.since == 0 {
            self.send("run.started", &run).await?;
        }
        for step in trace {
            self.step(&step).await?;
        }
        let stands = Some((run.status, run.waiting.clone()));
        let is_news = self.status != stands;
        self.status = stands;
        let name = match run.status {
            RunStatus::Held if is_news => return self.send("run.held", &run).await,
            RunStatus::Completed => "run.completed",
            RunStatus::Failed | RunStatus::TimedOut => "run.failed",
            RunStatus::Cancelled => "run.cancelled",
            _ => return Ok(()),
        };
        let mut ended = serde_json::to_value(&run).map_err(|_| Over)?;
        if let Some(fields) = ended.as_object_mut() {
            fields.insert("output".into(), output.into());
        }
        self.send(name, &ended).await?;
        Err(Over)
    }

    async fn step(&mut self, step: &ShownStep) -> Result<(), Over> {
        if step.seq <= self.since {
            return Ok(());
        }
        let stands = (step.status, step.waiting.clone());
        let is_known = self.sent.get(&step.seq) == Some(&stands);
        self.sent.insert(step.seq, stands);
        while self.sent.get(&(self.since + 1)).is_some_and(|(status, _)| status.is_over()) {
            self.since += 1;
            self.sent.remove(&self.since);
        }
        if is_known {
            return Ok(());
        }
        let name = match (step.status, &step.waiting) {
            (status, _) if status.is_over() => "step.completed",
            (StepStatus::Waiting, Some(Wait::Approval { .. })) => "gate.pending",
            (StepStatus::Waiting, Some(Wait::Question { .. } | Wait::Outcome { .. })) => "input.required",
            _ => "step.started",
        };
        self.send(name, step).await
    }

    /// Tells what more a model has said at a step that was told to be under way.
    async fn say(&mut self) -> Result<(), Over> {
        let (step, text) = {
            let said = self.live.said.borrow_and_update();
            if self.sent.get(&said.step).is_none_or(|(status, _)| *status != StepStatus::Dispatched) {
                return Ok(());
            }
            let from = if self.heard.0 == said.step { self.heard.1 } else { 0 };
            self.heard = (said.step, said.text.len());
            (said.step, said.text.get(from..).unwrap_or_default().to_owned())
        };
        match text.is_empty() {
            true => Ok(()),
            false => self.send("output.delta", &json!({ "step": step, "text": text })).await,
        }
    }

    async fn send(&self, name: &str, data: &impl serde::Serialize) -> Result<(), Over> {
        let data = serde_json::to_string(data).map_err(|_| Over)?;
        let message = Event::default().id(self.since.to_string()).event(name).data(data);
        timeout(SLOWEST, self.to.send(message)).await.map_err(|_| Over)?.map_err(|_| Over)
    }
}
