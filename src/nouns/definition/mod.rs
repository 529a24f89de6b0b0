//! Reads definitions: the text of a YAML or JSON file, or the JSON itself. The text is bounded before it is parsed; errors
//! name the key and the line.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Nothing;
use crate::company::COMPANY;
use gate::{Entry, Permit, Query, Reader, Spec, Target, get};
use policy::yaml::{self, YamlError};
use types::blueprint::Blueprint;
use types::collection::Collection;
use types::definition::{AgentDefinition, MAX_BYTES};
use types::json;
use types::plan::Plan;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::view::View;

pub const ALL: &[Entry] = &[Entry::query::<Schemas>()];

/// A definition in an input field, not parsed until the policies have been asked: the writer parses none before. Errors are
/// reported when it is taken out, under the field's name.
pub struct Written<T> {
    written: Value,
    read: Result<T, String>,
}

impl<T> Written<T> {
    pub fn get(&self, field: &str) -> Result<&T, Refusal> {
        self.read.as_ref().map_err(|what| Refusal::field(field, what))
    }

    pub fn into_inner(self, field: &str) -> Result<T, Refusal> {
        self.read.map_err(|what| Refusal::field(field, what))
    }
}

impl<T: DeserializeOwned> Written<T> {
    pub fn new(written: Value) -> Written<T> {
        Written { read: read(&written), written }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Written<T>, D::Error> {
        Value::deserialize(from).map(Written::new)
    }
}

impl<T> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(to)
    }
}

/// Parses a definition, or returns what is wrong with it.
pub fn read<T: DeserializeOwned>(written: &Value) -> Result<T, String> {
    match written {
        Value::String(text) => {
            bounded(text)?;
            // Programs generate JSON with more brackets than people write in YAML.
            match json::read::<Value>(text.as_bytes()) {
                Ok(json) if yaml::is_too_much(text) => of_json(&json),
                _ => yaml::read_at_once(text).map_err(|error| wrong(&error)),
            }
        }
        other => {
            bounded(&other.to_string())?;
            of_json(other)
        }
    }
}

/// Converts JSON to block style first: the limit on open brackets is meant for people who write YAML.
fn of_json<T: DeserializeOwned>(json: &Value) -> Result<T, String> {
    let text = serde_yaml::to_string(json).map_err(|error| error.to_string())?;
    yaml::read_at_once(&text).map_err(|error| error.message)
}

fn bounded(text: &str) -> Result<(), String> {
    let fits = text.len() <= MAX_BYTES;
    if fits { Ok(()) } else { Err(format!("is larger than {MAX_BYTES} bytes")) }
}

/// Describes a YAML error and where it is.
pub fn wrong(error: &YamlError) -> String {
    format!("line {}: {}", error.line, error.message)
}

/// Returns the JSON Schema of every kind of definition.
pub fn schemas() -> BTreeMap<&'static str, Value> {
    let schema = |made: schemars::Schema| made.to_value();
    let generator = || SchemaSettings::draft2020_12().into_generator();
    BTreeMap::from([
        ("Agent", schema(generator().into_root_schema_for::<AgentDefinition>())),
        ("Blueprint", schema(generator().into_root_schema_for::<Blueprint>())),
        ("Collection", schema(generator().into_root_schema_for::<Collection>())),
        ("Plan", schema(generator().into_root_schema_for::<Plan>())),
        ("View", schema(generator().into_root_schema_for::<View>())),
    ])
}

/// Show the schemas of definitions.
pub enum Schemas {}

impl Query for Schemas {
    const SPEC: Spec = Spec {
        name: "definition.schemas",
        doc: "Show the JSON Schema of every kind of definition.",
        scope: Reach::READ,
        route: get("/schemas"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = BTreeMap<&'static str, Value>;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, _: &Reader<'_>) -> Result<Self::Output, Stop> {
        Ok(schemas())
    }
}
