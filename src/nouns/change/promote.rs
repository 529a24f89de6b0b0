//! Promotes a change: it comes into force whole and at once, if the version that it was made from is still in force.

use super::CHANGE;
use super::propose::moved;
use super::{OneChange, ShownChange, find, find_open, way_back};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use policy::Bundle;
use store::changes;
use store::changes::events::ChangePromoted;
use store::policies::events::PolicyApplied;
use types::change::{ChangeState, ChangeTarget, EvalCase, EvalStatus};
use types::id::Id;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// Promote a change.
pub enum Promote {}

impl Change for Promote {
    const SPEC: Spec = Spec {
        name: "change.promote",
        doc: "Promote a change: bring it into force. Its tests must have passed, and the version that it is based on \
              must be in force.",
        scope: Reach::Full,
        route: post("/changes/{id}/promote").compiles(),
        about: &[&CHANGE],
        events: &[ChangePromoted::KIND, PolicyApplied::KIND],
    };
    const SAYS: &'static str = "promotes {id}";
    type Input = OneChange;
    type Output = ShownChange;

    fn target(input: &OneChange, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn prepare(input: &OneChange, read: &Reader<'_>) -> Result<(), Stop> {
        let change = find_open(&input.id, read)?;
        let bundle = read.change_bundle(&change.id)?;
        let policies = super::compiled(&bundle, read)?;
        way_back::look((change.target, &change.author), &policies, read);
        if is_about_other_data(&change, &bundle) { super::evals::prepare(&bundle, read) } else { Ok(()) }
    }

    fn run(_: Permit<Self>, input: OneChange, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let change = find_open(&input.id, draft.read())?;
        let bundle = draft.read().change_bundle(&change.id)?;
        Ok(ShownChange::of(promote(change, bundle, draft)?, draft.read())?)
    }
}

/// Puts a change's policies into force, with the collections in force.
pub fn promote(
    mut change: changes::ProposedChange,
    bundle: Bundle,
    draft: &mut Draft<'_>,
) -> Result<changes::ProposedChange, Stop> {
    is_tested(&change)?;
    super::is_tried(&change, draft.read())?;
    let applied = draft.read().applied()?;
    if !draft.read().policies_stand(change.base_version)? {
        return Err(moved(change.base_version, &draft.read().policies_changed()?).into());
    }
    if is_about_other_data(&change, &bundle) {
        have_passed(&super::evals::evals(&bundle, draft.read())?)?;
    }
    // The program may have been updated since the proposal.
    let policies = super::compiled(&bundle, draft.read())?;
    way_back::keeps((change.target, &change.author), &policies, draft.read())?;
    let (id, version) = (Id::stored(&change.id), applied.version + 1);
    draft.record(ChangePromoted { id: id.clone(), author: change.author.clone(), version })?;
    // A view does not change the policies: built-in ones still count as built-in.
    let source = if change.target == ChangeTarget::View { applied.source } else { "change".into() };
    draft.record(PolicyApplied {
        version,
        hash: bundle.hash().to_string(),
        source,
        change: Some(id),
        proposal: None,
        files: bundle.files,
    })?;
    change.version = Some(version);
    change.state = ChangeState::Promoted;
    change.updated_at = draft.now();
    Ok(change)
}

/// Checks that all evals of a change passed, before it is promoted or starts a canary.
pub fn is_tested(change: &changes::ProposedChange) -> Result<(), Refusal> {
    if change.evals.is_empty() {
        let problems = vec!["tests".to_owned()];
        return Err(Refusal { problems, ..Refusal::new(Code::EvalsNotRun, "its tests were not run yet") });
    }
    have_passed(&change.evals)
}

/// Checks whether the schema of the collections has changed since the proposal.
fn is_about_other_data(change: &changes::ProposedChange, bundle: &Bundle) -> bool {
    bundle.hash().as_str() != change.hash
}

fn have_passed(evals: &[EvalCase]) -> Result<(), Refusal> {
    let failed = evals.iter().filter(|eval| eval.status == EvalStatus::Failed);
    let problems: Vec<String> = failed.map(|eval| eval.case.clone()).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("its tests fail: {}", problems.join(", "));
    Err(Refusal { problems, ..Refusal::new(Code::EvalsFailing, message) })
}
