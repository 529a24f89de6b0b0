//! `ok policy check`: a folder of policies, checked and tested before it serves. It needs no company.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::exit::{Exit, Failure};
use super::super::save::write;
use super::super::show::{self, Format};
use super::super::{Context, client};
use super::{folder, human, machine};
use crate::gate::fixture;
use crate::operations;
use crate::policy::check::{self, Options, Report, formatted};
use crate::policy::{Bundle, Finding, Folder};

/// Check a folder of policies, and run its tests
///
/// Ends with 0 if all is fine, 2 if there are findings, 3 if only the tests or their coverage failed.
///
/// Example: `ok policy check policies --min-coverage 100`
#[derive(clap::Args)]
pub struct Check {
    /// The folder
    #[arg(default_value = "policies")]
    dir: PathBuf,
    /// Write the files as the formatter would
    #[arg(long)]
    fix: bool,
    #[command(flatten)]
    measures: Measures,
}

/// What the tests are held to.
#[derive(clap::Args)]
pub struct Measures {
    /// Fail unless the tests cover this much of the policies' parts, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,
    /// Try small mistakes in the policies, and tell which ones no test notices
    #[arg(long)]
    mutate: bool,
    /// Fail unless the tests notice this share of those mistakes, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_mutation: Option<u8>,
}

impl Measures {
    pub fn options(&self) -> Options<'static> {
        Options {
            min_coverage: self.min_coverage,
            mutate: self.mutate,
            min_mutation: self.min_mutation,
            ..Options::default()
        }
    }

    fn are_asked_for(&self) -> bool {
        self.mutate || self.min_coverage.is_some() || self.min_mutation.is_some()
    }
}

/// A report with the files that it is about.
pub struct Checked<'a> {
    pub dir: &'a Path,
    pub bundle: &'a Bundle,
    pub report: Report,
}

impl Checked<'_> {
    /// Everything that keeps the command from ending with 0.
    pub fn problems(&self) -> Vec<&Finding> {
        self.report.findings.iter().chain(self.report.tests()).collect()
    }

    /// The path of a file as the caller has it.
    pub fn path(&self, file: &str) -> String {
        self.dir.join(file).display().to_string()
    }

    pub fn text(&self, file: &str) -> &str {
        self.bundle.files.get(file).map(String::as_str).unwrap_or_default()
    }
}

impl Check {
    /// Asks a server, which knows who could approve.
    pub async fn ask(&self, context: &Context) -> Result<Exit, Failure> {
        if self.fix || self.measures.are_asked_for() {
            let flags = "--fix, --mutate, --min-coverage and --min-mutation";
            return Err(Failure::Usage(format!("{flags} work without a server")));
        }
        let Folder { bundle, unread } = folder(&self.dir)?;
        let mut answer = client::call(context, "policy.check", json!({ "files": bundle.files })).await?;
        if let Some(problems) = answer.get_mut("problems").and_then(Value::as_array_mut) {
            // The server does not see them.
            problems.extend(unread.iter().map(|file| machine::problem(&check::unread(file))));
        }
        let rows = |pointer: &str| answer.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
        let (problems, failed) = (rows("/problems"), rows("/tests/failed"));
        if !problems.is_empty() {
            client::set(&mut answer, "ok", false);
        }
        context.show(&answer, || {
            show::table(&["file", "line", "code", "message"], &problems)?;
            show::table(&["file", "line", "code", "message"], &failed)?;
            show::fields(&["ok", "policies", "coverage"], &answer)
        })?;
        Ok(match (problems.is_empty(), failed.is_empty()) {
            (false, _) => Exit::Findings,
            (true, false) => Exit::Untested,
            (true, true) => Exit::Done,
        })
    }

    pub fn run(&self, format: Format) -> Result<Exit, Failure> {
        let Folder { mut bundle, unread } = folder(&self.dir)?;
        if self.fix {
            fix(&self.dir, &mut bundle)?;
        }
        let report = fixture::check(&operations::ALL, &bundle, &Options { unread: &unread, ..self.measures.options() });
        let checked = Checked { dir: &self.dir, bundle: &bundle, report };
        match format {
            Format::Human => human::show(&checked)?,
            Format::Json => show::json(&machine::json(&checked))?,
            Format::Sarif => show::json(&machine::sarif(&checked))?,
            Format::Junit => show::text(&machine::junit(&checked))?,
            Format::Github => show::text(&machine::github(&checked))?,
        }
        Ok(match (checked.report.is_clean(), checked.report.is_tested()) {
            (false, _) => Exit::Findings,
            (true, false) => Exit::Untested,
            (true, true) => Exit::Done,
        })
    }
}

/// Writes every file anew that is not formatted.
fn fix(dir: &Path, bundle: &mut Bundle) -> Result<(), Failure> {
    for (file, text) in &mut bundle.files {
        let Some(pretty) = file.ends_with(".cedar").then(|| formatted(text)).flatten() else { continue };
        let path = dir.join(file);
        write(&path, &pretty)?;
        show::note(&format!("formatted {}", path.display()));
        *text = pretty;
    }
    Ok(())
}
