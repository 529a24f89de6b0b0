//! Shows what a bundle would change: its texts, its answers, and the decisions of the log as it would have made them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Problem;
use super::compare::Both;
use super::explained::PolicyVersion;
use super::in_force::may_export;
use crate::audit::may_read_all;
use crate::change::{content, whole};
use crate::company::COMPANY;
use gate::past::impact;
use gate::{Permit, Query, Reader, Spec, Target, post};
use policy::diff::{Ceilings, Groups, Impact, Over, Semantic, Shift, Term, TextDiff};
use types::caller::Who;
use types::refusal::{Code, Refusal, Stop};
use types::scope::{Reach, Scope};
use types::time::Time;

/// A bundle, and what it is held against.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Text by path: `*.cedar`, `approvals.yaml`, `schema.cedarschema` and `tests/*.yaml`.
    /// The policies in force unless given.
    #[schemars(extend("maxProperties" = 20_000, "additionalProperties" = {"type": "string", "maxLength": 1048576}))]
    pub files: Option<BTreeMap<String, String>>,
    /// Collections among the files that were not edited: for each, the one in force is used, even if it has changed
    /// since the export.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unedited: Vec<String>,
    /// The files of this change, instead of `files`.
    #[schemars(extend("x-id" = true))]
    pub change: Option<String>,
    /// Compare with this earlier version instead of the one in force.
    pub from: Option<i64>,
    /// The version that must be in force.
    pub base: Option<i64>,
    /// Replay the decisions from here on: a time, a date, or the number of an event; all of them unless given.
    pub since: Option<String>,
    /// The budgets: how many differences are allowed.
    pub max: Option<Ceilings>,
    /// Whether to replay the decisions of the log; by default, if the caller may read the audit.
    pub impact: Option<bool>,
    /// Whether to compare the answers to generated questions, which takes longest; `true` by default.
    pub semantic: Option<bool>,
}

/// What it would change.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Whether every file is the same as in force.
    pub same: bool,
    /// The log of the company that this is about.
    pub company: String,
    /// What is in force.
    pub base: PolicyVersion,
    /// The candidate's hash.
    pub hash: String,
    /// Collections and views in force that are not among the files: they stay. To change a collection, propose a
    /// schema; to remove a view, propose that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Actors and teams that the candidate's policies, budgets and escalations name but that do not exist: differences for them concern nobody
    /// yet. Kinds of approval with fewer eligible people than required. At most 100, only those that the other side
    /// does not have. Entity types whose stored entities would not fit the schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Problem>,
    pub text: TextDiff,
    /// What differs in meaning in `approvals.yaml` and `limits.yaml`.
    pub terms: Vec<Term>,
    pub semantic: Semantic,
    /// None if it was not asked for, or the caller may not read the audit.
    pub impact: Option<Impact>,
    /// The operation that the caller would need for the replay; absent if nothing is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact_needs: Option<Cow<'static, str>>,
    /// The budgets that are exceeded.
    pub over_budget: Vec<Over>,
}

/// The operation that the caller must be allowed for counting everybody's decisions.
pub const COUNTS: &str = "audit.head";

/// Compare policies with those in force.
pub enum Diff {}

impl Query for Diff {
    const SPEC: Spec = Spec {
        name: "policy.diff",
        doc: "Compare policies with those in force: texts, answers, and the decisions of the log. Nothing is applied.",
        scope: Reach::Scopes(&[Scope::Policy]),
        route: post("/policy/diff").compiles().large(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Candidate;
    type Output = Compared;

    fn target(_: &Candidate, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Candidate, read: &Reader<'_>) -> Result<Compared, Stop> {
        if !may_export(read) {
            return Err(denied("policy.export", "a comparison shows the policies in force").into());
        }
        fits_together(&input)?;
        let ceilings = input.max.unwrap_or_default();
        let budgets = ceilings.decisions;
        let wanted = input.impact == Some(true) || input.since.is_some() || !budgets.is_empty();
        let may_count = may_read_all(read);
        if wanted && !may_count {
            return Err(denied(
                COUNTS,
                "the impact counts the decisions of everybody; without it, the rest is compared",
            )
            .into());
        }
        let replays = input.impact.unwrap_or(may_count);
        let since = start(input.since.as_deref(), read)?;
        let (bundle, (version, hash)) = (read.bundle()?, read.policy_stamp());
        // The tables may be one commit ahead of the in-memory directory.
        if bundle.hash().as_str() != hash {
            return Err(Refusal::conflict("the policies have just changed; try again").into());
        }
        if let Some(base) = input.base.filter(|base| *base != version) {
            return Err(Refusal::conflict(format!("version {version} is in force, not {base}")).into());
        }
        let (candidate, kept) = match proposed(input.files, input.change.as_deref(), read)? {
            Some(files) => {
                let whole = whole(&files, &input.unedited, read)?;
                let kept = whole.files.keys().filter(|path| !files.contains_key(*path)).cloned().collect();
                (whole, kept)
            }
            None => (bundle.clone(), Vec::new()),
        };
        let (base, bundle) = match input.from {
            Some(from) => {
                let unknown = || Refusal::field("from", format!("there was no version {from}"));
                let earlier = read.bundle_of(from)?.ok_or_else(unknown)?.about_collections_of(&bundle);
                (PolicyVersion { version: from, hash: earlier.hash().to_string() }, earlier)
            }
            None => (PolicyVersion { version, hash: hash.to_owned() }, bundle),
        };
        let both = Both::new(&bundle, &candidate, read)?;
        let sides = both.sides();
        let impact = match replays {
            true => Some(impact::replay(read, &crate::OPERATIONS, &sides, since)?.impact()),
            false => None,
        };
        let (text, semantic) = both.seen(input.semantic, read);
        let terms = both.terms(read);
        Ok(Compared {
            same: sides.is_same(),
            company: read.head().origin.clone(),
            base,
            hash: candidate.hash().as_str().to_owned(),
            kept,
            warnings: both.warnings(read)?,
            text,
            over_budget: over(&ceilings, impact.as_ref(), &semantic, &terms),
            terms,
            semantic,
            impact: impact.map(|impact| shown(impact, read)),
            impact_needs: (input.impact.is_none() && !may_count).then_some(COUNTS.into()),
        })
    }
}

/// Returns which limits are exceeded.
fn over(ceilings: &Ceilings, impact: Option<&Impact>, semantic: &Semantic, terms: &[Term]) -> Vec<Over> {
    let eased = terms.iter().filter(|term| matches!(term.change, Shift::Looser | Shift::Mixed)).count();
    let decisions = impact.map(|impact| ceilings.decisions.over(impact.newly)).unwrap_or_default();
    decisions.into_iter().chain(ceilings.over_answers(semantic.looser() + eased, semantic.unobserved())).collect()
}

/// Checks that there is something to compare, and that everything with a limit is counted.
fn fits_together(input: &Candidate) -> Result<(), Refusal> {
    let ceilings = input.max.unwrap_or_default();
    let (field, message) = if input.semantic == Some(false) && ceilings.are_of_answers() {
        ("max", "`looser` and `unobserved` are counted from the answers, which are not to be compared")
    } else if input.impact == Some(false) && !ceilings.decisions.is_empty() {
        ("max", "without the impact there is nothing to compare it with")
    } else if input.files.is_none() && input.change.is_none() && input.from.is_none() {
        ("files", "required, unless `change` or `from` says what is compared with the policies in force")
    } else {
        return Ok(());
    };
    Err(Refusal::field(field, message))
}

/// Returns the files to compare: those given, or those of a change.
fn proposed(
    files: Option<BTreeMap<String, String>>,
    change: Option<&str>,
    read: &Reader<'_>,
) -> Result<Option<BTreeMap<String, String>>, Stop> {
    match change {
        Some(_) if files.is_some() => Err(Refusal::field("change", "not together with `files`").into()),
        Some(id) => content(id, read).map(Some),
        None => Ok(files),
    }
}

/// Returns the event after which decisions are replayed.
fn start(since: Option<&str>, read: &Reader<'_>) -> Result<i64, Stop> {
    let Some(text) = since else { return Ok(0) };
    let wrong = |what: String| Err(Refusal::field("since", what).into());
    if let Ok(seq) = text.parse::<i64>() {
        let newest = read.last_seq()?;
        if !(1..=newest).contains(&seq) {
            return wrong(format!("there is no event {seq}; the newest is {newest}"));
        }
        return Ok(seq - 1);
    }
    let Some(time) = text.parse::<Time>().ok().or_else(|| format!("{text}T00:00:00Z").parse().ok()) else {
        return wrong(format!(
            "`{text}` is not a time, a date or an event number, such as 2026-11-20T09:00:00Z, 2026-11-20 or 1042"
        ));
    };
    if time > read.now() {
        return wrong(format!("`{text}` is in the future"));
    }
    Ok(read.newest_by(Time(time.0 - 1))?)
}

/// Returns the refusal for a missing permission beside the comparison itself.
fn denied(operation: &str, why: &str) -> Refusal {
    Refusal::new(Code::Denied, format!("policy denied {operation}: {why}"))
}

/// Removes single decisions and who made them, which are only for unlimited tokens.
fn shown(impact: Impact, read: &Reader<'_>) -> Impact {
    let limited = matches!(&read.caller().who, Who::Token { scopes, .. } if !scopes.is_empty());
    if !limited {
        return impact;
    }
    Impact { samples: None, by_actor: Groups::default(), ..impact }
}
