//! What is the case around a question, put together from what a policy looks for.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::people;
use crate::engine::{Goal, Requirement};
use crate::testing::{Around, Fixture, Step, Way};
use types::history::Done;
use types::id::ActorId;

/// Returns as much of a goal as can be the case in a company. None if nothing of it can. An input of which the goal
/// requires only presence is taken from one of `inputs`.
pub(super) fn aimed(goal: &Goal, fixture: &Fixture, inputs: &[Value]) -> Option<Around> {
    let mut around = Around::default();
    // Of what is not to be there, nothing is.
    let is_absent = |path: &[String]| {
        (1..=path.len())
            .any(|length| goal.context.get(path.get(..length).unwrap_or(path)) == Some(&Requirement::Absent))
    };
    for (path, want) in goal.context.iter().filter(|(path, _)| !is_absent(path)) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let value = want.value().unwrap_or(&Value::Null);
        match path.as_slice() {
            ["run", "asker", ..] => {
                let mut step = around.run.take().or_else(step)?;
                step.asker = people::behind(fixture, goal, &["run", "asker"]).unwrap_or(step.asker);
                around.run = Some(step);
            }
            ["run"] => around.run = Some(around.run.take().or_else(step)?),
            ["run", what] => around.run = Some(taken(around.run.take().or_else(step)?, what, value)),
            ["hist", operation, what] => done(around.hist.entry((*operation).to_owned()).or_default(), what, value),
            ["input", rest @ ..] => {
                let mut known = inputs.iter().filter_map(|input| within(input, rest));
                let value = match want {
                    Requirement::There => known.next(),
                    Requirement::Not(all) => known.find(|value| !all.contains(value)),
                    _ => want.value(),
                };
                if let Some(value) = value {
                    put(around.input.get_or_insert_with(|| Map::new().into()), rest, value);
                }
            }
            ["approvals"] => around.granted = texts(value).map(str::to_owned).collect(),
            ["break_glass"] => around.broken = true,
            ["channel"] if value == "run" => around.run = Some(around.run.take().or_else(step)?),
            ["channel"] => around.channel = value.as_str().map(|way| if way == "cli" { Way::Cli } else { Way::Http }),
            ["now"] => around.now = value.as_str().and_then(|time| time.parse().ok()),
            ["delegation", rest @ ..] => around.under = Some(delegation(around.under.as_deref(), rest, value)),
            ["token", "issuer", ..] => around.issuer = people::behind(fixture, goal, &["token", "issuer"]),
            ["token", "scopes"] => around.scopes = texts(value).filter_map(|scope| scope.parse().ok()).collect(),
            _ => {}
        }
    }
    let is_plain = format!("{around:?}") == format!("{:?}", Around::default());
    (!is_plain).then_some(around)
}

/// Returns the same surroundings one level down in the run: an agent asks, as a part of what its asker requested. None
/// outside of runs.
pub(super) fn in_part(around: &Around) -> Option<Around> {
    let run = around.run.clone().filter(|run| run.askers.is_empty())?;
    let asker: ActorId = "aid".parse().ok()?;
    let run = Step { askers: vec![asker.clone(), run.asker], asker, depth: run.depth.max(1), ..run };
    Some(Around { run: Some(run), ..around.clone() })
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().chain([value]).filter_map(Value::as_str)
}

/// A delegation of the made-up company that is so; the first one where it hangs on nothing.
fn delegation(known: Option<&str>, what: &[&str], value: &Value) -> String {
    let known = known.unwrap_or("dlg_1");
    let id = match (what, value.as_i64(), value.as_str()) {
        (["depth"], Some(2), _) => "dlg_5",
        (["depth"], Some(3..), _) => "dlg_6",
        (["authority"], _, Some("inform")) => "dlg_3",
        (["exhausted"], ..) if value == true => "dlg_4",
        (["authority"], _, Some("propose")) | (["tools"], ..) => "dlg_2",
        _ => known,
    };
    id.to_owned()
}

/// A run that somebody asked for, as samples of runs are asked for by them too, at its first step.
fn step() -> Option<Step> {
    Some(Step {
        asker: "max".parse().ok()?,
        askers: Vec::new(),
        depth: 0,
        steps: 1,
        calls: 1,
        cost_cents: 0,
        labels: BTreeSet::new(),
    })
}

fn taken(mut step: Step, what: &str, value: &Value) -> Step {
    let number = value.as_i64().and_then(|number| u32::try_from(number).ok());
    match (what, number) {
        ("depth", Some(number)) => step.depth = number,
        ("steps", Some(number)) => step.steps = number,
        ("calls", Some(number)) => step.calls = number,
        ("cost_cents", Some(number)) => step.cost_cents = number,
        ("labels", _) => step.labels = texts(value).filter_map(|label| label.parse().ok()).collect(),
        ("askers", _) => step.askers = texts(value).filter_map(|id| id.parse::<ActorId>().ok()).collect(),
        _ => {}
    }
    step
}

fn done(done: &mut Done, what: &str, value: &Value) {
    let Some(number) = value.as_i64().and_then(|number| u32::try_from(number).ok()) else { return };
    let place = match what {
        "hour" => &mut done.hour,
        "day" => &mut done.day,
        "month" => &mut done.month,
        "hour_cents" => &mut done.hour_cents,
        "day_cents" => &mut done.day_cents,
        "month_cents" => &mut done.month_cents,
        _ => return,
    };
    *place = number;
}

/// What stands at a path of an input, where it is no record of others: one without any is only there or not, and one of a length
/// is a text.
fn within<'a>(input: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let found = path.iter().try_fold(input, |value, field| value.get(field))?;
    let holds_others = found.as_object().is_some_and(|fields| fields.keys().any(|field| field != "length"));
    (!path.is_empty() && !found.is_null() && !holds_others).then_some(found)
}

fn put(input: &mut Value, path: &[&str], value: &Value) {
    let [first, rest @ ..] = path else { return };
    let Some(fields) = input.as_object_mut() else { return };
    let place = fields.entry((*first).to_owned()).or_insert_with(|| Map::new().into());
    if rest.is_empty() {
        *place = value.clone();
    } else {
        put(place, rest, value);
    }
}
