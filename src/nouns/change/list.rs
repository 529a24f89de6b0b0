//! Lists changes and shows what they would change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CHANGE;
use super::{ShownChange, find};
use crate::company::COMPANY;
use crate::policy::check::Problem;
use crate::policy::compare::Both;
use crate::policy::{PolicyVersion, may_export};
use gate::{Permit, Query, Reader, Spec, Target, get};
use policy::diff::{Semantic, Term, TextDiff};
use policy::{Bundle, Finding};
use store::changes::{self, ProposedChange};
use types::change::{ChangeState, ChangeTarget};
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::{Reach, Scope};

/// Scopes that may read changes: whoever may propose can follow their proposals.
const READS: Reach = Reach::Scopes(&[Scope::Read, Scope::Changes, Scope::Policy]);

/// Which changes.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only in this state.
    #[arg(long = "in", value_name = "STATE")]
    pub state: Option<ChangeState>,
    /// Only changes to this target.
    #[arg(skip)]
    pub target: Option<ChangeTarget>,
    /// Only the caller's own.
    #[serde(default)]
    #[arg(long, help = "Only the acting actor's own")]
    pub mine: bool,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List changes.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "change.list",
        doc: "List the changes that the caller may see, newest first.",
        scope: READS,
        route: get("/changes").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownChange>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownChange>, Stop> {
        let me = permit.actor();
        let state = input.state.map(ChangeState::name).unwrap_or_default();
        let target = input.target.map(ChangeTarget::name).unwrap_or_default();
        let what = format!("change.list {state} {target} {}", if input.mine { me.as_str() } else { "" });
        let wanted = |change: &ProposedChange| {
            input.state.is_none_or(|state| state == read.change_state(change))
                && input.target.is_none_or(|target| target == change.target)
                && (!input.mine || change.author == me)
                && read.may("change.read", &read.change_target(change))
        };
        let page = read.list(&changes::LIST, &input.page, what, wanted)?;
        let rows = page.rows.into_iter().map(|change| ShownChange::of(change, read)).collect::<Result<_, _>>()?;
        Ok(Page { rows, next: page.next })
    }

    fn next(output: &Page<ShownChange>) -> Option<String> {
        output.next.clone()
    }
}

/// A change with what it would change.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    pub change: ShownChange,
    /// The version that it was made from.
    pub base: PolicyVersion,
    pub hash: String,
    /// Actors and teams that its policies name but that do not exist, and kinds of approval with fewer eligible people
    /// than required; at most 100, only those that its base does not have. Entity types whose stored entities would not
    /// fit its schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Problem>,
    /// The policies and files that differ.
    pub text: TextDiff,
    /// What differs in meaning in `approvals.yaml` and `limits.yaml`.
    pub terms: Vec<Term>,
    /// Which answers would differ.
    pub semantic: Semantic,
}

/// A change, and how far it is looked at.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Comparing {
    pub id: String,
    /// Whether to compare the answers to generated questions, which takes longest; `true` by default.
    #[serde(default)]
    pub semantic: Option<bool>,
}

/// Compare a change with its base.
pub enum Diff {}

/// What differs shows what is in force: to whoever may read that, and to whoever decides about the change. That somebody
/// wrote the other side of it is not enough.
pub(super) fn shows_policies(change: &ProposedChange, read: &Reader<'_>) -> bool {
    let decides = read.change_target(change).names("approvers", &read.caller().actor());
    decides || may_export(read)
}

/// Returns the collections for showing a change: those in force while it is open and its policies fit them, otherwise those it
/// was made with; and the problems of what does not fit.
fn collections(change: &ProposedChange, base: &Bundle, read: &Reader<'_>) -> Result<(Bundle, Vec<Problem>), Stop> {
    if !change.state.is_open() {
        return Ok((base.clone(), Vec::new()));
    }
    let wanted = read.change_bundle(&change.id)?;
    let Err(findings) = read.build_cache().snapshot(&wanted) else { return Ok((wanted, Vec::new())) };
    let unfit = |finding: &Finding| {
        let problem = Problem::from(finding);
        Problem { message: format!("it does not fit the collections in force: {}", problem.message), ..problem }
    };
    Ok((base.clone(), findings.iter().map(unfit).collect()))
}

impl Query for Diff {
    const SPEC: Spec = Spec {
        name: "change.read",
        doc: "Show a change, and what it would change.",
        scope: READS,
        route: get("/changes/{id}/diff").compiles(),
        about: &[&CHANGE],
        events: &[],
    };
    type Input = Comparing;
    type Output = Compared;

    fn target(input: &Comparing, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Comparing, read: &Reader<'_>) -> Result<Compared, Stop> {
        let change = find(&input.id, read)?;
        let gone = || Refusal::conflict(format!("version {} is no longer in the log", change.base_version));
        let base = read.bundle_of(change.base_version)?.ok_or_else(gone)?;
        let (collections, unfit) = collections(&change, &base, read)?;
        let base = base.about_collections_of(&collections);
        let wanted = Bundle { files: read.change_files(&change.id)? }.about_collections_of(&base);
        let (text, terms, semantic, warnings) = if shows_policies(&change, read) {
            let both = Both::new(&base, &wanted, read)?;
            let (text, semantic) = both.seen(input.semantic, read);
            let warnings = unfit.into_iter().chain(both.warnings(read)?).collect();
            (text, both.terms(read), semantic, warnings)
        } else {
            let summary =
                "its changes are shown only to those who may export the policies or decide about it".to_owned();
            (TextDiff::default(), Vec::new(), Semantic { summary, ..Semantic::default() }, Vec::new())
        };
        Ok(Compared {
            base: PolicyVersion { version: change.base_version, hash: base.hash().to_string() },
            hash: change.hash.clone(),
            warnings,
            text,
            terms,
            semantic,
            change: ShownChange::of(change, read)?,
        })
    }
}
