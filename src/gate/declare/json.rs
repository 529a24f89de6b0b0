//! What a JSON Schema says of a value.

use serde_json::Value;

pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

pub(crate) fn names<'a>(schema: &'a Value, key: &str) -> Vec<&'a str> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(crate) fn is_marked(schema: &Value, mark: &str) -> bool {
    schema.get(mark).and_then(Value::as_bool).unwrap_or_default()
}

/// The types that a schema names, without `null`.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    let named = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(_)) => names(schema, "type"),
        _ => Vec::new(),
    };
    named.into_iter().filter(|name| *name != "null").collect()
}

pub(crate) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|ty| ty == "null" || names(schema, "type").contains(&"null"))
        || choices(schema).iter().any(|choice| is_null(choice))
}

pub(crate) fn is_only_null(schema: &Value) -> bool {
    is_null(schema) && types(schema).is_empty() && choices(schema).is_empty()
}

pub(crate) fn choices(schema: &Value) -> Vec<&Value> {
    ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten().collect()
}
