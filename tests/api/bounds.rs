//! Bounds of requests: each text, list and map has one in the API's document, and the server holds it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::harness::{Test, fill};

/// What a body holds that is no text, list or map of ours: it has schemas of its own, which its reader holds it to.
const FREE: [&str; 9] = [
    "actor.hire definition",
    "agent.ask plan",
    "task.run plan",
    "policy.explain input",
    "collection.query filter",
    "record.aggregate filter",
    "Field default",
    "Field min",
    "Field max",
];

fn document() -> Value {
    ok::gate::declare::openapi::document(&ok::nouns::OPERATIONS)
}

/// Walks over a schema and what it refers to; tells of each part that is not free its place.
struct Walk<'a> {
    document: &'a Value,
    seen: BTreeMap<String, ()>,
    unbounded: Vec<String>,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Value, of: &str, field: &str) {
        let Some(words) = schema.as_object() else { return self.free(of, field) };
        if let Some(path) = words.get("$ref").and_then(Value::as_str) {
            let name = path.rsplit('/').next().unwrap().trim_end_matches("Input");
            if self.seen.insert(path.to_owned(), ()).is_none() {
                self.schema(self.document.pointer(&path[1..]).unwrap(), name, "");
            }
            return;
        }
        let parts = ["anyOf", "oneOf", "allOf"].iter().filter_map(|word| words.get(*word)?.as_array()).flatten();
        let parts: Vec<&Value> = parts.collect();
        parts.iter().for_each(|part| self.schema(part, of, field));
        let kinds: Vec<&str> = match words.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let listed = words.contains_key("enum") || words.contains_key("const");
        if kinds.is_empty() && parts.is_empty() && !listed {
            self.free(of, field);
        }
        for (kind, bound) in [("string", "maxLength"), ("array", "maxItems")] {
            if kinds.contains(&kind) && !listed && !words.contains_key(bound) {
                self.unbounded.push(format!("{of} {field}: {bound}"));
            }
        }
        if kinds.contains(&"object") {
            let others = words.get("additionalProperties");
            let is_map = others.map_or(!words.contains_key("properties"), |others| *others != json!(false));
            if is_map && !words.contains_key("maxProperties") {
                self.unbounded.push(format!("{of} {field}: maxProperties"));
            }
            // The values of a map of JSON are whatever its reader takes.
            others.filter(|others| others.is_object()).into_iter().for_each(|others| self.schema(others, of, field));
            for (name, schema) in words.get("properties").and_then(Value::as_object).into_iter().flatten() {
                self.schema(schema, of, name);
            }
        }
        words.get("items").into_iter().for_each(|items| self.schema(items, of, field));
    }

    fn free(&mut self, of: &str, field: &str) {
        let place = format!("{of} {field}");
        if !FREE.contains(&place.as_str()) {
            self.unbounded.push(format!("{place}: is free JSON"));
        }
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, described)| (path, method, described))
    })
}

const BODY: &str = "/requestBody/content/application~1json/schema";

#[test]
fn each_text_list_and_map_of_a_request_has_a_bound_in_the_document() {
    let document = document();
    let mut walk = Walk { document: &document, seen: BTreeMap::new(), unbounded: Vec::new() };
    for (_, _, described) in operations(&document) {
        let name = described["operationId"].as_str().unwrap();
        for parameter in described["parameters"].as_array().into_iter().flatten() {
            walk.schema(&parameter["schema"], name, parameter["name"].as_str().unwrap());
        }
        described.pointer(BODY).into_iter().for_each(|schema| walk.schema(schema, name, ""));
    }
    assert_eq!(walk.unbounded, Vec::<String>::new());
}

/// A value beyond the bound of a field, where it has one that is no matter of the whole body.
fn beyond(schema: &Value) -> Option<Value> {
    let bound = |word: &str| schema[word].as_u64().filter(|most| *most <= 65_536).map(|most| most as usize + 1);
    let text = bound("maxLength").map(|size| json!("x".repeat(size)));
    let items = || Some(json!(vec![item(&schema["items"]); bound("maxItems")?]));
    let field = |number: usize| (format!("f{number}"), item(&schema["additionalProperties"]));
    let fields = || Some(Value::Object((0..bound("maxProperties")?).map(field).collect::<Map<_, _>>()));
    text.or_else(items).or_else(fields)
}

/// Something that may stand in a list.
fn item(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("integer") => json!(1),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

#[tokio::test]
async fn what_is_beyond_its_bound_is_refused() {
    let (document, test) = (document(), Test::new().await);
    let mut tried = 0;
    for (path, method, described) in operations(&document) {
        let Some(schema) = described.pointer(BODY) else { continue };
        let example = &described["requestBody"]["content"]["application/json"]["example"];
        let schema = match schema["$ref"].as_str() {
            Some(reference) => document.pointer(&reference[1..]).unwrap(),
            None => schema,
        };
        let path = path.strip_prefix("/api").unwrap_or(path);
        let (path, _) = fill(path, &json!({ "id": "bob", "collection": "c", "message": "m", "reservation": "r", "seq": 1 }));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let Some(value) = beyond(field) else { continue };
            let mut body = example.clone();
            body[name] = value;
            let answer = test.call(&method.to_uppercase(), &path, &test.admin, Some(body)).await;
            let (status, text) = (answer.status.as_u16(), answer.text());
            assert!([400, 404, 409, 413, 422].contains(&status), "{method} {path} {name}: {status} {text}");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

#[tokio::test]
async fn what_is_too_long_is_told_so_also_where_a_policy_reads_it() {
    let rule = "@id(\"quiet\")\n@reason(\"say why\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"kill\",\n  resource\n)\nwhen { context.input has reason && context.input.reason == \"\" };\n";
    let mut policies = ok::policy::Bundle::built_in();
    policies.files.insert("quiet.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let kill = |reason: String| test.post("/kill", &test.admin, json!({ "scope": "tool:mail.send", "reason": reason }));
    // The longest there is, in letters of four bytes.
    assert_eq!(kill("\u{1f512}".repeat(1_000)).await.status, 200);
    assert!(kill("x".repeat(1_001)).await.error().starts_with("422 "), "the operation's own bound");
    assert!(kill("x".repeat(70_000)).await.error().starts_with("422 "));
    assert_eq!(kill(String::new()).await.error(), "403 denied policy denied kill: say why");
}

#[tokio::test]
async fn what_has_no_bound_of_its_own_has_the_usual_one() {
    let test = Test::new().await;
    let long = json!({ "id": "bob", "kind": "person", "name": "x", "skills": ["x".repeat(1_025)] });
    let told = test.post("/actors", &test.admin, long).await;
    assert_eq!(told.status, 422);
    assert!(told.text().ends_with("skills[0]: must have at most 1024 characters, not 1025"), "{}", told.text());
    // What cannot be an id names nothing.
    assert_eq!(test.get(&format!("/actors/{}", "x".repeat(1_025)), &test.admin).await.status, 404);
}
