//! Semantics of a collection: its entities, the dimensions to group by, named metrics, and synonyms for all of them.
//!
//! Always true: what is defined here can be queried: a metric sums numbers, and a filter fits the fields.

mod sound;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::actor::named;

/// The maximum number of entities, of dimensions, and of metrics in a collection.
pub const MOST: usize = 100;

named! {
    /// How a figure is computed from the records of a group.
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
    /// What figures can be grouped by, by name; at most 100.
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
    /// The field that identifies one.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// By what figures are grouped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    pub field: String,
    /// For a time or a day: the period to group by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A figure that has a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// How it is aggregated from records; otherwise `expr` computes it from other metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agg: Option<Agg>,
    /// Its formula: metrics with an `agg`, numbers, `+ - * /` and brackets. It has four decimal places.
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

impl Semantics {
    pub fn is_empty(&self) -> bool {
        *self == Semantics::default()
    }

    /// Renames a field throughout.
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

/// Renames a field in a filter.
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
