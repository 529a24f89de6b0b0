//! Which collections there are, and what their records are made of.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::Withheld;
use super::{COLLECTION, OneCollection, known};
use crate::gate::{Permit, Query, Reader, Spec, Target, get};
use crate::operations::Nothing;
use crate::operations::company::COMPANY;
use crate::types::collection::Collection;
use crate::types::field::Field;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;

/// A collection.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownCollection {
    pub name: String,
    pub title: Option<String>,
    /// The fields that tell one record from another.
    pub key: Vec<String>,
    pub fields: BTreeMap<String, Field>,
    /// The fields that the caller may not read.
    pub withheld: Vec<String>,
    /// Aggregates leave out groups of fewer records.
    pub smallest_group: u32,
    /// How often it has changed.
    pub version: i64,
}

fn shown(of: &Collection, read: &Reader<'_>) -> Result<ShownCollection, Stop> {
    Ok(ShownCollection {
        name: of.name().to_owned(),
        title: of.metadata.title.clone(),
        key: of.spec.key.clone(),
        fields: of.spec.fields.clone(),
        withheld: Withheld::of(of, read).names(of).map(str::to_owned).collect(),
        smallest_group: of.smallest_group(),
        version: read.collection_version(of.name())?,
    })
}

fn seen<'a>(read: &'a Reader<'_>) -> impl Iterator<Item = &'a Collection> {
    let may = |of: &&Collection| read.may("collection.read", &read.collection_target(of.name()));
    read.all_collections().map(|of| &**of).filter(may)
}

/// List the collections.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "collection.list",
        doc: "List the collections that the caller may see, by name.",
        scope: Reach::READ,
        route: get("/brain/collections"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Vec<ShownCollection>;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Vec<ShownCollection>, Stop> {
        seen(read).map(|of| shown(of, read)).collect()
    }
}

/// Show a collection.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "collection.read",
        doc: "Show the definition of a collection.",
        scope: Reach::READ,
        route: get("/brain/collections/{collection}"),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = OneCollection;
    type Output = ShownCollection;

    fn target(input: &OneCollection, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: OneCollection, read: &Reader<'_>) -> Result<ShownCollection, Stop> {
        shown(&*known(&input.collection, read)?, read)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Phrase {
    /// What is looked for, in words; 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    #[arg(value_name = "PHRASE")]
    pub phrase: String,
}

/// A collection or a field that a phrase may mean.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub collection: String,
    /// None: the collection itself.
    pub field: Option<String>,
    pub title: Option<String>,
    /// How many words of the phrase are in its names.
    pub score: u32,
}

/// Find what a phrase may mean.
pub enum Catalog {}

/// The most hits of one answer.
const MOST: usize = 50;

impl Query for Catalog {
    const SPEC: Spec = Spec {
        name: "collection.catalog",
        doc: "Find the collections and fields that a phrase may mean, by the words in their names; the best first.",
        scope: Reach::READ,
        route: get("/brain/catalog"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Phrase;
    type Output = Vec<Hit>;

    fn target(_: &Phrase, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Phrase, read: &Reader<'_>) -> Result<Vec<Hit>, Stop> {
        if input.phrase.trim().is_empty() || input.phrase.chars().count() > 200 {
            return Err(Refusal::field("phrase", "must have 1 to 200 characters").into());
        }
        let wanted: Vec<String> = input.phrase.split_whitespace().map(str::to_lowercase).collect();
        let score = |names: &[&str]| {
            let text = names.join(" ").to_lowercase().replace('_', " ");
            let is_in = |word: &&String| text.split_whitespace().any(|one| one.starts_with(word.trim_end_matches('s')));
            u32::try_from(wanted.iter().filter(is_in).count()).unwrap_or(u32::MAX)
        };
        let mut hits = Vec::new();
        for of in seen(read) {
            let (collection, title) = (of.name().to_owned(), of.metadata.title.clone());
            hits.push(Hit {
                score: score(&[&collection, title.as_deref().unwrap_or_default()]),
                field: None,
                title,
                collection,
            });
            hits.extend(of.spec.fields.iter().map(|(name, field)| Hit {
                collection: of.name().to_owned(),
                score: score(&[name, field.title.as_deref().unwrap_or_default()]),
                field: Some(name.clone()),
                title: field.title.clone(),
            }));
        }
        hits.retain(|hit| hit.score > 0);
        hits.sort_by(|one, other| {
            other
                .score
                .cmp(&one.score)
                .then_with(|| (&one.collection, &one.field).cmp(&(&other.collection, &other.field)))
        });
        hits.truncate(MOST);
        Ok(hits)
    }
}
