//! Lists texts without embeddings.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::shown::statement;
use super::is_fit;
use crate::company::COMPANY;
use adapters::MOST_TEXTS;
use gate::{Permit, Query, Reader, Route, Spec, Target};
use store::knowledge::Knowledge;
use types::refusal::Stop;
use types::scope::Reach;

/// The number of entries examined per answer.
const LOOKED_AT: usize = 500;

/// From where on.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct From {
    /// Only entries after this one, by their ids; from the first on where it is empty.
    pub after: String,
    /// Entries to leave alone.
    pub besides: BTreeSet<String>,
}

/// The next texts.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Due {
    pub batch: Option<Batch>,
    /// Where to go on, if not all was looked at.
    pub after: Option<String>,
}

/// Texts of one entry.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    pub id: String,
    pub model: String,
    /// The first passage; 0 for a statement.
    pub first: u32,
    pub texts: Vec<String>,
}

/// List the next texts to embed.
pub enum Unembedded {}

impl Query for Unembedded {
    const SPEC: Spec = Spec {
        name: "knowledge.unembedded",
        doc: "List the next texts to embed. Called by the server itself, for each entry.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = From;
    type Output = Due;

    fn target(_: &From, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: From, read: &Reader<'_>) -> Result<Due, Stop> {
        let Some(embedder) = read.embedder()? else { return Ok(Due { batch: None, after: None }) };
        let model = embedder.model();
        let entries = read.unembedded(model, &input.after, LOOKED_AT)?;
        let after = entries.last().filter(|_| entries.len() == LOOKED_AT).map(|last| last.id.clone());
        for one in entries.into_iter().filter(|one| !input.besides.contains(&one.id)) {
            let Some(entry) = read.knowledge(&one.id)?.filter(|entry| is_fit(entry, read)) else { continue };
            if !read.may("knowledge.embed", &read.knowledge_target(&entry)) {
                continue;
            }
            let texts = texts(&entry, one.first, read)?;
            if !texts.is_empty() {
                let batch = Batch { id: one.id, model: model.to_owned(), first: one.first, texts };
                return Ok(Due { batch: Some(batch), after });
            }
        }
        Ok(Due { batch: None, after })
    }
}

/// Returns an entry's texts from a passage on, as many as are sent at once; an erased text ends them.
pub(super) fn texts(entry: &Knowledge, first: u32, read: &Reader<'_>) -> Result<Vec<String>, Stop> {
    if first == 0 {
        return Ok(statement(entry, read)?.0.into_iter().collect());
    }
    let mut texts = Vec::new();
    for chunk in (first..).take(MOST_TEXTS) {
        let Some(passage) = read.passage(&entry.id, chunk)? else { break };
        texts.push(passage.text);
    }
    Ok(texts)
}
