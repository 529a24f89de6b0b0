//! Proposes policies: from a repository's CI, from an admin, from approvals, or a rollback to an earlier version.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::from_approvals;
use crate::change::{
    Proposal, ShownChange, adopt, compiled, has_room, is_tested, prepare_evals, promote, propose, put_to_tests,
    way_back, whole,
};
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use policy::Bundle;
use store::changes::events::{ChangePromoted, ChangeProposed, EvalsRun};
use store::policies::events::PolicyApplied;
use types::change::{ChangeTarget, SourceKind};
use types::refusal::{Refusal, Stop};
use types::scope::{Reach, Scope};

/// A bundle that is to come into force.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewPolicies {
    /// All policy files, text by path.
    #[schemars(extend("maxProperties" = 20_000, "additionalProperties" = {"type": "string", "maxLength": 1048576}))]
    pub files: Option<BTreeMap<String, String>>,
    /// Collections among the files that were not edited: for each, the one in force is used, even if it has changed
    /// since the export.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unedited: Vec<String>,
    /// An earlier version to go back to, instead of files.
    pub version: Option<i64>,
    /// Approvals, instead of files: drafts the policies in force with the narrowest exceptions that would have allowed
    /// the approved calls. 1 to 20.
    #[schemars(length(min = 1, max = 20), extend("x-id" = true))]
    pub from_approvals: Option<Vec<String>>,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
    /// The version that it was made from; the one in force unless given.
    pub base_version: Option<i64>,
    /// The hash of that version. After a restored backup, another one may have its number: then this is refused.
    pub base_hash: Option<String>,
    /// The hash of the commit that it comes from: 4 to 64 hexadecimal digits.
    pub commit: Option<String>,
}

/// Propose policies.
pub enum Propose {}

impl Change for Propose {
    const SPEC: Spec = Spec {
        name: "policy.propose",
        doc: "Propose policies, a rollback to an earlier version, or a policy drafted from approvals. The proposal comes \
              into force at once only if the source says `auto` and the policy permits it.",
        scope: Reach::Scopes(&[Scope::Policy]),
        route: post("/policy/proposals").created().compiles().large().based_on("base_version"),
        about: &[&COMPANY],
        events: &[ChangeProposed::KIND, EvalsRun::KIND, ChangePromoted::KIND, PolicyApplied::KIND],
    };
    const SAYS: &'static str = "proposes policies[ of the commit {commit}][, those of version {version}][, a policy drafted from {from_approvals}]";
    type Input = NewPolicies;
    type Output = ShownChange;

    fn target(_: &NewPolicies, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn prepare(input: &NewPolicies, read: &Reader<'_>) -> Result<(), Stop> {
        let (bundle, _) = bundle(input, read)?;
        has_room(&bundle, read)?;
        let policies = compiled(&bundle, read)?;
        if by_itself(input, read)? {
            way_back::look((ChangeTarget::Policy, &read.caller().actor()), &policies, read);
            prepare_evals(&bundle, read)?;
        }
        Ok(())
    }

    fn run(permit: Permit<Self>, input: NewPolicies, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let ((bundle, also_allows), goes_on) = (bundle(&input, draft.read())?, by_itself(&input, draft.read())?);
        let NewPolicies { version, reason, base_version, base_hash, commit, .. } = input;
        let proposal = Proposal { bundle, reason, base_version, base_hash, commit, rolls_back: version, view: None };
        if let Some(change) = adopt(&proposal, permit.actor(), draft)? {
            return Ok(ShownChange::of(change, draft.read())?);
        }
        let mut change = propose(&proposal, permit.actor(), draft)?;
        if goes_on {
            put_to_tests(&mut change, &proposal.bundle, draft)?;
            let target = draft.read().change_target(&change);
            if is_tested(&change).is_ok() && draft.read().may("change.promote", &target) {
                change = promote(change, proposal.bundle, draft)?;
            }
        }
        Ok(ShownChange { also_allows, ..ShownChange::of(change, draft.read())? })
    }
}

/// Checks whether the company has set that what its repository proposes is promoted automatically.
fn by_itself(input: &NewPolicies, read: &Reader<'_>) -> Result<bool, Stop> {
    let source = read.policy_source()?.filter(|source| source.kind == SourceKind::Repo && source.auto);
    // A draft from approvals is for people to review.
    Ok(source.is_some() && input.commit.is_some() && input.from_approvals.is_none())
}

/// Returns the proposed files, and, for a draft from approvals, what it allows that nobody approved.
fn bundle(input: &NewPolicies, read: &Reader<'_>) -> Result<(Bundle, Vec<String>), Stop> {
    match (&input.files, input.version, &input.from_approvals) {
        (Some(files), None, None) => Ok((whole(files, &input.unedited, read)?, Vec::new())),
        (None, Some(version), None) => {
            let unknown = || Refusal::field("version", format!("there was no version {version}"));
            let earlier = read.bundle_of(version)?.ok_or_else(unknown)?;
            Ok((earlier.about_data_of(&read.bundle()?), Vec::new()))
        }
        (None, None, Some(ids)) => {
            let drafted = from_approvals::draft(ids, read)?;
            Ok((drafted.bundle.clone(), drafted.also_allows.clone()))
        }
        (None, None, None) => {
            Err(Refusal::field("files", "give the files, the version to go back to, or approvals").into())
        }
        _ => Err(Refusal::field("files", "give one of files, version and from_approvals").into()),
    }
}
