//! The examples of the API's document: what was sent here, and answered as wanted.

use std::collections::BTreeMap;

use ok::gate::Entry;
use serde_json::{Value, json};

/// What was sent of each operation, and whether it was done.
#[derive(Default)]
pub(super) struct Examples(BTreeMap<&'static str, (bool, Value)>);

impl Examples {
    /// What is asked rightly, but of the wrong state, is an example too where nothing better comes.
    pub fn add(&mut self, entry: &Entry, sent: &Value, status: u16) {
        let is_done = status == entry.spec.route.status;
        let known = self.0.get(entry.spec.name).map(|(done, _)| *done);
        if known != Some(true) && (is_done || (known.is_none() && status == 409)) {
            self.0.insert(entry.spec.name, (is_done, usual(sent)));
        }
    }

    /// Each operation has one, and the document those that are here.
    pub fn are_kept(self) {
        let mut all: BTreeMap<&str, Value> = self.0.into_iter().map(|(name, (_, sent))| (name, sent)).collect();
        // What needs types of a company's own, and a run that waits, is sent elsewhere (`access.rs`, `runs.rs`).
        all.extend(crate::api::access::examples());
        all.insert("run.answer", usual(&json!({ "id": "run_01KAG5V5G00000000000000000", "text": "the second one" })));
        for entry in ok::operations::ALL.iter().filter(|entry| entry.spec.route.is_served()) {
            assert!(all.contains_key(entry.spec.name), "no example of {}", entry.spec.name);
        }
        all.iter().for_each(|(name, sent)| is_taken(name, sent));
        crate::reference::says("src/gate/declare/openapi/examples.json", &format!("{:#}\n", json!(all)));
    }
}

/// All that an example has is in the path, the query or the body of its operation.
fn is_taken(name: &str, sent: &Value) {
    let document = ok::gate::declare::openapi::document(&ok::operations::ALL);
    let paths =
        document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values());
    let operation = paths.into_iter().find(|operation| operation["operationId"] == name).unwrap();
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let body = match body["$ref"].as_str() {
        Some(path) => document.pointer(path.trim_start_matches('#')).unwrap(),
        None => body,
    };
    for field in sent.as_object().unwrap().keys() {
        let is_parameter = operation["parameters"].as_array().unwrap().iter().any(|one| one["name"] == *field);
        assert!(is_parameter || body["properties"].get(field).is_some(), "{name} is sent no `{field}`");
    }
}

/// What was sent, with ids and made-up names that are the same each time.
fn usual(sent: &Value) -> Value {
    match sent {
        Value::String(text) => {
            let (word, number) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_digit()).len());
            let is_id = |id: &str| id.len() == 26 && id.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
            match text.split_once('_') {
                Some((kind, id)) if is_id(id) => json!(format!("{kind}_01KAG5V5G00000000000000000")),
                _ if text.starts_with("inb_alert.actor:") => json!("inb_alert.actor:bot:mia"),
                _ if !number.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase()) => json!(format!("{word}1")),
                _ => sent.clone(),
            }
        }
        Value::Array(items) => items.iter().map(usual).collect(),
        // Of a whole bundle one short file is enough to look at.
        Value::Object(fields) if fields.contains_key("limits.yaml") => json!({ "limits.yaml": "rates: {}\n" }),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), field(name, value))).collect(),
        _ => sent.clone(),
    }
}

/// Numbers of events and versions are others each time too.
fn field(name: &str, value: &Value) -> Value {
    match name {
        "events" if value[0].is_number() => json!([12]),
        "version" => json!(2),
        _ => usual(value),
    }
}
