//! An explanation as people read it, and the words that its tree has too.

use serde_json::Value;

use super::super::exit::Failure;
use super::super::{client, show};

pub(super) fn print(answer: &Value, is_past: bool) -> Result<(), Failure> {
    let said = with(answer, "because", named(answer.get("because")));
    let said = with(&said, "near_misses", missed(answer.get("near_misses")));
    let said = with(&said, "policy", answer.pointer("/policy/version").cloned().unwrap_or_default());
    let said = if is_past { said } else { with(&said, "at", Value::Null) };
    let left = Value::from(limits(&said));
    let said = with(&said, "limits", left);
    let fields = [
        "decision",
        "operation",
        "actor",
        "target",
        "reason",
        "because",
        "near_misses",
        "kill",
        "limits",
        "policy",
        "at",
    ];
    show::fields(&fields, &said)?;
    let not_given: Vec<String> =
        list(answer.get("not_given")).iter().filter_map(Value::as_str).map(|name| format!("`{name}`")).collect();
    if !not_given.is_empty() {
        let names = not_given.join(" and ");
        show::text(&format!("\nPolicies read {names} from the input: with `--input`, the answer may differ."))?;
    }
    if let Some(rows) = answer.get("narrowed") {
        narrowed(rows)?;
    }
    let links = list(answer.get("on_behalf_of"));
    if !links.is_empty() {
        show::text("\nOn behalf of:")?;
        show::table(&["from", "delegation", "decision", "reason"], links)?;
    }
    if let Some(needed) = list(answer.get("approvals")).first() {
        show::text(&format!("\nIt needs approval{}:", asked(needed)))?;
        show::table(&["kind", "threshold", "held", "who_may_decide"], list(answer.get("approvals")))?;
    }
    if let Some(said) = answer.get("break_glass").map(break_glass) {
        show::text(&format!("\nWith break-glass: {said}"))?;
    }
    let sets: Vec<String> = list(answer.get("what_would_change")).iter().map(sentence).collect();
    if !sets.is_empty() {
        let lines: Vec<String> = sets.iter().map(|set| format!("  {set}")).collect();
        show::text(&format!("\nIt would be allowed if:\n{}", lines.join("\n  or\n")))?;
    }
    Ok(())
}

/// `changes-by-people: 5999 of 6000 in 60 s left`
pub(super) fn limits(answer: &Value) -> Vec<String> {
    let left = |limit: &Value| {
        let [id, left, most, seconds] = ["id", "left", "most", "seconds"].map(|field| said(limit, field));
        let over = if left == "0" { ": answered 429" } else { "" };
        format!("{id}: {left} of {most} in {seconds} s left{over}")
    };
    list(answer.get("limits")).iter().map(left).collect()
}

/// Which records a query answers with, by which policies, and what of them is left out.
fn narrowed(rows: &Value) -> Result<(), Failure> {
    let whole = match (said(rows, "records").as_str(), rows.get("condition")) {
        ("each", _) => "those that are each decided separately".to_owned(),
        ("some", Some(condition)) => format!("those with {}", show::cell(Some(condition))),
        (share, _) => share.to_owned(),
    };
    show::text(&format!("\nRecords: {whole}"))?;
    let by = list(rows.get("by"));
    if !by.is_empty() {
        show::table(&["id", "effect", "records", "condition"], by)?;
    }
    let withheld = list(rows.get("withheld"));
    if !withheld.is_empty() {
        show::text("\nFields that are left out:")?;
        show::table(&["label", "fields", "reason"], withheld)?;
    }
    Ok(())
}

fn asked(needed: &Value) -> String {
    needed.get("request").and_then(Value::as_str).map(|id| format!(", and {id} asks for it")).unwrap_or_default()
}

/// `allow, by bgl_01M7… (until 2026-11-20T09:10:00Z)`
pub(super) fn break_glass(break_glass: &Value) -> String {
    let [decision, id, until] = ["decision", "id", "expires_at"].map(|field| said(break_glass, field));
    if said(break_glass, "state") == "possible" {
        return format!("{decision}, by a grant that they could open (ok policy break-glass)");
    }
    let why = break_glass.get("reason").filter(|why| why.is_string()).map(|why| format!(": {}", show::cell(Some(why))));
    format!("{decision}, by {id} (until {until}){}", why.unwrap_or_default())
}

/// `the role of mia is lead, and mia leads team:ops`
pub(super) fn sentence(set: &Value) -> String {
    list(Some(set)).iter().map(|change| show::cell(change.get("text"))).collect::<Vec<_>>().join(", and ")
}

/// `tokens-for-others-by-admins (forbid, base/tokens.cedar:33)`
fn named(policies: Option<&Value>) -> Vec<String> {
    list(policies).iter().map(|policy| format!("{} ({})", said(policy, "id"), place(policy))).collect()
}

/// `tokens-for-oneself (1 part fails, base/tokens.cedar:3)`
fn missed(policies: Option<&Value>) -> Vec<String> {
    let one = |policy: &Value| match policy.get("failing").and_then(Value::as_u64) {
        Some(failing) => format!("{} ({}, {})", said(policy, "id"), fails(failing), source(policy).unwrap_or_default()),
        None => said(policy, "id"),
    };
    list(policies).iter().map(one).collect()
}

pub(super) fn fails(parts: u64) -> String {
    if parts == 1 { "1 part fails".into() } else { format!("{parts} parts fail") }
}

/// `forbid, base/tokens.cedar:33`; only the effect where the asker may not read policies.
pub(super) fn place(policy: &Value) -> String {
    let effect = said(policy, "effect");
    source(policy).map_or_else(|| effect.clone(), |source| format!("{effect}, {source}"))
}

fn source(policy: &Value) -> Option<String> {
    policy.get("file").map(|file| format!("{}:{}", show::cell(Some(file)), said(policy, "line")))
}

fn with(thing: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut thing = thing.clone();
    client::set(&mut thing, field, value);
    thing
}

pub(super) fn said(thing: &Value, field: &str) -> String {
    show::cell(thing.get(field))
}

pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
