//! Stores the embeddings that a model has made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::super::{KNOWLEDGE, find};
use super::embed::Sent;
use super::expect_fit;
use super::unembedded::texts;
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::content::events::ContentKept;
use store::knowledge::events::KnowledgeEmbedded;
use store::knowledge::vectors::{FIELD, part};
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::vector::unpacked;

/// The vectors of texts.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Made {
    pub id: String,
    /// Who made them.
    pub model: String,
    /// The first passage; 0 for a statement.
    pub first: u32,
    /// How many.
    pub chunks: u32,
    pub dimensions: u32,
    /// One after the other, 8 bits a dimension, in Base64.
    pub vectors: String,
}

/// Store embeddings.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "knowledge.settle",
        doc: "Store the embeddings that the model returned for the texts of a knowledge entry. Called by the server \
              itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&KNOWLEDGE],
        events: &[ContentKept::KIND, KnowledgeEmbedded::KIND],
    };
    const SAYS: &'static str = "stores vectors of {id}";
    type Input = Made;
    type Output = Sent;

    fn target(input: &Made, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Made, draft: &mut Draft<'_>) -> Result<Sent, Stop> {
        let Made { id, model, first, chunks, dimensions, vectors } = input;
        let entry = find(&id, draft.read())?;
        expect_fit(&entry, &model, draft.read())?;
        let count = unpacked(&vectors, dimensions as usize).map(|vectors| vectors.len());
        if count != Some(chunks as usize) {
            return Err(
                Refusal::field("vectors", format!("must contain {chunks} vectors of {dimensions} dimensions")).into()
            );
        }
        // Embeddings of text erased meanwhile are not stored.
        if texts(&entry, first, draft.read())?.len() < chunks as usize {
            return Err(Refusal::conflict(format!("texts of {id} are erased")).into());
        }
        let kept = Map::from_iter([(FIELD.to_owned(), vectors.into())]);
        let (of, proposer) = (Id::stored(&id), entry.proposer);
        let sent = Sent { model: model.clone() };
        draft.record(ContentKept { id: of.clone(), part: part(&model, first), kept })?;
        draft.record(KnowledgeEmbedded { id: of, model, dimensions, first, chunks, proposer })?;
        Ok(sent)
    }
}
