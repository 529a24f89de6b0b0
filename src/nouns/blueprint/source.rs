//! Reads a blueprint by its name or from the request, with the answers to its questions.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::actor::joining::Known;
use crate::definition;
use policy::brain::is_collection;
use policy::bundle::problems;
use policy::{blueprints, yaml};
use types::actor::ActorKind;
use types::blueprint::{AnswerType, Blueprint, Question, filled, is_name};
use types::id::ActorId;
use types::problems::Problems;
use types::refusal::Refusal;

/// The path of the definition in a blueprint.
const DEFINITION: &str = "blueprint.yaml";
/// The maximum number of files beside the definition.
const MAX_FILES: usize = 200;

/// Which blueprint, and the answers to what it asks.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ChosenBlueprint {
    /// One that comes with the program.
    pub id: Option<String>,
    /// Your own blueprint instead: the text of its `blueprint.yaml`, at most 64 KiB.
    #[schemars(length(max = 65_536))]
    pub file: Option<String>,
    /// The files beside it, text by path: `policies/**/*.cedar`, `approvals.yaml`, `limits.yaml`, `views/*.yaml`, `tests/**/*.yaml`.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 200, "additionalProperties" = {"type": "string", "maxLength": 1048576}))]
    pub files: BTreeMap<String, String>,
    /// Answers to its questions, by name.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// A blueprint with its files.
pub struct Source {
    pub blueprint: Blueprint,
    /// The definition as written, its placeholders unfilled.
    text: String,
    raw: Value,
    /// All files beside the definition.
    pub files: BTreeMap<String, String>,
}

impl Source {
    /// Returns a built-in blueprint.
    pub fn named(id: &str) -> Result<Source, Refusal> {
        let mut files = blueprints::files(id);
        let known = || blueprints::ids().into_iter().collect::<Vec<_>>().join(", ");
        let text = files.remove(DEFINITION);
        let text =
            text.ok_or_else(|| Refusal::field("id", format!("there is no blueprint `{id}`: use {}", known())))?;
        Source::read("id", text, files)
    }

    pub fn of(asked: &ChosenBlueprint) -> Result<Source, Refusal> {
        match (&asked.id, &asked.file) {
            (Some(id), None) if asked.files.is_empty() => Source::named(id),
            (None, Some(text)) => {
                if asked.files.len() > MAX_FILES {
                    return Err(Refusal::field("files", format!("at most {MAX_FILES}")));
                }
                Source::read("file", text.clone(), asked.files.clone())
            }
            (Some(_), None) => Err(Refusal::field("files", "only allowed with a blueprint file, not with an id")),
            (None, None) => Err(Refusal::field("id", "name a blueprint, or send a file")),
            (Some(_), Some(_)) => Err(Refusal::field("file", "give either id or file")),
        }
    }

    fn read(field: &str, text: String, files: BTreeMap<String, String>) -> Result<Source, Refusal> {
        // Placeholders are filled first, so that a wrong key is reported with its line.
        let plain = filled(&text, &mut |_| "x".to_owned());
        let blueprint: Blueprint =
            definition::read(&Value::String(plain)).map_err(|what| Refusal::field(field, what))?;
        let raw: Value = yaml::read(&text).map_err(|error| Refusal::field(field, definition::wrong(&error)))?;
        let names = super::files::of_bundle(&files);
        let mut bad = problems(&names, 20);
        // A collection has records, and a blueprint contains none.
        let collections = names.keys().filter(|path| is_collection(path)).take(20);
        bad.extend(
            collections
                .map(|path| format!("files: `{path}`: collections are made by proposals (POST /schema/proposals)")),
        );
        if bad.is_empty() { Ok(Source { blueprint, text, raw, files }) } else { Err(Refusal::invalid(bad)) }
    }

    /// Returns the SHA-256 of the definition and all files.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (path, text) in std::iter::once((DEFINITION, self.text.as_str()))
            .chain(self.files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
        {
            hash.update(path.as_bytes());
            hash.update([0]);
            hash.update(Sha256::digest(text.as_bytes()));
        }
        hex::encode(hash.finalize())
    }

    /// Fills the answers into the blueprint.
    pub fn filled(
        &self,
        given: &BTreeMap<String, String>,
        admin: &ActorId,
        known: &Known<'_>,
    ) -> Result<Blueprint, Vec<String>> {
        let mut problems = Problems::default();
        let asks = &self.raw_asks();
        let strange = given.keys().filter(|name| !asks.iter().any(|ask| ask.name == **name));
        for name in strange {
            let names: Vec<&str> = asks.iter().map(|ask| ask.name.as_str()).collect();
            let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            problems.check(false, format!("values.{name}: the blueprint does not ask for this; it asks for {names}"));
        }
        let mut values = BTreeMap::from([("admin".to_owned(), admin.to_string())]);
        for ask in asks {
            let fits = is_name(&ask.name) && ask.name != "admin";
            problems.check(fits, format!("spec.ask: `{}` is no name: use a-z and `_`", ask.name));
            let default = ask.default.as_ref().map(|text| filled(text, &mut |_| admin.to_string()));
            match given.get(&ask.name).cloned().or(default) {
                Some(value) => {
                    answer(ask, &value, known, &mut problems);
                    values.insert(ask.name.clone(), value);
                }
                None => problems.check(false, format!("values.{}: is required: {}", ask.name, ask.title)),
            }
        }
        let mut unknown = BTreeSet::new();
        let mut whole = self.raw.clone();
        fill(&mut whole, &mut |name| {
            values.get(name).cloned().unwrap_or_else(|| {
                unknown.insert(name.to_owned());
                "x".to_owned()
            })
        });
        for name in unknown.iter().filter(|name| !asks.iter().any(|ask| ask.name == **name)) {
            problems.check(false, format!("file: there is no question `{name}`"));
        }
        if !problems.0.is_empty() {
            return Err(problems.0);
        }
        serde_json::from_value(whole).map_err(|error| vec![format!("file: {error}")])
    }

    /// Returns its questions as written: a default may name the admin.
    fn raw_asks(&self) -> Vec<Question> {
        let asks = self.raw.pointer("/spec/ask").cloned().unwrap_or(Value::Array(Vec::new()));
        serde_json::from_value(asks).unwrap_or_default()
    }
}

fn answer(ask: &Question, value: &str, known: &Known<'_>, problems: &mut Problems) {
    let key = format!("values.{}", ask.name);
    match ask.r#type {
        AnswerType::Text => {
            let fine = (1..=200).contains(&value.chars().count()) && !value.contains(char::is_control);
            problems.check(fine, format!("{key}: must have 1 to 200 characters"));
        }
        AnswerType::Person => {
            let is = value.parse::<ActorId>().is_ok_and(|id| known.is(&id, ActorKind::Person));
            problems.check(
                is,
                format!("{key}: there is no such person as `{}`", value.chars().take(80).collect::<String>()),
            );
        }
    }
}

/// Fills the placeholders in every text of a value.
fn fill(value: &mut Value, with: &mut dyn FnMut(&str) -> String) {
    match value {
        Value::String(text) => *text = filled(text, with),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
