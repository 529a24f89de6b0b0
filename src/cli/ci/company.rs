//! The steps that need a company: what the folder would change there, and whether the company matches the declarations
//! of its repository.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::Context;
use super::super::call::Refused;
use super::super::client::Session;
use super::super::column::columns;
use super::super::exit::Failure;
use super::super::operation::{Answer, query};
use super::super::policy::check::beyond;
use super::super::policy::checked::Checked;
use super::super::policy::compared::{counted, excess, terms};
use super::super::policy::lock::{PolicyLock, passed_over};
use super::super::show;
use super::steps::{Status, Step, UNLOADED};
use crate::nouns::Nothing;
use crate::nouns::policy::check::{Check, Checked as OnServer, Files};
use crate::nouns::policy::diff::{Candidate, Compared, Diff};
use crate::nouns::policy::drift::{Drift, ShowDrift};
use crate::policy::Finding;
use crate::policy::diff::{Over, Semantic, Shift};
use crate::types::impact::{Budgets, Ceilings, grouped};
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

/// An answer as it came, and as it reads.
pub struct ParsedAnswer<O> {
    pub value: Value,
    pub read: O,
}

/// The company's answers. A part without an answer says why.
pub struct Company {
    /// What only the company could find in the same files: who could approve, and whether anybody could change them again.
    pub findings: Vec<Finding>,
    pub diff: Option<ParsedAnswer<Compared>>,
    pub drift: Option<ParsedAnswer<Drift>>,
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
            (Some(told), _) => steps.extend([diff(&told.read, asked.frozen), impact(&told.read)]),
            (None, Some(step)) => {
                let why = if step.status == Status::Skipped { step.result() } else { "there is no diff" };
                steps.extend([step.clone(), Step::skipped("impact", why)]);
            }
            (None, None) => {}
        }
        let drift = self.drift.as_ref().map(|told| drift(&told.read, self.taken_over));
        steps.extend(drift.or_else(|| self.no_drift.clone()));
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
            true => match told(query::<Diff>().within(session, context, &candidate).await) {
                Ok(Ok(told)) => (Some(told), None),
                Ok(Err(refused)) => (None, Some(Step::new("diff", Status::Broken, problems(&refused)))),
                Err(failure) => return Company::absent(&said(failure), true),
            },
        };
        let (drift, no_drift) = match told(query::<ShowDrift>().within(session, context, &Nothing {}).await) {
            Ok(Ok(told)) => (Some(told), None),
            // A token for policies alone does not reach it.
            Ok(Err(refused)) if [Code::TokenScope, Code::Denied].map(Code::name).contains(&refused.code.as_str()) => {
                (None, Some(Step::skipped("drift", &refused.message)))
            }
            Ok(Err(refused)) => (None, Some(Step::new("drift", Status::Broken, problems(&refused)))),
            Err(failure) => (None, Some(Step::new("drift", Status::Broken, said(failure)))),
        };
        let taken_over = drift.as_ref().is_some_and(|drift| is_from(&drift.read.applied_hash, checked));
        let findings = if diff.is_some() { found(session, context, checked).await } else { Vec::new() };
        Company { findings, diff, drift, no_diff, no_drift, taken_over }
    }
}

fn told<O: DeserializeOwned>(
    asked: Result<Result<Answer<O>, Refused>, Failure>,
) -> Result<Result<ParsedAnswer<O>, Refused>, Failure> {
    Ok(match asked? {
        Ok(answer) => match answer.read() {
            Ok(read) => Ok(ParsedAnswer { read, value: answer.value }),
            Err(failure) => Err(Refused { message: said(failure), ..Refused::new(Code::Unavailable) }),
        },
        Err(refused) => Err(refused),
    })
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
fn diff(found: &Compared, frozen: bool) -> Step {
    let version = found.base.version;
    if found.same {
        return Step::new("diff", Status::Passed, format!("same as version {version}"));
    }
    let mut said = counted(&found.text);
    let files = found.text.files.len();
    said.extend((files > 0).then(|| format!("other files: {files}")));
    let mut summary = said.join(", ");
    for change in [Shift::Looser, Shift::Tighter, Shift::Mixed] {
        if let Some(pairs) = pairs(&found.semantic, change) {
            summary = format!("{summary}; {} for {pairs}", change.name());
        }
    }
    let terms = terms(&found.terms);
    for term in terms.iter().take(PAIRS) {
        summary = format!("{summary}; {term}");
    }
    if terms.len() > PAIRS {
        summary = format!("{summary} and {} more", terms.len() - PAIRS);
    }
    if !found.semantic.summary.is_empty() {
        summary = format!("{summary}; {}", found.semantic.summary);
    }
    let over = over(&found.over_budget, false);
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
fn pairs(semantic: &Semantic, change: Shift) -> Option<String> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for pair in semantic.pairs.iter().filter(|pair| pair.change == change) {
        kinds.entry(&pair.operation).or_default().insert(&pair.actor_kind);
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
fn impact(found: &Compared) -> Step {
    let Some(impact) = &found.impact else {
        return Step::skipped("impact", "shown only to callers who may read the audit");
    };
    let summary = format!(
        "{}: {} newly allowed, {} newly denied, {} newly need approval",
        impact.denominator.summary,
        grouped(impact.newly.newly_allowed),
        grouped(impact.newly.newly_denied),
        grouped(impact.newly.newly_approval),
    );
    let over = over(&found.over_budget, true);
    Step::new("impact", if over.is_empty() { Status::Passed } else { Status::Failed }, format!("{summary}{over}"))
}

/// `; over budget: looser is 2, at most 0 allowed`; of the decisions of the log, or of the answers.
fn over(all: &[Over], of_decisions: bool) -> String {
    let is_asked = |over: &&Over| Budgets::NAMES.contains(&&*over.budget) == of_decisions;
    all.iter().filter(is_asked).map(|over| format!("; {}", excess(over))).collect()
}

/// `in sync`
fn drift(found: &Drift, taken_over: bool) -> Step {
    let status = show::said(&found.status).replace('_', " ");
    if !found.drifted {
        return Step::new("drift", Status::Passed, status);
    }
    let (version, change) = (found.applied_version, found.declared_change.as_deref().unwrap_or_default());
    if found.waits {
        return Step::new("drift", Status::Differs, format!("{status}: {change} waits to come into force"));
    }
    if taken_over {
        return Step::new("drift", Status::Differs, format!("{status}: version {version} was taken over here"));
    }
    Step::new("drift", Status::Findings, format!("{status}: version {version} is not what {change} declares"))
}
