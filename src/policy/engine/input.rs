//! The input of the operation that is asked about, as policies see it: `context.input`, built from JSON by the type that the
//! schema gives it.
//!
//! Always true: a value that the schema requires and the JSON lacks is blank (`""`, `0`, `false`, nothing in a set), so a
//! question without an input fits too; a text that is too long makes the whole question unfit, it is never shortened.

use cedar_policy::Schema;
use cedar_policy_core::ast::{EntityUID, Value};
use cedar_policy_core::validator::types::{Attributes, Type};
use serde_json::Value as Json;

/// The attribute of the context that holds the input.
pub(super) const ATTRIBUTE: &str = "input";
/// The one attribute that stands for a long text.
const LENGTH: &str = "length";
/// The most bytes of a text that policies compare.
const LONGEST: usize = 4_096;

/// The input of one action.
#[derive(Debug)]
pub(super) struct Input {
    pub fields: Attributes,
    /// Of a question that says nothing of it.
    blank: Value,
}

impl Input {
    /// None where the action's context has no input.
    pub fn of(schema: &Schema, action: &EntityUID) -> Option<Input> {
        let Type::Record { attrs, .. } = schema.as_ref().context_type(action)? else { return None };
        let Type::Record { attrs: fields, .. } = &*attrs.get_attr(ATTRIBUTE)?.attr_type else { return None };
        let fields = fields.clone();
        let blank = record(&fields, None).ok()?;
        Some(Input { fields, blank })
    }

    pub fn blank(&self) -> Value {
        self.blank.clone()
    }

    /// The input with these values.
    pub fn value(&self, json: &Json) -> Result<Value, String> {
        record(&self.fields, Some(json)).map_err(|what| format!("context.{ATTRIBUTE}{what}"))
    }
}

pub(super) fn record(fields: &Attributes, json: Option<&Json>) -> Result<Value, String> {
    let mut pairs = Vec::new();
    for (name, field) in fields.iter() {
        let given = json.and_then(|json| json.get(name.as_str())).filter(|json| !json.is_null());
        if given.is_some() || field.is_required {
            let value = value(&field.attr_type, given).map_err(|what| format!(".{name}{what}"))?;
            pairs.push((name.clone(), value));
        }
    }
    Ok(Value::record(pairs, None))
}

fn value(ty: &Type, json: Option<&Json>) -> Result<Value, String> {
    Ok(match ty {
        Type::Bool(_) => Value::from(json.and_then(Json::as_bool).unwrap_or_default()),
        Type::Long => Value::from(json.map(whole).unwrap_or_default()),
        Type::Set { element_type: Some(element) } => {
            let items = json.and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
            let items = items.iter().map(|item| value(element, Some(item))).collect::<Result<Vec<_>, _>>()?;
            Value::set(items, None)
        }
        Type::Record { attrs, .. } => match json.and_then(Json::as_str) {
            Some(text) if attrs.get_attr(LENGTH).is_some() => Value::record([(LENGTH, Value::from(count(text)))], None),
            _ => record(attrs, json)?,
        },
        _ => {
            let text = json.and_then(Json::as_str).unwrap_or_default();
            if text.len() > LONGEST {
                return Err(format!(" has more than {LONGEST} bytes"));
            }
            Value::from(text)
        }
    })
}

/// Cedar's numbers end before those of JSON do; what is beyond is as large as can be.
fn whole(json: &Json) -> i64 {
    json.as_i64().or_else(|| json.as_u64().map(|_| i64::MAX)).unwrap_or_default()
}

fn count(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}
