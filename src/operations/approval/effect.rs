//! What an update would change, as far as its approver may read that: the values that it gives, beside those of now. And what
//! has changed since it was asked for.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use gate::{Effect, Entry, Method, Reader, Target};
use store::approvals::Approval;
use types::refusal::Stop;

/// A value, and the one in its place.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    pub was: Value,
    pub is: Value,
}

/// How two states of a target differ, by field.
pub(super) fn difference(was: &Value, is: &Value) -> BTreeMap<String, Changed> {
    let none = Map::new();
    let (old, new) = (was.as_object().unwrap_or(&none), is.as_object().unwrap_or(&none));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let field = |object: &Map<String, Value>, name: &String| object.get(name).cloned().unwrap_or_default();
    let changed = names.into_iter().map(|name| (name.clone(), Changed { was: field(old, name), is: field(new, name) }));
    changed.filter(|(_, changed)| changed.was != changed.is).collect()
}

/// What an update would change, by field of the target. `args` are the arguments that the caller is shown.
pub(super) fn effect(
    (approval, args): (&Approval, &Value),
    (entry, target): (&'static Entry, &Target),
    read: &Reader<'_>,
) -> Result<BTreeMap<String, Changed>, Stop> {
    let Some(shows) = shows(entry, target, read) else { return Ok(BTreeMap::new()) };
    let Some(Value::Object(now)) = shows.answer(address(shows, approval, target), read)? else {
        return Ok(BTreeMap::new());
    };
    let schema = shows.output_schema().to_value();
    let has = |field: &str| schema.pointer("/properties").is_some_and(|fields| fields.get(field).is_some());
    let given = entry.arguments().sets.iter().filter_map(|(name, field)| Some((field, args.get(name)?)));
    let given = given.filter(|(field, _)| has(field));
    let changed = given.flat_map(|(field, then)| {
        let (was, is) = (now.get(field).cloned().unwrap_or_default(), then.clone());
        parts(field, was, is, entry.spec.route.method == Method::Put)
    });
    Ok(changed.filter(|(_, changed)| changed.was != changed.is).collect())
}

/// The read that shows the target: its noun's, or the one at the same address.
fn shows(entry: &'static Entry, target: &Target, read: &Reader<'_>) -> Option<&'static Entry> {
    let sight = read.noun(target).and_then(|noun| noun.sight);
    let mut reads = crate::ALL.iter().filter(|one| one.effect == Effect::Query);
    reads.find(|one| match sight {
        Some(sight) => one.spec.name == sight,
        None => one.spec.route.method == Method::Get && one.spec.route.path == entry.spec.route.path,
    })
}

/// The input of that read: what stands in its path, from the call, or the target's own id.
fn address(shows: &Entry, approval: &Approval, target: &Target) -> Value {
    let given = approval.whole_input();
    let of = |name: &str| match given.get(name) {
        Some(value) if !value.is_null() => value.clone(),
        _ if name == "id" => target.id().into(),
        _ => Value::Null,
    };
    let names = shows.arguments().fields.iter().map(|field| &field.name);
    let address = names.filter(|name| shows.spec.route.has_in_path(name)).map(|name| (name.clone(), of(name)));
    Value::Object(address.collect())
}

/// A map is compared by its entries: those that are given, and, where it is replaced, those that are gone.
fn parts(field: &str, was: Value, is: Value, replaces: bool) -> BTreeMap<String, Changed> {
    let Value::Object(new) = &is else {
        return BTreeMap::from([(field.to_owned(), Changed { was, is })]);
    };
    let mut old = was.as_object().cloned().unwrap_or_default();
    old.retain(|name, _| replaces || new.contains_key(name));
    let changed = difference(&Value::Object(old), &is).into_iter();
    changed.map(|(name, changed)| (format!("{field}.{name}"), changed)).collect()
}
