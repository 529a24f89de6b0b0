//! That texts are about to be sent to the model that makes vectors of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{KNOWLEDGE, find};
use super::expect_fit;
use crate::gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use crate::operations::company::COMPANY;
use crate::store::knowledge::events::EmbeddingRequested;
use crate::types::id::Id;
use crate::types::refusal::Stop;
use crate::types::scope::Reach;

/// Which texts.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Texts {
    pub id: String,
    /// Who is asked.
    pub model: String,
    /// The first passage; 0 for a statement.
    pub first: u32,
    /// How many.
    pub chunks: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Sent {
    pub id: String,
}

/// Send texts to be made vectors of. Asked about the company, it is about a question of whoever asks it.
pub enum Embed {}

impl Change for Embed {
    const SPEC: Spec = Spec {
        name: "knowledge.embed",
        doc: "Send texts of a knowledge entry to the model that makes vectors of them. Asked about the company: send a question to it.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&KNOWLEDGE, &COMPANY],
        events: &[EmbeddingRequested::KIND],
    };
    const SAYS: &'static str = "sends texts of {id} to {model}";
    type Input = Texts;
    type Output = Sent;

    fn target(input: &Texts, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Texts, draft: &mut Draft<'_>) -> Result<Sent, Stop> {
        let Texts { id, model, first, chunks } = input;
        let entry = find(&id, draft.read())?;
        expect_fit(&entry, &model, draft.read())?;
        draft.record(EmbeddingRequested { id: Id::stored(&id), model, first, chunks, proposer: entry.proposer })?;
        Ok(Sent { id })
    }
}
