//! Proposes a change. A bundle that does not load is rejected.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ShownChange, check_text};
use crate::company::COMPANY;
use crate::definition;
use crate::view::may_see;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use policy::brain::is_collection;
use policy::bundle::problems;
use policy::{Bundle, Finding, Snapshot, views};
use store::changes;
use store::changes::events::{ChangePromoted, ChangeProposed};
use store::policies::Applied;
use types::caller::Caller;
use types::change::{ChangeState, ChangeTarget};
use types::id::{ActorId, Id, Kind};
use types::refusal::{Refusal, Stop};
use types::scope::{Reach, Scope};
use types::view::{VIEW_NAME, View, is_view_name};

/// The maximum number of problems in one answer.
const MOST: usize = 50;
/// The maximum number of open proposals per author.
const OPEN: usize = 20;

/// A change to what is in force.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewChange {
    pub target: ChangeTarget,
    /// The view's name, if the target is a view.
    pub target_id: Option<String>,
    pub content: Content,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
    /// The version that it was made from; the one in force unless given.
    pub base_version: Option<i64>,
}

/// What would be in force: of the policies `files`; of a view its `definition`, or that it is to be removed.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// All policy files, text by path. Collections and views that are not among them stay.
    #[schemars(extend("maxProperties" = 20_000, "additionalProperties" = {"type": "string", "maxLength": 1048576}))]
    pub files: Option<BTreeMap<String, String>>,
    /// The view, as an object or as the text of a file (YAML); at most 64 KiB.
    #[schemars(extend("x-names" = "json"))]
    pub definition: Option<Value>,
    /// Remove the view.
    #[serde(default)]
    pub remove: bool,
}

/// A proposal, whichever operation makes it.
#[derive(Clone, Default)]
pub struct Proposal {
    pub bundle: Bundle,
    /// The view that it changes; otherwise it changes the policies.
    pub view: Option<String>,
    pub reason: String,
    pub base_version: Option<i64>,
    pub base_hash: Option<String>,
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
        route: post("/changes").created().compiles().large().based_on("base_version"),
        about: &[&COMPANY],
        events: &[ChangeProposed::KIND],
    };
    const SAYS: &'static str = "proposes a change of the target {target}[ {target_id}]";
    type Input = NewChange;
    type Output = ShownChange;

    fn target(_: &NewChange, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn prepare(input: &NewChange, read: &Reader<'_>) -> Result<(), Stop> {
        let bundle = wanted(input, read)?;
        has_room(&bundle, read)?;
        compiled(&bundle, read).map(drop)
    }

    fn run(permit: Permit<Self>, input: NewChange, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let bundle = wanted(&input, draft.read())?;
        let NewChange { target_id: view, reason, base_version, .. } = input;
        let proposal = Proposal { bundle, view, reason, base_version, ..Proposal::default() };
        Ok(ShownChange::of(propose(&proposal, permit.actor(), draft)?, draft.read())?)
    }
}

/// Returns the bundle that would be in force.
fn wanted(input: &NewChange, read: &Reader<'_>) -> Result<Bundle, Stop> {
    let Content { files, definition, remove } = &input.content;
    match (input.target, files, definition, remove) {
        (ChangeTarget::Policy, Some(files), None, false) if input.target_id.is_none() => whole(files, &[], read),
        (ChangeTarget::Policy, Some(_), None, false) => {
            Err(Refusal::field("target_id", "the company has only one set of policies: omit this").into())
        }
        (ChangeTarget::Policy, ..) => {
            Err(Refusal::field("content", "a change to the policies has `files`, and nothing else").into())
        }
        (ChangeTarget::View, None, Some(definition), false) => with_view(input, Some(definition), read),
        (ChangeTarget::View, None, None, true) => with_view(input, None, read),
        (ChangeTarget::View, ..) => {
            Err(Refusal::field("content", "a change to a view has a `definition`, or `remove: true`").into())
        }
    }
}

/// Returns the bundle in force with a view replaced or removed.
fn with_view(input: &NewChange, definition: Option<&Value>, read: &Reader<'_>) -> Result<Bundle, Stop> {
    let name = input.target_id.as_deref().ok_or_else(|| Refusal::field("target_id", "must be the view's name"))?;
    if !is_view_name(name) {
        return Err(Refusal::field("target_id", VIEW_NAME).into());
    }
    let (mut bundle, path) = (read.bundle()?, views::path_of(name));
    let hidden = read.view(name).is_some_and(|view| !may_see(&view, read));
    match definition {
        Some(definition) => {
            let view: View = definition::read(definition).map_err(|what| Refusal::field("content.definition", what))?;
            let of = &view.spec.query.collection;
            // Problems of a view reveal its collection, so they are only for callers who may know that.
            if read.collection(of).is_none() || !read.sees(&read.collection_target(of)) {
                return Err(Refusal::field("content.definition", views::no_collection(of)).into());
            }
            if hidden {
                return Err(Refusal::field("target_id", format!("`{name}` is taken: choose another name")).into());
            }
            let text = definition.as_str().map_or_else(|| serde_yaml::to_string(&view), |text| Ok(text.to_owned()));
            let text = text.map_err(|error| Refusal::field("content.definition", error))?;
            bundle.files.insert(path, text);
        }
        None if hidden || bundle.files.remove(&path).is_none() => {
            return Err(Refusal::field("target_id", format!("there is no view `{name}`")).into());
        }
        None => {}
    }
    Ok(bundle)
}

/// Combines submitted files with the collections in force: those change by proposals of their own, together with their records.
/// Collection files listed in `unedited` may be outdated and are replaced too. Views not submitted stay: removing one takes a
/// change of its own.
pub fn whole(files: &BTreeMap<String, String>, unedited: &[String], read: &Reader<'_>) -> Result<Bundle, Stop> {
    if let Some(path) = unedited.iter().find(|path| !is_collection(path) || !files.contains_key(*path)) {
        return Err(
            Refusal::field("unedited", format!("`{path}` must be a collection's file, and among `files`")).into()
        );
    }
    let in_force = read.bundle()?;
    let differs = |(path, text): &(&String, &String)| {
        is_collection(path) && !unedited.contains(*path) && in_force.files.get(*path) != Some(*text)
    };
    if let Some((path, _)) = files.iter().find(differs) {
        let message = format!(
            "`{path}` differs from the one in force: collections change by proposals (`ok schema propose`, POST /api/schema/proposals); \
             leave the file out, or restore it (`ok policy export --dir` with `--force`)"
        );
        return Err(Refusal::field("files", message).into());
    }
    Ok(Bundle { files: files.clone() }.about_collections_of(&in_force).with_views_of(&in_force))
}

/// Compiles a bundle, or refuses it with all its problems. The result stays in the build cache.
pub fn compiled(bundle: &Bundle, read: &Reader<'_>) -> Result<Arc<Snapshot>, Stop> {
    let bad = problems(&bundle.files, MOST);
    if !bad.is_empty() {
        return Err(Refusal::invalid(bad).into());
    }
    let refused =
        |findings: Vec<Finding>| Refusal::invalid(findings.iter().take(MOST).map(ToString::to_string).collect());
    Ok(read.build_cache().snapshot(bundle).map_err(refused)?)
}

/// Records a proposal, if its base is in force.
pub fn propose(proposal: &Proposal, author: ActorId, draft: &mut Draft<'_>) -> Result<changes::ProposedChange, Stop> {
    check(proposal)?;
    let policies = compiled(&proposal.bundle, draft.read())?;
    if policies.policies().next().is_none() {
        return Err(Refusal::field("files", "contain no policies: every call would be denied").into());
    }
    for_somebody(&policies, draft.read())?;
    let applied = draft.read().applied()?;
    if let Some(base) = proposal.base_version
        && !draft.read().policies_stand(base)?
    {
        return Err(moved(base, &draft.read().policies_changed()?).into());
    }
    is_of_this_company(proposal, &applied, draft.read())?;
    let hash = proposal.bundle.hash().to_string();
    if hash == applied.hash {
        let what = if proposal.view.is_some() { "exactly this view is" } else { "exactly these policies are" };
        return Err(Refusal::conflict(format!("{what} in force already")).into());
    }
    if let Some(same) = draft.read().open_change(&author, &proposal.bundle)? {
        // Proposing again returns the same proposal: a pipeline may run twice.
        return Ok(same);
    }
    has_room(&proposal.bundle, draft.read())?;
    recorded(proposal, hash, author, draft)
}

/// Checks that the base version is this company's own version of that number.
fn is_of_this_company(proposal: &Proposal, applied: &Applied, read: &Reader<'_>) -> Result<(), Stop> {
    let Some(hash) = &proposal.base_hash else { return Ok(()) };
    let base = proposal.base_version.unwrap_or(applied.version);
    let known = read.applied_before(base.saturating_add(1), 1)?.pop().filter(|known| known.version == base);
    if known.is_some_and(|known| known.hash == *hash) {
        return Ok(());
    }
    let message = format!(
        "this was made from a version {base} that this company does not have, as after a restored backup; version {} is in force",
        applied.version
    );
    Err(Refusal::conflict(message).into())
}

/// Checks that each view with a new visibility names an existing actor: a typo would hide it from everybody.
fn for_somebody(policies: &Snapshot, read: &Reader<'_>) -> Result<(), Refusal> {
    let is_new = |view: &View| read.view(view.name()).is_none_or(|now| now.spec.visibility != view.spec.visibility);
    let views = policies.views().values().filter(|view| is_new(view));
    let absent = views.filter_map(|view| {
        let id = view.spec.visibility.as_ref().filter(|id| !read.knows(id))?;
        Some(format!("{}: spec.visibility: there is no {id}", views::path_of(view.name())))
    });
    let problems: Vec<String> = absent.collect();
    if problems.is_empty() { Ok(()) } else { Err(Refusal::invalid(problems)) }
}

/// Checks that the caller may have one more open proposal, unless this one is open already. Checked before anything costlier.
pub fn has_room(bundle: &Bundle, read: &Reader<'_>) -> Result<(), Stop> {
    let author = read.caller().actor();
    if read.open_changes_of(&author)? < OPEN {
        return Ok(());
    }
    if bundle.hash().as_str() == read.applied()?.hash || read.open_change(&author, bundle)?.is_some() {
        return Ok(());
    }
    let message = format!("{author} has {OPEN} open proposals, which is the limit: withdraw one, or have it decided");
    Err(Refusal::conflict(message).into())
}

/// Records a commit that declares what is already in force: nothing changes, but the company is now managed from there.
pub fn adopt(
    proposal: &Proposal,
    author: ActorId,
    draft: &mut Draft<'_>,
) -> Result<Option<changes::ProposedChange>, Stop> {
    let (applied, hash) = (draft.read().applied()?, proposal.bundle.hash().to_string());
    let is_declared = declares(&proposal.bundle, draft.read())?;
    let is_base = proposal.base_version.map_or(Ok(true), |base| draft.read().policies_stand(base))?;
    if proposal.commit.is_none() || hash != applied.hash || is_declared || !is_base {
        return Ok(None);
    }
    check(proposal)?;
    let mut change = recorded(proposal, hash, author.clone(), draft)?;
    // The version with these policies: open changes based on it remain valid.
    let version = draft.read().policies_changed()?.version;
    draft.record(ChangePromoted { id: Id::stored(&change.id), author, version })?;
    (change.state, change.version) = (ChangeState::Promoted, Some(version));
    Ok(Some(change))
}

/// Checks whether the last commit declared these policies, whatever the collections were then.
fn declares(bundle: &Bundle, read: &Reader<'_>) -> Result<bool, Stop> {
    let Some(declared) = read.declared_change()? else { return Ok(false) };
    let declared = Bundle { files: read.change_files(&declared.id)? };
    Ok(declared.about_collections_of(bundle).hash() == bundle.hash())
}

/// Checks the proposal's reason and commit.
fn check(proposal: &Proposal) -> Result<(), Stop> {
    check_text("reason", &proposal.reason, 1)?;
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
) -> Result<changes::ProposedChange, Stop> {
    let Proposal { bundle, view, reason, commit, rolls_back, .. } = proposal.clone();
    // Its policies match the current version, whatever its base was.
    let base_version = draft.read().applied()?.version;
    let (id, now, behalf) = (draft.new_id(Kind::Change), draft.now(), draft.read().on_behalf_of());
    let Caller { issuer, token, .. } = draft.read().caller().clone();
    let target = if view.is_some() { ChangeTarget::View } else { ChangeTarget::Policy };
    let change = changes::ProposedChange {
        target_id: view,
        base_version,
        hash,
        reason,
        commit,
        rolls_back,
        behalf,
        issuer,
        token_id: token.as_ref().map(Id::to_string),
        ..changes::ProposedChange::proposed(id.to_string(), target, author, now)
    };
    draft.record(ChangeProposed {
        id,
        target: change.target,
        target_id: change.target_id.clone(),
        base_version,
        hash: change.hash.clone(),
        reason: change.reason.clone(),
        commit: change.commit.clone(),
        rolls_back,
        files: bundle.files,
        on_behalf_of: change.behalf.clone(),
        issuer: change.issuer.clone(),
        notified: reviewers(&change, draft.read()),
        token_id: token,
    })?;
    Ok(change)
}

/// Returns the reviewers to notify of a proposal: the people who may review it.
fn reviewers(change: &changes::ProposedChange, read: &Reader<'_>) -> Vec<ActorId> {
    match change.commit {
        Some(_) => read.people_who_may("change.review", &read.change_target(change), &change.author),
        None => Vec::new(),
    }
}

/// Returns the refusal for a proposal whose base is no longer in force.
pub fn moved(base: i64, applied: &Applied) -> Refusal {
    let by = match &applied.change {
        Some(change) => format!("applied by {} with {change}", applied.by),
        None => format!("applied by {}", applied.by),
    };
    Refusal::conflict(format!("this was made from version {base}; version {} is in force, {by}", applied.version))
}
