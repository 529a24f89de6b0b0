//! Reads the policies in force, earlier versions, and open changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::Reader;
use crate::admit::rate::{self, Left};
use crate::decide::question;
use crate::declare::spec::Spec;
use crate::declare::target::{Target, Thing};
use crate::past::canary::Trial;
use log::read::{self, Filter, Order};
use policy::{Bundle, Ruling, Snapshot};
use serde_json::Value;
use store::changes::{self, ProposedChange};
use store::history;
use store::policies::events::PolicyApplied;
use store::policies::{self, Applied, PolicySource};
use types::actor::Role;
use types::caller::Caller;
use types::change::ChangeState;
use types::decision::Recording;
use types::id::ActorId;
use types::refusal::Fault;
use types::run::RunFacts;
use types::time::{DAY, Time};

/// How long a former admin still counts, so that nobody becomes the only one by removing the others. Covers a weekend.
const LATE_MS: i64 = 3 * DAY;

impl Reader<'_> {
    /// Returns which decisions for other programs are recorded.
    pub fn recording(&self) -> Recording {
        self.world.recording
    }

    /// Returns the version in force, since when and by whom.
    pub fn applied(&self) -> Result<Applied, Fault> {
        policies::applied(self.conn()?)?.ok_or_else(|| Fault::Broken("no policy is in force".into()))
    }

    /// Returns the last version that changed the policies, not just the schema of collections.
    pub fn policies_changed(&self) -> Result<Applied, Fault> {
        policies::changed(self.conn()?)?.ok_or_else(|| Fault::Broken("no policy is in force".into()))
    }

    /// Checks whether the policies in force are those of a version: only the schema of collections has changed since.
    pub fn policies_stand(&self, version: i64) -> Result<bool, Fault> {
        Ok(policies::stands(self.conn()?, version)?)
    }

    /// Returns the versions before this one, newest first.
    pub fn applied_before(&self, version: i64, limit: usize) -> Result<Vec<Applied>, Fault> {
        Ok(policies::before(self.conn()?, version, limit)?)
    }

    /// Returns the number of the event that put them into force.
    pub fn applied_event(&self) -> Result<i64, Fault> {
        let mut seq = 0;
        let filter = Filter { kinds: vec![PolicyApplied::KIND.name], ..Filter::default() };
        read::scan(self.conn()?, Order::Newest, &filter, &mut |logged| {
            seq = logged.seq;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(seq)
    }

    /// Returns the ruling of other policies, without doing or recording anything.
    pub fn ruling_under(
        &self,
        policies: &Snapshot,
        caller: &Caller,
        (operation, target, input): (&str, &Target, &Value),
    ) -> Ruling {
        let call = question::Call { operation, target, input: Some(input) };
        question::Asker::of(self.world, caller, call, self.now).ask_of(policies, operation)
    }

    /// Returns the files in force.
    pub fn bundle(&self) -> Result<Bundle, Fault> {
        Ok(Bundle { files: policies::files(self.conn()?)? })
    }

    /// Counts the policies in force.
    pub fn policies(&self) -> usize {
        self.world().policy.policies().count()
    }

    /// Returns the files of an earlier version; the log keeps them all.
    pub fn bundle_of(&self, wanted: i64) -> Result<Option<Bundle>, Fault> {
        let mut found = None;
        let filter = Filter { kinds: vec![PolicyApplied::KIND.name], ..Filter::default() };
        read::scan(self.conn()?, Order::Newest, &filter, &mut |logged| {
            let Some(event) = logged.event else { return Ok(ControlFlow::Continue(())) };
            let PolicyApplied { version, files, .. } = serde_json::from_value(event)?;
            if version == wanted {
                found = Some(Bundle { files });
            }
            // Versions only grow, so anything before it is another version.
            Ok(if version > wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(found)
    }

    /// Returns where the company keeps its policies, if set.
    pub fn policy_source(&self) -> Result<Option<PolicySource>, Fault> {
        Ok(policies::source(self.conn()?)?)
    }

    pub fn change(&self, id: &str) -> Result<Option<ProposedChange>, Fault> {
        Ok(changes::whole(self.conn()?, id)?)
    }

    /// Returns the open changes proposed or reviewed with these tokens, as far as the caller sees them.
    pub fn seen_changes_with(&self, tokens: &[(String, ActorId)]) -> Result<Vec<String>, Fault> {
        let mut seen = BTreeSet::new();
        for (token, _) in tokens {
            let open = changes::open_with(self.conn()?, token)?;
            seen.extend(open.into_iter().filter(|one| self.sees(&self.change_target(one))).map(|one| one.id));
        }
        Ok(seen.into_iter().collect())
    }

    pub fn change_files(&self, id: &str) -> Result<BTreeMap<String, String>, Fault> {
        Ok(changes::files(self.conn()?, id)?)
    }

    /// Returns the bundle of a change, with the collections in force.
    pub fn change_bundle(&self, id: &str) -> Result<Bundle, Fault> {
        Ok(Bundle { files: self.change_files(id)? }.about_collections_of(&self.bundle()?))
    }

    /// Returns the rate limits of an actor's calls, alone or in a run, and what is left of them.
    pub fn limits_of(&self, actor: &ActorId, run: Option<&RunFacts>, spec: &Spec) -> Vec<Left> {
        rate::left(self.world(), (actor, run), spec, self.now())
    }

    /// Returns the candidate in canary.
    pub fn trial(&self) -> Option<&Trial> {
        self.world().trial.as_deref()
    }

    /// Counts an author's open changes.
    pub fn open_changes_of(&self, author: &ActorId) -> Result<usize, Fault> {
        Ok(changes::count_open(self.conn()?, author)?)
    }

    /// Returns the last change of the same content that somebody other than its author rejected.
    pub fn rejected_before(&self, change: &ProposedChange) -> Result<Option<ProposedChange>, Fault> {
        Ok(changes::rejected_before(self.conn()?, change)?)
    }

    /// Returns an actor's open change to exactly this bundle, whatever collections it was made with.
    pub fn open_change(&self, author: &ActorId, bundle: &Bundle) -> Result<Option<ProposedChange>, Fault> {
        let (hash, in_force) = (bundle.hash(), self.applied()?.version);
        for change in changes::open(self.conn()?, author)? {
            let is_same = match change.base_version == in_force {
                true => change.hash == hash.as_str(),
                false => {
                    self.policies_stand(change.base_version)?
                        && Bundle { files: self.change_files(&change.id)? }.about_collections_of(bundle).hash() == hash
                }
            };
            if is_same {
                return Ok(Some(change));
            }
        }
        Ok(None)
    }

    /// Returns the change in canary, whether or not it can be evaluated.
    pub fn tried_change(&self) -> Result<Option<ProposedChange>, Fault> {
        Ok(changes::tried(self.conn()?)?)
    }

    /// Compiles the candidate in canary with the collections of a bundle, before that comes into force.
    pub fn make_trial_ready(&self, bundle: &Bundle) -> Result<(), Fault> {
        if let Some(change) = self.tried_change()? {
            let candidate = Bundle { files: self.change_files(&change.id)? }.about_collections_of(bundle);
            let _ = self.build_cache().snapshot(&candidate);
        }
        Ok(())
    }

    /// Returns the newest change that came with a commit: what the repository declares.
    pub fn declared_change(&self) -> Result<Option<ProposedChange>, Fault> {
        Ok(changes::declared(self.conn()?)?)
    }

    /// Returns a change as a target of the gate.
    pub fn change_target(&self, change: &ProposedChange) -> Target {
        self.change_target_as(change, self.is_reviewed(change))
    }

    /// Same, as if it were reviewed or not.
    pub fn change_target_as(&self, change: &ProposedChange, reviewed: bool) -> Target {
        Thing::new("Change", change.id.as_str())
            .actor("author", &change.author)
            .text("target", change.target.name())
            .text("state", stands(change, reviewed).name())
            .flag("reviewed", reviewed)
            .number("peers", self.peers_of(&change.author))
            .number("admins", self.admins_but(&[]))
            .actors("behalf", change.behalf.iter().cloned())
            .actors("approvers", self.deciders_about(&change.id))
            .maybe("issuer", change.issuer.as_ref())
            .into()
    }

    /// Returns the state of a change by the reviews that count now.
    pub fn change_state(&self, change: &ProposedChange) -> ChangeState {
        stands(change, self.is_reviewed(change))
    }

    /// Counts the admins beside this actor and its owner. Those on whose behalf it acts count: none of them reviews, but a
    /// change that another admin might see never proceeds as if there were none.
    pub fn peers_of(&self, author: &ActorId) -> u32 {
        let owner = self.card(author).and_then(|card| card.actor.owner.as_ref());
        self.admins_but(&[Some(author), owner])
    }

    /// Counts admins beside these, including recent ones; the maximum if that cannot be read.
    fn admins_but(&self, others: &[Option<&ActorId>]) -> u32 {
        let since = Time(self.now.0.saturating_sub(LATE_MS));
        let Ok(late) = self.conn().and_then(|conn| Ok(history::admins_since(conn, since)?)) else {
            return u32::MAX;
        };
        let all: BTreeSet<&ActorId> = self.people(Role::Admin).chain(&late).collect();
        let counted = all.into_iter().filter(|id| !others.contains(&Some(*id))).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    }
}

/// Returns the state; before a canary, that follows from the reviews.
fn stands(change: &ProposedChange, is_reviewed: bool) -> ChangeState {
    match change.state {
        ChangeState::InReview | ChangeState::Approved if is_reviewed => ChangeState::Approved,
        ChangeState::InReview | ChangeState::Approved => ChangeState::InReview,
        state => state,
    }
}
