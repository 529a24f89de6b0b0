//! One page of Markdown about all steps, for a pull request. What people wrote into policies cannot shape the page, and
//! the page is bounded: what is left out is counted.

use std::fmt::Write as _;

use super::super::exit::Exit;
use super::super::policy::compared::{DECISIONS, witnessed};
use super::super::show;
use super::Done;
use crate::nouns::policy::check::Problem;
use crate::nouns::policy::diff::Compared;
use crate::policy::Finding;
use crate::policy::diff::{Group, Impact, Pair, PolicyChange, Shift, Unmet};
use crate::types::impact::{Decision, grouped};

/// The most bytes of a page; GitHub drops one of more than 1 MiB.
pub const MOST: usize = 1_000_000;
/// The most rows of a table.
const ROWS: usize = 200;
/// The most characters of a cell.
const CELL: usize = 400;
/// Kept for headings and for what is said about rows that are left out.
const RESERVE: usize = 8 << 10;

/// The page, in about `most` bytes: the table of steps always stands.
pub fn text(done: &Done<'_>, most: usize) -> String {
    let mut page = Page { text: String::new(), most: most.saturating_sub(RESERVE) };
    let verdict = if done.exit() == Exit::Done { "passed" } else { "failed" };
    let _ =
        write!(page.text, "## Policies: {verdict}\n\n`ok ci` on {}\n", plain(&done.checked.dir.display().to_string()));
    let steps = done
        .steps
        .iter()
        .map(|step| vec![step.name.to_owned(), step.status.name().to_owned(), step.result().to_owned()]);
    page.table("", &["Step", "Status", "Result"], steps.collect());
    let found = |findings: &mut dyn Iterator<Item = &Finding>| -> Vec<Vec<String>> {
        let place = |finding: &Finding| format!("{}:{}", done.checked.path(&finding.file), finding.line);
        findings.map(|finding| vec![place(finding), finding.code.to_owned(), finding.message.clone()]).collect()
    };
    let columns = ["Place", "Code", "Message"];
    page.table("Failed tests", &columns, found(&mut done.checked.report.tests()));
    page.table("Findings", &columns, found(&mut done.checked.report.findings.iter()));
    if let Some(told) = &done.company.diff {
        differences(&mut page, &told.read);
        told.read.impact.iter().for_each(|impact| decisions(&mut page, impact));
    }
    if let Some(told) = &done.company.drift {
        page.table("In force, and allows more than declared", &CHANGED, answers(&told.read.weaker));
    }
    page.table("Not covered", &columns, found(&mut done.checked.report.open().iter()));
    page.text
}

const CHANGED: [&str; 4] = ["Operation", "Actor", "Change", "Witness"];

fn differences(page: &mut Page, found: &Compared) {
    let policy = |policy: &PolicyChange| {
        let place = format!("{}:{}", policy.file, policy.line);
        vec![policy.change.name().to_owned(), policy.effect.clone().into_owned(), policy.id.clone(), place]
    };
    let policies = found.text.policies.iter().map(policy).collect();
    page.table("Policies that differ", &["Change", "Effect", "Policy", "Place"], policies);
    page.table("Answers that differ", &CHANGED, answers(&found.semantic.pairs));
    if !found.same {
        page.line(&found.semantic.summary);
    }
    let warning = |Problem { message, file, line, .. }: &Problem| vec![message.clone(), format!("{file}:{line}")];
    let warnings = found.warnings.iter().map(warning).collect();
    page.table("Warnings", &["Warning", "Place"], warnings);
    let unmet = |Unmet { policy, file, line, part }: &Unmet| {
        vec![policy.clone(), part.clone().unwrap_or_default(), format!("{file}:{line}")]
    };
    let unmet = found.semantic.unmet.iter().map(unmet).collect();
    page.table("Policies, or parts of them, that decided no question", &["Policy", "Part", "Place"], unmet);
}

/// A row a witness.
fn answers(pairs: &[Pair]) -> Vec<Vec<String>> {
    let changed = pairs.iter().filter(|pair| pair.change != Shift::Same);
    let row = |pair: &Pair| {
        let cells = [pair.operation.clone(), pair.actor_kind.clone(), pair.change.name().to_owned()];
        let witnesses = pair.witnesses.iter().map(witnessed);
        witnesses.map(move |witness| cells.iter().cloned().chain([witness]).collect()).collect::<Vec<_>>()
    };
    changed.flat_map(row).collect()
}

fn decisions(page: &mut Page, impact: &Impact) {
    let row = |before: Decision| {
        let cells = DECISIONS.map(|after| grouped(impact.matrix.of(before, after)));
        std::iter::once(before.name().to_owned()).chain(cells).collect()
    };
    let [allow, needs_approval, deny] = DECISIONS.map(Decision::name);
    let columns = ["Before / after", allow, needs_approval, deny];
    page.table("Decisions of the log", &columns, DECISIONS.map(row).to_vec());
    page.line(&impact.denominator.summary);
    let group = |group: &Group| {
        let newly = group.newly;
        let counts = [newly.newly_allowed, newly.newly_denied, newly.newly_approval];
        std::iter::once(group.name.clone()).chain(counts.map(grouped)).collect::<Vec<_>>()
    };
    let groups = impact.by_operation.rows.iter().map(group).collect();
    page.table("By operation", &["Operation", "Newly allowed", "Newly denied", "Newly need approval"], groups);
}

struct Page {
    text: String,
    most: usize,
}

impl Page {
    /// A table below its heading; nothing where it has no rows.
    fn table(&mut self, heading: &str, columns: &[&str], rows: Vec<Vec<String>>) {
        if rows.is_empty() {
            return;
        }
        if !heading.is_empty() {
            let _ = write!(self.text, "\n### {heading}\n");
        }
        let _ = write!(self.text, "\n{}{}\n", line(columns.iter().copied()), "|---".repeat(columns.len()) + "|");
        let (all, mut shown) = (rows.len(), 0);
        for row in rows.into_iter().take(ROWS) {
            let row = line(row.iter().map(String::as_str));
            // The table of steps comes first, and is short.
            if self.text.len() + row.len() > self.most && !heading.is_empty() {
                break;
            }
            self.text.push_str(&row);
            shown += 1;
        }
        if all > shown {
            let _ = write!(self.text, "\n{} more are omitted here; the command lists them all.\n", all - shown);
        }
    }

    fn line(&mut self, text: &str) {
        let _ = write!(self.text, "\n{}\n", plain(text));
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.fold("|".to_owned(), |line, cell| format!("{line} {} |", plain(cell))) + "\n"
}

/// Text that Markdown and HTML leave alone, on one line, not longer than a cell may be.
fn plain(text: &str) -> String {
    let mut said = String::new();
    for (at, c) in show::visible(text).chars().enumerate() {
        match c {
            _ if at == CELL => {
                said.push('…');
                break;
            }
            '\n' => said.push(' '),
            '<' => said.push_str("&lt;"),
            '>' => said.push_str("&gt;"),
            '&' => said.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '!' | '~' | '@' => said.extend(['\\', c]),
            _ => said.push(c),
        }
    }
    said
}
