//! Embeds a question, and finds what is near to it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Embed;
use adapters::Embedder;
use gate::{Change as _, Reader, Target};
use types::refusal::Stop;
use types::vector::Vector;

/// How much rank fusion dampens the first ranks: the constant of the paper.
const FUSION: f64 = 60.0;

/// A question, embedded if possible.
#[derive(Default)]
pub struct EmbeddedQuestion {
    meaning: Option<(String, Vector)>,
    /// Why only its words are searched, although its embedding was wanted.
    pub words_alone: Option<String>,
}

/// Similarities to a question, by entry and passage; a statement is passage 0 of its entry.
pub type Near = BTreeMap<(String, u32), f32>;

/// Checks whether a question is sent to the embedding model. After a failure the model is left alone for a while: nothing is
/// sent then, so nothing recorded.
pub fn leaves(question: &str, read: &Reader<'_>) -> bool {
    asks(question, read).is_ok_and(|embedder| embedder.is_some_and(|embedder| !embedder.rests()))
}

/// Returns the embedding model, if the question is to be embedded.
fn asks<'r>(question: &str, read: &'r Reader<'_>) -> Result<Option<&'r dyn Embedder>, Stop> {
    Ok(read.embedder()?.filter(|_| !question.trim().is_empty()))
}

/// Returns the call that records that a question is sent, before it is.
pub fn announced(question: &str, read: &Reader<'_>) -> Result<Option<(&'static str, Value)>, Stop> {
    let model = asks(question, read)?.filter(|_| may(read)).map(|embedder| embedder.model().to_owned());
    Ok(model.map(|model| (Embed::SPEC.name, json!({ "model": model, "characters": question.chars().count() }))))
}

/// Embeds a question, if the company has enabled that and the policies let it be sent.
pub fn embed(question: &str, read: &Reader<'_>) -> Result<EmbeddedQuestion, Stop> {
    let Some(embedder) = asks(question, read)? else {
        let is_missing = !question.trim().is_empty() && read.wants_vectors()? && read.any_embedder().is_none();
        let words_alone =
            is_missing.then(|| "this server has no embedding model (`embeddings` in OK_LLM_CONFIG)".into());
        return Ok(EmbeddedQuestion { meaning: None, words_alone });
    };
    let model = embedder.model().to_owned();
    if !may(read) {
        let words_alone = Some(format!("the policies, or a kill switch, do not let the question be sent to {model}"));
        return Ok(EmbeddedQuestion { meaning: None, words_alone });
    }
    // The reason stays in the server's log: a provider's message may contain more than members should read.
    Ok(match read.embed(embedder, question) {
        Ok(vector) => EmbeddedQuestion { meaning: Some((model, vector)), words_alone: None },
        Err(_) => {
            EmbeddedQuestion { meaning: None, words_alone: Some(format!("{model} cannot be asked at the moment")) }
        }
    })
}

fn may(read: &Reader<'_>) -> bool {
    read.may(Embed::SPEC.name, &Target::Company)
}

impl EmbeddedQuestion {
    /// Returns the similarity of these entries and their passages to the question.
    pub fn near(&mut self, of: &[String], read: &Reader<'_>) -> Result<Near, Stop> {
        let Some((model, vector)) = &self.meaning else { return Ok(Near::new()) };
        let (comparable, others): (Vec<_>, Vec<_>) =
            read.vectors(of, model)?.into_iter().partition(|one| one.vector.dimensions() == vector.dimensions());
        if !others.is_empty() {
            let dimensions = vector.dimensions();
            self.words_alone = Some(format!(
                "texts whose {model} embeddings do not have {dimensions} dimensions match by words only; set `dimensions` in OK_LLM_CONFIG to embed them again"
            ));
        }
        Ok(comparable.into_iter().map(|one| ((one.knowledge, one.chunk), one.vector.cosine(vector))).collect())
    }
}

/// Fuses rankings (reciprocal rank fusion; Cormack, Clarke, Büttcher, SIGIR 2009).
pub fn fused<K: Ord + Clone>(rankings: [&[K]; 2]) -> Vec<K> {
    let mut scores: BTreeMap<&K, f64> = BTreeMap::new();
    for ranking in rankings {
        for (rank, key) in (1_u32..).zip(ranking) {
            *scores.entry(key).or_default() += 1.0 / (FUSION + f64::from(rank));
        }
    }
    // Ties keep the order of the first ranking.
    let mut fused: Vec<(&K, f64)> =
        rankings.into_iter().flatten().map(|key| (key, scores.remove(key).unwrap_or(-1.0))).collect();
    fused.retain(|(_, score)| *score >= 0.0);
    fused.sort_by(|one, other| other.1.total_cmp(&one.1));
    fused.into_iter().map(|(key, _)| key.clone()).collect()
}
