//! Every answer of every test is one that the API's document describes: its status, its media type, its fields.

use std::sync::OnceLock;

use serde_json::Value;

use super::Answer;

fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| ok::gate::openapi::document(&ok::operations::ALL))
}

/// What the document says of an operation: the address without names beats the one with.
fn described(method: &str, path: &str) -> Option<&'static Value> {
    let fits = |template: &str| {
        let (parts, asked): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
        let same = parts.iter().zip(&asked).all(|(part, asked)| part.starts_with('{') || part == asked);
        (same && parts.len() == asked.len()).then(|| parts.iter().filter(|part| part.starts_with('{')).count())
    };
    let paths = document()["paths"].as_object().unwrap().iter();
    let found =
        paths.filter_map(|(template, methods)| Some((fits(template)?, methods))).min_by_key(|(names, _)| *names);
    found.and_then(|(_, methods)| methods.get(method.to_ascii_lowercase()))
}

/// Panics where an answer is not as described.
pub fn check(method: &str, path: &str, answer: &Answer) {
    let Some(operation) = described(method, path) else { return };
    let (status, name) = (answer.status.as_str(), &operation["operationId"]);
    let response = &operation["responses"][status];
    assert!(response.is_object(), "{name} answers {status}, which its document does not name: {}", answer.text());
    let media = answer.header("content-type").split(';').next().unwrap();
    let content = &response["content"][media];
    assert!(content.is_object(), "{name} answers {status} as `{media}`, which its document does not name");
    if media == "application/json" {
        let wrong = problems(&answer.json(), &content["schema"], "");
        assert!(wrong.is_empty(), "{name} {status} is not as described: {wrong:?}\n{}", answer.text());
    }
}

/// What of a value does not fit a schema (the words that the document uses).
pub fn problems(value: &Value, schema: &Value, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut tell = |what: String| wrong.push(format!("{at}: {what}"));
    if schema == &Value::Bool(true) {
        return wrong;
    }
    let Some(words) = schema.as_object() else { return vec![format!("{at}: nothing may stand here")] };
    if let Some(name) = words.get("$ref").and_then(Value::as_str) {
        let found = document().pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no {name}"));
        return problems(value, found, at);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(ways) = words.get(word).and_then(Value::as_array) {
            let tried: Vec<Vec<String>> = ways.iter().map(|way| problems(value, way, at)).collect();
            if !tried.iter().any(Vec::is_empty) {
                tell(format!("fits none of {word}: {tried:?}"));
            }
        }
    }
    if let Some(kinds) = words.get("type") {
        let kinds = kinds.as_array().cloned().unwrap_or_else(|| vec![kinds.clone()]);
        if !kinds.iter().any(|kind| is_of(value, kind.as_str().unwrap())) {
            tell(format!("`{value}` is none of {kinds:?}"));
        }
    }
    if words.get("const").is_some_and(|only| only != value) {
        tell(format!("`{value}` is not {}", words["const"]));
    }
    if words.get("enum").and_then(Value::as_array).is_some_and(|all| !all.contains(value)) {
        tell(format!("`{value}` is none of {}", words["enum"]));
    }
    bounds(value, words, &mut tell);
    if let (Some(items), Some(schema)) = (value.as_array(), words.get("items")) {
        items.iter().enumerate().for_each(|(n, item)| wrong.extend(problems(item, schema, &format!("{at}/{n}"))));
    }
    if let Some(fields) = value.as_object() {
        wrong.extend(object(fields, words, at));
    }
    wrong
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}

fn bounds(value: &Value, words: &serde_json::Map<String, Value>, tell: &mut impl FnMut(String)) {
    let bound = |word: &str| words.get(word).and_then(Value::as_f64);
    let size = match value {
        Value::String(text) => Some((text.chars().count() as f64, "minLength", "maxLength")),
        Value::Array(items) => Some((items.len() as f64, "minItems", "maxItems")),
        Value::Number(number) => number.as_f64().map(|number| (number, "minimum", "maximum")),
        _ => None,
    };
    if let Some((size, least, most)) = size
        && (bound(least).is_some_and(|least| size < least) || bound(most).is_some_and(|most| size > most))
    {
        tell(format!("`{value}` is out of {least}, {most}"));
    }
}

fn object(fields: &serde_json::Map<String, Value>, words: &serde_json::Map<String, Value>, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let named = words.get("properties").and_then(Value::as_object);
    let required = words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    wrong.extend(required.filter(|name| !fields.contains_key(*name)).map(|name| format!("{at}: `{name}` is missing")));
    for (name, value) in fields {
        let place = format!("{at}/{name}");
        match (named.and_then(|named| named.get(name)), words.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => wrong.extend(problems(value, schema, &place)),
            // A part of several may leave to the others what it does not name.
            (None, None) if named.is_some() && !words.contains_key("anyOf") && !words.contains_key("oneOf") => {
                wrong.push(format!("{place}: the document does not name it"));
            }
            (None, None) => {}
        }
    }
    wrong
}
