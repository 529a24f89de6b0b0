//! Semantics of a collection: readable by whoever may know the collection, changed by proposals like the rest of it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judged::Withheld;
use super::plan::could_be;
use super::schema::{ShownProposal, proposed};
use super::{COLLECTION, OneCollection, known};
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, get, put};
use store::brain::events::SchemaProposed;
use types::brain::Operation;
use types::collection::Collection;
use types::expr::Expr;
use types::filter;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::semantics::{Agg, Dimension, Entity, Grain, Metric, Semantics};

/// What records are of.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedEntity {
    pub name: String,
    /// The field that identifies one.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// By what figures are grouped.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedDimension {
    pub name: String,
    pub field: String,
    /// For a time or a day: the period to group by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A figure that has a name.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedMetric {
    pub name: String,
    /// How it is aggregated from records; otherwise `expr` computes it from other metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agg: Option<Agg>,
    /// Its formula: metrics with an `agg`, numbers, `+ - * /` and brackets.
    #[schemars(length(max = 200))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expr: Option<String>,
    /// The field to aggregate; none for `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Which records to include: a filter, as in a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-names" = "values"))]
    pub filter: Option<Value>,
    /// Its unit, such as `EUR`; by default the field's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Other words for something.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Synonyms {
    /// The collection, or a field, an entity, a dimension or a metric of it.
    pub of: String,
    /// At most 20.
    #[schemars(length(min = 1, max = 20))]
    pub words: Vec<String>,
}

/// What a collection's records mean.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownSemantics {
    pub entities: Vec<NamedEntity>,
    pub dimensions: Vec<NamedDimension>,
    pub metrics: Vec<NamedMetric>,
    pub synonyms: Vec<Synonyms>,
    /// The dimensions and metrics that the caller cannot ask for: they look at a field that they may not read.
    pub withheld: Vec<String>,
}

impl ShownSemantics {
    pub fn of(of: &Collection, read: &Reader<'_>) -> ShownSemantics {
        let withheld = Withheld::of(of, read);
        let Semantics { entities, dimensions, metrics, synonyms } = of.spec.semantics.clone();
        let hidden = hidden(of, &withheld);
        ShownSemantics {
            withheld: hidden.into_iter().map(str::to_owned).collect(),
            entities: entities
                .into_iter()
                .map(|(name, Entity { key, title })| NamedEntity { name, key, title })
                .collect(),
            dimensions: dimensions
                .into_iter()
                .map(|(name, Dimension { field, grain, title })| NamedDimension { name, field, grain, title })
                .collect(),
            metrics: metrics
                .into_iter()
                .map(|(name, metric)| {
                    let of_field = || of.field(metric.field.as_ref()?)?.unit.clone();
                    let unit = metric.unit.clone().or_else(|| of_field().filter(|_| metric.agg != Some(Agg::Distinct)));
                    let Metric { agg, expr, field, filter, title, .. } = metric;
                    NamedMetric { name, agg, expr, field, filter, unit, title }
                })
                .collect(),
            synonyms: synonyms.into_iter().map(|(of, words)| Synonyms { of, words }).collect(),
        }
    }
}

/// Returns the entities, dimensions and metrics that use a withheld field.
pub fn hidden<'a>(of: &'a Collection, withheld: &Withheld) -> BTreeSet<&'a str> {
    let Semantics { entities, dimensions, metrics, .. } = &of.spec.semantics;
    let is_hidden = |field: &str| withheld.is(of, field);
    let looks = |metric: &Metric| {
        let columns = metric.filter.as_ref().and_then(|filter| filter::check(of, filter, "filter").ok());
        let columns = columns.iter().flat_map(|condition| condition.columns().into_iter().map(str::to_owned));
        metric.field.iter().cloned().chain(columns.collect::<Vec<_>>()).any(|field| is_hidden(&field))
    };
    let entities = entities.iter().filter(|(_, entity)| is_hidden(&entity.key)).map(|(name, _)| name.as_str());
    let dimensions = dimensions.iter().filter(|(_, one)| is_hidden(&one.field)).map(|(name, _)| name.as_str());
    let parts = |metric: &Metric| -> Vec<&Metric> {
        let expr = metric.expr.as_ref().and_then(|expr| Expr::parse(expr).ok());
        expr.iter().flat_map(Expr::names).filter_map(|name| metrics.get(name)).collect()
    };
    let metrics = metrics.iter().filter(|(_, metric)| looks(metric) || parts(metric).into_iter().any(looks));
    let metrics = metrics.map(|(name, _)| name.as_str());
    entities.chain(dimensions).chain(metrics).collect()
}

/// What the records of a collection mean, and the collection's version.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct CollectionSemantics {
    pub collection: String,
    #[serde(flatten)]
    pub semantics: ShownSemantics,
    /// How often the collection has changed.
    pub version: i64,
}

/// Show a collection's semantics.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "semantics.read",
        doc: "Show what the records of a collection mean: entities, dimensions, metrics and other words for them.",
        scope: Reach::READ,
        route: get("/brain/collections/{collection}/semantics"),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = OneCollection;
    type Output = CollectionSemantics;

    fn target(input: &OneCollection, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: OneCollection, read: &Reader<'_>) -> Result<CollectionSemantics, Stop> {
        let of = &*known(&input.collection, read)?;
        let (semantics, version) = (ShownSemantics::of(of, read), read.collection_version(of.name())?);
        Ok(CollectionSemantics { collection: input.collection, semantics, version })
    }
}

/// What a collection's records are to mean, whole: what is left out is there no more.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct NewSemantics {
    /// The collection.
    pub collection: String,
    #[schemars(length(max = 100))]
    #[serde(default)]
    pub entities: Vec<NamedEntity>,
    #[schemars(length(max = 100))]
    #[serde(default)]
    pub dimensions: Vec<NamedDimension>,
    #[schemars(length(max = 100))]
    #[serde(default)]
    pub metrics: Vec<NamedMetric>,
    #[schemars(length(max = 400))]
    #[serde(default)]
    pub synonyms: Vec<Synonyms>,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
    /// The version of the collection that it was made from.
    #[serde(default)]
    pub version: Option<i64>,
}

impl NewSemantics {
    fn operation(&self) -> Result<Operation, Refusal> {
        Ok(Operation::Semantics(Box::new(self.clone().semantics()?)))
    }

    fn semantics(self) -> Result<Semantics, Refusal> {
        let entity = |NamedEntity { name, key, title }| (name, Entity { key, title });
        let dimension = |NamedDimension { name, field, grain, title }| (name, Dimension { field, grain, title });
        let metric = |NamedMetric { name, agg, expr, field, filter, unit, title }| {
            (name, Metric { agg, expr, field, filter, unit, title })
        };
        Ok(Semantics {
            entities: once("entities", self.entities.into_iter().map(entity))?,
            dimensions: once("dimensions", self.dimensions.into_iter().map(dimension))?,
            metrics: once("metrics", self.metrics.into_iter().map(metric))?,
            synonyms: once("synonyms", self.synonyms.into_iter().map(|Synonyms { of, words }| (of, words)))?,
        })
    }
}

fn once<T>(list: &str, named: impl Iterator<Item = (String, T)>) -> Result<BTreeMap<String, T>, Refusal> {
    let mut all = BTreeMap::new();
    for (name, one) in named {
        if all.contains_key(&name) {
            let short: String = name.chars().take(63).collect();
            return Err(Refusal::field(list, format!("`{}` appears twice", short.escape_debug())));
        }
        all.insert(name, one);
    }
    Ok(all)
}

/// Propose a collection's semantics.
pub enum Propose {}

impl Change for Propose {
    const SPEC: Spec = Spec {
        name: "semantics.propose",
        doc: "Propose a complete description of what the records of a collection mean. Nothing changes until a steward \
              applies the proposal.",
        scope: Reach::Full,
        route: put("/brain/collections/{collection}/semantics").created().slow().made_from("version"),
        about: &[&COLLECTION],
        events: &[SchemaProposed::KIND],
    };
    const SAYS: &'static str = "proposes semantics of {collection}";
    type Input = NewSemantics;
    type Output = ShownProposal;

    fn target(input: &NewSemantics, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn prepare(input: &NewSemantics, read: &Reader<'_>) -> Result<(), Stop> {
        could_be(&input.collection, &[input.operation()?], read)
    }

    fn run(permit: Permit<Self>, input: NewSemantics, draft: &mut Draft<'_>) -> Result<ShownProposal, Stop> {
        let ops = vec![input.operation()?];
        let NewSemantics { collection, reason, .. } = input;
        proposed(permit.actor(), collection, ops, reason, draft)
    }
}
