//! The steps that need no company, derived from the report of a check.

use super::super::policy::checked::Checked;
use super::super::policy::human::count;
use crate::policy::Finding;
use crate::policy::check::Options;
use crate::policy::codes::{self, Severity};

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Passed,
    /// It tells something that is no failure.
    Differs,
    Skipped,
    /// Tests, coverage, or a budget.
    Failed,
    Findings,
    /// It could not be done.
    Broken,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Differs => "differs",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
            Status::Findings => "findings",
            Status::Broken => "error",
        }
    }

    /// Whether it keeps the command from ending with 0.
    pub const fn is_bad(self) -> bool {
        matches!(self, Status::Failed | Status::Findings | Status::Broken)
    }
}

/// One step, as a line tells it.
#[derive(Clone, Debug)]
pub struct Step {
    pub name: &'static str,
    pub status: Status,
    pub summary: String,
}

impl Step {
    pub fn new(name: &'static str, status: Status, summary: impl Into<String>) -> Step {
        Step { name, status, summary: summary.into() }
    }

    pub fn skipped(name: &'static str, why: &str) -> Step {
        Step::new(name, Status::Skipped, format!("{SKIPPED}{why}"))
    }

    /// The summary beside its status.
    pub fn result(&self) -> &str {
        self.summary.strip_prefix(SKIPPED).unwrap_or(&self.summary)
    }
}

const SKIPPED: &str = "skipped: ";
pub const UNLOADED: &str = "the policies do not load";
const ORDER: [&str; 5] = ["format", "lint", "schema", "validation", "approvals"];

/// The step that a finding belongs to.
fn step_of(finding: &Finding) -> &'static str {
    match finding.code {
        codes::FORMAT => "format",
        codes::SHADOWED | codes::ALLOWS_ALL | codes::UNREAD | codes::HIDDEN => "lint",
        codes::SCHEMA | codes::REDEFINED => "schema",
        codes::APPROVALS
        | codes::APPROVALS_FILE
        | codes::APPROVALS_UNUSED
        | codes::APPROVALS_BLIND
        | codes::APPROVALS_UNREACHABLE
        | codes::ESCALATES_TO_NOBODY
        | codes::EXPIRES_FIRST
        | codes::LOCKED_OUT => "approvals",
        _ => "validation",
    }
}

pub fn of(checked: &Checked<'_>, options: &Options<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = ORDER.into_iter().map(|name| of_findings(checked, name)).collect();
    if !checked.report.loads() {
        steps.push(Step::skipped("tests", UNLOADED));
        steps.push(Step::skipped("coverage", UNLOADED));
        steps.extend((options.mutate || options.min_mutation.is_some()).then(|| Step::skipped("mutation", UNLOADED)));
        return steps;
    }
    steps.push(tests(checked));
    steps.push(coverage(checked, options));
    steps.extend(mutation(checked, options));
    steps
}

fn of_findings(checked: &Checked<'_>, name: &'static str) -> Step {
    let report = &checked.report;
    let of = || report.findings.iter().filter(|finding| step_of(finding) == name);
    let notes = of().filter(|finding| finding.severity == Severity::Note).count();
    let beside = if notes > 0 { format!(", {}", count(notes, "note")) } else { String::new() };
    match (of().count() - notes, name) {
        (0, _) if report.cut_short => Step::skipped(name, "what policies may name is not known"),
        // What does not load is not looked at any further.
        (0, "lint") if !report.loads() => Step::skipped(name, UNLOADED),
        (0, "validation") => {
            let policies = if report.policies == 1 { "policy" } else { "policies" };
            Step::new(name, Status::Passed, format!("ok, {} {policies}{beside}", report.policies))
        }
        (0, _) => Step::new(name, Status::Passed, format!("ok{beside}")),
        (found, _) => Step::new(name, Status::Findings, format!("{}{beside}", count(found, "finding"))),
    }
}

fn tests(checked: &Checked<'_>) -> Step {
    let run = &checked.report.run;
    let asked = run.asked.len();
    let passed = run.asked.iter().filter(|ran| ran.passed).count();
    let mut said = vec![format!("{passed} passed")];
    said.extend((asked > passed).then(|| format!("{} failed", asked - passed)));
    said.extend((!run.invalid.is_empty()).then(|| format!("{} not understood", run.invalid.len())));
    let none = checked.report.too_little.iter().find(|finding| finding.code == codes::NO_TESTS);
    match none {
        Some(finding) => Step::new("tests", Status::Failed, finding.message.as_str()),
        None => {
            let status = if said.len() > 1 { Status::Failed } else { Status::Passed };
            Step::new("tests", status, said.join(", "))
        }
    }
}

fn coverage(checked: &Checked<'_>, options: &Options<'_>) -> Step {
    let Some(coverage) = &checked.report.coverage else { return Step::skipped("coverage", "there are no tests") };
    measured("coverage", format!("{} %", coverage.percent()), coverage.percent(), options.min_coverage)
}

fn mutation(checked: &Checked<'_>, options: &Options<'_>) -> Option<Step> {
    let asked = options.mutate || options.min_mutation.is_some();
    let Some(mutation) = &checked.report.mutation else {
        return asked.then(|| Step::skipped("mutation", "the tests do not pass"));
    };
    let summary = format!("{} % ({} of {} noticed)", mutation.percent(), mutation.killed(), mutation.mutants);
    Some(measured("mutation", summary, mutation.percent(), options.min_mutation))
}

fn measured(name: &'static str, summary: String, percent: u8, least: Option<u8>) -> Step {
    match least.filter(|least| percent < *least) {
        Some(least) => Step::new(name, Status::Failed, format!("{summary}, {least} % required")),
        None => Step::new(name, Status::Passed, summary),
    }
}
