//! `GET /api/events/stream`: repeats the event list for the same caller whenever the log has grown. So a stream shows
//! what the list would show, and ends when its token does. `run` streams a run.

mod run;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_core::Stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::face::Face;
use crate::gate::Reply;
use crate::gate::admit::shares::Place;
use crate::gate::declare::operation::Entry;
use crate::gate::{Gate, Request};
use crate::types::caller::Presented;
use crate::types::page::MAX_LIMIT;

const HEARTBEAT: Duration = Duration::from_secs(15);
/// A reader that takes nothing for so long is dropped; it comes back with `since`.
const SLOWEST: Duration = Duration::from_secs(30);
const AHEAD: usize = 64;

struct Follower {
    gate: Arc<Gate>,
    list: &'static Entry,
    presented: Presented,
    filter: Value,
    since: i64,
    stop: CancellationToken,
    to: mpsc::Sender<Event>,
    /// Given back when the stream ends.
    _place: Place,
}

/// Begins the stream at the position that the gate returned.
pub(super) fn follow(face: &Face, presented: Presented, (filter, place): (Value, Place), begun: &Reply) -> Response {
    let since = serde_json::from_slice::<Value>(&begun.body).ok().and_then(|begun| begun.get("since")?.as_i64());
    let (to, from) = mpsc::channel(AHEAD);
    if let Some(shown) = face.gate.entry("run.read").filter(|_| face.entry.spec.name == run::STREAM) {
        let (gate, stop) = (Arc::clone(&face.gate), face.stop.clone());
        tokio::spawn(run::Follower::new(gate, shown, (presented, filter), (stop, to), place).run());
        return events(from);
    }
    if let (Some(list), Some(since)) = (face.gate.entry("event.list"), since) {
        let (gate, stop) = (Arc::clone(&face.gate), face.stop.clone());
        tokio::spawn(Follower { gate, list, presented, filter, since, stop, to, _place: place }.run());
    }
    events(from)
}

fn events(from: mpsc::Receiver<Event>) -> Response {
    Sse::new(Events(from)).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("keep-alive")).into_response()
}

impl Follower {
    async fn run(mut self) {
        let mut grown = self.gate.grown();
        loop {
            grown.mark_unchanged();
            match self.next_events().await {
                Some(more) if more => continue,
                Some(_) => {}
                None => return,
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.to.closed() => return,
                // Without news the caller is looked at again all the same: its token may have expired.
                _ = tokio::time::timeout(HEARTBEAT, grown.changed()) => {}
            }
        }
    }

    /// Sends what is new. `Some(true)` if there may be more at once, `None` if the stream is over.
    async fn next_events(&mut self) -> Option<bool> {
        let caller = self.gate.admit(&self.presented, &self.list.spec).ok()?;
        if let Some(fields) = self.filter.as_object_mut() {
            fields.insert("since".into(), self.since.into());
            fields.insert("limit".into(), MAX_LIMIT.into());
        }
        let call = self.list.prepare(self.filter.clone()).ok()?;
        let reply = self.gate.go_on(Request { caller, call, idem: None }).await.ok()?;
        let answer: Value = serde_json::from_slice(&reply.body).ok()?;
        let events = answer.get("events")?.as_array()?;
        for event in events {
            let message = message(event)?;
            tokio::time::timeout(SLOWEST, self.to.send(message)).await.ok()?.ok()?;
        }
        let full = events.len() >= MAX_LIMIT as usize;
        // A full page may have left events out after its last; any other has seen the log up to `last_seq`.
        let seen = if full { events.last()?.get("seq")?.as_i64()? } else { answer.get("last_seq")?.as_i64()? };
        self.since = self.since.max(seen);
        Some(full || answer.get("partial").is_some())
    }
}

fn message(record: &Value) -> Option<Event> {
    let kind = record.get("event")?.get("type")?.as_str()?;
    Some(Event::default().id(record.get("seq")?.to_string()).event(kind).data(record.to_string()))
}

struct Events(mpsc::Receiver<Event>);

impl Stream for Events {
    type Item = Result<Event, Infallible>;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|event| event.map(Ok))
    }
}
