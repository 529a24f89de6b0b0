//! Putting a change to its tests: every test file of the bundle, on exactly this content.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use super::{OneChange, ShownChange, find, find_open};
use crate::gate::{Change, Draft, Permit, Reader, ResourceKind, Spec, Target, fixture, post};
use crate::policy::Bundle;
use crate::policy::testing::Run;
use crate::store::changes;
use crate::types::change::{EvalCase, EvalStatus};
use crate::types::event::{Event, EventKind};
use crate::types::id::Id;
use crate::types::refusal::Stop;
use crate::types::scope::Reach;

/// The most problems that one test file is told of.
const MOST: usize = 20;

/// Run a change's tests.
pub enum Evals {}

impl Change for Evals {
    const SPEC: Spec = Spec {
        name: "change.evals",
        doc: "Put a change to its tests. It cannot come into force before they pass.",
        scope: Reach::Full,
        route: post("/changes/{id}/evals").slow(),
        about: &[ResourceKind::Change],
        events: &[EventKind::EvalsRun],
    };
    type Input = OneChange;
    type Output = ShownChange;

    fn target(input: &OneChange, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn prepare(input: &OneChange, read: &Reader<'_>) -> Result<(), Stop> {
        let change = find_open(&input.id, read)?;
        evals(&Bundle { files: read.change_files(&change.id)? }, read).map(drop)
    }

    fn run(permit: Permit<Self>, input: OneChange, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let mut change = find_open(&input.id, draft.read())?;
        let bundle = Bundle { files: draft.read().change_files(&change.id)? };
        put_to_tests(&mut change, &bundle, draft)?;
        change.updated_at = permit.now();
        Ok(change.into())
    }
}

/// Records what the tests of a change come to.
pub fn put_to_tests(change: &mut changes::Change, bundle: &Bundle, draft: &mut Draft<'_>) -> Result<(), Stop> {
    change.evals = evals(bundle, draft.read())?.to_vec();
    draft.record(Event::EvalsRun {
        id: Id::stored(&change.id),
        author: change.author.clone(),
        hash: change.hash.clone(),
        cases: change.evals.clone(),
    })?;
    Ok(())
}

/// What the tests of a bundle come to; they depend on nothing else.
pub fn evals(bundle: &Bundle, read: &Reader<'_>) -> Result<Arc<Vec<EvalCase>>, Stop> {
    // The product may have changed since it was proposed.
    let compiled = super::compiled(bundle, read)?;
    let run = || Ok::<_, Infallible>(cases(&fixture::run(&crate::operations::ALL, bundle, &compiled)));
    let Ok(made) = read.workshop().make(&format!("evals {}", bundle.hash()), run);
    Ok(made)
}

/// One eval for each test file; without any, one that fails.
fn cases(run: &Run) -> Vec<EvalCase> {
    let mut problems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for finding in run.invalid.iter().chain(&run.failed) {
        let told = problems.entry(&finding.file).or_default();
        if told.len() < MOST {
            told.push(finding.to_string());
        }
    }
    let files: BTreeSet<&str> = run.asked.iter().map(|ran| ran.file.as_str()).chain(problems.keys().copied()).collect();
    if files.is_empty() {
        let problems = vec!["no test was run: there is no case in tests/*.yaml".to_owned()];
        return vec![EvalCase { case: "tests".into(), status: EvalStatus::Failed, problems }];
    }
    let case = |file: &str| {
        let problems = problems.get(file).cloned().unwrap_or_default();
        let status = if problems.is_empty() { EvalStatus::Passed } else { EvalStatus::Failed };
        EvalCase { case: file.to_owned(), status, problems }
    };
    files.into_iter().map(case).collect()
}
