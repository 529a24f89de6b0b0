//! Lists and shows collections and their fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::Withheld;
use super::semantics::ShownSemantics;
use super::{COLLECTION, OneCollection, known};
use crate::Nothing;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use types::collection::{Collection, Source};
use types::field::Field;
use types::refusal::Stop;
use types::retention::Retention;
use types::scope::Reach;

/// A collection.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownCollection {
    pub name: String,
    pub title: Option<String>,
    /// The table of another system that its records are read from; absent where they are kept here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The fields that tell one record from another.
    pub key: Vec<String>,
    pub fields: BTreeMap<String, Field>,
    /// The fields that the caller may not read.
    pub withheld: Vec<String>,
    /// Aggregates leave out groups of fewer records.
    pub smallest_group: u32,
    /// How long records and their earlier versions are kept; absent if forever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// What its records mean.
    pub semantics: ShownSemantics,
    /// How often it has changed.
    pub version: i64,
}

fn shown(of: &Collection, read: &Reader<'_>) -> Result<ShownCollection, Stop> {
    Ok(ShownCollection {
        name: of.name().to_owned(),
        title: of.metadata.title.clone(),
        source: of.spec.source.clone(),
        key: of.spec.key.clone(),
        fields: of.spec.fields.clone(),
        withheld: Withheld::of(of, read).names(of).map(str::to_owned).collect(),
        smallest_group: of.smallest_group(),
        retention: of.spec.retention,
        semantics: ShownSemantics::of(of, read),
        version: read.collection_version(of.name())?,
    })
}

/// Returns the collections that the caller may know.
pub fn seen<'a>(read: &'a Reader<'_>) -> impl Iterator<Item = &'a Collection> {
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
        route: get("/brain/collections").listed(),
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
