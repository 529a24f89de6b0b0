//! `ok policy diff`: shows what a folder of policies would change, before anything is applied.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::Context;
use super::super::call::Refused;
use super::super::column::columns;
use super::super::command::{Needs, Run};
use super::super::exit::{Exit, Failure};
use super::super::operation::query;
use super::super::save::put;
use super::super::show;
use super::compared;
use super::given::Given;
use super::lock::passed_over;
use crate::nouns::policy::diff::{self as operation, Candidate, Compared};
use crate::policy::Bundle;
use crate::policy::plan::{Base, Plan};
use crate::types::impact::{Ceilings, Over};
use crate::types::refusal::{Code, TOO_LONG};

/// Show what a folder of policies would change; nothing is applied
///
/// Compares with the policies in force: the texts by their @id, the answers to generated questions, and the answers to every
/// decision of the log. Ends with 0 if every file is the same, 2 if something differs, 3 if more is found than --max allows.
///
/// With --change, it compares what somebody has proposed.
///
/// Example: `ok policy diff policies --since 2026-11-01 --max newly_allowed=0,newly_denied=5`
#[derive(clap::Args)]
pub struct Diff {
    /// The folder, or a file that an export or `--save` wrote; `-` reads it from stdin
    #[arg(default_value = "policies")]
    dir: PathBuf,
    /// A change, instead of a folder: its id
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["dir", "save"])]
    change: Option<String>,
    /// Replay the decisions from here on: a time, a date, or the number of an event [default: all]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// How much may be found: newly_allowed, newly_denied, newly_approval, looser, unobserved
    #[arg(long, value_name = "NAME=NUMBER,...")]
    max: Option<Ceilings>,
    /// Do not replay the log
    #[arg(long, conflicts_with = "since")]
    no_impact: bool,
    /// Do not compare the answers to generated questions, which takes longest
    #[arg(long)]
    no_answers: bool,
    /// Save files and report as a plan, for `ok policy apply`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

impl Run for Diff {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let given = match self.change {
            Some(_) => None,
            None => Some(Given::read_aloud(&self.dir)?),
        };
        given.iter().filter_map(|given| given.unread_lock.as_deref()).for_each(passed_over);
        let unedited = given.as_ref().map(Given::unedited).unwrap_or_default();
        let bundle = given.map(|given| given.bundle);
        let impact = self.no_impact.then_some(false);
        let semantic = self.no_answers.then_some(false);
        let files = bundle.as_ref().map(|bundle| bundle.files.clone());
        let (change, since, max) = (self.change, self.since, self.max);
        let candidate = Candidate { files, unedited, change, since, max, impact, semantic, ..Candidate::default() };
        let answer = query::<operation::Diff>().attempt(context, &candidate).await?.map_err(hinted)?;
        context.show(&answer.value, || show::whole(&compared::text(&answer.read()?)))?;
        let over: Vec<Over> = answer.part(columns!(Compared; over_budget))?;
        let (keeps, same) = (over.is_empty(), answer.part(columns!(Compared; same))?);
        match (&self.save, &bundle) {
            (Some(path), Some(bundle)) if keeps => save(path, bundle, &answer.read()?, answer.value)?,
            (Some(path), _) => {
                show::note(&format!("{} is not written: the report exceeds the budget.", path.display()))
            }
            (None, _) => {}
        }
        Ok(match (keeps, same) {
            (false, _) => Exit::Untested,
            (true, false) => Exit::Findings,
            (true, true) => Exit::Done,
        })
    }
}

/// Adds what can still be compared: all but everybody's decisions for callers who may not count those, and only the texts of
/// bundles that are too large to query.
fn hinted(mut refused: Refused) -> Refused {
    let denied = format!("policy denied {}:", operation::COUNTS);
    if refused.code == Code::Denied.name() && refused.message.starts_with(&denied) {
        refused
            .message
            .push_str("\nNext: leave out --since and --max; `--no-impact` compares texts and answers alone.");
    }
    if refused.code == Code::Unavailable.name() && refused.message.starts_with(TOO_LONG) {
        refused.message.push_str("\nNext: `--no-answers --no-impact` compares the texts alone.");
    }
    refused
}

/// Writes a plan with the report as received.
fn save(path: &Path, bundle: &Bundle, found: &Compared, report: Value) -> Result<(), Failure> {
    let base = Base { version: found.base.version, hash: found.base.hash.clone() };
    put(path, &Plan::new(found.company.clone(), base, bundle, report).text()?)
}
