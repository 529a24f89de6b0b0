//! The files that `ok ci` leaves for others: JUnit, SARIF, a summary; and the annotations of a GitHub workflow.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::exit::Failure;
use super::super::policy::machine::{self, Suite};
use super::steps::{Status, Step};
use super::{Done, summary};
use crate::cli::save::put;
use crate::config;

#[derive(clap::Args)]
pub struct Reports {
    /// Write the results as JUnit XML; missing folders are created
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the findings as SARIF; missing folders are created
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a summary in Markdown; missing folders are created [default: added to the file that GITHUB_STEP_SUMMARY names]
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Print annotations for a GitHub workflow [default: on where GITHUB_ACTIONS is set]
    #[arg(long)]
    pub github: bool,
}

impl Reports {
    /// Writes every file that can be written; each whole or not at all. Tells the first that cannot.
    pub fn write(&self, done: &Done<'_>) -> Result<(), Failure> {
        let named: Vec<&PathBuf> = [&self.junit, &self.sarif, &self.summary].into_iter().flatten().collect();
        let mut seen = BTreeSet::new();
        if let Some(twice) = named.into_iter().find(|path| !seen.insert(*path)) {
            let what = format!("{} is named for two reports: one would replace the other", twice.display());
            return Err(Failure::new(what));
        }
        let junit = self.junit.as_ref().map(|path| put(path, &junit(done)));
        let sarif = self.sarif.as_ref().map(|path| put(path, &sarif(done)?.to_string()));
        let summary = match (&self.summary, config::GITHUB_STEP_SUMMARY.path()) {
            (Some(path), _) => Some(put(path, &summary::text(done, summary::MOST))),
            (None, Some(path)) => Some(add(&path, done)),
            (None, None) => None,
        };
        [junit, sarif, summary].into_iter().flatten().collect()
    }
}

/// Earlier commands of the same job may have written to it.
fn add(path: &Path, done: &Done<'_>) -> Result<(), Failure> {
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
    };
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let left = summary::MOST.saturating_sub(before.len());
    put(path, &format!("{before}{gap}{}", summary::text(done, left)))
}

/// The steps that no file and line is about.
fn elsewhere<'a>(done: &'a Done<'_>) -> impl Iterator<Item = &'a Step> {
    done.steps.iter().filter(|step| matches!(step.name, "diff" | "impact" | "drift"))
}

fn junit(done: &Done<'_>) -> String {
    let mut company = Suite::default();
    for step in elsewhere(done) {
        match step.status {
            Status::Skipped => company.skipped("company", step.name, &step.summary),
            status if status.is_bad() => company.broken("company", step.name, status.name(), &step.summary),
            _ => company.passed("company", step.name),
        }
    }
    let mut suites = machine::suites(&done.checked);
    suites.push(("company", company));
    machine::document("ok ci", suites)
}

fn sarif(done: &Done<'_>) -> Result<Value, Failure> {
    let mut sarif = machine::sarif(&done.checked)?;
    let notification = |step: &Step| {
        let level = if step.status.is_bad() { "error" } else { "note" };
        json!({ "level": level, "message": { "text": format!("{}: {}", step.name, step.summary) } })
    };
    let invocation = json!({
        "executionSuccessful": done.steps.iter().all(|step| step.status != Status::Broken),
        "toolExecutionNotifications": elsewhere(done).map(notification).collect::<Vec<_>>(),
    });
    if let Some(run) = sarif.pointer_mut("/runs/0").and_then(Value::as_object_mut) {
        run.insert("invocations".to_owned(), json!([invocation]));
    }
    Ok(sarif)
}

pub fn annotations(done: &Done<'_>) -> String {
    let remark = |step: &Step| {
        let level = if step.status.is_bad() { "error" } else { "notice" };
        let worth = !matches!(step.status, Status::Passed);
        worth.then(|| machine::remark(level, &format!("ok ci {}", step.name), &step.summary))
    };
    format!("{}{}", machine::github(&done.checked), elsewhere(done).filter_map(remark).collect::<String>())
}
