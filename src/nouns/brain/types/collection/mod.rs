//! Collections: the schema of a company's own data. A definition names the fields with their types; a value is JSON, checked
//! against its field and normalized, so that equal values are equal texts.

mod sound;

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::convert::in_form_of;
use super::definition::{ApiVersion, Metadata};
use super::field::{Field, FieldKind, Label};
use super::near::nearest;
use super::retention::Retention;
use super::semantics::Semantics;
use super::target::RESERVED;
use super::visible;

/// The maximum number of fields in a collection.
pub const MOST_FIELDS: usize = 300;
/// The maximum number of collections in a company.
pub const MOST_COLLECTIONS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CollectionKind {
    Collection,
}

/// A collection of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    #[serde(rename = "apiVersion")]
    pub api_version: ApiVersion,
    pub kind: CollectionKind,
    pub metadata: Metadata,
    pub spec: CollectionSpec,
}

/// What its records are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectionSpec {
    /// The fields that identify a record, at most 4: writing a record with an existing key updates that record.
    #[schemars(length(max = 4))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// The fields by name; 1 to 300.
    pub fields: BTreeMap<String, Field>,
    /// Names of retired fields. They are still in the history of records, so no other field can have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<String>,
    /// Former and current names of renamed fields: history is shown under the current ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub renamed: BTreeMap<String, String>,
    /// Aggregates leave out groups of fewer records than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_group: Option<u32>,
    /// Where its records are kept, if not here: they are read from there, and changed only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How long records and their earlier versions are kept; forever by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// What its records mean to people: entities, dimensions, metrics and other words for them.
    #[serde(default, skip_serializing_if = "Semantics::is_empty")]
    pub semantics: Semantics,
}

/// A table of another system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The system, by its name in the server's configuration.
    pub system: String,
    /// The table or view, such as `public.orders`.
    pub table: String,
    /// The columns whose name is not their field's, by field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
}

impl Source {
    /// Returns the column of a field.
    pub fn column<'a>(&'a self, field: &'a str) -> &'a str {
        self.columns.get(field).map_or(field, String::as_str)
    }
}

/// Checks whether it is a valid table name of an external system.
pub fn is_table(name: &str) -> bool {
    name.split('.').count() <= 2 && name.split('.').all(is_part)
}

fn is_part(name: &str) -> bool {
    (1..=63).contains(&name.len()) && !name.contains(char::is_control)
}

/// The names of built-in fields, which every record has.
pub const OWN: &[&str] =
    &["id", "collection", "version", "created_by", "created_at", "updated_by", "updated_at", "deleted_at", "flags"];
/// Returns the type of a built-in field that records can be found by.
fn own(name: &str) -> Option<FieldKind> {
    Some(match name {
        "id" => FieldKind::Text,
        "version" => FieldKind::Integer,
        "created_by" | "updated_by" => FieldKind::Actor,
        "created_at" | "updated_at" => FieldKind::Time,
        _ => return None,
    })
}

/// Checks whether a collection or a field can have this name.
pub fn is_name(name: &str) -> bool {
    let known = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    (1..=63).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(known)
        && !RESERVED.contains(&name)
}

/// Checks whether a new collection can have this name: it becomes a type beside Cedar's own, and must not shadow one.
pub fn is_free(name: &str) -> bool {
    !["datetime", "decimal", "duration", "ipaddr"].contains(&name)
}

/// What a new collection's name must not be.
pub const OF_CEDAR: &str = "must be none of Cedar's types `datetime`, `decimal`, `duration` and `ipaddr`";

/// What a valid name is.
pub const NAME: &str = "must have 1 to 63 small letters, digits and underscores, begin with a letter, and be no word of the policies' language such as `in` or `has`";

impl Collection {
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Returns the minimum size of a group in aggregates; smaller ones are left out.
    pub fn smallest_group(&self) -> u32 {
        self.spec.smallest_group.unwrap_or(1)
    }

    pub fn field(&self, name: &str) -> Option<&Field> {
        self.spec.fields.get(name)
    }

    /// Returns a field, declared or built-in, that records can be found by, whoever the caller is.
    pub fn findable(&self, name: &str) -> Result<Field, String> {
        if let Some(kind) = own(name) {
            return match self.spec.source {
                Some(_) if name != "id" => Err(format!("`{name}` is not known of records that are kept elsewhere")),
                _ => Ok(Field::of(kind)),
            };
        }
        match self.field(name) {
            Some(field) if field.label == Some(Label::Personal) => {
                Err(format!("`{name}` is personal: it is kept apart, and records are not found by it"))
            }
            Some(field) => Ok(field.clone()),
            None => Err(self.no_field(name)),
        }
    }

    /// Returns the message for an unknown field.
    pub fn no_field(&self, name: &str) -> String {
        let near = nearest(name, self.spec.fields.keys().take(MOST_FIELDS).map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("there is no field `{}`{near}", short(name))
    }

    /// Checks whether a name was a field's and is none any more.
    pub fn was_called(&self, name: &str) -> bool {
        self.spec.renamed.contains_key(name) || self.spec.retired.iter().any(|retired| retired == name)
    }

    /// Migrates a version's values to the current field names and types.
    pub fn as_today(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let (mut todays, before): (Map<String, Value>, Map<String, Value>) =
            fields.into_iter().partition(|(name, _)| !self.spec.renamed.contains_key(name));
        for (was, value) in before {
            // Of merged fields, the one that stayed takes precedence.
            let now = self.spec.renamed.get(&was).cloned().unwrap_or(was);
            todays.entry(now).or_insert(value);
        }
        for (name, value) in &mut todays {
            if let Some(field) = self.field(name) {
                *value = in_form_of(field.kind, value);
            }
        }
        todays
    }

    /// Validates the fields of a new record with defaults filled in. All problems are reported at once.
    pub fn filled(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Vec<String>> {
        let defaults = self.spec.fields.iter().filter(|(name, _)| !given.contains_key(*name));
        let defaults = defaults.filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)));
        let all: Map<String, Value> = defaults.chain(given.clone()).collect();
        self.checked(&all)
    }

    /// Validates and normalizes the fields of a whole record.
    pub fn checked(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Vec<String>> {
        let mut problems = Vec::new();
        let mut fields = Map::new();
        for (name, value) in given {
            match self.field(name) {
                None => problems.push(format!("fields.{}: there is no such field", short(name))),
                Some(_) if value.is_null() => {}
                Some(field) => match field.value(value) {
                    Ok(value) => drop(fields.insert(name.clone(), value)),
                    Err(what) => problems.push(format!("fields.{name}: {what}")),
                },
            }
        }
        let missing = self
            .spec
            .fields
            .iter()
            .filter(|(name, field)| field.required && given.get(*name).is_none_or(Value::is_null));
        problems.extend(missing.map(|(name, _)| format!("fields.{name}: is required")));
        let is_blank = |name: &str| fields.get(name).and_then(Value::as_str).is_some_and(visible::is_blank);
        let has_to = |name: &str, field: &Field| field.required || self.spec.key.iter().any(|key| key == name);
        let blank = self.spec.fields.iter().filter(|(name, field)| has_to(name, field) && is_blank(name));
        problems
            .extend(blank.map(|(name, _)| format!("fields.{name}: is required, and must not be blank or invisible")));
        fields.sort_keys();
        if problems.is_empty() { Ok(fields) } else { Err(problems) }
    }
}

fn short(name: &str) -> String {
    name.chars().take(80).collect::<String>().escape_debug().to_string()
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
