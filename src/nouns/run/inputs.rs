//! Veils the input of a call for readers other than its caller: whom and what they may not see is hidden, also in the calls of
//! a plan within it.

use serde_json::Value;

use crate::definition::Written;
use gate::reader::veil::{self, HIDDEN};
use gate::{Entry, Reader};
use types::plan::Plan;

/// The input field that holds a plan.
const PLAN: &str = "plan";

/// Hides in an input as written what the reader may not see, whether it exists or not. Returns texts hidden because the
/// operation takes none such in their place, since errors may repeat them.
pub(super) fn veil_written(entry: &'static Entry, input: &mut Value, read: &Reader<'_>) -> Vec<String> {
    let veil = entry.veil_of_input();
    let mut hidden = Vec::new();
    if entry.prepare(input.clone()).is_err() {
        hide_unknown(entry, input, &mut hidden);
        veil.hide_links(input, &mut hidden);
    }
    veil.apply_to_written(input, read);
    veil_within(input, &mut hidden, read);
    hidden
}

/// Same for an input that the operation has accepted: an actor missing from the directory may be the one to be added.
pub(crate) fn veil(entry: &Entry, input: &mut Value, read: &Reader<'_>) {
    entry.veil_of_input().apply(input, read);
    veil_within(input, &mut Vec::new(), read);
}

/// Veils other calls within an input: a plan, or a call that is asked about.
fn veil_within(input: &mut Value, hidden: &mut Vec<String>, read: &Reader<'_>) {
    read_plan(input);
    if let Some(plan) = input.get_mut(PLAN) {
        veil_plan(plan, hidden, read);
    }
    veil_call(input, ("op", "input"), hidden, read);
}

/// Hides fields that the operation does not have: they may be meant for one that it has.
fn hide_unknown(entry: &Entry, input: &mut Value, hidden: &mut Vec<String>) {
    let given = input.as_object_mut().into_iter().flatten();
    let unknown = given.filter(|(name, _)| !entry.fields().contains(*name));
    unknown.for_each(|(_, value)| veil::hide_texts(value, hidden));
}

/// Parses a plan written as the text of a file into its calls.
pub(crate) fn read_plan(input: &mut Value) {
    let Some(plan) = input.get_mut(PLAN).filter(|plan| plan.is_string()) else { return };
    if let Ok(read) = Written::<Plan>::new(plan.clone()).into_inner(PLAN) {
        *plan = serde_json::to_value(read).unwrap_or_else(|_| HIDDEN.into());
    }
}

/// Veils a plan. One that cannot be parsed is hidden whole, because its calls are unknown.
fn veil_plan(plan: &mut Value, hidden: &mut Vec<String>, read: &Reader<'_>) {
    if Written::<Plan>::new(plan.clone()).into_inner(PLAN).is_err() {
        veil::hide_texts(plan, hidden);
    }
    veil_calls(plan, hidden, read);
}

/// Veils each call of a plan, and of the plans within it.
fn veil_calls(part: &mut Value, hidden: &mut Vec<String>, read: &Reader<'_>) {
    if veil_call(part, ("tool", "with"), hidden, read) {
        return;
    }
    match part {
        Value::Array(parts) => parts.iter_mut().for_each(|part| veil_calls(part, hidden, read)),
        Value::Object(fields) => fields.values_mut().for_each(|part| veil_calls(part, hidden, read)),
        _ => {}
    }
}

/// Veils the input of the operation that a field names, and returns whether there is one. The input of an unknown operation is
/// hidden whole.
fn veil_call(call: &mut Value, (operation, with): (&str, &str), hidden: &mut Vec<String>, read: &Reader<'_>) -> bool {
    let named = call.get(operation).and_then(Value::as_str).map(str::to_owned);
    let Some((named, with)) = named.zip(call.get_mut(with)) else { return false };
    match crate::OPERATIONS.iter().find(|entry| entry.spec.name == named) {
        Some(entry) => hidden.extend(veil_written(entry, with, read)),
        None => veil::hide_texts(with, hidden),
    }
    true
}

/// Checks whether an error repeats a text, or a part of it, as errors quote them.
pub(super) fn repeats(error: &str, text: &str) -> bool {
    let quoted = error.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map(|(quoted, _)| quoted);
    let of_text = |quoted: &str| !quoted.is_empty() && format!("{text:?}").contains(quoted);
    quoted.is_some_and(of_text) || error.contains(&format!("`{text}`"))
}
