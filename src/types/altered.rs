//! Changes to a field, or to a whole collection: what is omitted stays, and `null` removes a setting, as in a merge
//! patch (RFC 7396).

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::collection::Collection;
use super::field::{Field, Label};

/// What is said of a field otherwise. Its type is changed by a step of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldChanges {
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub title: Option<Option<String>>,
    /// Every record must have it; existing ones must have it already.
    #[serde(default, deserialize_with = "or_none", skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// The default for new records.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub default: Option<Option<Value>>,
    /// All options of a choice, including those in use.
    #[serde(default, deserialize_with = "or_none", skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// The minimum. Cannot be applied while a record is below it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub min: Option<Option<Value>>,
    /// The maximum. Cannot be applied while a record is above it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub max: Option<Option<Value>>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub unit: Option<Option<String>>,
    /// The label by which policies decide who reads it from then on, earlier versions included. `personal` can be
    /// neither set nor removed: such values are stored separately.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub label: Option<Option<Label>>,
}

/// What is said of a collection otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectionChanges {
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub title: Option<Option<String>>,
    /// Aggregates leave out groups of fewer records than this.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub smallest_group: Option<Option<u32>>,
}

/// What is there, were it `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// What is there, and what there is without it where it is `null`.
fn or_none<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from).map(|given: Option<T>| Some(given.unwrap_or_default()))
}

fn put<T: Clone>(to: &mut T, change: &Option<T>) {
    if let Some(change) = change {
        to.clone_from(change);
    }
}

const NOTHING: &str = "it changes nothing: specify at least one change";

impl FieldChanges {
    /// Applies the change to the field of this name, or returns why it cannot be applied.
    pub fn apply(&self, name: &str, field: &mut Field) -> Result<(), String> {
        let before = field.clone();
        put(&mut field.title, &self.title);
        put(&mut field.required, &self.required);
        put(&mut field.default, &self.default);
        put(&mut field.options, &self.options);
        put(&mut field.min, &self.min);
        put(&mut field.max, &self.max);
        put(&mut field.unit, &self.unit);
        put(&mut field.label, &self.label);
        let is_personal = |field: &Field| field.label == Some(Label::Personal);
        let unlike = (field.min != before.min) || (field.max != before.max) || (field.options != before.options);
        let asks_more = unlike || field.required && !before.required;
        match () {
            () if *field == before => Err(NOTHING.into()),
            () if is_personal(field) != is_personal(&before) => Err(format!(
                "`{name}`: personal data is stored separately, where it can be erased: add a field for it, and retire the other"
            )),
            () if is_personal(field) && asks_more => {
                Err(format!("`{name}` is personal: its values are stored separately and are not checked"))
            }
            () => Ok(()),
        }
    }

    /// Whether it takes a label off a field that had this one.
    pub fn lifts(&self, before: Option<Label>) -> bool {
        before.is_some() && self.label.is_some_and(|now| now != before)
    }
}

impl CollectionChanges {
    /// Applies the change to a collection, or returns why it cannot be applied.
    pub fn apply(&self, of: &mut Collection) -> Result<(), String> {
        let before = of.clone();
        put(&mut of.metadata.title, &self.title);
        put(&mut of.spec.smallest_group, &self.smallest_group);
        if *of == before { Err(NOTHING.into()) } else { Ok(()) }
    }
}
