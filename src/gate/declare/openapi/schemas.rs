//! The schemas of inputs and answers. The two differ if a field may be omitted in only one of them, so each has a
//! generator of its own; a type whose two forms differ has two names.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::declare::bounds;

const PLACE: &str = "#/components/schemas/";

pub struct Schemas {
    given: SchemaGenerator,
    answered: SchemaGenerator,
}

impl Schemas {
    pub fn new() -> Schemas {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Schemas { given: settings().into_generator(), answered: settings().for_serialize().into_generator() }
    }

    /// The schema of an input, and what it refers to.
    pub fn given(&mut self, make: fn(&mut SchemaGenerator) -> Schema) -> (Value, Value) {
        let reference = make(&mut self.given).to_value();
        let name = reference.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        let whole = name.and_then(|name| self.given.definitions().get(name)).unwrap_or(&reference).clone();
        (whole, reference)
    }

    pub fn answered(&mut self, make: fn(&mut SchemaGenerator) -> Schema) -> Value {
        make(&mut self.answered).to_value()
    }

    /// Returns all schemas by name, and the names of input types that differ from their form in answers.
    pub fn into_parts(mut self) -> (Map<String, Value>, Names) {
        let (mut given, mut all) = (self.given.take_definitions(true), self.answered.take_definitions(true));
        // A list of words is one type, however each side tells it.
        for (name, schema) in &given {
            let words = |schema: &Value| schema.get("enum").filter(|_| schema.get("properties").is_none()).cloned();
            let is_same = all.get(name).and_then(words).is_some_and(|listed| words(schema) == Some(listed));
            if is_same {
                all.insert(name.clone(), schema.clone());
            }
        }
        for (name, schema) in &mut given {
            // What is the same on both sides stays so.
            let is_same = all.get(name) == Some(schema);
            bounds::write(schema);
            if is_same {
                all.insert(name.clone(), schema.clone());
            }
        }
        let names =
            Names(differing(&given, &all).into_iter().map(|name| (name.clone(), format!("{name}Input"))).collect());
        for (name, mut schema) in given {
            names.rename(&mut schema);
            all.insert(names.0.get(&name).unwrap_or(&name).clone(), schema);
        }
        (all, names)
    }
}

/// Other names of types.
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// Leads every reference to where its schema is.
    pub fn rename(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    let other = value.as_str().filter(|_| name == "$ref").and_then(|path| path.strip_prefix(PLACE));
                    match other.and_then(|other| self.0.get(other)) {
                        Some(other) => *value = format!("{PLACE}{other}").into(),
                        None => self.rename(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item)),
            _ => {}
        }
    }
}

/// The types that both sides name and that differ, themselves or in what they refer to.
fn differing(given: &Map<String, Value>, answered: &Map<String, Value>) -> BTreeSet<String> {
    let both = || given.iter().filter_map(|(name, schema)| Some((name, schema, answered.get(name)?)));
    let mut found: BTreeSet<String> =
        both().filter(|(_, here, there)| here != there).map(|(name, ..)| name.clone()).collect();
    loop {
        let before = found.len();
        let more: Vec<String> =
            both().filter(|(_, here, _)| refers(here, &found)).map(|(name, ..)| name.clone()).collect();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

fn refers(schema: &Value, names: &BTreeSet<String>) -> bool {
    match schema {
        Value::String(text) => text.strip_prefix(PLACE).is_some_and(|name| names.contains(name)),
        Value::Array(items) => items.iter().any(|item| refers(item, names)),
        Value::Object(fields) => fields.values().any(|value| refers(value, names)),
        _ => false,
    }
}
