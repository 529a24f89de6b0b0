//! `ok ci`: checks a folder of policies completely before it is merged, with one command. Steps that need no company
//! always run; the effect of a change on a company is reported if there is one.
//!
//! Always true: a step that did not run says so and why; reports are written whatever the result.

mod company;
mod reports;
mod steps;
mod summary;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::policy::check::Measures;
use super::policy::checked::Checked;
use super::policy::folder;
use super::policy::{human, machine};
use super::show::{self, Format};
use super::{Context, settings};
use crate::config;
use crate::gate::explain::fixture;
use crate::nouns;
use crate::policy::Folder;
use crate::policy::check::Options;
use crate::policy::codes::End;
use company::{Company, OfCompany};
use reports::Reports;
use steps::{Status, Step};

pub const COMMANDS: Commands = &[&own::<Ci>("ci")];

/// Check a folder of policies as CI does: format, lint, schema, tests, coverage, diff, impact, drift
///
/// Diff, impact and drift are about the company on the server that OK_SERVER names, or in the state file, if there is one.
/// Ends with 1 if something could not be asked or written, else with 2 if there are findings or the company has drifted,
/// else with 3 if tests, coverage or a budget failed. That policies differ from those in force is no failure.
///
/// Example: `ok ci policies --min-coverage 100 --max newly_allowed=0 --junit ci.xml --sarif ci.sarif`
#[derive(clap::Args)]
pub struct Ci {
    /// The folder
    #[arg(default_value = "policies")]
    dir: PathBuf,
    #[command(flatten)]
    measures: Measures,
    #[command(flatten)]
    of_company: OfCompany,
    #[command(flatten)]
    reports: Reports,
}

/// All that was done.
pub struct Done<'a> {
    checked: Checked<'a>,
    company: Company,
    steps: Vec<Step>,
}

impl Done<'_> {
    /// The most severe end of a step.
    fn exit(&self) -> Exit {
        let is = |status: Status| self.steps.iter().any(|step| step.status == status);
        let broken = is(Status::Broken) || self.checked.report.end() == End::Broken;
        match (broken, is(Status::Findings), is(Status::Failed)) {
            (true, ..) => Exit::Failed,
            (false, true, _) => Exit::Findings,
            (false, false, true) => Exit::Untested,
            (false, false, false) => Exit::Done,
        }
    }

    fn json(&self) -> Value {
        let step = |step: &Step| json!({ "name": step.name, "status": step.status.name(), "summary": step.summary });
        json!({
            "ok": self.exit() == Exit::Done,
            "exit": self.exit() as u8,
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "check": machine::json(&self.checked),
            "diff": self.company.diff.as_ref().map(|told| &told.value),
            "drift": self.company.drift.as_ref().map(|told| &told.value),
        })
    }

    /// The findings in full, then a line a step.
    fn human(&self) -> String {
        let row = |step: &Step| {
            let mark = if step.status.is_bad() { "FAILED: " } else { "" };
            vec![step.name.to_owned(), format!("{mark}{}", show::visible(&step.summary).replace('\n', " "))]
        };
        format!("{}{}\n", human::findings(&self.checked), show::aligned(self.steps.iter().map(row)))
    }
}

impl Run for Ci {
    const NEEDS: Needs = Needs::Either;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let annotates = self.reports.github
            || (settings::is_on(&config::GITHUB_ACTIONS, false)? && context.format == Format::Human);
        if self.reports.github && context.format == Format::Json {
            return Err(Failure::Usage("give either --github or --format json: both go to stdout".into()));
        }
        let Folder { bundle, unread } = folder(&self.dir)?;
        let options = Options { must_test: true, unread: &unread, ..self.measures.options() };
        let report = fixture::check(&nouns::OPERATIONS, &bundle, &options);
        let mut checked = Checked { dir: &self.dir, bundle: &bundle, report };
        let mut company = self.of_company.ask(context, &checked).await;
        checked.report.findings.append(&mut company.findings);
        checked.report.findings.sort_unstable();
        let mut steps = steps::of(&checked, &options);
        steps.extend(company.steps(&self.of_company));
        let done = Done { checked, company, steps };
        match context.format {
            Format::Json => show::json(&done.json())?,
            _ => show::painted(&done.human())?,
        }
        if annotates {
            show::whole(&reports::annotations(&done))?;
        }
        self.reports.write(&done)?;
        Ok(done.exit())
    }
}
