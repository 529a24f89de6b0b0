//! `ok policy check`: checks and tests a folder of policies before it serves. It needs no company.

use std::path::{Path, PathBuf};

use super::super::Context;
use super::super::column::columns;
use super::super::command::{Needs, Run};
use super::super::exit::{Exit, Failure};
use super::super::operation::query;
use super::super::save::write;
use super::super::show::{self, Format};
use super::checked::Checked;
use super::given::Given;
use super::lock::passed_over;
use super::{human, machine};
use crate::gate::explain::fixture;
use crate::nouns;
use crate::nouns::policy::check::{self as operation, Checked as Checks, Files, Problem};
use crate::policy::check::{Options, Report, formatted};
use crate::policy::codes::{self, End};
use crate::policy::{Bundle, Finding};

/// Check a folder of policies, and run its tests
///
/// Ends with 0 if all is fine, 1 if there are no policies, 2 if there are findings, 3 if only the tests or their coverage
/// failed. With a server, it also checks that enough people can give each approval.
///
/// Example: `ok policy check policies --min-coverage 100`
#[derive(clap::Args)]
pub struct Check {
    /// The folder, or a file that an export wrote; `-` reads it from stdin
    #[arg(default_value = "policies")]
    dir: PathBuf,
    /// Write the files as the formatter would
    #[arg(long)]
    fix: bool,
    #[command(flatten)]
    measures: Measures,
    /// The output format; `github` prints workflow annotations
    #[arg(id = "global.format", long = "format", value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// What the tests are held to.
#[derive(clap::Args)]
pub struct Measures {
    /// Fail unless the tests cover this much of the policies' parts, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,
    /// Mutate the policies, and report the mutants that no test detects
    #[arg(long)]
    mutate: bool,
    /// Fail unless the tests detect this share of the mutants, in percent
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
}

impl Run for Check {
    const NEEDS: Needs = Needs::Server;

    /// Checks the folder locally, and asks a server, if there is one, what only it knows: who could approve.
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Given { mut bundle, unread, unread_lock, dir, .. } = Given::read(&self.dir)?;
        unread_lock.as_deref().into_iter().for_each(passed_over);
        match &dir {
            Some(dir) if self.fix => fix(dir, &mut bundle)?,
            None if self.fix => return Err(Failure::Usage("--fix writes into a folder: give one".into())),
            _ => {}
        }
        // Files from one text keep their own paths.
        let dir = dir.unwrap_or_default();
        let options = Options { unread: &unread, ..self.measures.options() };
        let mut report = fixture::check(&nouns::OPERATIONS, &bundle, &options);
        if context.server.is_some() && report.loads() {
            let files = Files { files: bundle.files.clone() };
            let answer = query::<operation::Check>().ask(context, &files).await?;
            report.findings.extend(beyond(answer.part(columns!(Checks; problems))?, &report));
            report.findings.sort_unstable();
        }
        let checked = Checked { dir: &dir, bundle: &bundle, report };
        match self.format {
            Format::Human => human::show(&checked)?,
            Format::Json => show::json(&machine::json(&checked))?,
            Format::Sarif => show::json(&machine::sarif(&checked)?)?,
            Format::Junit => show::text(&machine::junit(&checked))?,
            Format::Github => show::text(&machine::github(&checked))?,
        }
        Ok(ended(checked.report.end()))
    }
}

/// Returns the exit code for a result.
pub fn ended(end: End) -> Exit {
    match end {
        End::Fine => Exit::Done,
        End::Broken => Exit::Failed,
        End::Findings => Exit::Findings,
        End::Tests => Exit::Untested,
    }
}

/// Returns the server's findings that were not found locally.
pub fn beyond(problems: Vec<Problem>, report: &Report) -> Vec<Finding> {
    let found = problems.into_iter().filter_map(|problem| {
        let Problem { file, line, span: [from, length], code, message, help, .. } = problem;
        let code = codes::of(&code)?.code;
        Some(Finding { help, ..Finding::new(code, file, line, (from, length), message) })
    });
    found.filter(|finding| !report.findings.contains(finding)).collect()
}

/// Rewrites every file that is not formatted.
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
