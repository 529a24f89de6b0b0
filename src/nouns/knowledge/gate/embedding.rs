//! Reads the embeddings of knowledge for operations, and the embedding model.

use super::Reader;
use adapters::{Embedder, Unread};
use store::company::VECTOR_SEARCH;
use store::knowledge::documents::{self, Passage};
use store::knowledge::vectors::{self, Embedded, Unembedded};
use types::refusal::Fault;
use types::vector::Vector;

impl Reader<'_> {
    /// Returns this server's embedding model, whether or not the company uses it.
    pub fn any_embedder(&self) -> Option<&dyn Embedder> {
        self.world.outside.embedder.as_deref()
    }

    /// Checks whether the company has enabled embeddings of knowledge.
    pub fn wants_vectors(&self) -> Result<bool, Fault> {
        Ok(self.company()?.settings.get(VECTOR_SEARCH).is_some_and(|on| on == true))
    }

    /// Returns the embedding model, if this server has one and the company has enabled embeddings.
    pub fn embedder(&self) -> Result<Option<&dyn Embedder>, Fault> {
        Ok(if self.wants_vectors()? { self.any_embedder() } else { None })
    }

    /// Embeds a question. Only where external systems may be queried.
    pub fn embed(&self, by: &dyn Embedder, question: &str) -> Result<Vector, Unread> {
        if !self.reaches() {
            return Err(Unread("only queries can call it".into()));
        }
        let vectors = by.embed(&[question.to_owned()]).inspect_err(|Unread(why)| {
            tracing::warn!(%why, "a question is answered by its words alone");
        })?;
        vectors.into_iter().next().ok_or_else(|| Unread(format!("{}: it gave no vector", by.model())))
    }

    /// Returns the embeddings of these entries by a model.
    pub fn vectors(&self, of: &[String], model: &str) -> Result<Vec<Embedded>, Fault> {
        Ok(vectors::of(self.conn()?, of, model)?)
    }

    /// Returns accepted entries after one, by id, that lack some embedding by a model.
    pub fn unembedded(&self, model: &str, after: &str, limit: usize) -> Result<Vec<Unembedded>, Fault> {
        Ok(vectors::unembedded(self.conn()?, model, after, limit)?)
    }

    /// Returns one passage of a document.
    pub fn passage(&self, of: &str, chunk: u32) -> Result<Option<Passage>, Fault> {
        Ok(documents::passage(self.conn()?, of, chunk)?)
    }
}
