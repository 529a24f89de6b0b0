//! Records that texts are about to be sent to the embedding model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{KNOWLEDGE, find};
use super::expect_fit;
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::knowledge::events::{EmbeddingRequested, QuestionEmbedded};
use types::id::Id;
use types::refusal::Stop;
use types::scope::Reach;

/// Which texts: some of an entry, or else a question.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Texts {
    pub id: Option<String>,
    /// Who is asked.
    pub model: String,
    /// The first passage of the entry; 0 for a statement.
    #[serde(default)]
    pub first: u32,
    /// How many.
    #[serde(default)]
    pub chunks: u32,
    /// Of a question: how long it is.
    #[serde(default)]
    pub characters: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Sent {
    pub model: String,
}

/// Send texts to the embedding model. With the company as target, the text is the caller's question.
pub enum Embed {}

impl Change for Embed {
    const SPEC: Spec = Spec {
        name: "knowledge.embed",
        doc: "Send texts of a knowledge entry to the embedding model; with the company as the target, a question.",
        scope: Reach::READ,
        route: Route::LOCAL.by_server(),
        about: &[&KNOWLEDGE, &COMPANY],
        events: &[EmbeddingRequested::KIND, QuestionEmbedded::KIND],
    };
    const SAYS: &'static str = "sends texts[ of {id}] to {model}";
    type Input = Texts;
    type Output = Sent;

    fn target(input: &Texts, read: &Reader<'_>) -> Result<Target, Stop> {
        match &input.id {
            Some(id) => Ok(read.knowledge_target(&find(id, read)?)),
            None => Ok(Target::Company),
        }
    }

    fn run(permit: Permit<Self>, input: Texts, draft: &mut Draft<'_>) -> Result<Sent, Stop> {
        let Texts { id, model, first, chunks, characters } = input;
        let sent = Sent { model: model.clone() };
        let Some(id) = id else {
            draft.record(QuestionEmbedded { asker: permit.actor(), model, characters })?;
            return Ok(sent);
        };
        let entry = find(&id, draft.read())?;
        expect_fit(&entry, &model, draft.read())?;
        draft.record(EmbeddingRequested { id: Id::stored(&id), model, first, chunks, proposer: entry.proposer })?;
        Ok(sent)
    }
}
