//! Proposing: nothing that would not load becomes a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ShownChange, note};
use crate::gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use crate::operations::company::COMPANY;
use crate::policy::brain::is_collection;
use crate::policy::bundle::problems;
use crate::policy::{Bundle, Finding, Snapshot};
use crate::store::changes;
use crate::store::changes::events::{ChangePromoted, ChangeProposed};
use crate::types::change::{ChangeState, ChangeTarget};
use crate::types::id::{ActorId, Id, Kind};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::{Reach, Scope};

/// The most problems that one answer names.
const MOST: usize = 50;
/// The most proposals of one author that are open at once.
const OPEN: usize = 20;

/// A change to what is in force.
#[derive(Deserialize, JsonSchema)]
pub struct NewChange {
    pub target: ChangeTarget,
    pub content: Content,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
    /// The version that it was made from; the one in force unless given.
    pub base_version: Option<i64>,
}

/// What would be in force.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// All policy files, text by path.
    #[schemars(extend("maxProperties" = 20_000, "additionalProperties" = {"type": "string", "maxLength": 1048576}))]
    pub files: BTreeMap<String, String>,
}

/// What is proposed, however it was asked for.
#[derive(Clone)]
pub struct Proposal {
    pub bundle: Bundle,
    pub reason: String,
    pub base_version: Option<i64>,
    pub commit: Option<String>,
    pub rolls_back: Option<i64>,
}

/// Propose a change.
pub enum Propose {}

impl Change for Propose {
    const SPEC: Spec = Spec {
        name: "change.propose",
        doc: "Propose a change. Nothing comes into force yet.",
        scope: Reach::Scopes(&[Scope::Changes]),
        route: post("/changes").created().slow().large().made_from("base_version"),
        about: &[&COMPANY],
        events: &[ChangeProposed::KIND],
    };
    const SAYS: &'static str = "proposes a change of the target {target}";
    type Input = NewChange;
    type Output = ShownChange;

    fn target(_: &NewChange, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn prepare(input: &NewChange, read: &Reader<'_>) -> Result<(), Stop> {
        compiled(&whole(&input.content.files, read)?, read).map(drop)
    }

    fn run(permit: Permit<Self>, input: NewChange, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let NewChange { target: ChangeTarget::Policy, content, reason, base_version } = input;
        let bundle = whole(&content.files, draft.read())?;
        let proposal = Proposal { bundle, reason, base_version, commit: None, rolls_back: None };
        Ok(ShownChange::of(propose(&proposal, permit.actor(), draft)?, draft.read()))
    }
}

/// The files that somebody sends, with the collections in force: those change by proposals of their own, with their records.
pub fn whole(files: &BTreeMap<String, String>, read: &Reader<'_>) -> Result<Bundle, Stop> {
    let in_force = read.bundle()?;
    let differs = |(path, text): &(&String, &String)| is_collection(path) && in_force.files.get(*path) != Some(*text);
    if let Some((path, _)) = files.iter().find(differs) {
        let message = format!("`{path}` is not as in force: collections change by proposals (POST /schema/proposals)");
        return Err(Refusal::field("files", message).into());
    }
    Ok(Bundle { files: files.clone() }.about_collections_of(&in_force))
}

/// A bundle that would load, with nothing wrong in its names or in anything else. What was compiled stays in the build cache.
pub fn compiled(bundle: &Bundle, read: &Reader<'_>) -> Result<Arc<Snapshot>, Stop> {
    let bad = problems(&bundle.files, MOST);
    if !bad.is_empty() {
        return Err(Refusal::invalid(bad).into());
    }
    let told = |findings: Vec<Finding>| Refusal::invalid(findings.iter().take(MOST).map(ToString::to_string).collect());
    Ok(read.build_cache().snapshot(bundle).map_err(told)?)
}

/// Records a proposal, if it is made from what is in force.
pub fn propose(proposal: &Proposal, author: ActorId, draft: &mut Draft<'_>) -> Result<changes::Change, Stop> {
    check(proposal)?;
    compiled(&proposal.bundle, draft.read())?;
    let applied = draft.read().applied()?;
    let base_version = proposal.base_version.unwrap_or(applied.version);
    if base_version != applied.version {
        return Err(moved(base_version, &applied).into());
    }
    let hash = proposal.bundle.hash().to_string();
    if hash == applied.hash {
        return Err(Refusal::conflict("exactly these policies are in force already").into());
    }
    if let Some(same) = draft.read().open_change(&author, &hash, base_version)? {
        // Proposed again, it is the same proposal: a pipeline may run twice.
        return Ok(same);
    }
    if draft.read().open_changes_of(&author)? >= OPEN {
        let message =
            format!("{author} has {OPEN} open proposals, the most there may be: take one back, or have it decided");
        return Err(Refusal::conflict(message).into());
    }
    recorded(proposal, hash, author, draft)
}

/// What a commit declares is in force already: nothing changes, and the company is known to be managed from there.
pub fn adopt(proposal: &Proposal, author: ActorId, draft: &mut Draft<'_>) -> Result<Option<changes::Change>, Stop> {
    let (applied, hash) = (draft.read().applied()?, proposal.bundle.hash().to_string());
    let is_declared = draft.read().declared_change()?.is_some_and(|declared| declared.hash == hash);
    let is_base = proposal.base_version.is_none_or(|base| base == applied.version);
    if proposal.commit.is_none() || hash != applied.hash || is_declared || !is_base {
        return Ok(None);
    }
    check(proposal)?;
    let mut change = recorded(proposal, hash, author.clone(), draft)?;
    draft.record(ChangePromoted { id: Id::stored(&change.id), author, version: applied.version })?;
    (change.state, change.version) = (ChangeState::Promoted, Some(applied.version));
    Ok(Some(change))
}

/// What is wrong with what is said about it.
fn check(proposal: &Proposal) -> Result<(), Stop> {
    note("reason", &proposal.reason, 1)?;
    let is_hash = |commit: &String| (4..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    if proposal.commit.as_ref().is_some_and(|commit| !is_hash(commit)) {
        return Err(Refusal::field("commit", "must be a commit's hash: 4 to 64 hexadecimal digits").into());
    }
    Ok(())
}

fn recorded(
    proposal: &Proposal,
    hash: String,
    author: ActorId,
    draft: &mut Draft<'_>,
) -> Result<changes::Change, Stop> {
    let Proposal { bundle, reason, base_version, commit, rolls_back } = proposal.clone();
    let base_version = base_version.unwrap_or(draft.read().applied()?.version);
    let (id, now, behalf) = (draft.new_id(Kind::Change), draft.now(), draft.read().on_behalf_of());
    let issuer = draft.read().caller().issuer.clone();
    let change = changes::Change {
        id: id.to_string(),
        target: ChangeTarget::Policy,
        state: ChangeState::Proposed,
        base_version,
        hash,
        reason,
        commit,
        rolls_back,
        author,
        behalf,
        issuer,
        version: None,
        evals: Vec::new(),
        terms: None,
        trialled: None,
        created_at: now,
        updated_at: now,
        reviews: Vec::new(),
    };
    draft.record(ChangeProposed {
        id,
        target: change.target,
        base_version,
        hash: change.hash.clone(),
        reason: change.reason.clone(),
        commit: change.commit.clone(),
        rolls_back,
        files: bundle.files,
        on_behalf_of: change.behalf.clone(),
        issuer: change.issuer.clone(),
        notified: reviewers(&change, draft.read()),
    })?;
    Ok(change)
}

/// Whom a proposal waits for that nobody saw being written: the people who may review it.
fn reviewers(change: &changes::Change, read: &Reader<'_>) -> Vec<ActorId> {
    match change.commit {
        Some(_) => read.people_who_may("change.review", &read.change_target(change), &change.author),
        None => Vec::new(),
    }
}

/// What is told whoever comes second.
pub fn moved(base: i64, applied: &crate::store::policies::Applied) -> Refusal {
    let by = match &applied.change {
        Some(change) => format!("applied by {} with {change}", applied.by),
        None => format!("applied by {}", applied.by),
    };
    Refusal::conflict(format!("this was made from version {base}; version {} is in force, {by}", applied.version))
}
