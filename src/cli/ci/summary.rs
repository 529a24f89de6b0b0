//! One page of Markdown about all steps, for a pull request. What people wrote into policies cannot shape the page, and
//! the page is bounded: what is left out is counted.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::exit::Exit;
use super::super::policy::compared::{DECISIONS, number, rows, witnessed, word};
use super::super::show;
use super::Done;
use crate::policy::Finding;
use crate::types::impact::grouped;

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
    if let Some(answer) = &done.company.diff {
        differences(&mut page, answer);
        decisions(&mut page, answer);
    }
    if let Some(answer) = &done.company.drift {
        page.table("In force, and allows more than declared", &CHANGED, answers(answer, "/weaker"));
    }
    page.table("Not covered", &columns, found(&mut done.checked.report.open().iter()));
    page.text
}

const CHANGED: [&str; 4] = ["Operation", "Actor", "Change", "Witness"];

fn differences(page: &mut Page, answer: &Value) {
    let policy = |row: &Value| {
        let place = format!("{}:{}", word(row, "/file"), number(row, "/line"));
        vec![word(row, "/change").to_owned(), word(row, "/effect").to_owned(), word(row, "/id").to_owned(), place]
    };
    let policies = rows(answer, "/text/policies").iter().map(policy).collect();
    page.table("Policies that differ", &["Change", "Effect", "Policy", "Place"], policies);
    page.table("Answers that differ", &CHANGED, answers(answer, "/semantic/pairs"));
    if answer.get("same") != Some(&Value::Bool(true)) {
        page.line(word(answer, "/semantic/summary"));
    }
    let warning = |row: &Value| {
        vec![word(row, "/message").to_owned(), format!("{}:{}", word(row, "/file"), number(row, "/line"))]
    };
    let warnings = rows(answer, "/warnings").iter().map(warning).collect();
    page.table("Warnings", &["Warning", "Place"], warnings);
    let unmet = |row: &Value| {
        let place = format!("{}:{}", word(row, "/file"), number(row, "/line"));
        vec![word(row, "/policy").to_owned(), word(row, "/part").to_owned(), place]
    };
    let unmet = rows(answer, "/semantic/unmet").iter().map(unmet).collect();
    page.table("Policies, or parts of them, that decided no question", &["Policy", "Part", "Place"], unmet);
}

/// A row a witness.
fn answers(answer: &Value, pointer: &str) -> Vec<Vec<String>> {
    let changed = rows(answer, pointer).iter().filter(|pair| word(pair, "/change") != "same");
    let row = |pair: &Value| {
        let cells = ["/operation", "/actor_kind", "/change"].map(|field| word(pair, field).to_owned()).to_vec();
        let witnesses = rows(pair, "/witnesses").iter().map(witnessed);
        witnesses.map(move |witness| cells.iter().cloned().chain([witness]).collect()).collect::<Vec<_>>()
    };
    changed.flat_map(row).collect()
}

fn decisions(page: &mut Page, answer: &Value) {
    let Some(impact) = answer.get("impact").filter(|impact| !impact.is_null()) else { return };
    let row = |before: &str| {
        let cells = DECISIONS.map(|after| grouped(number(impact, &format!("/matrix/{before}/{after}"))));
        std::iter::once(before.to_owned()).chain(cells).collect()
    };
    let columns = ["Before / after", DECISIONS[0], DECISIONS[1], DECISIONS[2]];
    page.table("Decisions of the log", &columns, DECISIONS.map(row).to_vec());
    page.line(word(impact, "/denominator/summary"));
    let group = |row: &Value| {
        let counts = ["newly_allowed", "newly_denied", "newly_approval"];
        let counts = counts.map(|field| grouped(number(row, &format!("/{field}"))));
        std::iter::once(word(row, "/name").to_owned()).chain(counts).collect::<Vec<_>>()
    };
    let groups = rows(impact, "/by_operation/rows").iter().map(group).collect();
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
