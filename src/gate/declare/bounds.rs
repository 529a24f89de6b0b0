//! Bounds on an operation's input. A text, list or map whose declaration sets no bound has the usual one: it is checked
//! here, before the input is read, and appears in the API document like declared bounds.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::declare::input::BadInput;
use crate::declare::json::choices;
use crate::declare::operation::Entry;
use types::json;
use types::known::Known;

/// Characters of a text: as many as policies see.
const TEXT: usize = 1_024;
/// Items of a list, and fields of a map.
const MANY: usize = 1_000;

impl Entry {
    /// What the fields of its input are called.
    pub fn fields(&self) -> &'static BTreeSet<String> {
        static KNOWN: Known<&str, BTreeSet<String>> = Known::new();
        let fields = || self.input_schema().get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        KNOWN.get(self.spec.name, || fields().into_iter().map(|(name, _)| name).collect())
    }

    /// Checks for fields that the operation does not have. Ignoring one would leave an unintended default in force, and
    /// approvers would read something that is never done. Operations of a standard ignore unknown fields, because the
    /// standard may add some.
    pub(crate) fn check_fields(&self, input: &Value) -> Result<(), BadInput> {
        let known = self.fields();
        let given = input.as_object().filter(|_| !self.spec.route.is_standard());
        let Some(unknown) = given.and_then(|given| given.keys().find(|name| !known.contains(*name))) else {
            return Ok(());
        };
        let known: Vec<String> =
            known.iter().filter(|name| !self.spec.route.has_in_path(name)).map(|name| format!("`{name}`")).collect();
        let known = match known.as_slice() {
            [] => "there are no fields".to_owned(),
            some => format!("expected one of {}", some.join(", ")),
        };
        let unknown: String = unknown.chars().take(80).collect();
        Err(BadInput { field: None, what: format!("unknown field `{unknown}`, {known}") })
    }

    /// Looks for what nests deeper than can be recorded and read again.
    pub(crate) fn check_depth(&self, input: &Value) -> Result<(), BadInput> {
        if !json::is_deep(input) {
            return Ok(());
        }
        let field = input
            .as_object()
            .and_then(|fields| fields.iter().find(|(_, value)| json::is_deeper(json::MAX_DEPTH - 1, value)));
        let field = field.map(|(name, _)| name.clone());
        Err(BadInput { field, what: format!("nests more than {} deep", json::MAX_DEPTH) })
    }

    /// Checks an input against the usual bounds. Fields in the path are exempt: an id that is too long simply names
    /// nothing.
    pub(crate) fn check_bounds(&self, input: &Value) -> Result<(), BadInput> {
        static KNOWN: Known<&str, Value> = Known::new();
        let schema = KNOWN.get(self.spec.name, || self.input_schema().to_value());
        let fields = input.as_object().into_iter().flatten();
        for (name, value) in fields.filter(|(name, _)| !self.spec.route.has_in_path(name)) {
            let field = schema.get("properties").and_then(|fields| fields.get(name));
            let field = field.map_or(Ok(()), |field| self.check_field(field, value));
            field.map_err(|wrong| wrong.within(name))?;
        }
        Ok(())
    }
}

impl Entry {
    fn check_field(&self, schema: &Value, value: &Value) -> Result<(), BadInput> {
        check(schema, value)?;
        if self.spec.route.is_standard() { Ok(()) } else { check_form(schema, value) }
    }
}

/// Looks for what would be passed over within a field, and for objects that are written as lists: what is shown of an input, and
/// what policies see of it, goes by the names of its fields.
fn check_form(schema: &Value, value: &Value) -> Result<(), BadInput> {
    let choices = choices(schema);
    if !choices.is_empty() {
        return check_choices(&choices, value);
    }
    let named = schema.get("properties").and_then(Value::as_object);
    match value {
        Value::Array(items) => match (schema.get("items"), named) {
            (Some(schema), _) => items.iter().enumerate().try_for_each(|(place, item)| {
                check_form(schema, item).map_err(|wrong| wrong.within(&format!("[{place}]")))
            }),
            (None, Some(_)) => Err(no_list()),
            (None, None) => Ok(()),
        },
        Value::Object(fields) => {
            let others = schema.get("additionalProperties").filter(|others| **others != Value::Bool(false));
            let known = |name: &str| named.and_then(|named| named.get(name)).or(others);
            let unknown = fields.keys().find(|name| named.is_some() && known(name).is_none());
            if let Some(unknown) = unknown {
                let known: Vec<String> = named.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
                let unknown: String = unknown.chars().take(80).collect();
                let what = format!("unknown field `{unknown}`, expected one of {}", known.join(", "));
                return Err(BadInput { field: None, what });
            }
            fields.iter().try_for_each(|(name, value)| {
                known(name).map_or(Ok(()), |schema| check_form(schema, value)).map_err(|wrong| wrong.within(name))
            })
        }
        _ => Ok(()),
    }
}

/// The same of what may be one of several. Where it has the fields of none, that is told when it is read.
fn check_choices(choices: &[&Value], value: &Value) -> Result<(), BadInput> {
    let named = |choice: &Value| choice.get("properties").and_then(Value::as_object).cloned();
    let fitting: Vec<&Value> = choices.iter().copied().filter(|choice| could_be(choice, value)).collect();
    let has_fields = |choice: &Value| match (value, named(choice)) {
        (Value::Object(fields), Some(named)) => fields.keys().all(|name| named.contains_key(name)),
        _ => true,
    };
    match fitting.as_slice() {
        [] if value.is_array() && choices.iter().any(|choice| named(choice).is_some()) => Err(no_list()),
        [one] => check_form(one, value),
        several => {
            let outcomes: Vec<_> =
                several.iter().filter(|one| has_fields(one)).map(|one| check_form(one, value)).collect();
            if outcomes.iter().any(Result::is_ok) { Ok(()) } else { outcomes.into_iter().next().unwrap_or(Ok(())) }
        }
    }
}

fn no_list() -> BadInput {
    BadInput { field: None, what: "must be an object, not a list".into() }
}

/// Writes the usual bounds into a schema.
pub(crate) fn write(schema: &mut Value) {
    match schema {
        Value::Object(words) => {
            for (bound, usual) in usual(words) {
                words.insert(bound.to_owned(), json!(usual));
            }
            words.values_mut().for_each(write);
        }
        Value::Array(items) => items.iter_mut().for_each(write),
        _ => {}
    }
}

/// The bounds that a schema leaves to us.
fn usual(words: &Map<String, Value>) -> Vec<(&'static str, usize)> {
    let is = |kind: &str| match words.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(some)) => some.iter().any(|one| one == kind),
        _ => false,
    };
    let has = |word: &str| words.contains_key(word);
    let is_map = match words.get("additionalProperties") {
        None => !has("properties"),
        Some(others) => *others != Value::Bool(false),
    };
    [
        ("maxLength", TEXT, is("string") && !has("enum") && !has("const")),
        ("maxItems", MANY, is("array")),
        ("maxProperties", MANY, is("object") && is_map),
    ]
    .into_iter()
    .filter(|(bound, _, applies)| *applies && !has(bound))
    .map(|(bound, usual, _)| (bound, usual))
    .collect()
}

fn check(schema: &Value, value: &Value) -> Result<(), BadInput> {
    let Some(words) = schema.as_object() else { return Ok(()) };
    // Whatever it is one of, it is what reads as such: where one of them has room for it, it has.
    let choices = choices(schema);
    if !choices.is_empty() {
        let mut outcomes =
            choices.into_iter().filter(|choice| could_be(choice, value)).map(|choice| check(choice, value));
        let first = outcomes.next().unwrap_or(Ok(()));
        return if first.is_err() && outcomes.any(|other| other.is_ok()) { Ok(()) } else { first };
    }
    // Policies see texts of this bound whole, so one that is longer than any of them cannot be asked about.
    let declared = words.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let declared =
        declared.filter(|most| *most <= TEXT && value.as_str().is_some_and(|text| text.chars().count() > TEXT));
    let declared = declared.map(|most| ("maxLength", most));
    for (bound, most) in usual(words).into_iter().chain(declared) {
        let (size, what) = match (bound, value) {
            ("maxLength", Value::String(text)) if text.len() > most => (text.chars().count(), "characters"),
            ("maxItems", Value::Array(items)) => (items.len(), "items"),
            ("maxProperties", Value::Object(fields)) => (fields.len(), "fields"),
            _ => continue,
        };
        if size > most {
            return Err(BadInput { field: None, what: format!("must have at most {most} {what}, not {size}") });
        }
    }
    match value {
        Value::Array(items) => {
            let Some(schema) = words.get("items") else { return Ok(()) };
            let at = |(place, item): (usize, &Value)| {
                check(schema, item).map_err(|wrong| wrong.within(&format!("[{place}]")))
            };
            items.iter().enumerate().try_for_each(at)
        }
        Value::Object(fields) => {
            let named = words.get("properties").and_then(Value::as_object);
            let schema = |name: &String| named.and_then(|named| named.get(name)).or(words.get("additionalProperties"));
            let at = |(name, value): (&String, &Value)| {
                schema(name).map_or(Ok(()), |schema| check(schema, value)).map_err(|wrong| wrong.within(name))
            };
            fields.iter().try_for_each(at)
        }
        _ => Ok(()),
    }
}

/// Whether a value is of a schema's type.
fn could_be(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(some)) => some.iter().any(|one| one == kind),
        _ => true,
    }
}
