//! Has vectors made of what is known: asks the gate which texts have none, sends them to the embedding model, and
//! returns the vectors to the gate. It keeps no state: after a crash, texts are sent again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::call::{change, in_words, query};
use crate::adapters::{Embedder, Unread};
use crate::gate::Gate;
use crate::nouns::knowledge::{Batch, Embed, From, KeepVectors, Made, Texts, Unembedded};
use crate::types::refusal::Stop;
use crate::types::vector::{Vector, packed};

/// How often it asks while the log grows.
const PERIOD: Duration = Duration::from_secs(10);
/// How long it waits after a failure, twice as long after each.
const PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// How long texts are left alone that no vectors could be made of.
const ASIDE: Duration = Duration::from_secs(3_600);

/// Has vectors made until `stop`.
pub async fn run(gate: Arc<Gate>, embedder: Arc<dyn Embedder>, stop: CancellationToken) {
    let worker = Worker { gate, embedder, aside: BTreeMap::new(), failures: 0 };
    tokio::select! {
        () = stop.cancelled() => {}
        () = worker.run() => {}
    }
}

/// Has vectors made once of all that has none.
pub async fn pass(gate: &Arc<Gate>, embedder: Arc<dyn Embedder>) -> Result<(), String> {
    Worker { gate: Arc::clone(gate), embedder, aside: BTreeMap::new(), failures: 0 }.all().await
}

struct Worker {
    gate: Arc<Gate>,
    embedder: Arc<dyn Embedder>,
    /// Entries that are left alone, and until when.
    aside: BTreeMap<String, Instant>,
    /// How often it failed, one time after the other.
    failures: u32,
}

impl Worker {
    async fn run(mut self) {
        let mut grown = self.gate.grown();
        loop {
            grown.mark_unchanged();
            let wait = match self.all().await {
                Ok(()) => {
                    self.failures = 0;
                    PERIOD
                }
                Err(why) => {
                    if self.failures == 0 {
                        tracing::warn!(%why, "knowledge cannot be embedded");
                    }
                    let pause = PAUSE.saturating_mul(1 << self.failures.min(16)).min(LONGEST_PAUSE);
                    self.failures += 1;
                    pause
                }
            };
            sleep(wait).await;
            // What failed is tried again, and what was set aside, though nothing happens meanwhile.
            if self.failures == 0 && self.aside.is_empty() && grown.changed().await.is_err() {
                return;
            }
        }
    }

    /// Has vectors made of all that has none.
    async fn all(&mut self) -> Result<(), String> {
        // Where nothing is to be made, policies that do not know of it refuse nothing.
        if !self.gate.embeds().map_err(|fault| fault.to_string())? {
            return Ok(());
        }
        self.aside.retain(|_, until| *until > Instant::now());
        let mut after = String::new();
        loop {
            let asked = From { after: after.clone(), besides: self.aside.keys().cloned().collect() };
            let due = query::<Unembedded>(&self.gate, &asked).await.map_err(in_words)?;
            match (due.batch, due.after) {
                (Some(batch), _) => self.make(batch).await?,
                (None, Some(next)) => after = next,
                (None, None) => return Ok(()),
            }
        }
    }

    async fn make(&mut self, batch: Batch) -> Result<(), String> {
        if self.embedder.rests() {
            return Err(format!("{} does not answer, and is left alone for now", self.embedder.model()));
        }
        let Batch { id, model, first, texts } = batch;
        let chunks = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        let sent = Texts { id: Some(id.clone()), model: model.clone(), first, chunks, characters: 0 };
        if !self.done(&id, change::<Embed>(&self.gate, &sent).await)? {
            return Ok(());
        }
        let embedder = Arc::clone(&self.embedder);
        let made = spawn_blocking(move || embedder.embed(&texts)).await.map_err(|error| error.to_string())?;
        let vectors = made.map_err(|Unread(why)| {
            // That the model does not answer need not be the text's doing, and may be: others go first for a while.
            self.set_aside(&id, if self.embedder.rests() { LONGEST_PAUSE } else { ASIDE });
            why
        })?;
        self.failures = 0;
        let dimensions = vectors.first().map_or(0, Vector::dimensions);
        let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
        let made = Made { id, model, first, chunks, dimensions, vectors: packed(&vectors) };
        self.done(&made.id, change::<KeepVectors>(&self.gate, &made).await).map(drop)
    }

    /// Whether it was done. An entry that is refused, as one that was erased or retracted meanwhile, is left alone.
    fn done(&mut self, id: &str, outcome: Result<impl Sized, Stop>) -> Result<bool, String> {
        match outcome {
            Ok(_) => Ok(true),
            Err(Stop::Refused(_)) => {
                self.set_aside(id, ASIDE);
                Ok(false)
            }
            Err(failed) => Err(in_words(failed)),
        }
    }

    fn set_aside(&mut self, id: &str, time: Duration) {
        self.aside.insert(id.to_owned(), Instant::now() + time);
    }
}
