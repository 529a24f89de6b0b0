//! Every answer of every test is one that the API's document describes: its status, its media type, its fields. So is every
//! request that was done.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, OnceLock};

use regex::Regex;
use serde_json::Value;

use super::Answer;

/// The API's document, made once.
pub fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| ok::gate::declare::openapi::document(&ok::nouns::OPERATIONS))
}

/// What the document says of an operation: the address without names beats the one with.
fn described(method: &str, path: &str) -> Option<&'static Value> {
    /// The parts of each address, with its operations by method.
    static TEMPLATES: LazyLock<Vec<(Vec<&'static str>, &'static Value)>> = LazyLock::new(|| {
        let paths = document()["paths"].as_object().unwrap().iter();
        paths.map(|(template, methods)| (template.split('/').collect(), methods)).collect()
    });
    let asked: Vec<&str> = path.split('/').collect();
    let is_name = |part: &&&str| part.starts_with('{');
    let fits = |parts: &[&str]| {
        parts.len() == asked.len() && parts.iter().zip(&asked).all(|(part, asked)| part == asked || is_name(&part))
    };
    let found = TEMPLATES.iter().filter(|(parts, _)| fits(parts));
    let found = found.min_by_key(|(parts, _)| parts.iter().filter(is_name).count());
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

/// Panics where what was done was asked otherwise than is described.
pub fn check_request(method: &str, path: &str, body: Option<&Value>, answer: &Answer) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let Some(operation) = described(method, path).filter(|_| answer.status.is_success()) else { return };
    let name = &operation["operationId"];
    let parameters = operation["parameters"].as_array().unwrap();
    let in_query = |name: &str| parameters.iter().any(|one| one["in"] == "query" && one["name"] == name);
    for given in query.split('&').filter(|given| !given.is_empty()) {
        let given = given.split('=').next().unwrap();
        // The specification has a token in an address ignored.
        assert!(in_query(given) || given == "token", "{name} took `{given}`, which its document does not name");
    }
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    if let Some(body) = body.filter(|_| schema.is_object()) {
        // What a standard leaves open may hold more.
        let wrong: Vec<String> =
            problems(body, schema, "").into_iter().filter(|what| !what.ends_with(UNNAMED)).collect();
        assert!(wrong.is_empty(), "{name} took what is not as described: {wrong:?}\n{body}");
    }
}

const UNNAMED: &str = "the document does not name it";
/// The words of schemas that are looked at here, or that say nothing of a value.
const WORDS: [&str; 30] = [
    "$ref",
    "anyOf",
    "oneOf",
    "type",
    "const",
    "enum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "maxProperties",
    "uniqueItems",
    "pattern",
    "format",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "description",
    "default",
    "example",
    "x-erasable",
    "x-presence",
    "x-id",
    "x-names",
    "x-new",
    "x-sets",
    "x-empties",
];

/// What of a value does not fit a schema.
pub fn problems(value: &Value, schema: &Value, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut tell = |what: String| wrong.push(format!("{at}: {what}"));
    if schema == &Value::Bool(true) {
        return wrong;
    }
    let Some(words) = schema.as_object() else { return vec![format!("{at}: nothing may stand here")] };
    let passed_over = words.keys().find(|word| !WORDS.contains(&word.as_str()));
    assert!(passed_over.is_none(), "{at}: nobody looks at `{}`", passed_over.unwrap());
    if let Some(name) = words.get("$ref").and_then(Value::as_str) {
        let found = document().pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no {name}"));
        return problems(value, found, at);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(ways) = words.get(word).and_then(Value::as_array) {
            let tried: Vec<Vec<String>> = ways.iter().map(|way| problems(value, way, at)).collect();
            match tried.iter().filter(|wrong| wrong.is_empty()).count() {
                0 => tell(format!("fits none of {word}: {tried:?}")),
                1 => {}
                several if word == "oneOf" => tell(format!("fits {several} of oneOf")),
                _ => {}
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
    form(value, words, &mut tell);
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
        Value::Object(fields) => Some((fields.len() as f64, "minProperties", "maxProperties")),
        Value::Number(number) => number.as_f64().map(|number| (number, "minimum", "maximum")),
        _ => None,
    };
    if let Some((size, least, most)) = size
        && (bound(least).is_some_and(|least| size < least) || bound(most).is_some_and(|most| size > most))
    {
        tell(format!("`{value}` is out of {least}, {most}"));
    }
}

fn form(value: &Value, words: &serde_json::Map<String, Value>, tell: &mut impl FnMut(String)) {
    let word = |name: &str| words.get(name).and_then(Value::as_str);
    if let (Some(text), Some(pattern)) = (value.as_str(), word("pattern"))
        && !is_like(text, pattern)
    {
        tell(format!("`{text}` is not like {pattern}"));
    }
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if words.get("uniqueItems") == Some(&Value::Bool(true))
        && items.iter().enumerate().any(|(at, item)| items[..at].contains(item))
    {
        tell(format!("`{value}` has something twice"));
    }
    // A format is of texts, or of numbers, and says nothing of what is neither.
    let fits = match (word("format"), value) {
        (Some("date-time"), Value::String(text)) => text.parse::<ok::types::time::Time>().is_ok(),
        (Some(format), Value::Number(number)) => is_number(number, format),
        _ => true,
    };
    if !fits {
        tell(format!("`{value}` is no {}", words["format"]));
    }
}

fn is_number(number: &serde_json::Number, format: &str) -> bool {
    let most = match format {
        "double" | "date-time" => return true,
        "int64" => return number.is_i64(),
        "uint" | "uint64" => u64::MAX,
        "uint32" => u32::MAX.into(),
        "uint16" => u16::MAX.into(),
        "uint8" => u8::MAX.into(),
        other => panic!("nobody knows the format {other}"),
    };
    number.as_u64().is_some_and(|number| number <= most)
}

fn is_like(text: &str, pattern: &str) -> bool {
    static KNOWN: LazyLock<Mutex<BTreeMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    known.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap()).is_match(text)
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
                wrong.push(format!("{place}: {UNNAMED}"));
            }
            (None, None) => {}
        }
    }
    wrong
}
