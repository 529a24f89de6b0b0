//! What the records of a collection mean to people: what they are records of, by what figures about them are grouped, which
//! figures have a name, and which other words there are for all of it.
//!
//! Always true: what is defined here can be asked: a metric adds up what is a number, and a filter fits the fields.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::actor::named;
use super::collection::{Collection, NAME, OWN, is_name};
use super::definition::Problems;
use super::expr::Expr;
use super::field::FieldKind;
use super::filter;
use super::near::nearest;
use super::visible::{self, is_name as is_title};

/// The most entities, dimensions and metrics of a collection, of each.
pub const MOST: usize = 100;
/// The most names that have other words, and words of one.
const MOST_SYNONYMS: usize = 400;
const MOST_WORDS: usize = 20;

named! {
    /// How a figure comes of the records of a group.
    Agg, "way to come to a figure", {
        /// How many records there are.
        Count = "count",
        Sum = "sum",
        Avg = "avg",
        Min = "min",
        Max = "max",
        /// How many different values there are.
        Distinct = "distinct",
    }
}

named! {
    /// The period that a time falls into, in UTC.
    Grain, "grain", {
        Day = "day",
        Month = "month",
        Year = "year",
    }
}

/// What a collection's records mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Semantics {
    /// What the records are of, by name; at most 100.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub entities: BTreeMap<String, Entity>,
    /// By what figures are grouped, by name; at most 100.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dimensions: BTreeMap<String, Dimension>,
    /// The figures that have a name; at most 100.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
    /// Other words for the collection, its fields, entities, dimensions and metrics, by name; at most 20 each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub synonyms: BTreeMap<String, Vec<String>>,
}

/// What records are of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// The field that tells one from another.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// By what figures are grouped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    pub field: String,
    /// Of a time or a day: the period that it falls into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A figure that has a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// How it comes of the records; else it is made of other metrics, by `expr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agg: Option<Agg>,
    /// What it is made of: metrics with an `agg`, numbers, `+ - * /` and brackets. It has four decimal places.
    #[schemars(length(max = 200))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expr: Option<String>,
    /// The field that it is about; none of `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What must hold of a record to be counted in, as in a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-names" = "values"))]
    pub filter: Option<Value>,
    /// What it is in, such as `EUR`; the field's unit unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Semantics {
    pub fn is_empty(&self) -> bool {
        *self == Semantics::default()
    }

    /// What cannot be, of a collection with these fields.
    pub(super) fn problems(&self, of: &Collection, problems: &mut Problems) {
        let counts = [
            ("entities", self.entities.len(), MOST),
            ("dimensions", self.dimensions.len(), MOST),
            ("metrics", self.metrics.len(), MOST),
            ("synonyms", self.synonyms.len(), MOST_SYNONYMS),
        ];
        for (name, _, most) in counts.into_iter().filter(|(_, count, most)| count > most) {
            problems.0.push(format!("spec.semantics.{name}: must be at most {most}"));
        }
        let mut seen: BTreeSet<&str> = of.spec.fields.keys().map(String::as_str).chain(OWN.iter().copied()).collect();
        let mut named = |name, at: &str, title: &Option<String>, problems: &mut Problems| {
            problems.check(is_name(name), format!("{at}: a name {NAME}"));
            let message = format!("{at}: `{}` is called so already; each name stands for one thing", short(name));
            problems.check(seen.insert(name), message);
            let title = title.as_ref().is_none_or(|title| is_title(title));
            problems.check(title, visible::NO_NAME.replacen("name", &format!("{at}.title"), 1));
        };
        for (name, entity) in self.entities.iter().take(MOST) {
            let at = place("entities", name);
            named(name, &at, &entity.title, problems);
            report(&at, "key", grouped(of, &entity.key, None), problems);
        }
        for (name, dimension) in self.dimensions.iter().take(MOST) {
            let at = place("dimensions", name);
            named(name, &at, &dimension.title, problems);
            report(&at, "field", grouped(of, &dimension.field, dimension.grain), problems);
        }
        for (name, metric) in self.metrics.iter().take(MOST) {
            let at = place("metrics", name);
            named(name, &at, &metric.title, problems);
            problems
                .check(name != Agg::Count.name(), format!("{at}: `count` counts records already; take another name"));
            metric.problems(of, &at, problems);
            if let Some(expr) = &metric.expr {
                report(&at, "expr", self.made_of(of, expr), problems);
            }
        }
        for (name, words) in self.synonyms.iter().take(MOST_SYNONYMS) {
            let at = place("synonyms", name);
            let is_there = seen.contains(name.as_str()) || name == of.name();
            problems.check(is_there, format!("{at}: nothing is called `{}`", short(name)));
            let fit = (1..=MOST_WORDS).contains(&words.len()) && words.iter().all(|word| is_title(word));
            problems.check(fit, format!("{at}: must be 1 to {MOST_WORDS} words, of 1 to 100 characters each"));
        }
    }

    /// Whether a figure can be made of others.
    fn made_of(&self, of: &Collection, expr: &str) -> Result<(), String> {
        for name in Expr::parse(expr)?.names() {
            let part = self.metrics.get(name).ok_or_else(|| no_metric(of, name))?;
            let agg = part.agg.ok_or_else(|| format!("`{name}` is made of others itself"))?;
            let kind = part.field.as_ref().and_then(|field| Some(of.findable(field).ok()?.kind));
            let counts = matches!(agg, Agg::Count | Agg::Distinct);
            if !counts && kind.is_some_and(|kind| !kind.is_number()) {
                return Err(format!("`{name}` is no number"));
            }
        }
        Ok(())
    }

    /// The same, of a field that is called otherwise now.
    pub fn rename(&mut self, was: &str, now: &str) {
        let rename = |name: &mut String| {
            if name == was {
                now.clone_into(name);
            }
        };
        self.entities.values_mut().for_each(|entity| rename(&mut entity.key));
        self.dimensions.values_mut().for_each(|dimension| rename(&mut dimension.field));
        for metric in self.metrics.values_mut() {
            metric.field.iter_mut().for_each(rename);
            metric.filter = metric.filter.take().map(|filter| renamed(filter, was, now));
        }
        if let Some(words) = self.synonyms.remove(was) {
            self.synonyms.insert(now.to_owned(), words);
        }
    }
}

impl Metric {
    fn problems(&self, of: &Collection, at: &str, problems: &mut Problems) {
        match (self.agg, &self.expr) {
            (Some(agg), None) => report(at, "field", figured(of, agg, self.field.as_deref()), problems),
            (None, Some(_)) => problems.check(
                self.field.is_none() && self.filter.is_none(),
                format!("{at}: `field` and `filter` are of the metrics that `expr` is made of"),
            ),
            _ => problems.0.push(format!("{at}: has either `agg` or `expr`")),
        }
        let filter = self.filter.as_ref().map(|filter| filter::check(of, filter, &format!("{at}.filter")));
        if let Some(Err((at, what))) = filter {
            problems.0.push(format!("{at}: {what}"));
        }
        let unit = self.unit.as_ref().is_none_or(|unit| is_title(unit));
        problems.check(unit, visible::NO_NAME.replacen("name", &format!("{at}.unit"), 1));
    }
}

/// What is said of a name that no metric has.
pub fn no_metric(of: &Collection, name: &str) -> String {
    let near = nearest(name, of.spec.semantics.metrics.keys().take(MOST).map(String::as_str));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("there is no metric `{}`{near}", short(name))
}

/// `spec.semantics.metrics.open_total`
fn place(list: &str, name: &str) -> String {
    format!("spec.semantics.{list}.{}", short(name))
}

fn report(at: &str, key: &str, fits: Result<(), String>, problems: &mut Problems) {
    if let Err(what) = fits {
        problems.0.push(format!("{at}.{key}: {what}"));
    }
}

/// `sum:total` as a figure, of a field of this collection: how it comes about, and of which field; a count is of none.
pub fn figure_of<'a>(of: &Collection, text: &'a str) -> Result<(Agg, Option<&'a str>), String> {
    let (agg, field) = parsed_figure(of, text)?;
    figured(of, agg, field)?;
    Ok((agg, field))
}

/// The same, of whatever field.
pub fn parsed_figure<'a>(of: &Collection, text: &'a str) -> Result<(Agg, Option<&'a str>), String> {
    if text == Agg::Count.name() {
        return Ok((Agg::Count, None));
    }
    let agg = |function: &str| function.parse::<Agg>().ok().filter(|agg| *agg != Agg::Count);
    match text.split_once(':').map(|(function, field)| (agg(function), field)) {
        Some((Some(agg), field)) => Ok((agg, Some(field))),
        _ => {
            let metric = of.spec.semantics.metrics.contains_key(text);
            let metric = if metric { "; it is a metric: ask for it in `metrics`" } else { "" };
            let what = "must be count, or sum, avg, min, max, distinct and a field, such as sum:total";
            Err(format!("`{}`: {what}{metric}", short(text)))
        }
    }
}

/// `due:month`, or the name of a dimension, as what figures are grouped by: the field, and the period that it falls into.
pub fn group_of<'a>(of: &'a Collection, text: &'a str) -> Result<(&'a str, Option<Grain>), String> {
    let (name, grain) = parsed_group(of, text)?;
    grouped(of, name, grain)?;
    Ok((name, grain))
}

/// The same, of whatever field.
pub fn parsed_group<'a>(of: &'a Collection, text: &'a str) -> Result<(&'a str, Option<Grain>), String> {
    if let Some(dimension) = of.spec.semantics.dimensions.get(text) {
        return Ok((&dimension.field, dimension.grain));
    }
    match text.split_once(':') {
        None => Ok((text, None)),
        Some((name, grain)) => Ok((name, Some(grain.parse::<Grain>()?))),
    }
}

/// Whether figures can be grouped by a field.
fn grouped(of: &Collection, name: &str, grain: Option<Grain>) -> Result<(), String> {
    by_group(name, of.findable(name)?.kind, grain)
}

/// Whether figures can be grouped by a field of this type.
pub fn by_group(name: &str, kind: FieldKind, grain: Option<Grain>) -> Result<(), String> {
    let is_time = matches!(kind, FieldKind::Date | FieldKind::Time);
    match grain {
        Some(_) if !is_time => Err(format!("`{name}` is no time: it has neither day, month nor year")),
        None if !kind.is_comparable() => Err(format!("records are not grouped by a {kind}")),
        _ => Ok(()),
    }
}

/// Whether a figure of this sort can be made.
fn figured(of: &Collection, agg: Agg, field: Option<&str>) -> Result<(), String> {
    match field {
        None if agg == Agg::Count => Ok(()),
        None => Err(format!("`{agg}` is of a field: name it")),
        Some(_) if agg == Agg::Count => Err("`count` counts records, and is of no field".to_owned()),
        Some(name) => by_figure(name, of.findable(name)?.kind, agg),
    }
}

/// Whether a figure can be made of a field of this type.
pub fn by_figure(name: &str, kind: FieldKind, agg: Agg) -> Result<(), String> {
    match agg {
        Agg::Sum | Agg::Avg if !kind.is_number() => {
            Err(format!("`{name}` is of the type `{kind}`, and only numbers are added up"))
        }
        Agg::Min | Agg::Max | Agg::Distinct if !kind.is_comparable() => {
            Err(format!("`{name}` is of the type `{kind}`, whose values are not compared"))
        }
        _ => Ok(()),
    }
}

/// A filter with another name for a field.
fn renamed(filter: Value, was: &str, now: &str) -> Value {
    let Value::Object(parts) = filter else { return filter };
    let part = |(key, value): (String, Value)| match (key.as_str(), value) {
        ("and" | "or", Value::Array(all)) => {
            (key, all.into_iter().map(|one| renamed(one, was, now)).collect::<Vec<_>>().into())
        }
        ("not", one) => (key, renamed(one, was, now)),
        (name, value) if name == was => (now.to_owned(), value),
        (_, value) => (key, value),
    };
    Value::Object(parts.into_iter().map(part).collect::<Map<String, Value>>())
}

fn short(name: &str) -> String {
    name.chars().take(63).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_renamed_field_is_renamed_in_filters_and_its_values_are_not() {
        let filter = json!({ "not": { "a": "a" }, "or": [{ "a": { "ne": "a" } }, { "b": "a" }] });
        let wanted = json!({ "not": { "z": "a" }, "or": [{ "z": { "ne": "a" } }, { "b": "a" }] });
        assert_eq!(renamed(filter, "a", "z"), wanted);
    }
}
