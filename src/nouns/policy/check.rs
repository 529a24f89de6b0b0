//! Checks policies through the API: the findings of `ok policy check`, and whether the company has enough approvers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::way_back;
use crate::company::COMPANY;
use gate::Card;
use gate::explain::fixture;
use gate::{Permit, Query, Reader, Spec, Target, post};
use policy::approvals::{self, ApprovalRules};
use policy::brain::is_collection;
use policy::bundle::{is_policy, problems};
use policy::check::{Directory, Options, Person};
use policy::codes;
use policy::limits::{self, Limits};
use policy::{Bundle, Finding};
use types::id::ActorId;
use types::refusal::{Refusal, Stop};
use types::scope::{Reach, Scope};

/// The maximum number of evaluations for the tests of one request: a few seconds.
const MOST: usize = 500_000;

/// The maximum number of findings in one answer.
const SHOWN: usize = 500;

/// A bundle.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Text by path: `*.cedar`, `approvals.yaml`, `schema.cedarschema` and `tests/*.yaml`.
    #[schemars(extend("maxProperties" = 20_000, "additionalProperties" = {"type": "string", "maxLength": 1048576}))]
    pub files: BTreeMap<String, String>,
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub struct Checked {
    /// Whether there is no problem, and every test ran and passed.
    pub ok: bool,
    /// How many policies would load.
    pub policies: usize,
    /// At most 500, and another 500 from tests.
    pub problems: Vec<Problem>,
    /// How many more there are; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    pub tests: Tests,
    /// Percentage of the policies' parts that the tests have seen both true and false; none if the bundle does not
    /// load.
    pub coverage: Option<u8>,
    /// The parts that they have not, at most 500; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncovered: Vec<Problem>,
}

#[derive(Serialize, JsonSchema)]
pub struct Tests {
    pub run: usize,
    pub failed: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Bytes of the file: where it starts, and how long it is.
    pub span: [usize; 2],
    /// A stable code; the reference of findings explains each.
    pub code: Cow<'static, str>,
    /// `error` or `warning`.
    #[schemars(extend("enum" = ["error", "warning", "note"]))]
    pub severity: Cow<'static, str>,
    pub message: String,
    pub help: Option<String>,
}

impl From<&Finding> for Problem {
    fn from(finding: &Finding) -> Problem {
        let Finding { file, line, span, code, severity, message, help } = finding.clone();
        Problem { file, line, span: span.into(), code: code.into(), severity: severity.name().into(), message, help }
    }
}

/// Check policies and run their tests.
pub enum Check {}

impl Query for Check {
    const SPEC: Spec = Spec {
        name: "policy.check",
        doc: "Check policies and run their tests. Nothing is applied.",
        scope: Reach::Scopes(&[Scope::Policy]),
        route: post("/policy/check").compiles().large(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Files;
    type Output = Checked;

    fn target(_: &Files, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Files, read: &Reader<'_>) -> Result<Checked, Stop> {
        let bad = problems(&input.files, 20);
        if !bad.is_empty() {
            return Err(Refusal::invalid(bad).into());
        }
        let directory = directory(read);
        let known = known(&input.files, read);
        let options = Options {
            directory: directory.as_ref(),
            known: Some(&known),
            ttl_hours: u32::try_from(read.approval_hours()?).ok(),
            most: Some(MOST),
            ..Options::default()
        };
        // Without collections of its own, it is checked with those in force.
        let bundle = Bundle { files: input.files };
        let is_whole = bundle.files.keys().any(|path| is_collection(path));
        let bundle = if is_whole { bundle } else { bundle.about_collections_of(&read.bundle()?) };
        let mut report = fixture::check(&crate::OPERATIONS, &bundle, &options);
        // Callers who do not see everybody learn nothing of what the others could do.
        if report.loads() && directory.is_some() {
            report.findings.extend(locked_out(&bundle, read));
            report.findings.sort_unstable();
        }
        let more = |all: usize| all.saturating_sub(SHOWN);
        let omitted = more(report.findings.len()) + more(report.tests().count());
        Ok(Checked {
            ok: report.is_clean() && report.is_tested(),
            policies: report.policies,
            problems: report.findings.iter().take(SHOWN).map(Problem::from).collect(),
            omitted: Some(omitted).filter(|more| *more > 0),
            tests: Tests {
                run: report.run.asked.len(),
                failed: report.tests().take(SHOWN).map(Problem::from).collect(),
            },
            coverage: report.coverage.as_ref().map(policy::testing::Coverage::percent),
            uncovered: report.open().iter().take(SHOWN).map(Problem::from).collect(),
        })
    }
}

fn locked_out(bundle: &Bundle, read: &Reader<'_>) -> Option<Finding> {
    let policies = read.build_cache().snapshot(bundle).ok()?;
    let why = way_back::locked_out(&policies, read)?;
    Some(Finding::new(codes::LOCKED_OUT, "*.cedar", 1, (0, 0), why))
}

/// Returns the existing actors and teams among all quoted strings of the policies, the teams with budgets, and the teams to
/// which approvals escalate.
pub(super) fn known(files: &BTreeMap<String, String>, read: &Reader<'_>) -> BTreeSet<String> {
    let policies = files.iter().filter(|(path, _)| is_policy(path));
    let quoted = policies.flat_map(|(_, text)| text.split('"'));
    let limits = files.get(limits::FILE).and_then(|text| Limits::parse(text).ok()).unwrap_or_default();
    let rules = files.get(approvals::FILE).and_then(|text| ApprovalRules::parse(text).ok()).unwrap_or_default();
    let named: BTreeSet<&str> = quoted
        .chain(limits.teams.keys().map(ActorId::as_str))
        .chain(rules.escalation_teams().map(|(_, team)| team.as_str()))
        .collect();
    let is_there = |id: &&str| id.parse().is_ok_and(|id| read.knows(&id));
    named.into_iter().filter(is_there).map(str::to_owned).collect()
}

/// The maximum number of people considered; with more, nobody is counted.
const MOST_PEOPLE: usize = 20_000;

/// Returns the people who could approve; `None` for callers who do not see all of them: the count would be wrong, or reveal
/// people whom they do not see.
pub(super) fn directory(read: &Reader<'_>) -> Option<Directory> {
    let all: Vec<_> = read.active_people().take(MOST_PEOPLE + 1).collect();
    let is_whole = all.len() <= MOST_PEOPLE && all.iter().all(|card| read.knows(&card.actor.id));
    let person = |card: &Arc<Card>| {
        let id = card.actor.id.clone();
        let led = read.led_by(&id).map(|team| &team.actor.id);
        Person { role: card.actor.role, teams: read.teams(card).iter().chain(led).cloned().collect(), id }
    };
    let people = || all.iter().map(|card| person(card)).collect();
    is_whole.then(|| Directory { people: people(), leads: read.leads().cloned().collect() })
}
