//! Whatever is thrown at any operation by anybody, the server never fails, and an error is well formed.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::harness::{Answer, Test};

/// What an id, a scope or an address can be mistaken for.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec![
            "ana", "mia", "bot", "team:ops", "nobody", "global", "actor:mia", "team:dev", "tool:mail.send", "person", "agent", "team", "read", "policy",
            "token.issue", "kill", "actor.add", "company", "event:3", "7d", "2026-11-20T09:00:00Z", "assist", "denied", "true", "1", "-1", "..", "",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z:.%/\\-]{0,80}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..12_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    let wide = leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    });
    // As deep as a reader of JSON takes it.
    let deep = (0..126_usize).prop_map(|depth| (0..depth).fold(Value::Null, |inner, _| json!([inner])));
    prop_oneof![19 => wide, 1 => deep]
}

/// An object whose fields are mostly those of the operation.
#[derive(Debug, Clone)]
struct Throw {
    operation: usize,
    caller: usize,
    fields: Vec<(prop::sample::Index, Value)>,
    /// Instead of the fields.
    whole: Option<Value>,
    path: Vec<String>,
    query: Vec<(String, String)>,
    idem: Option<String>,
}

fn throw() -> impl Strategy<Value = Throw> {
    let fields = prop::collection::vec((any::<prop::sample::Index>(), value()), 0..8);
    let whole = prop::option::weighted(0.1, value());
    let query = prop::collection::vec(
        (
            prop_oneof![
                select(vec!["limit", "cursor", "since", "type", "skills", "token"]).prop_map(str::to_owned),
                word()
            ],
            word(),
        ),
        0..2,
    );
    (
        any::<prop::sample::Index>(),
        0..9_usize,
        fields,
        whole,
        prop::collection::vec(word(), 2),
        query,
        prop::option::of("[ -~]{0,300}"),
    )
        .prop_map(|(operation, caller, fields, whole, path, query, idem)| Throw {
            operation: operation.index(ok::nouns::OPERATIONS.len()),
            caller,
            fields,
            whole,
            path,
            query,
            idem,
        })
}

fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

impl Throw {
    fn body(&self) -> Value {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let schema = ok::nouns::OPERATIONS[self.operation].input_schema();
        let names: Vec<String> = schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|all| all.keys().cloned().collect())
            .unwrap_or_default();
        let named = |(index, value): &(prop::sample::Index, Value)| {
            (!names.is_empty()).then(|| (names[index.index(names.len())].clone(), value.clone()))
        };
        Value::Object(self.fields.iter().filter_map(named).collect())
    }

    async fn at(&self, test: &Test, tokens: &[String]) -> Option<Answer> {
        let spec = &ok::nouns::OPERATIONS[self.operation].spec;
        if !spec.route.is_served() {
            return None;
        }
        let path = self
            .path
            .iter()
            .zip(["{id}", "{actor}"])
            .fold(spec.route.path.to_owned(), |path, (word, name)| path.replace(name, &encode(word)));
        let path = path.replace("{seq}", &encode(&self.path[0])).replace("{message}", &encode(&self.path[1]));
        let query: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        let path = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
        let token = tokens.get(self.caller).map_or_else(String::new, |token| format!("Bearer {token}"));
        let mut headers = vec![("authorization", token.as_str()), ("content-type", "application/json")];
        headers.extend(self.idem.as_deref().map(|key| ("idempotency-key", key)));
        Some(test.raw(spec.route.method.name(), &path, &headers, self.body().to_string()).await)
    }
}

/// An error has its shape, or is one of the four that are plain text.
fn well_formed(answer: &Answer) {
    let status = answer.status.as_u16();
    assert!(status < 500, "{status} {}", answer.text());
    let plain = answer.header("content-type").starts_with("text/plain");
    // What has begun is no error, and neither is what it begins with.
    let waits = status == 202 && answer.json().get("error").is_some();
    if waits || (status >= 400 && !(plain && matches!(status, 400 | 415 | 422))) {
        let said = answer.error();
        assert!(said.starts_with(&format!("{status} ")) && !answer.json()["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn nothing_that_is_thrown_makes_the_server_fail() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (test, tokens) = runtime.block_on(async {
        let test = Test::new().await;
        let cast = test.cast().await;
        // Whoever throws is an admin apart, who may be stopped or lose this token.
        let admin = test.add("ada", "person", json!({ "role": "admin" })).await;
        let read = test.token("ana", json!({ "scopes": ["read"] })).await;
        (test, vec![admin, cast.lea, cast.sam, cast.aud, cast.mia, cast.bot, read, "nonsense".into()])
    });
    let config = ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(throw in throw())| {
        if let Some(answer) = runtime.block_on(throw.at(&test, &tokens)) {
            well_formed(&answer);
        }
    });
    let report = test.verdict();
    assert!(report.ok, "{report:#?}");
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}
