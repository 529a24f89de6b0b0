//! The vectors of what is known, as an operation may read them, and whoever makes them.

use super::Reader;
use adapters::{Embedder, Unread};
use store::company::VECTOR_SEARCH;
use store::knowledge::documents::{self, Passage};
use store::knowledge::vectors::{self, Embedded, Unembedded};
use types::refusal::Fault;
use types::vector::Vector;

impl Reader<'_> {
    /// Whoever makes vectors of texts on this server, whether or not the company has them made.
    pub fn any_embedder(&self) -> Option<&dyn Embedder> {
        self.world.outside.embedder.as_deref()
    }

    /// Whether the company has vectors made of what is known.
    pub fn wants_vectors(&self) -> Result<bool, Fault> {
        Ok(self.company()?.settings.get(VECTOR_SEARCH).is_some_and(|on| on == true))
    }

    /// Whoever makes vectors of texts, where the server has somebody for it and the company has them made.
    pub fn embedder(&self) -> Result<Option<&dyn Embedder>, Fault> {
        Ok(if self.wants_vectors()? { self.any_embedder() } else { None })
    }

    /// The vector of a question. Only where other systems may be asked.
    pub fn embed(&self, by: &dyn Embedder, question: &str) -> Result<Vector, Unread> {
        if !self.reaches() {
            return Err(Unread("only queries can call it".into()));
        }
        let vectors = by.embed(&[question.to_owned()]).inspect_err(|Unread(why)| {
            tracing::warn!(%why, "a question is answered by its words alone");
        })?;
        vectors.into_iter().next().ok_or_else(|| Unread(format!("{}: it gave no vector", by.model())))
    }

    /// The vectors that a model has made of these entries.
    pub fn vectors(&self, of: &[String], model: &str) -> Result<Vec<Embedded>, Fault> {
        Ok(vectors::of(self.conn()?, of, model)?)
    }

    /// Accepted entries after one, by their ids, of which a model has not made all vectors.
    pub fn unembedded(&self, model: &str, after: &str, limit: usize) -> Result<Vec<Unembedded>, Fault> {
        Ok(vectors::unembedded(self.conn()?, model, after, limit)?)
    }

    /// One passage of a document.
    pub fn passage(&self, of: &str, chunk: u32) -> Result<Option<Passage>, Fault> {
        Ok(documents::passage(self.conn()?, of, chunk)?)
    }
}
