//! Compares what is in force with what the repository declares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::Both;
use super::in_force::may_export;
use crate::Nothing;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use policy::Bundle;
use policy::diff::{Pair, Shift, Term, TextDiff};
use types::refusal::Stop;
use types::scope::Reach;

/// What is in force, held against what was declared.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    pub status: Status,
    /// Whether a file differs.
    pub drifted: bool,
    /// The newest change that came with a commit: what the repository declares.
    pub declared_change: Option<String>,
    pub declared_hash: Option<String>,
    /// Whether that change is still on its way into force: that it differs is to be expected.
    pub waits: bool,
    pub applied_hash: String,
    pub applied_version: i64,
    /// From what is declared to what is in force, for whoever may export the policies.
    pub diff: Option<TextDiff>,
    /// The same of `approvals.yaml` and `limits.yaml`, by its meaning; for the same readers.
    pub terms: Vec<Term>,
    /// Where what is in force allows more than what is declared, each with a question that was asked on both sides; for
    /// whoever may export the policies.
    pub weaker: Vec<Pair>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every file is the same.
    InSync,
    /// Files differ, but no question with a different answer was found.
    Equivalent,
    /// Something is allowed, or needs less approval, contrary to what is declared.
    Weaker,
    /// Whatever differs is stricter than declared.
    Stronger,
    /// No repository has declared anything.
    Unmanaged,
}

/// Compare what is in force with what is declared.
pub enum ShowDrift {}

impl Query for ShowDrift {
    const SPEC: Spec = Spec {
        name: "policy.drift",
        doc: "Check for drift: whether the policies in force are those that the repository declared last.",
        scope: Reach::READ,
        route: get("/policy/drift").compiles(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Drift;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Drift, Stop> {
        let (applied, bundle) = (read.applied()?, read.bundle()?);
        let unmanaged = Drift {
            status: Status::Unmanaged,
            drifted: false,
            declared_change: None,
            declared_hash: None,
            waits: false,
            applied_hash: applied.hash.clone(),
            applied_version: applied.version,
            diff: None,
            terms: Vec::new(),
            weaker: Vec::new(),
        };
        let Some(declared) = read.declared_change()? else { return Ok(unmanaged) };
        let (change, hash) = (Some(declared.id.clone()), Some(declared.hash.clone()));
        let waits = declared.state.is_open();
        let managed = Drift { declared_change: change, declared_hash: hash, waits, ..unmanaged };
        let wanted = Bundle { files: read.change_files(&declared.id)? }.about_collections_of(&bundle);
        if wanted.hash().as_str() == applied.hash {
            return Ok(Drift { status: Status::InSync, ..managed });
        }
        let both = Both::new(&wanted, &bundle, read)?;
        let (found, terms) = (both.compare(read), both.terms(read));
        let pairs: Vec<&Pair> = found.semantic.changed().collect();
        let looser = |change: Shift| matches!(change, Shift::Looser | Shift::Mixed);
        let weaker: Vec<Pair> = pairs.iter().filter(|pair| looser(pair.change)).map(|pair| (*pair).clone()).collect();
        let is_weaker = !weaker.is_empty() || terms.iter().any(|term| looser(term.change));
        let is_same = pairs.is_empty() && terms.iter().all(|term| term.change == Shift::Same);
        let status = match (is_weaker, is_same) {
            (true, _) => Status::Weaker,
            (false, false) => Status::Stronger,
            (false, true) => Status::Equivalent,
        };
        if !may_export(read) {
            return Ok(Drift { status, drifted: true, ..managed });
        }
        Ok(Drift { status, drifted: true, diff: Some(found.text.clone()), terms, weaker, ..managed })
    }
}
