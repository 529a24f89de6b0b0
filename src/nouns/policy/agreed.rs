//! Reconciles a call's target and its input when both are given: the two have to agree.

use serde_json::{Map, Value, json};

use gate::declare::arguments::{Field, Shape};
use gate::{Entry, Reader, Target};
use types::caller::Caller;
use types::refusal::{Refusal, Stop};
use types::target::Fact;

/// Returns the target that the gate would find by the input, and the input with the field that names it; both as given if the
/// input leaves out too much to tell.
///
/// Refused if the input is about something else.
pub(super) fn agreed(
    target: Target,
    input: &Value,
    (entry, caller): (&'static Entry, &Caller),
    then: &Reader<'_>,
) -> Result<(Target, Value), Stop> {
    let Some(given) = input.as_object() else { return Ok((target, input.clone())) };
    let theirs = then.acting_as(caller);
    let about = |input: &Map<String, Value>| -> Result<Option<Target>, Stop> {
        let Ok(call) = entry.prepare(filled(entry, input.clone())) else { return Ok(None) };
        match call.target(&theirs) {
            Ok(found) => Ok(Some(found)),
            Err(Stop::Refused(_)) => Ok(None),
            Err(failed) => Err(failed),
        }
    };
    let known = with_facts(entry, &target, given.clone());
    let plain = about(&known)?;
    if let Some(found) = plain.as_ref().filter(|found| found.id() == target.id()) {
        return Ok((found.clone(), known.into()));
    }
    for field in entry.arguments().fields.iter().filter(|field| is_text(field) && !known.contains_key(&field.name)) {
        let mut named = known.clone();
        named.insert(field.name.clone(), target.id().into());
        if let Some(found) = about(&named)?.filter(|found| found.id() == target.id()) {
            return Ok((found, named.into()));
        }
    }
    if plain.is_some() {
        let message = format!(
            "with this input, {} is not about `{}`: omit the target, or the input that names another",
            entry.spec.name,
            target.id()
        );
        return Err(Refusal::field("input", message).into());
    }
    Ok((target, input.clone()))
}

fn is_text(field: &Field) -> bool {
    matches!(field.shape, Shape::Text)
}

/// Completes an input with its target's id and collection, if left out.
fn with_facts(entry: &Entry, target: &Target, mut input: Map<String, Value>) -> Map<String, Value> {
    let collection = match target {
        Target::Thing(thing) => match thing.fact("collection") {
            Some(Fact::Text(name)) => Some(name.clone()),
            _ => None,
        },
        Target::Company | Target::Actor(_) => None,
    };
    let takes = |name: &str| entry.arguments().fields.iter().any(|field| field.name == name);
    for (name, value) in [("id", Some(target.id())), ("collection", collection)] {
        if let Some(value) = value.filter(|_| takes(name)) {
            input.entry(name).or_insert(Value::String(value));
        }
    }
    input
}

/// Fills required fields of an input with placeholders.
fn filled(entry: &Entry, mut input: Map<String, Value>) -> Value {
    for field in entry.arguments().fields.iter().filter(|field| field.is_required) {
        let blank = || match &field.shape {
            Shape::Text => field.choices.first().map_or("-", String::as_str).into(),
            Shape::Length => "-".into(),
            Shape::Bool => false.into(),
            Shape::Long => 0.into(),
            Shape::Set(_) => json!([]),
            Shape::Record(_) | Shape::Presence => json!({}),
        };
        input.entry(field.name.clone()).or_insert_with(blank);
    }
    input.into()
}
