//! The steps that need a company: what the folder would change there, and whether the company matches the declarations
//! of its repository.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::Context;
use super::super::call::Refused;
use super::super::client::Session;
use super::super::column::columns;
use super::super::exit::Failure;
use super::super::operation::query;
use super::super::policy::check::beyond;
use super::super::policy::checked::Checked;
use super::super::policy::compared::{excess, number, rows, terms, word};
use super::super::policy::lock::{PolicyLock, passed_over};
use super::super::show;
use super::steps::{Status, Step, UNLOADED};
use crate::nouns::Nothing;
use crate::nouns::policy::check::{Check, Checked as OnServer, Files};
use crate::nouns::policy::diff::{Candidate, Diff};
use crate::nouns::policy::drift::ShowDrift;
use crate::policy::Finding;
use crate::types::impact::{Ceilings, grouped};
use crate::types::refusal::Code;

/// More pairs than this are counted in a step's line.
const PAIRS: usize = 3;

/// What is asked of a company.
#[derive(clap::Args)]
pub struct OfCompany {
    /// Replay the decisions from here on: a time, a date, or the number of an event [default: all]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// How much may be found: newly_allowed, newly_denied, newly_approval, looser, unobserved
    #[arg(long, value_name = "NAME=NUMBER,...")]
    max: Option<Ceilings>,
    /// Fail if the policies differ from those in force
    #[arg(long)]
    frozen: bool,
}

/// The company's answers. A part without an answer says why.
pub struct Company {
    /// What only the company could find in the same files: who could approve, and whether anybody could change them again.
    pub findings: Vec<Finding>,
    pub diff: Option<Value>,
    pub drift: Option<Value>,
    no_diff: Option<Step>,
    no_drift: Option<Step>,
    /// Whether the folder was made from what is in force, by hand or not.
    taken_over: bool,
}

impl Company {
    /// Nothing was asked; `bad` where it should have been.
    fn absent(why: &str, bad: bool) -> Company {
        let diff = if bad { Step::new("diff", Status::Broken, why) } else { Step::skipped("diff", why) };
        let drift = Step::skipped("drift", why);
        let (no_diff, no_drift) = (Some(diff), Some(drift));
        Company { findings: Vec::new(), diff: None, drift: None, no_diff, no_drift, taken_over: false }
    }

    pub fn steps(&self, asked: &OfCompany) -> Vec<Step> {
        let mut steps = Vec::new();
        match (&self.diff, &self.no_diff) {
            (Some(answer), _) => steps.extend([diff(answer, asked.frozen), impact(answer)]),
            (None, Some(step)) => {
                let why = if step.status == Status::Skipped { step.result() } else { "there is no diff" };
                steps.extend([step.clone(), Step::skipped("impact", why)]);
            }
            (None, None) => {}
        }
        steps
            .extend(self.drift.as_ref().map(|answer| drift(answer, self.taken_over)).or_else(|| self.no_drift.clone()));
        steps
    }
}

impl OfCompany {
    /// Whether something is asked that only a company can answer.
    fn needs_a_company(&self) -> bool {
        self.since.is_some() || self.max.is_some() || self.frozen
    }

    pub async fn ask(&self, context: &Context, checked: &Checked<'_>) -> Company {
        if context.server.is_none() {
            if !context.state.exists() {
                let why = format!("there is no OK_SERVER, and no state file {}", context.state.display());
                return Company::absent(&why, context.named || self.needs_a_company());
            }
            if context.actor.is_empty() {
                return Company::absent("the login name is not known: give --as or OK_AS", true);
            }
        }
        let mut session = match Session::open(context).await {
            Ok(session) => session,
            Err(failure) => return Company::absent(&said(failure), true),
        };
        let company = self.answered(&mut session, context, checked).await;
        session.close().await;
        company
    }

    async fn answered(&self, session: &mut Session, context: &Context, checked: &Checked<'_>) -> Company {
        let files = Some(checked.bundle.files.clone());
        let lock = PolicyLock::read(checked.dir).unwrap_or_else(|failure| {
            passed_over(&said(failure));
            None
        });
        let unedited = lock.map(|lock| lock.unedited(checked.bundle)).unwrap_or_default();
        let (since, max) = (self.since.clone(), self.max);
        let candidate = Candidate { files, unedited, since, max, ..Candidate::default() };
        let (diff, no_diff) = match checked.report.loads() {
            false => (None, Some(Step::skipped("diff", UNLOADED))),
            true => match query::<Diff>().within(session, context, &candidate).await {
                Ok(Ok(answer)) => (Some(answer.value), None),
                Ok(Err(refused)) => (None, Some(Step::new("diff", Status::Broken, problems(&refused)))),
                Err(failure) => return Company::absent(&said(failure), true),
            },
        };
        let (drift, no_drift) = match query::<ShowDrift>().within(session, context, &Nothing {}).await {
            Ok(Ok(answer)) => (Some(answer.value), None),
            // A token for policies alone does not reach it.
            Ok(Err(refused)) if [Code::TokenScope, Code::Denied].map(Code::name).contains(&refused.code.as_str()) => {
                (None, Some(Step::skipped("drift", &refused.message)))
            }
            Ok(Err(refused)) => (None, Some(Step::new("drift", Status::Broken, problems(&refused)))),
            Err(failure) => (None, Some(Step::new("drift", Status::Broken, said(failure)))),
        };
        let taken_over = drift.as_ref().is_some_and(|drift| is_from(word(drift, "/applied_hash"), checked));
        let findings = if diff.is_some() { found(session, context, checked).await } else { Vec::new() };
        Company { findings, diff, drift, no_diff, no_drift, taken_over }
    }
}

/// What the company finds in the files and was not found here.
async fn found(session: &mut Session, context: &Context, checked: &Checked<'_>) -> Vec<Finding> {
    let files = Files { files: checked.bundle.files.clone() };
    let why = match query::<Check>().within(session, context, &files).await {
        Ok(Ok(answer)) => match answer.part(columns!(OnServer; problems)) {
            Ok(problems) => return beyond(problems, &checked.report),
            Err(failure) => said(failure),
        },
        Ok(Err(refused)) => problems(&refused),
        Err(failure) => said(failure),
    };
    show::note(&format!("whether enough people can give the approvals is not checked: {why}"));
    Vec::new()
}

/// Whether the folder holds what has this hash, or was exported when that was in force.
fn is_from(hash: &str, checked: &Checked<'_>) -> bool {
    let lock = PolicyLock::read(checked.dir).ok().flatten();
    checked.bundle.hash().as_str() == hash || lock.is_some_and(|lock| lock.hash == hash)
}

fn said(failure: Failure) -> String {
    failure.sentence()
}

fn problems(refused: &Refused) -> String {
    let more = refused.problems.iter().filter(|problem| !refused.message.contains(problem.as_str()));
    std::iter::once(&refused.message).chain(more).map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// `2 added, 1 changed; looser for lead on policy.export; differences found in 1,204 questions`
fn diff(answer: &Value, frozen: bool) -> Step {
    let version = number(answer, "/base/version");
    if answer.get("same") == Some(&Value::Bool(true)) {
        return Step::new("diff", Status::Passed, format!("same as version {version}"));
    }
    let mut said = Vec::new();
    let policies = rows(answer, "/text/policies");
    for change in ["added", "removed", "changed", "moved"] {
        let found = policies.iter().filter(|row| word(row, "/change") == change).count();
        said.extend((found > 0).then(|| format!("{found} {change}")));
    }
    let files = rows(answer, "/text/files").len();
    said.extend((files > 0).then(|| format!("other files: {files}")));
    let mut summary = said.join(", ");
    for change in ["looser", "tighter", "mixed"] {
        if let Some(pairs) = pairs(answer, change) {
            summary = format!("{summary}; {change} for {pairs}");
        }
    }
    let terms = terms(answer);
    for term in terms.iter().take(PAIRS) {
        summary = format!("{summary}; {term}");
    }
    if terms.len() > PAIRS {
        summary = format!("{summary} and {} more", terms.len() - PAIRS);
    }
    let searched = word(answer, "/semantic/summary");
    if !searched.is_empty() {
        summary = format!("{summary}; {searched}");
    }
    let over = over(answer, false);
    match frozen {
        _ if !over.is_empty() => Step::new("diff", Status::Failed, format!("{summary}{over}")),
        true => Step::new(
            "diff",
            Status::Findings,
            format!("{summary}; --frozen: it must be the same as version {version}"),
        ),
        false => Step::new("diff", Status::Differs, summary),
    }
}

/// `lead, member on policy.export; ops on tick and 4 more`
fn pairs(answer: &Value, change: &str) -> Option<String> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for pair in rows(answer, "/semantic/pairs").iter().filter(|pair| word(pair, "/change") == change) {
        kinds.entry(word(pair, "/operation")).or_default().insert(word(pair, "/actor_kind"));
    }
    let listed = |(operation, kinds): (&&str, &BTreeSet<&str>)| {
        format!("{} on {operation}", kinds.iter().copied().collect::<Vec<_>>().join(", "))
    };
    let parts: Vec<String> = kinds.iter().take(PAIRS).map(listed).collect();
    let more = kinds.len().saturating_sub(PAIRS);
    let more = if more > 0 { format!(" and {more} more operations") } else { String::new() };
    (!parts.is_empty()).then(|| format!("{}{more}", parts.join(" and ")))
}

/// `1,204 of 1,204 replayed, 0 not replayable: 0 newly allowed, 0 newly denied, 0 newly need approval`
fn impact(answer: &Value) -> Step {
    if answer.get("impact").is_none_or(Value::is_null) {
        return Step::skipped("impact", "shown only to callers who may read the audit");
    }
    let newly = |field: &str| grouped(number(answer, &format!("/impact/{field}")));
    let summary = format!(
        "{}: {} newly allowed, {} newly denied, {} newly need approval",
        word(answer, "/impact/denominator/summary"),
        newly("newly_allowed"),
        newly("newly_denied"),
        newly("newly_approval"),
    );
    let over = over(answer, true);
    Step::new("impact", if over.is_empty() { Status::Passed } else { Status::Failed }, format!("{summary}{over}"))
}

/// `; over budget: looser is 2, at most 0 allowed`; of the decisions of the log, or of the answers.
fn over(answer: &Value, of_decisions: bool) -> String {
    let is_asked = |over: &&Value| word(over, "/budget").starts_with("newly_") == of_decisions;
    rows(answer, "/over_budget").iter().filter(is_asked).map(|over| format!("; {}", excess(over))).collect()
}

/// `in sync`
fn drift(answer: &Value, taken_over: bool) -> Step {
    let status = word(answer, "/status").replace('_', " ");
    if answer.get("drifted") != Some(&Value::Bool(true)) {
        return Step::new("drift", Status::Passed, status);
    }
    let (version, change) = (number(answer, "/applied_version"), word(answer, "/declared_change"));
    if answer.get("waits") == Some(&Value::Bool(true)) {
        return Step::new("drift", Status::Differs, format!("{status}: {change} waits to come into force"));
    }
    if taken_over {
        return Step::new("drift", Status::Differs, format!("{status}: version {version} was taken over here"));
    }
    Step::new("drift", Status::Findings, format!("{status}: version {version} is not what {change} declares"))
}
