//! Formats a comparison of policies for people: texts, answers, decisions.

use std::fmt::Write as _;

use super::super::show;
use crate::nouns::change::list;
use crate::nouns::policy::PolicyVersion;
use crate::nouns::policy::check::Problem;
use crate::nouns::policy::diff;
use crate::policy::diff::{
    Answer, ChangeKind, Groups, Impact, Over, Pair, Semantic, Shift, Term, TextDiff, Unmet, Witness,
};
use crate::types::impact::{Budgets, Decision};
use crate::types::named::first_of;

/// The maximum number of kept files named.
const NAMED: usize = 5;

pub const DECISIONS: [Decision; 3] = [Decision::Allow, Decision::NeedsApproval, Decision::Deny];

/// The parts of a comparison that are reported: fewer for a single change.
pub struct Report<'a> {
    same: bool,
    base: &'a PolicyVersion,
    hash: &'a str,
    kept: &'a [String],
    warnings: &'a [Problem],
    text: &'a TextDiff,
    terms: &'a [Term],
    semantic: &'a Semantic,
    impact: Option<&'a Impact>,
    impact_needs: Option<&'a str>,
    over_budget: &'a [Over],
}

impl<'a> From<&'a diff::Compared> for Report<'a> {
    fn from(compared: &'a diff::Compared) -> Report<'a> {
        Report {
            same: compared.same,
            base: &compared.base,
            hash: &compared.hash,
            kept: &compared.kept,
            warnings: &compared.warnings,
            text: &compared.text,
            terms: &compared.terms,
            semantic: &compared.semantic,
            impact: compared.impact.as_ref(),
            impact_needs: compared.impact_needs.as_deref(),
            over_budget: &compared.over_budget,
        }
    }
}

impl<'a> From<&'a list::Compared> for Report<'a> {
    fn from(compared: &'a list::Compared) -> Report<'a> {
        Report {
            same: false,
            base: &compared.base,
            hash: &compared.hash,
            kept: &[],
            warnings: &compared.warnings,
            text: &compared.text,
            terms: &compared.terms,
            semantic: &compared.semantic,
            impact: None,
            impact_needs: None,
            over_budget: &[],
        }
    }
}

pub fn text<'a>(compared: impl Into<Report<'a>>) -> String {
    let report = compared.into();
    let mut text = head(&report);
    kept(report.kept, &mut text);
    warnings(report.warnings, &mut text);
    texts(report.text, &mut text);
    terms(report.terms).iter().for_each(|term| text.push_str(&format!("\n{term}\n")));
    answers(report.semantic, &mut text);
    if let Some(needed) = report.impact_needs {
        let _ = writeln!(text, "\ndecisions: not replayed; that needs {needed}");
    }
    if let Some(impact) = report.impact {
        decisions(impact, &mut text);
    }
    // Exceeded limits.
    report.over_budget.iter().for_each(|over| text.push_str(&format!("\n{}\n", excess(over))));
    text
}

/// Formats terms like ``approvals of `admin`: 4 people → 9 (…), threshold 1 → 2: looser``.
pub fn terms(terms: &[Term]) -> Vec<String> {
    let describe = |term: &Term| {
        let change = match term.change {
            Shift::Same => String::new(),
            change => format!(": {}", change.name()),
        };
        format!("{}: {}{change}", term.about, term.parts.join(", "))
    };
    terms.iter().map(describe).collect()
}

/// Counts changed policies, as in `2 added`, `1 changed`.
pub fn counted(text: &TextDiff) -> Vec<String> {
    let of = |change: ChangeKind| {
        let changed = text.policies.iter().filter(|policy| policy.change == change).count();
        (changed > 0).then(|| format!("{changed} {}", change.name()))
    };
    [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Moved]
        .into_iter()
        .filter_map(of)
        .collect()
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn head(report: &Report<'_>) -> String {
    let PolicyVersion { version, hash: base } = report.base;
    if report.same {
        return format!("Nothing differs from version {version} ({}).\n", short(base));
    }
    let mut said = counted(report.text);
    if said.is_empty() {
        said.push("none differs".into());
    }
    let files = report.text.files.len();
    let files = if files == 0 { String::new() } else { format!("; other files: {files}") };
    let names = format!("version {version} ({}) -> {}", short(base), short(report.hash));
    format!("{names}\npolicies: {}{files}\n", said.join(", "))
}

/// How to remove collections and views that a folder merely leaves out.
pub const WAYS: &str = "`ok schema propose` changes a collection, `ok view remove` removes a view";

/// Lists files that the folder leaves out without removing them.
fn kept(files: &[String], into: &mut String) {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    if !files.is_empty() {
        let _ = writeln!(into, "stay in force, though not among the files: {} ({WAYS})", first_of(&files, NAMED));
    }
}

/// Lists the warnings: names that do not exist, approvals that nobody could give, and entities that would not fit.
pub fn warnings(warnings: &[Problem], into: &mut String) {
    for Problem { message, file, line, .. } in warnings {
        let _ = writeln!(into, "warning: {message} ({file}:{line})");
    }
}

fn texts(text: &TextDiff, into: &mut String) {
    for policy in &text.policies {
        let place = format!("{}, {}:{}", policy.effect, policy.file, policy.line);
        let _ = write!(into, "\n{} {} ({place})\n{}", policy.change.name(), policy.id, policy.diff);
    }
    for file in &text.files {
        let _ = write!(into, "\n{} {}\n{}", file.change.name(), file.path, file.diff);
    }
}

fn answers(semantic: &Semantic, into: &mut String) {
    let rest = match semantic.questions {
        0 => String::new(),
        _ => format!("; the policies of {} other operations are the same", semantic.identical),
    };
    let _ = writeln!(into, "\nanswers: {}{rest}", semantic.summary);
    if !semantic.cut.is_empty() {
        let _ = writeln!(into, "not asked in full: {}", semantic.cut.join(", "));
    }
    if !semantic.unmet.is_empty() {
        let place = |Unmet { policy, file, line, part }: &Unmet| {
            let part = part.as_ref().map(|part| format!(", `{part}`")).unwrap_or_default();
            format!("`{policy}`{part} ({file}:{line})")
        };
        let all: Vec<String> = semantic.unmet.iter().map(place).collect();
        let _ = writeln!(
            into,
            "decided no question: {}; write a test case that shows its effect: test cases are compared, too",
            all.join(", ")
        );
    }
    let mut table = Vec::new();
    for Pair { operation, actor_kind, change, witnesses, .. } in semantic.changed() {
        let (mut operation, mut kind, mut change) = (operation.as_str(), actor_kind.as_str(), change.name());
        for witness in witnesses {
            table.push(vec![operation.to_owned(), kind.to_owned(), change.to_owned(), witnessed(witness)]);
            // Only in the first row of each group.
            (operation, kind, change) = ("", "", "");
        }
    }
    listed(&["operation", "actor", "change", "witness"], table, into);
}

/// Formats an example like `lea on max, approved: admin: allow -> deny (offboard-never)`.
pub fn witnessed(witness: &Witness) -> String {
    let mut said = witness.actor.clone();
    if let Some(target) = &witness.target {
        let _ = write!(said, " on {target}");
    }
    witness.given.iter().for_each(|given| said.push_str(&format!(", {given}")));
    format!("{said}: {} -> {}", answered(&witness.before), answered(&witness.after))
}

/// Formats an answer like `needs_approval of admin (offboard-with-approval)`.
fn answered(Answer { decision, approvals, because, .. }: &Answer) -> String {
    let mut said = decision.name().to_owned();
    if !approvals.is_empty() {
        let _ = write!(said, " of {}", approvals.join(", "));
    }
    match because.is_empty() {
        true => said.push_str(" (no policy permits it)"),
        false => said.push_str(&format!(" ({})", because.join(", "))),
    }
    said
}

fn decisions(impact: &Impact, into: &mut String) {
    let _ = writeln!(into, "\ndecisions: {}", impact.denominator.summary);
    for (why, count) in &impact.denominator.why {
        let _ = writeln!(into, "  {count}: {why}");
    }
    let row = |before: Decision| {
        let cells = DECISIONS.map(|after| impact.matrix.of(before, after).to_string());
        std::iter::once(before.name().to_owned()).chain(cells).collect()
    };
    listed(&["before / after", "allow", "needs_approval", "deny"], DECISIONS.map(row).to_vec(), into);
    grouped("operation", &impact.by_operation, into);
    grouped("policy", &impact.by_policy, into);
    grouped("actor", &impact.by_actor, into);
}

/// Lists decisions that would differ, grouped by one of their properties.
fn grouped(name: &str, groups: &Groups, into: &mut String) {
    let [allowed, denied, approval] = Budgets::NAMES;
    let rows = groups.rows.iter().map(|group| {
        let newly = group.newly;
        let counts = [group.changed, newly.newly_allowed, newly.newly_denied, newly.newly_approval];
        std::iter::once(group.name.clone()).chain(counts.map(|count| count.to_string())).collect()
    });
    listed(&[name, "changed", allowed, denied, approval], rows.collect(), into);
    if groups.more > 0 {
        let _ = writeln!(into, "and {} more", groups.more);
    }
}

/// Formats an exceeded budget like `over budget: looser is 2, at most 0 allowed`.
pub fn excess(Over { budget, found, max }: &Over) -> String {
    format!("over budget: {budget} is {found}, at most {max} allowed")
}

/// Appends a table after an empty line; nothing without rows.
fn listed(columns: &[&str], rows: Vec<Vec<String>>, into: &mut String) {
    if !rows.is_empty() {
        let head = columns.iter().map(|column| column.to_uppercase().replace('_', " ")).collect();
        let _ = writeln!(into, "\n{}", show::aligned(std::iter::once(head).chain(rows)));
    }
}
