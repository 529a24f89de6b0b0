//! The examples of the API's document: what was sent here, and what was answered.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ok::gate::Entry;
use ok::gate::declare::operation::Answer as Form;
use regex::Regex;
use serde_json::{Value, json};

use crate::harness::{Answer, Test};

/// A longer answer than this many bytes is not shown.
const LONGEST: usize = 4000;
/// How many records of a list are shown.
const RECORDS: usize = 2;

/// What lists are asked for, so that their parameters have an example too.
fn queries() -> Vec<(&'static str, Value)> {
    let page = || json!({ "limit": 20 });
    vec![
        ("actor.list", json!({ "kind": "agent", "limit": 20 })),
        ("approval.list", json!({ "status": "pending", "mine": true, "limit": 20 })),
        ("audit.checkpoints", page()),
        ("break_glass.list", page()),
        ("change.list", json!({ "state": "proposed", "target": "policy", "limit": 20 })),
        ("delegation.list", json!({ "limit": 20 })),
        ("directory.cards", page()),
        ("directory.find", json!({ "text": "bo", "limit": 20 })),
        ("event.list", json!({ "since": 2, "type": ["actor_added", "token_issued"], "limit": 20 })),
        ("event.stream", json!({ "since": 2, "type": ["actor_added", "token_issued"] })),
        ("flag.list", page()),
        ("inbox.list", json!({ "all": true, "limit": 20 })),
        ("knowledge.list", json!({ "status": "accepted", "kind": "fact", "limit": 20 })),
        ("knowledge.quarantine", page()),
        ("knowledge.recall", json!({ "q": "invoices of suppliers", "limit": 5 })),
        ("me.agents", page()),
        ("policy.applied", json!({ "limit": 20 })),
        ("run.list", json!({ "status": "queued", "limit": 20 })),
        ("schema.list", json!({ "status": "proposed", "limit": 20 })),
        ("task.list", json!({ "status": "open", "limit": 20 })),
        ("token.list", json!({ "actor": "ana", "limit": 20 })),
        ("trace.read", json!({ "since": "2026-01-31", "limit": 20 })),
        ("view.list", page()),
        ("webhook.list", page()),
    ]
}

/// An operation's example: what is sent, and the answer where it is JSON and short.
struct Example {
    /// A better one takes its place.
    rank: u8,
    sent: Value,
    answered: Value,
}

/// The best example that was seen of each operation.
#[derive(Default)]
pub(super) struct Examples(BTreeMap<&'static str, Example>);

impl Examples {
    /// What is asked rightly, but of the wrong state, is an example too where nothing better comes.
    pub fn add(&mut self, entry: &Entry, sent: &Value, answer: &Answer) {
        let (is_done, is_json) = (answer.status == entry.spec.route.status, entry.spec.route.answer != Form::Text);
        let answered =
            if is_done && is_json && entry.spec.route.answer != Form::Events { answer.json() } else { Value::Null };
        let is_empty = answered.as_array().is_some_and(Vec::is_empty);
        let rank = match is_done {
            true => 2 + u8::from(!is_empty),
            false => u8::from(answer.status == 409),
        };
        if rank > self.0.get(entry.spec.name).map_or(0, |known| known.rank) {
            self.0.insert(entry.spec.name, Example { rank, sent: usual(sent), answered: short(answered) });
        }
    }

    /// Asks every list with the parameters that callers use.
    pub async fn ask(&mut self, test: &Test) {
        let mut wrong = Vec::new();
        for (name, sent) in queries() {
            let route = ok::nouns::OPERATIONS.iter().find(|entry| entry.spec.name == name).unwrap().spec.route;
            let text = |value: &Value| match value {
                Value::Array(all) => all.iter().map(|one| one.as_str().unwrap()).collect::<Vec<_>>().join(","),
                other => other.as_str().map_or_else(|| other.to_string(), |text| text.replace(' ', "%20")),
            };
            let query: Vec<String> =
                sent.as_object().unwrap().iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
            if route.answer != Form::Events {
                let answer = test.get(&format!("{}?{}", route.path, query.join("&")), &test.admin).await;
                let is_empty = answer.json().as_array().is_some_and(Vec::is_empty);
                if answer.status != route.status || (is_empty && name != "knowledge.quarantine") {
                    wrong.push(format!("{name}: {}", answer.text()));
                }
                self.0.get_mut(name).unwrap().answered = short(answer.json());
            }
            self.0.get_mut(name).unwrap().sent = sent;
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Each operation has one, and the document those that are here.
    pub async fn are_kept(self) {
        let shown = |sent: Value, answered: Value| json!({ "sent": sent, "answered": answered });
        let known = self.0.into_iter().map(|(name, example)| (name, shown(example.sent, example.answered)));
        let mut all: BTreeMap<&str, Value> = known.collect();
        // What needs types of a company's own, and a run that waits, is sent elsewhere (`access.rs`, `runs.rs`).
        let outside = crate::api::authzen::examples().await;
        all.extend(outside.into_iter().map(|(name, sent, answered)| (name, shown(sent, answered))));
        let answer = json!({ "id": "run_01KAG5V5G00000000000000000", "text": "the second one" });
        all.insert("run.answer", shown(answer, Value::Null));
        for entry in ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served()) {
            let example = all.get(entry.spec.name).unwrap_or_else(|| panic!("no example of {}", entry.spec.name));
            is_taken(entry.spec.name, &example["sent"]);
        }
        crate::reference::says("src/gate/declare/openapi/examples.json", &format!("{:#}\n", json!(all)));
    }
}

/// All that an example has is in the path, the query or the body of its operation.
fn is_taken(name: &str, sent: &Value) {
    let document = crate::harness::contract::document();
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

/// The answer, with the first records of each list; null where it is long even so.
fn short(answer: Value) -> Value {
    fn first(value: Value) -> Value {
        match value {
            Value::Array(items) => {
                let most = if items.iter().all(Value::is_object) { RECORDS } else { usize::MAX };
                items.into_iter().take(most).map(first).collect()
            }
            Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, first(value))).collect(),
            other => other,
        }
    }
    let answer = usual(&first(answer));
    if answer.to_string().len() > LONGEST { Value::Null } else { answer }
}

/// What was sent or answered, with ids, hashes, signatures and made-up names that are the same each time.
fn usual(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(
            USUAL
                .iter()
                .fold(text.clone(), |text, (pattern, usual)| { pattern.replace_all(&text, *usual).into_owned() })
        ),
        Value::Array(items) => items.iter().map(usual).collect(),
        // Of a whole bundle one short file is enough to look at.
        Value::Object(fields) if fields.contains_key("limits.yaml") => json!({ "limits.yaml": "rates: {}\n" }),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), field(name, value))).collect(),
        _ => value.clone(),
    }
}

/// Numbers of events and versions are others each time too.
fn field(name: &str, value: &Value) -> Value {
    match name {
        "events" if value[0].is_number() => json!([12]),
        "version" | "base_version" | "policy_version" if value.is_number() => json!(2),
        "seq" | "size" | "checked" | "vouched" if value.is_number() => json!(12),
        "records" | "revoked" if value.is_number() => json!(1),
        "key_id" => json!("6831e724"),
        _ => usual(value),
    }
}

/// What is different each time, and what is shown in its place.
static USUAL: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r"[0-9A-HJKMNP-TV-Z]{26}", "01KAG5V5G00000000000000000"),
        (r"inb_alert\.actor:.*", "inb_alert.actor:bot:mia"),
        // SHA-256 of «ok».
        (r"[0-9a-f]{64}", "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"),
        (r"ok_[0-9A-Za-z]{40,}", "ok_5Y8sUVScwxtFn0gtd4urxlctY6Pkj6mF76PSeNLLrFS1mLwJm"),
        (r"whsec_[0-9A-Za-z+/=]{40,}", "whsec_OIfUgRKxve0IsNapjLeLt1wHhl5unWbaAP6WcQ1LOZw="),
        (
            r"aDHnJ[0-9A-Za-z+/]{80,}=*",
            "aDHnJK8+H7Trc/sNHStEn/cPxCMC886tmyV9FhljhFabKqi717vcBm5pLGF522s9SHQjOjCzQXHKa/KALNa0YiPTxwQ=",
        ),
        (r"\b[0-9A-Za-z+/]{43}=", "Jok2eyBcFs4y7UIAlCuLix4mLfxw2byfvHfElpmk8d8="),
        (r"\n[0-9]+\n", "\n12\n"),
        (r"\b(new|hired|leaver|breaker|wanted|task|made|watcher|collection|view|team)[0-9]+\b", "${1}1"),
    ];
    patterns.map(|(pattern, usual)| (Regex::new(pattern).unwrap(), usual)).into()
});
