//! Tries calls similar to the approved ones: another value in a field, another target, time or channel. Those that the drafted
//! policy allows, and the policies in force do not, are reported.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::call::Call;
use gate::declare::arguments::{Field, Shape};
use gate::{Reader, Target};
use policy::Snapshot;
use types::caller::{Caller, Channel};
use types::time::DAY;

/// The maximum number of other targets tried.
const OTHERS: usize = 50;
/// The maximum number of actors examined for them: whoever sees few of many does not wait for a scan of all.
const LOOKED_AT: usize = 2_000;

/// Describes what is newly allowed, each once.
pub fn let_through(calls: &[Call], candidate: &Snapshot, read: &Reader<'_>) -> Vec<String> {
    let lines: BTreeSet<String> = calls.iter().flat_map(|call| passing(call, candidate, read)).collect();
    lines.into_iter().collect()
}

fn passing(call: &Call, candidate: &Snapshot, read: &Reader<'_>) -> Vec<String> {
    let who = format!("{} {}", call.caller.actor(), call.operation());
    let in_force = read.serving();
    let passes = |read: &Reader<'_>, caller: &Caller, target: &Target, input: &Value| {
        let asked = (call.operation(), target, input);
        read.ruling_under(candidate, caller, asked).is_allowed()
            && !read.ruling_under(&in_force, caller, asked).is_allowed()
    };
    let mut lines = Vec::new();
    for field in &call.entry.arguments().fields {
        let given = call.input.get(&field.name).unwrap_or(&Value::Null);
        let other = |value: Value| {
            let mut input = call.input.clone();
            if let Some(fields) = input.as_object_mut() {
                fields.insert(field.name.clone(), value);
            }
            passes(read, &call.caller, &call.target, &input)
        };
        // A field that repeats the target is tried below, with other targets.
        let is_said_again = given.as_str() == Some(&call.target.id());
        if !is_said_again && others(field, given).into_iter().any(other) {
            lines.push(format!("{who} with another `{}`", field.name));
        }
    }
    lines.extend(
        targets(call, read)
            .into_iter()
            .filter(|target| passes(read, &call.caller, target, &call.input))
            .map(|target| format!("{who} about {}", target.id())),
    );
    let later = read.at(read.now().plus_ms(DAY / 2));
    if passes(&later, &call.caller, &call.target, &call.input) {
        lines.push(format!("{who} at another time"));
    }
    let channel = if call.caller.channel == Channel::Cli { Channel::Http } else { Channel::Cli };
    if passes(read, &Caller { channel, ..call.caller.clone() }, &call.target, &call.input) {
        lines.push(format!("{who} by {channel}"));
    }
    lines
}

/// Returns other values of a field: near ones, and none at all.
fn others(field: &Field, given: &Value) -> Vec<Value> {
    let mut values = of_shape(&field.shape, given);
    if !field.is_required {
        values.push(Value::Null);
    }
    values.retain(|value| value != given);
    values
}

fn of_shape(shape: &Shape, given: &Value) -> Vec<Value> {
    match shape {
        Shape::Bool => vec![json!(true), json!(false)],
        Shape::Long => {
            let number = given.as_i64().unwrap_or_default();
            [-1, 1].iter().map(|step| json!(number.saturating_add(*step))).chain([json!(i64::MAX), json!(0)]).collect()
        }
        Shape::Text | Shape::Length => {
            let text = given.as_str().unwrap_or_default();
            vec![json!(format!("{text}x")), json!("admin"), json!("")]
        }
        Shape::Set(element) => {
            let all = given.as_array().cloned().unwrap_or_default();
            let more =
                of_shape(element, &Value::Null).into_iter().map(|one| all.iter().cloned().chain([one]).collect());
            more.chain([Value::Array(Vec::new())]).collect()
        }
        Shape::Presence => vec![json!({})],
        Shape::Record(fields) => {
            let mut records = Vec::new();
            for field in fields {
                for value in others(field, given.get(&field.name).unwrap_or(&Value::Null)) {
                    let mut record = given.as_object().cloned().unwrap_or_default();
                    record.insert(field.name.clone(), value);
                    records.push(Value::Object(record));
                }
            }
            records
        }
    }
}

/// Returns other targets of the same kind that the proposer may see: people and agents, or teams.
fn targets(call: &Call, read: &Reader<'_>) -> Vec<Target> {
    let Target::Actor(id) = &call.target else { return Vec::new() };
    let others = read.cards().take(LOOKED_AT).map(|card| card.actor.id.clone());
    let others = others.filter(|other| other != id && other.is_team() == id.is_team()).map(Target::Actor);
    others.filter(|target| read.sees(target)).take(OTHERS).collect()
}
