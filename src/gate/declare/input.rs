//! Reading an operation's input; what is wrong with one names its field.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use types::expected::Format;
use types::json;

/// The most fields, and the longest text in one, of an input in which each is tried as the one at fault.
const MOST_TRIED: usize = 32;
const SHORT: usize = 1 << 10;

/// Why an input was not understood.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{what}", field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default())]
pub struct BadInput {
    pub field: Option<String>,
    pub what: String,
}

impl BadInput {
    /// Returns the same error, located inside `place`: a field's name, or an index such as `[2]`.
    #[must_use]
    pub fn within(self, place: &str) -> BadInput {
        let field = match self.field {
            None => place.to_owned(),
            Some(field) if field.starts_with('[') => format!("{place}{field}"),
            Some(field) => format!("{place}.{field}"),
        };
        BadInput { field: Some(field), ..self }
    }
}

/// Reads an input; the error names the field. Following the path takes time, so it is only done for what is wrong.
pub(crate) fn parse<T: DeserializeOwned>(value: &Value) -> Result<T, BadInput> {
    T::deserialize(value).or_else(|_| {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            let what = error.into_inner().to_string();
            let field = (path != "." && path != "?").then_some(path);
            BadInput { field: field.or_else(|| at_fault::<T>(value, &what)), what: Format::Json.plain(&what) }
        })
    })
}

/// The field without which an input is not wrong in this way any more: the path to one of a flattened part is lost. Only of a
/// few short values: each is tried by reading the input once more.
fn at_fault<T: DeserializeOwned>(value: &Value, what: &str) -> Option<String> {
    let fields = value.as_object().filter(|fields| fields.len() <= MOST_TRIED && fields.values().all(is_short))?;
    let cured = |name: &&String| {
        let rest: Map<String, Value> = fields.iter().filter(|(other, _)| other != name).map(cloned).collect();
        T::deserialize(Value::Object(rest)).err().is_none_or(|error| {
            let error = error.to_string();
            error != what && !error.contains(&format!("`{name}`"))
        })
    };
    fields.keys().find(cured).cloned()
}

fn cloned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() <= SHORT,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Reads an input that is JSON still, in one go; nothing where that cannot be done.
pub(crate) fn straight<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    json::read(text).ok()
}

/// A schema on its own.
pub(super) fn inline(schema: fn(&mut SchemaGenerator) -> Schema) -> Schema {
    let settings = SchemaSettings::draft2020_12();
    schema(&mut settings.with(|settings| settings.inline_subschemas = true).into_generator())
}
