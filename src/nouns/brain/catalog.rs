//! Searches the semantic layer: maps a phrase to collections, fields, entities, dimensions and metrics by name, title or
//! synonym.
//!
//! Always true: what the caller may not query is removed before anything is ranked or cut, so neither a rank nor a count
//! reveals it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collection::seen;
use super::judged::Withheld;
use super::semantics::hidden;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use types::brain::CatalogKind;
use types::collection::Collection;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::semantics::Semantics;
use types::visible::is_blank;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Phrase {
    /// The words to look for; 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    #[arg(value_name = "PHRASE")]
    pub phrase: String,
}

/// What a phrase may mean.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub kind: CatalogKind,
    pub collection: String,
    /// Its name in queries.
    pub name: String,
    /// The field that it is or reads; none for a collection or a count.
    pub field: Option<String>,
    pub title: Option<String>,
    /// The synonym that matches, if none of its names matches as well.
    pub synonym: Option<String>,
    /// How well the phrase matches its names; comparable only between hits.
    pub score: u32,
}

/// The maximum number of hits in one answer.
const MOST: usize = 50;
/// The score of an equal word; below, of a prefix match and of a word of the collection's own name.
const SAME: u32 = 4;
const BEGINS: u32 = 2;
const AROUND: u32 = 1;

/// Find what a phrase may mean.
pub enum Catalog {}

impl Query for Catalog {
    const SPEC: Spec = Spec {
        name: "collection.catalog",
        doc: "Find the collections, fields, dimensions and metrics that a phrase may mean, by their names and the other words for \
              them; the best first. What the caller may not read is left out.",
        scope: Reach::READ,
        route: get("/brain/catalog").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Phrase;
    type Output = Vec<Hit>;

    fn target(_: &Phrase, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Phrase, read: &Reader<'_>) -> Result<Vec<Hit>, Stop> {
        if is_blank(&input.phrase) || input.phrase.chars().count() > 200 {
            return Err(Refusal::field("phrase", "must have 1 to 200 characters").into());
        }
        let wanted = words(&input.phrase);
        let mut hits = Vec::new();
        for of in seen(read) {
            let withheld = Withheld::of(of, read);
            let around: BTreeSet<String> = texts(of, of.name(), of.metadata.title.as_ref()).flat_map(words).collect();
            let ranked = candidates(of, &withheld).filter_map(|candidate| candidate.ranked(of, &wanted, &around));
            hits.extend(ranked);
        }
        hits.sort_by(|(one, length), (other, longer)| {
            let place = |hit: &Hit| (hit.kind, hit.collection.clone(), hit.name.clone());
            other.score.cmp(&one.score).then(length.cmp(longer)).then_with(|| place(one).cmp(&place(other)))
        });
        Ok(hits.into_iter().take(MOST).map(|(hit, _)| hit).collect())
    }
}

/// Something that a phrase may mean.
struct Candidate<'a> {
    kind: CatalogKind,
    name: &'a str,
    field: Option<&'a str>,
    title: Option<&'a String>,
}

impl Candidate<'_> {
    /// Scores it, and returns the hit with the number of words of the best-matching name; `None` if no word matches.
    fn ranked(self, of: &Collection, wanted: &[String], around: &BTreeSet<String>) -> Option<(Hit, usize)> {
        let named = usize::from(self.title.is_some()) + 1;
        let fitting = texts(of, self.name, self.title).enumerate().map(|(at, text)| {
            let own = words(text);
            (fit(wanted, &own, around), own.len(), at, text)
        });
        // Among equal scores, prefer the shortest, and a name to a synonym.
        let best = fitting.max_by(|one, other| (one.0, other.1, other.2).cmp(&(other.0, one.1, one.2)))?;
        let (score, length, at, text) = best;
        let hit = Hit {
            kind: self.kind,
            collection: of.name().to_owned(),
            name: self.name.to_owned(),
            field: self.field.map(str::to_owned),
            title: self.title.cloned(),
            synonym: (at >= named).then(|| text.to_owned()),
            score,
        };
        (score > 0).then_some((hit, length))
    }
}

/// Returns what the caller may query of a collection.
fn candidates<'a>(of: &'a Collection, withheld: &Withheld) -> impl Iterator<Item = Candidate<'a>> {
    let Semantics { entities, dimensions, metrics, .. } = &of.spec.semantics;
    let hidden = hidden(of, withheld);
    let of_kind = |kind, name: &'a String, field: Option<&'a String>, title: &'a Option<String>| Candidate {
        kind,
        name,
        field: field.map(String::as_str),
        title: title.as_ref(),
    };
    let itself =
        Candidate { kind: CatalogKind::Collection, name: of.name(), field: None, title: of.metadata.title.as_ref() };
    let mut all = vec![itself];
    all.extend(metrics.iter().map(|(name, one)| of_kind(CatalogKind::Metric, name, one.field.as_ref(), &one.title)));
    all.extend(
        dimensions.iter().map(|(name, one)| of_kind(CatalogKind::Dimension, name, Some(&one.field), &one.title)),
    );
    all.extend(entities.iter().map(|(name, one)| of_kind(CatalogKind::Entity, name, Some(&one.key), &one.title)));
    let fields = of.spec.fields.iter().filter(|(name, _)| !withheld.is(of, name));
    all.extend(fields.map(|(name, field)| of_kind(CatalogKind::Field, name, Some(name), &field.title)));
    all.retain(|candidate| candidate.kind == CatalogKind::Field || !hidden.contains(candidate.name));
    all.into_iter()
}

/// Returns the name, the title and the synonyms.
fn texts<'a>(of: &'a Collection, name: &'a str, title: Option<&'a String>) -> impl Iterator<Item = &'a str> {
    let synonyms = of.spec.semantics.synonyms.get(name).into_iter().flatten();
    std::iter::once(name).chain(title.map(String::as_str)).chain(synonyms.map(String::as_str))
}

/// Scores words against the phrase. Words of the collection's name alone are no match.
fn fit(wanted: &[String], own: &[String], around: &BTreeSet<String>) -> u32 {
    let mut is_own = false;
    let each = wanted.iter().map(|word| {
        let worth = match own.iter().any(|one| one == word) {
            true => SAME,
            false if own.iter().any(|one| one.starts_with(word.as_str())) => BEGINS,
            false => 0,
        };
        is_own |= worth > 0;
        if worth == 0 && around.contains(word) { AROUND } else { worth }
    });
    let score = each.sum();
    if is_own { score } else { 0 }
}

/// Splits a text into words, in lower case and without a plural `s`.
fn words(text: &str) -> Vec<String> {
    let one = |word: &str| {
        let word = word.to_lowercase();
        match word.strip_suffix('s').filter(|stem| stem.chars().count() > 2 && !stem.ends_with('s')) {
            Some(stem) => stem.to_owned(),
            None => word,
        }
    };
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(one).collect()
}
