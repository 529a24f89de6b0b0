//! Promoting: a change comes into force, whole and at once, if what it was made from still is.

use std::sync::Arc;

use serde_json::json;

use super::CHANGE;
use super::propose::moved;
use super::{OneChange, ShownChange, find, find_open};
use gate::{Change, Could, Draft, Permit, Reader, Spec, Target, post};
use policy::{Bundle, Snapshot};
use store::changes;
use store::changes::events::ChangePromoted;
use store::policies::events::PolicyApplied;
use types::change::{ChangeState, ChangeTarget, EvalStatus};
use types::id::{ActorId, Id};
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;
use types::time::{DAY, HOUR, Time};

/// Bring a change into force.
pub enum Promote {}

impl Change for Promote {
    const SPEC: Spec = Spec {
        name: "change.promote",
        doc: "Promote a change: bring it into force. Its tests must have passed, and the version that it is based on \
              must be in force.",
        scope: Reach::Full,
        route: post("/changes/{id}/promote").slow(),
        about: &[&CHANGE],
        events: &[ChangePromoted::KIND, PolicyApplied::KIND],
    };
    const SAYS: &'static str = "puts {id} into force";
    type Input = OneChange;
    type Output = ShownChange;

    fn target(input: &OneChange, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn prepare(input: &OneChange, read: &Reader<'_>) -> Result<(), Stop> {
        let change = find_open(&input.id, read)?;
        super::compiled(&Bundle { files: read.change_files(&change.id)? }, read).map(drop)
    }

    fn run(_: Permit<Self>, input: OneChange, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let change = find_open(&input.id, draft.read())?;
        let bundle = Bundle { files: draft.read().change_files(&change.id)? };
        Ok(ShownChange::of(promote(change, bundle, draft)?, draft.read()))
    }
}

/// Puts a change's policies into force.
pub fn promote(mut change: changes::Change, bundle: Bundle, draft: &mut Draft<'_>) -> Result<changes::Change, Stop> {
    is_tested(&change)?;
    super::is_tried(&change, draft.read())?;
    let applied = draft.read().applied()?;
    if change.base_version != applied.version {
        return Err(moved(change.base_version, &applied).into());
    }
    // The product may have changed since it was proposed.
    keeps_a_way_back(&change, &super::compiled(&bundle, draft.read())?, draft.read())?;
    let (id, version) = (Id::stored(&change.id), applied.version + 1);
    draft.record(ChangePromoted { id: id.clone(), author: change.author.clone(), version })?;
    // A view is no change of the policies: those that came with the program go on coming with it.
    let source = if change.target == ChangeTarget::View { applied.source } else { "change".into() };
    draft.record(PolicyApplied {
        version,
        hash: change.hash.clone(),
        source,
        change: Some(id),
        files: bundle.files,
    })?;
    change.version = Some(version);
    change.state = ChangeState::Promoted;
    change.updated_at = draft.now();
    Ok(change)
}

/// What a policy forbids for a while opens again within so many years; what it still forbids then, it forbids for good.
const YEARS: i64 = 20;

/// Policies under which nobody could change policies would stand for good: as it is now, or from a time on that they name. What
/// they forbid at present alone, or at some hours, they let happen by themselves.
fn keeps_a_way_back(change: &changes::Change, policies: &Arc<Snapshot>, read: &Reader<'_>) -> Result<(), Refusal> {
    let way = |at: Time| Way { change: change.clone(), policies, at, read }.is_open();
    // Only by the time of day can policies tell one day from the next.
    let hours = if policies.policies().any(|policy| policy.text.contains("toTime")) { 24 } else { 1 };
    let mut ways = (0..hours).map(|hour| way(read.now().plus_ms(YEARS * 365 * DAY + hour * HOUR)));
    let Err(then) = ways.next().unwrap_or(Ok(())) else { return Ok(()) };
    if ways.any(|way| way.is_ok()) {
        return Ok(());
    }
    Err(Refusal::conflict(match way(read.now()) {
        Err(why) => format!("under these policies {why}"),
        Ok(()) => format!("under these policies, as they decide in {YEARS} years, {then}"),
    }))
}

/// What is wrong where nobody could release a kill switch.
const RELEASES: &str =
    "nobody could release the kill switch `global`, which stops every change: permit `kill` with `off` to somebody";

fn open_to(operation: &str, could: Could) -> Result<(), String> {
    let why = match could {
        Could::Somebody => return Ok(()),
        Could::Nobody => {
            format!(
                "nobody could perform {operation}, even with approvals, so they could never be changed again: permit it to somebody"
            )
        }
        Could::TooFew(kind) => format!(
            "{operation} takes the approval `{kind}`, which too few people can give, and nobody could add people, so they \
             could never be changed again: first make sure that enough people can give `{kind}`"
        ),
    };
    Err(why)
}

/// The way into force of a change under `policies`, as they decide at a time.
struct Way<'a> {
    change: changes::Change,
    policies: &'a Arc<Snapshot>,
    at: Time,
    read: &'a Reader<'a>,
}

impl Way<'_> {
    /// Whether somebody could propose another, and it had a whole way into force.
    fn is_open(&self) -> Result<(), String> {
        let proposal = ("policy.propose", &Target::Company, None);
        open_to(proposal.0, self.read.who_could(self.policies, proposal, self.at))?;
        // A switch that nobody may release stops all of it.
        let release = crate::kill::release(self.read);
        let release = ("kill", &release, None);
        if self.read.who_could_now(release) == Could::Somebody {
            let could = self.read.who_could(self.policies, release, self.at);
            open_to("kill", could).map_err(|_| RELEASES.to_owned())?;
        }
        let mut proposers = self.read.not_denied(self.policies, proposal, self.at);
        if proposers.is_empty() {
            // Somebody who joins could.
            proposers.push(self.change.author.clone());
        }
        let mut ways = proposers.into_iter().map(|author| self.of(author).leads_into_force());
        let first = ways.next().unwrap_or(Ok(()));
        if first.is_err() && ways.any(|way| way.is_ok()) { Ok(()) } else { first }
    }

    /// That of one which somebody else proposes.
    fn of(&self, author: ActorId) -> Self {
        let change = changes::Change { author, behalf: Vec::new(), issuer: None, ..self.change.clone() };
        Way { change, policies: self.policies, at: self.at, read: self.read }
    }

    fn leads_into_force(&self) -> Result<(), String> {
        // What nobody sees, nobody tests or promotes.
        for operation in ["change.read", "change.evals"] {
            open_to(operation, self.could(operation, ChangeState::Proposed, false))?;
        }
        if self.promotion(ChangeState::Proposed, false) == Could::Somebody {
            return Ok(());
        }
        open_to("change.review", self.could("change.review", ChangeState::Proposed, false))?;
        open_to("change.promote", self.promotion(ChangeState::Approved, true))
    }

    /// Who could promote it, at once or after a canary.
    fn promotion(&self, state: ChangeState, reviewed: bool) -> Could {
        match self.could("change.promote", state, reviewed) {
            Could::Somebody => Could::Somebody,
            at_once if self.could("change.canary", state, reviewed) == Could::Somebody => {
                match self.could("change.promote", ChangeState::Canary, reviewed) {
                    Could::Somebody => Could::Somebody,
                    _ => at_once,
                }
            }
            at_once => at_once,
        }
    }

    fn could(&self, operation: &str, state: ChangeState, reviewed: bool) -> Could {
        let change = changes::Change { state, ..self.change.clone() };
        let target = self.read.change_target_as(&change, reviewed);
        // What else these take can be left out.
        let input = json!({ "id": change.id });
        let input = ["change.read", "change.evals", "change.promote"].contains(&operation).then_some(&input);
        self.read.who_could(self.policies, (operation, &target, input), self.at)
    }
}

/// A change comes into force, or is tried, only after all its evals passed.
pub fn is_tested(change: &changes::Change) -> Result<(), Refusal> {
    if change.evals.is_empty() {
        let problems = vec!["tests".to_owned()];
        return Err(Refusal { problems, ..Refusal::new(Code::EvalsNotRun, "its tests were not run yet") });
    }
    let failed = change.evals.iter().filter(|eval| eval.status == EvalStatus::Failed);
    let problems: Vec<String> = failed.map(|eval| eval.case.clone()).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("its tests fail: {}", problems.join(", "));
    Err(Refusal { problems, ..Refusal::new(Code::EvalsFailing, message) })
}
