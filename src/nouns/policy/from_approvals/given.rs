//! Turns the inputs of approved calls into policy conditions.
//!
//! Always true: the conditions hold for the calls they were made from. They leave open the name of what a call creates,
//! reasons, and fields that repeat the target.

use serde_json::Value;

use super::call::Call;
use super::invalid;
use gate::declare::arguments::{Field, Shape};
use types::refusal::Refusal;

/// Checks whether conditions leave a field open.
pub fn is_open(field: &Field, call: &Call) -> bool {
    let says_the_target = call.input.get(&field.name).and_then(Value::as_str) == Some(&call.target.id());
    (field.is_erasable && !field.is_presence()) || field.is_new || says_the_target
}

/// Returns conditions on the input of calls of one operation: for each field that counts, those of each call.
pub fn conditions(calls: &[&Call]) -> Result<Vec<Vec<String>>, Refusal> {
    let Some(first) = calls.first() else { return Ok(Vec::new()) };
    let arguments = first.entry.arguments();
    // Whether or not it is given: the policy could not tell a call with it from one without.
    if let Some((name, why)) = arguments.left_out.first() {
        let (approval, operation) = (&first.approval, first.operation());
        return Err(invalid(format!("{approval}: a policy cannot look at `{name}` of {operation}: {why}")));
    }
    let closed = arguments.fields.iter().filter(|field| !calls.iter().all(|call| is_open(field, call)));
    closed.map(|field| calls.iter().map(|call| as_given(field, call)).collect()).collect()
}

/// Returns the condition that a field is as in the call.
fn as_given(field: &Field, call: &Call) -> Result<String, Refusal> {
    let Some(value) = call.input.get(&field.name).filter(|value| !value.is_null()) else {
        return Ok(format!("!(context.input has {})", field.name));
    };
    let equal = equals(&format!("context.input.{}", field.name), &field.shape, value);
    let equal = equal.ok_or_else(|| invalid(format!("{}: a policy cannot compare `{}`", call.approval, field.name)))?;
    Ok(if field.is_required { equal } else { format!("context.input has {} && {equal}", field.name) })
}

/// Returns a Cedar expression that holds for this value only; `None` if policies see only part of it.
fn equals(path: &str, shape: &Shape, value: &Value) -> Option<String> {
    match (shape, value) {
        (Shape::Bool, Value::Bool(true)) => Some(path.to_owned()),
        (Shape::Bool, Value::Bool(false)) => Some(format!("!{path}")),
        (Shape::Set(_), Value::Array(items)) if items.is_empty() => Some(format!("{path}.isEmpty()")),
        (Shape::Set(element), Value::Array(items)) => {
            let items = items.iter().map(|item| literal(element, item)).collect::<Option<Vec<_>>>()?;
            Some(format!("{path} == [{}]", items.join(", ")))
        }
        (Shape::Record(fields), Value::Object(given)) => {
            let part = |field: &Field| {
                let (inner, name) = (format!("{path}.{}", field.name), &field.name);
                match given.get(name).filter(|value| !value.is_null()) {
                    Some(value) if field.is_required => equals(&inner, &field.shape, value),
                    Some(value) => equals(&inner, &field.shape, value).map(|is| format!("{path} has {name} && {is}")),
                    None => Some(format!("!({path} has {name})")),
                }
            };
            Some(fields.iter().map(part).collect::<Option<Vec<_>>>()?.join(" && "))
        }
        (shape, value) => Some(format!("{path} == {}", literal(shape, value)?)),
    }
}

fn literal(shape: &Shape, value: &Value) -> Option<String> {
    match shape {
        Shape::Text => Some(quoted(value.as_str()?)),
        Shape::Long => Some(value.as_i64()?.to_string()),
        Shape::Bool => Some(value.as_bool()?.to_string()),
        Shape::Length | Shape::Set(_) | Shape::Record(_) | Shape::Presence => None,
    }
}

/// Quotes a text for Cedar.
fn quoted(text: &str) -> String {
    let escaped = text.chars().flat_map(|c| match c {
        '"' | '\\' => vec!['\\', c],
        c if c.is_control() => format!("\\u{{{:x}}}", u32::from(c)).chars().collect(),
        c => vec![c],
    });
    format!("\"{}\"", escaped.collect::<String>())
}
