//! Runs a change's tests: every test file of the bundle, on exactly this content; and, where the company has set
//! a budget, every decision of the log.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use super::CHANGE;
use super::{OneChange, ShownChange, counted, find, find_open};
use crate::policy::compare::Both;
use gate::explain::fixture;
use gate::past::impact;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use policy::Bundle;
use policy::testing::Run;
use store::changes;
use store::changes::events::EvalsRun;
use types::change::{EvalCase, EvalStatus};
use types::id::Id;
use types::impact::Budgets;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// The maximum number of problems reported per test file.
const MOST: usize = 20;

/// Run a change's evals.
pub enum Evals {}

impl Change for Evals {
    const SPEC: Spec = Spec {
        name: "change.evals",
        doc: "Run a change's tests. It cannot be promoted before they pass.",
        scope: Reach::Full,
        route: post("/changes/{id}/evals").compiles(),
        about: &[&CHANGE],
        events: &[EvalsRun::KIND],
    };
    const SAYS: &'static str = "runs the tests of {id}";
    type Input = OneChange;
    type Output = ShownChange;

    fn target(input: &OneChange, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn prepare(input: &OneChange, read: &Reader<'_>) -> Result<(), Stop> {
        let change = find_open(&input.id, read)?;
        prepare(&read.change_bundle(&change.id)?, read)
    }

    fn run(permit: Permit<Self>, input: OneChange, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let mut change = find_open(&input.id, draft.read())?;
        let bundle = draft.read().change_bundle(&change.id)?;
        put_to_tests(&mut change, &bundle, draft)?;
        change.updated_at = permit.now();
        Ok(ShownChange::of(change, draft.read())?)
    }
}

/// Runs a change's evals and records the results.
pub fn put_to_tests(change: &mut changes::ProposedChange, bundle: &Bundle, draft: &mut Draft<'_>) -> Result<(), Stop> {
    change.evals = evals(bundle, draft.read())?;
    draft.record(EvalsRun {
        id: Id::stored(&change.id),
        author: change.author.clone(),
        hash: change.hash.clone(),
        cases: change.evals.clone(),
    })?;
    Ok(())
}

/// Runs the evals of a bundle: its tests, and the log's decisions if the company has set a budget.
pub fn evals(bundle: &Bundle, read: &Reader<'_>) -> Result<Vec<EvalCase>, Stop> {
    // The program may have been updated since the proposal.
    let compiled = super::compiled(bundle, read)?;
    let run = || Ok::<_, Infallible>(cases(&fixture::run(&crate::OPERATIONS, bundle, &compiled)));
    let Ok(tests) = read.build_cache().make(&format!("evals {}", bundle.hash()), run);
    let mut all = tests.to_vec();
    if budgets(read).is_some() {
        let again = || {
            let message = "the log was not replayed yet; try again";
            Refusal { retry_after: Some(1), ..Refusal::new(Code::Unavailable, message) }
        };
        let impact: Arc<EvalCase> = read.build_cache().get(&impact_key(bundle, read)).ok_or_else(again)?;
        all.push((*impact).clone());
    }
    Ok(all)
}

/// Prepares `evals`: the log is long, and is not replayed while others wait.
pub fn prepare(bundle: &Bundle, read: &Reader<'_>) -> Result<(), Stop> {
    if let Some(budgets) = budgets(read) {
        let in_force = read.bundle()?;
        let both = Both::new(&in_force, bundle, read)?;
        let since = (read.last_seq()? - impact::MOST).max(0);
        let impact = impact::replay(read, &crate::OPERATIONS, &both.sides(), since)?.impact();
        let problems: Vec<String> = budgets.over(impact.newly).iter().map(counted::in_figures).collect();
        read.build_cache().put(&impact_key(bundle, read), case(counted::IMPACT, problems));
    }
    evals(bundle, read).map(drop)
}

/// Returns the budgets of the policies in force: a candidate does not set its own.
fn budgets(read: &Reader<'_>) -> Option<Budgets> {
    read.serving().limits().impact.filter(|budgets| !budgets.is_empty())
}

fn impact_key(bundle: &Bundle, read: &Reader<'_>) -> String {
    format!("impact {} {}", read.policy_stamp().1, bundle.hash())
}

fn case(name: &str, problems: Vec<String>) -> EvalCase {
    let status = if problems.is_empty() { EvalStatus::Passed } else { EvalStatus::Failed };
    EvalCase { case: name.to_owned(), status, problems }
}

/// Returns one eval per test file; without test files, one that fails.
fn cases(run: &Run) -> Vec<EvalCase> {
    let mut problems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for finding in run.invalid.iter().chain(&run.failed) {
        let messages = problems.entry(&finding.file).or_default();
        if messages.len() < MOST {
            messages.push(finding.to_string());
        }
    }
    let files: BTreeSet<&str> = run.asked.iter().map(|ran| ran.file.as_str()).chain(problems.keys().copied()).collect();
    if files.is_empty() {
        return vec![case("tests", vec!["no test was run: there is no case in tests/*.yaml".to_owned()])];
    }
    files.into_iter().map(|file| case(file, problems.get(file).cloned().unwrap_or_default())).collect()
}
