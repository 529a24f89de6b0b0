//! A comparison of policies as people read it: texts, answers, decisions.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::exit::Failure;
use super::super::show;
use crate::types::named::first_of;

/// So many files that stay are named.
const NAMED: usize = 5;

pub const DECISIONS: [&str; 3] = ["allow", "needs_approval", "deny"];

pub(super) fn show(answer: &Value) -> Result<(), Failure> {
    show::whole(&text(answer))
}

pub fn text(answer: &Value) -> String {
    let mut text = head(answer);
    kept(answer, &mut text);
    warnings(answer, &mut text);
    texts(answer, &mut text);
    terms(answer).iter().for_each(|term| text.push_str(&format!("\n{term}\n")));
    answers(answer, &mut text);
    decisions(answer, &mut text);
    over_budget(answer, &mut text);
    text
}

/// ``approvals of `admin`: 4 people → 9 (…), threshold 1 → 2: looser``
pub fn terms(answer: &Value) -> Vec<String> {
    let describe = |term: &Value| {
        let parts: Vec<&str> = rows(term, "/parts").iter().filter_map(Value::as_str).collect();
        let change = match word(term, "/change") {
            "same" => String::new(),
            change => format!(": {change}"),
        };
        format!("{}: {}{change}", word(term, "/about"), parts.join(", "))
    };
    rows(answer, "/terms").iter().map(describe).collect()
}

pub fn rows<'a>(of: &'a Value, pointer: &str) -> &'a [Value] {
    of.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub fn word<'a>(of: &'a Value, pointer: &str) -> &'a str {
    of.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub fn number(of: &Value, pointer: &str) -> u64 {
    of.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn head(answer: &Value) -> String {
    let (version, base, hash) = (number(answer, "/base/version"), word(answer, "/base/hash"), word(answer, "/hash"));
    if answer.get("same") == Some(&Value::Bool(true)) {
        return format!("Nothing differs from version {version} ({}).\n", short(base));
    }
    let of = |change: &str| {
        let changed = rows(answer, "/text/policies").iter().filter(|row| word(row, "/change") == change).count();
        (changed > 0).then(|| format!("{changed} {change}"))
    };
    let mut said: Vec<String> = ["added", "removed", "changed", "moved"].into_iter().filter_map(of).collect();
    if said.is_empty() {
        said.push("none differs".into());
    }
    let files = rows(answer, "/text/files").len();
    let files = if files == 0 { String::new() } else { format!("; other files: {files}") };
    let names = format!("version {version} ({}) -> {}", short(base), short(hash));
    format!("{names}\npolicies: {}{files}\n", said.join(", "))
}

/// How collections and views go that a folder only leaves out.
pub const WAYS: &str = "`ok schema propose` changes a collection, `ok view remove` removes a view";

/// What a folder leaves out without removing it.
fn kept(answer: &Value, into: &mut String) {
    let files: Vec<&str> = rows(answer, "/kept").iter().filter_map(Value::as_str).collect();
    if !files.is_empty() {
        let _ = writeln!(into, "stay in force, though not among the files: {} ({WAYS})", first_of(&files, NAMED));
    }
}

/// What the candidate names that does not exist, the approvals that nobody could give, and what would not fit.
pub fn warnings(answer: &Value, into: &mut String) {
    for row in rows(answer, "/warnings") {
        let _ = writeln!(into, "warning: {} ({}:{})", word(row, "/message"), word(row, "/file"), number(row, "/line"));
    }
}

fn texts(answer: &Value, into: &mut String) {
    for row in rows(answer, "/text/policies") {
        let place = format!("{}, {}:{}", word(row, "/effect"), word(row, "/file"), number(row, "/line"));
        let _ = write!(into, "\n{} {} ({place})\n{}", word(row, "/change"), word(row, "/id"), word(row, "/diff"));
    }
    for row in rows(answer, "/text/files") {
        let _ = write!(into, "\n{} {}\n{}", word(row, "/change"), word(row, "/path"), word(row, "/diff"));
    }
}

fn answers(answer: &Value, into: &mut String) {
    let asked = number(answer, "/semantic/questions") > 0;
    let identical = number(answer, "/semantic/identical");
    let rest =
        if asked { format!("; the policies of {identical} other operations are the same") } else { String::new() };
    let _ = writeln!(into, "\nanswers: {}{rest}", word(answer, "/semantic/summary"));
    let cut: Vec<&str> = rows(answer, "/semantic/cut").iter().filter_map(Value::as_str).collect();
    if !cut.is_empty() {
        let _ = writeln!(into, "not asked in full: {}", cut.join(", "));
    }
    let unmet = rows(answer, "/semantic/unmet");
    if !unmet.is_empty() {
        let place = |row: &Value| {
            let part =
                row.pointer("/part").and_then(Value::as_str).map(|part| format!(", `{part}`")).unwrap_or_default();
            format!("`{}`{part} ({}:{})", word(row, "/policy"), word(row, "/file"), number(row, "/line"))
        };
        let all: Vec<String> = unmet.iter().map(place).collect();
        let _ = writeln!(
            into,
            "decided no question: {}; write a test case that shows its effect: test cases are compared, too",
            all.join(", ")
        );
    }
    let changed = rows(answer, "/semantic/pairs").iter().filter(|pair| word(pair, "/change") != "same");
    let mut table = Vec::new();
    for pair in changed {
        let (mut operation, mut kind, mut change) =
            (word(pair, "/operation"), word(pair, "/actor_kind"), word(pair, "/change"));
        for witness in rows(pair, "/witnesses") {
            table.push(vec![operation.to_owned(), kind.to_owned(), change.to_owned(), witnessed(witness)]);
            // Told once.
            (operation, kind, change) = ("", "", "");
        }
    }
    listed(&["operation", "actor", "change", "witness"], table, into);
}

/// `lea on max, approved: admin: allow -> deny (offboard-never)`
pub fn witnessed(witness: &Value) -> String {
    let mut said = word(witness, "/actor").to_owned();
    if let Some(target) = witness.get("target").and_then(Value::as_str) {
        let _ = write!(said, " on {target}");
    }
    rows(witness, "/given").iter().filter_map(Value::as_str).for_each(|given| said.push_str(&format!(", {given}")));
    format!("{said}: {} -> {}", answered(witness, "/before"), answered(witness, "/after"))
}

/// `needs_approval of admin (offboard-with-approval)`
fn answered(of: &Value, side: &str) -> String {
    let words =
        |field: &str| -> Vec<&str> { rows(of, &format!("{side}/{field}")).iter().filter_map(Value::as_str).collect() };
    let mut said = word(of, &format!("{side}/decision")).to_owned();
    let (approvals, because) = (words("approvals"), words("because"));
    if !approvals.is_empty() {
        let _ = write!(said, " of {}", approvals.join(", "));
    }
    match because.is_empty() {
        true => said.push_str(" (no policy permits it)"),
        false => said.push_str(&format!(" ({})", because.join(", "))),
    }
    said
}

fn decisions(answer: &Value, into: &mut String) {
    if let Some(needed) = answer.get("impact_needs").and_then(Value::as_str) {
        let _ = writeln!(into, "\ndecisions: not replayed; that needs {needed}");
    }
    let Some(impact) = answer.get("impact").filter(|impact| !impact.is_null()) else { return };
    let _ = writeln!(into, "\ndecisions: {}", word(impact, "/denominator/summary"));
    let why = impact.pointer("/denominator/why").and_then(Value::as_object);
    for (why, count) in why.into_iter().flatten() {
        let _ = writeln!(into, "  {count}: {why}");
    }
    let row = |before: &str| {
        let cells = DECISIONS.map(|after| number(impact, &format!("/matrix/{before}/{after}")).to_string());
        std::iter::once(before.to_owned()).chain(cells).collect()
    };
    listed(&["before / after", "allow", "needs_approval", "deny"], DECISIONS.map(row).to_vec(), into);
    for (group, name) in [("by_operation", "operation"), ("by_policy", "policy"), ("by_actor", "actor")] {
        let newly = ["newly_allowed", "newly_denied", "newly_approval"];
        let row = |row: &Value| {
            let counts =
                ["changed"].into_iter().chain(newly).map(|field| number(row, &format!("/{field}")).to_string());
            std::iter::once(word(row, "/name").to_owned()).chain(counts).collect()
        };
        let table = rows(impact, &format!("/{group}/rows")).iter().map(row).collect();
        listed(&[name, "changed", newly[0], newly[1], newly[2]], table, into);
        let more = number(impact, &format!("/{group}/more"));
        if more > 0 {
            let _ = writeln!(into, "and {more} more");
        }
    }
}

/// What is found more of than may be.
fn over_budget(answer: &Value, into: &mut String) {
    for over in rows(answer, "/over_budget") {
        let _ = writeln!(into, "\n{}", excess(over));
    }
}

/// `over budget: looser is 2, and may be 0`
pub fn excess(over: &Value) -> String {
    let (name, found, max) = (word(over, "/budget"), number(over, "/found"), number(over, "/max"));
    format!("over budget: {name} is {found}, at most {max} allowed")
}

/// A table after an empty line; nothing where it has no rows.
fn listed(columns: &[&str], rows: Vec<Vec<String>>, into: &mut String) {
    if !rows.is_empty() {
        let head = columns.iter().map(|column| column.to_uppercase().replace('_', " ")).collect();
        let _ = writeln!(into, "\n{}", show::aligned(std::iter::once(head).chain(rows)));
    }
}
