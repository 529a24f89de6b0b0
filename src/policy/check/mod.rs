//! `policy check`: everything that can be said about a bundle before it is served.
//!
//! Always true: nothing is printed or written here; a report contains every finding, sorted by file and line; a bundle
//! that a report calls fine loads.

mod blind;
mod eligible;
pub mod format;
mod hidden;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use eligible::{Directory, Person};
pub use format::formatted;

use super::bundle::{is_policy, is_test};
use super::codes::{Code, End, Severity};
use super::finding::code;
use super::kinds::{self, of_schema};
use super::stack::deep;
use super::testing::{self, Coverage, Mutation, Run, Stage};
use super::{Bundle, Finding, Snapshot};
use crate::approvals;
use crate::limits::{self, Limits};

/// Few policies do not make room for more cases than this leaves: each is kept until all have run.
const LEAST: usize = 50;

/// What is to be checked beside the bundle itself.
#[derive(Default)]
pub struct Options<'a> {
    /// The least coverage, in percent.
    pub min_coverage: Option<u8>,
    /// Whether mutants are tried.
    pub mutate: bool,
    /// The files whose policies are mutated; all unless given.
    pub mutated: Option<&'a BTreeSet<String>>,
    /// The least share of mutants that the tests notice, in percent. Mutants are tried for it.
    pub min_mutation: Option<u8>,
    /// The company's people, for the thresholds of approvals.
    pub directory: Option<&'a Directory>,
    /// Of the actors and teams that policies name: those who are there.
    pub known: Option<&'a BTreeSet<String>>,
    /// How long a request lives, in hours, where no rule says; not looked at unless given.
    pub ttl_hours: Option<u32>,
    /// Whether it is a failure that there are no tests; else it is a warning.
    pub must_test: bool,
    /// Files of the folder that nothing reads.
    pub unread: &'a [String],
    /// The most evaluations that the tests may cost: cases times policies. No bound unless given.
    pub most: Option<usize>,
}

impl Options<'_> {
    fn mutates(&self) -> bool {
        self.mutate || self.min_mutation.is_some()
    }

    /// Whether something is asked that only tests can answer.
    fn measures(&self) -> bool {
        self.mutates() || self.min_coverage.is_some()
    }
}

/// What was found.
pub struct Report {
    pub findings: Vec<Finding>,
    pub policies: usize,
    pub run: Run,
    /// Why too little was tested.
    pub too_little: Vec<Finding>,
    pub coverage: Option<Coverage>,
    pub mutation: Option<Mutation>,
    /// Whether all that was looked at is what everything else is judged by, because that is wrong.
    pub cut_short: bool,
}

impl Report {
    /// Whether the bundle itself is free of findings.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether every test ran and passed, and enough is covered.
    pub fn is_tested(&self) -> bool {
        self.tests().next().is_none()
    }

    /// Whether the bundle would load.
    pub fn loads(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }

    /// The worst that a command ends with for what was found.
    pub fn end(&self) -> End {
        let ends = self.findings.iter().chain(self.tests()).filter_map(|finding| code::of(finding.code)).map(Code::end);
        ends.filter(|end| *end != End::Fine).min().unwrap_or(End::Fine)
    }

    /// What is wrong with the tests or their coverage.
    pub fn tests(&self) -> impl Iterator<Item = &Finding> {
        self.run.invalid.iter().chain(&self.run.failed).chain(&self.too_little)
    }

    /// Returns what the tests leave open. If a test file could not be read, coverage is unknown and no gap is reported.
    pub fn open(&self) -> Vec<Finding> {
        let gaps = self.coverage.iter().filter(|_| self.run.unread == 0).flat_map(Coverage::gaps);
        gaps.chain(self.mutation.iter().flat_map(|mutation| mutation.survived.iter().cloned())).collect()
    }
}

/// Checks a bundle against the product's schema. What parses deep, parses on a deep stack.
pub fn check(schema: &str, bundle: &Bundle, stage: &(dyn Stage + Sync), options: &Options<'_>) -> Report {
    deep(|| all(schema, bundle, stage, options))
}

fn all(schema: &str, bundle: &Bundle, stage: &dyn Stage, options: &Options<'_>) -> Report {
    let mut findings = format::findings(bundle);
    findings.extend(hidden::findings(bundle));
    findings.extend(options.unread.iter().map(|file| unread(file)));
    let mut report = match Snapshot::load(schema, bundle) {
        Err(errors) => {
            let cut_short = kinds::unreadable(bundle).is_some()
                || errors.iter().any(|error| code::of(error.code).is_some_and(Code::is_root));
            if cut_short {
                findings.clear();
            }
            findings.extend(errors);
            Report {
                findings,
                policies: 0,
                run: Run::default(),
                too_little: Vec::new(),
                coverage: None,
                mutation: None,
                cut_short,
            }
        }
        Ok(snapshot) => {
            findings.extend(snapshot.lint());
            findings.extend(snapshot.impossible(stage));
            findings.extend(emptiness(bundle, &snapshot, options));
            let text = bundle.text(approvals::FILE);
            findings.extend(eligible::unused(&of_schema(schema), &snapshot, text));
            findings.extend(eligible::lost(&snapshot, text));
            findings.extend(eligible::too_late(&snapshot, text, options.ttl_hours));
            findings.extend(options.directory.iter().flat_map(|directory| directory.unreachable(&snapshot, text)));
            let limits = bundle.text(limits::FILE);
            findings.extend(Limits::empty_lists(limits));
            findings.extend(options.known.iter().flat_map(|known| snapshot.strangers(known, text, limits)));
            // Nobody really asks what tests ask.
            let snapshot = Arc::new(snapshot.apart());
            findings.extend(blind::findings(&snapshot, stage, text));
            tested(bundle, snapshot, stage, options, findings)
        }
    };
    report.findings.sort_unstable();
    report.findings.dedup();
    report
}

/// That nothing reads a file of the folder.
pub fn unread(file: &str) -> Finding {
    Finding::new(code::UNREAD, file, 1, (0, 0), "the file is not read")
}

/// What a bundle lacks altogether.
fn emptiness(bundle: &Bundle, snapshot: &Snapshot, options: &Options<'_>) -> Option<Finding> {
    let Some((file, _)) = bundle.files.iter().find(|(file, _)| is_policy(file)) else {
        return Some(Finding::new(code::NO_POLICIES, "*.cedar", 1, (0, 0), "there are no policies"));
    };
    if snapshot.policies().next().is_none() {
        return Some(Finding::new(code::NO_POLICIES, file, 1, (0, 0), "there are no policies"));
    }
    let untested = !options.must_test && !options.measures() && !bundle.files.keys().any(|file| is_test(file));
    untested.then(|| Finding::new(code::UNTESTED, file, 1, (0, 0), "the policies have no tests"))
}

fn tested(
    bundle: &Bundle,
    snapshot: Arc<Snapshot>,
    stage: &dyn Stage,
    options: &Options<'_>,
    findings: Vec<Finding>,
) -> Report {
    let policies = snapshot.policies().count();
    let cases = options.most.map_or(usize::MAX, |most| most / policies.max(LEAST));
    let run = testing::run(bundle, &snapshot, stage, cases);
    let mutate = options.mutates();
    let measured = run.files > 0 || options.measures();
    let coverage = measured.then(|| testing::cover(&run, &snapshot));
    // Mistakes cannot be told from those that the tests find already.
    let passes = run.invalid.is_empty() && run.failed.is_empty();
    let mutation = (mutate && passes).then(|| testing::mutate(&run, &snapshot, options.mutated));
    let mut too_little = Vec::new();
    let file = bundle.files.keys().find(|file| is_test(file)).map_or("tests", String::as_str);
    if run.asked.is_empty() && run.invalid.is_empty() && (measured || options.must_test) {
        too_little.push(Finding::new(
            code::NO_TESTS,
            file,
            1,
            (0, 0),
            "no test was run: there is no case in tests/*.yaml",
        ));
    }
    let percent = coverage.as_ref().map_or(100, Coverage::percent);
    if let Some(least) = options.min_coverage.filter(|least| percent < *least) {
        let but = if run.unread > 0 { " by the tests that could be read" } else { "" };
        let message = format!("the coverage is {percent} %{but}; {least} % is required");
        too_little.push(Finding::new(code::COVERAGE, file, 1, (0, 0), message));
    }
    let percent = mutation.as_ref().map_or(100, Mutation::percent);
    if let Some(least) = options.min_mutation.filter(|least| percent < *least) {
        let message = format!("the tests detect {percent} % of the mutants; {least} % are required");
        too_little.push(Finding::new(code::MUTATION, file, 1, (0, 0), message));
    }
    Report { findings, policies, run, too_little, coverage, mutation, cut_short: false }
}
