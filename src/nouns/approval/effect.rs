//! Shows the effect of an update as far as its approver may read it: the new values beside the current ones, and what has
//! changed since the request.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Not;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use gate::reader::veil::HIDDEN;
use gate::{Effect, Entry, Method, Reader, Target};
use store::approvals::Approval;
use types::refusal::Stop;

/// A value, and the one in its place.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// As it is, or was.
    pub was: Value,
    /// As it would be, or is.
    pub is: Value,
    /// The caller may not read what it is now: `was` is `null`.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub withheld: bool,
}

/// Compares two states of a target field by field.
pub(super) fn difference(was: &Value, is: &Value) -> BTreeMap<String, Changed> {
    let none = Map::new();
    let (old, new) = (was.as_object().unwrap_or(&none), is.as_object().unwrap_or(&none));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let field = |object: &Map<String, Value>, name: &String| object.get(name).cloned().unwrap_or_default();
    let changed = |name: &String| Changed { was: field(old, name), is: field(new, name), withheld: false };
    let changed = names.into_iter().map(|name| (name.clone(), changed(name)));
    changed.filter(|(_, changed)| changed.was != changed.is).collect()
}

/// Returns what an update would change, by field of its target, against the target's current state. `args` are the arguments
/// shown to the caller, without withheld ones.
pub(super) fn effect(
    (approval, args, withheld): (&Approval, &Value, &[String]),
    (entry, target): (&'static Entry, &Target),
    read: &Reader<'_>,
) -> Result<BTreeMap<String, Changed>, Stop> {
    let Some(shows) = shows(entry, target, read) else { return Ok(BTreeMap::new()) };
    let Some(Value::Object(now)) = shows.answer(address(shows, approval, target), read)? else {
        return Ok(BTreeMap::new());
    };
    let schema = shows.output_schema().to_value();
    let has = |field: &str| schema.pointer("/properties").is_some_and(|fields| fields.get(field).is_some());
    let seen = Seen { withheld: now.get("withheld").and_then(Value::as_array), state: &approval.resource };
    let replaces = entry.spec.route.method == Method::Put;
    let sets = entry.arguments().sets.iter().filter(|set| has(&set.field) && !withheld.contains(&set.name));
    let changed = sets.filter_map(|set| Some((&set.field, set.value(args, replaces)?))).flat_map(|(field, is)| {
        let was = now.get(field).cloned().unwrap_or_default();
        match is.as_object() {
            Some(new) => seen.entries((field, was), new, replaces),
            None => BTreeMap::from([(field.clone(), seen.whole(field, was, is))]),
        }
    });
    Ok(changed.filter(|(_, changed)| changed.withheld || changed.was != changed.is).collect())
}

/// What is withheld from the reader of the target.
struct Seen<'a> {
    /// Withheld fields of a record.
    withheld: Option<&'a Vec<Value>>,
    /// The recorded state: tells a hidden actor, which the read shows as nobody, from none.
    state: &'a Value,
}

impl Seen<'_> {
    fn whole(&self, field: &str, was: Value, is: Value) -> Changed {
        let is_veiled = was == HIDDEN || (was.is_null() && self.state.get(field).is_some_and(|known| !known.is_null()));
        Changed { was: if is_veiled { Value::Null } else { was }, is, withheld: is_veiled }
    }

    /// Compares a map by entry: those given, and, if the map is replaced, those removed.
    fn entries(
        &self,
        (field, was): (&str, Value),
        new: &Map<String, Value>,
        replaces: bool,
    ) -> BTreeMap<String, Changed> {
        let old = was.as_object().cloned().unwrap_or_default();
        let withheld: BTreeSet<&str> = self.withheld.into_iter().flatten().filter_map(Value::as_str).collect();
        let known = old.keys().map(String::as_str).chain(withheld.iter().copied()).filter(|_| replaces);
        let names: BTreeSet<&str> = known.chain(new.keys().map(String::as_str)).collect();
        let changed = |name: &str| Changed {
            was: old.get(name).cloned().unwrap_or_default(),
            is: new.get(name).cloned().unwrap_or_default(),
            withheld: withheld.contains(name),
        };
        names.into_iter().map(|name| (format!("{field}.{name}"), changed(name))).collect()
    }
}

/// Returns the query that shows the target: its noun's, or the one with the same path.
fn shows(entry: &'static Entry, target: &Target, read: &Reader<'_>) -> Option<&'static Entry> {
    let sight = read.noun(target).and_then(|noun| noun.sight);
    let mut reads = crate::OPERATIONS.iter().filter(|one| one.effect == Effect::Query);
    reads.find(|one| match sight {
        Some(sight) => one.spec.name == sight,
        None => one.spec.route.method == Method::Get && one.spec.route.path == entry.spec.route.path,
    })
}

/// Builds the input of that query: its path parameters, from the call, or the target's own id.
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
