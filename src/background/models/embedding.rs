//! Vectors of texts, from the model that the settings name for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::time::timeout;

use super::Models;
use super::vectors::vectors;
use super::wire::Broke;
use crate::adapters::{Embedder, Unread};
use crate::types::models::{Embeddings, Provider};
use crate::types::vector::Vector;

/// How long the model may take: whoever asks something waits for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it is left alone after it did not answer: those who ask meanwhile do not wait for it in their turn.
const REST: Duration = Duration::from_secs(30);

/// The model, with the way to it.
pub struct Embedding {
    models: Models,
    of: Embeddings,
    provider: Provider,
    id: String,
    /// Until when it is left alone, and why.
    rests: Mutex<Option<(Instant, String)>>,
}

impl Embedding {
    /// Creates the embedder. None if the settings name no model for it.
    pub fn of(models: Models) -> Option<Embedding> {
        let catalog = models.catalog();
        let of = catalog.embeddings.clone()?;
        let provider = catalog.providers.get(&of.provider)?.clone();
        Some(Embedding { id: of.id(), models, of, provider, rests: Mutex::default() })
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vector>, Unread> {
        let Embedding { models, of, provider, id, .. } = self;
        if !provider.available {
            return Err(Unread(format!("{id}: there is no key for it")));
        }
        if let Some(why) = self.why_it_rests() {
            return Err(Unread(format!("{why}; it is left alone for up to {} s", REST.as_secs())));
        }
        let target = models.target(&of.provider, provider);
        let answered = match timeout(PATIENCE, vectors(&models.wire.http, &target, of, texts)).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(Broke::Refused(why) | Broke::Useless { why, .. })) => return Err(Unread(format!("{id}: {why}"))),
            Ok(Err(Broke::Busy { why, .. } | Broke::Unknown(why))) => return Err(self.rest(&why)),
            Err(_) => return Err(self.rest(&format!("no answer within {} s", PATIENCE.as_secs()))),
        };
        let made: Vec<Vector> = answered.iter().filter_map(|values| Vector::of(values)).collect();
        let dimensions = made.first().map(Vector::dimensions);
        match made.len() == texts.len() && made.iter().all(|vector| Some(vector.dimensions()) == dimensions) {
            true => Ok(made),
            false => Err(Unread(format!("{id}: its answer does not contain a vector for each text"))),
        }
    }

    fn rest_until(&self) -> MutexGuard<'_, Option<(Instant, String)>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn why_it_rests(&self) -> Option<String> {
        self.rest_until().as_ref().filter(|(until, _)| *until > Instant::now()).map(|(_, why)| why.clone())
    }

    /// Leaves it alone for a while.
    fn rest(&self, why: &str) -> Unread {
        let why = format!("{}: {why}", self.id);
        *self.rest_until() = Some((Instant::now() + REST, why.clone()));
        Unread(why)
    }
}

impl Embedder for Embedding {
    fn model(&self) -> &str {
        &self.id
    }

    fn rests(&self) -> bool {
        self.why_it_rests().is_some()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Unread> {
        Handle::current().block_on(self.ask(texts))
    }
}
