//! Runs a canary: a change is evaluated beside the policies in force on a share of the traffic. A canary aborts itself once too
//! many decisions would differ, and never promotes itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CHANGE;
use super::{ShownChange, counted, find, find_open, is_tested};
use crate::audit::may_read_all;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::changes::events::{CanaryAborted, CanaryMeasured, CanaryStarted};
use store::event::Event;
use types::change::ChangeState;
use types::id::Id;
use types::impact::{Budgets, TrialTerms, Trialled};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// The terms of a trial.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Terms {
    /// The change's id.
    #[arg(value_name = "CHANGE")]
    pub id: String,
    /// The percentage of decisions to evaluate with the canary as well: 1 to 100.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub percent: u8,
    /// How many decisions it must evaluate before it can be promoted; 100 by default.
    #[arg(long, value_name = "N")]
    pub min_decisions: Option<u64>,
    /// The canary is aborted when more decisions than this differ; by default as soon as one is newly allowed.
    #[arg(long, value_name = "NAME=NUMBER,...")]
    pub abort_if: Option<Budgets>,
}

/// Start a canary of a change.
pub enum Canary {}

impl Change for Canary {
    const SPEC: Spec = Spec {
        name: "change.canary",
        doc: "Start a canary: evaluate a change beside what is in force, on a share of the traffic. No answer is \
              affected.",
        scope: Reach::Full,
        route: post("/changes/{id}/canary").compiles(),
        about: &[&CHANGE],
        events: &[CanaryStarted::KIND],
    };
    const SAYS: &'static str = "starts a canary of {id} on {percent} % of the decisions";
    type Input = Terms;
    type Output = ShownChange;

    fn target(input: &Terms, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.change_target(&find(&input.id, read)?))
    }

    fn prepare(input: &Terms, read: &Reader<'_>) -> Result<(), Stop> {
        let change = find_open(&input.id, read)?;
        super::compiled(&read.change_bundle(&change.id)?, read).map(drop)
    }

    fn run(permit: Permit<Self>, input: Terms, draft: &mut Draft<'_>) -> Result<ShownChange, Stop> {
        let mut change = find_open(&input.id, draft.read())?;
        let Terms { percent, min_decisions, abort_if, .. } = input;
        if !(1..=100).contains(&percent) {
            return Err(Refusal::field("percent", "must be 1 to 100").into());
        }
        is_tested(&change)?;
        if let Some(tried) = draft.read().tried_change()? {
            return Err(Refusal::conflict(format!("{} has a canary already; one runs at a time", tried.id)).into());
        }
        let none = Budgets { newly_allowed: Some(0), ..Budgets::default() };
        let terms =
            TrialTerms { percent, min_decisions: min_decisions.unwrap_or(100), abort_if: abort_if.unwrap_or(none) };
        let (id, author) = (Id::stored(&change.id), change.author.clone());
        draft.record(CanaryStarted { id, author, terms: terms.clone() })?;
        change.state = ChangeState::Canary;
        change.terms = Some(terms);
        change.trialled = Some(Trialled::default());
        change.updated_at = permit.now();
        Ok(ShownChange::of(change, draft.read())?)
    }
}

/// What to do about a canary with too few decisions.
const FEWER: &str = "wait for them, or ask for fewer in another canary (`min_decisions`)";

/// Why a candidate is not evaluated.
const UNFIT: &str = "its policies no longer fit the schema of the collections, or this version of ok";

/// Seconds after which a retry makes sense, since the canary may have seen more.
const LATER: u64 = 60;

/// Checks that a canary has seen enough decisions and kept its budgets, before the change is promoted.
pub fn is_tried(change: &store::changes::ProposedChange, read: &Reader<'_>) -> Result<(), Refusal> {
    let (ChangeState::Canary, Some(terms)) = (change.state, &change.terms) else { return Ok(()) };
    let Some(trial) = read.trial().filter(|trial| trial.change.id == change.id) else {
        return Err(Refusal::conflict(format!("its trial cannot go on: {UNFIT}")));
    };
    let seen = trial.trialled().matrix.sum();
    if let Some(over) = trial.over().first() {
        return Err(Refusal::conflict(format!("its trial is over budget: {}", counted::exceeded(over, read))));
    }
    if seen < terms.min_decisions {
        let least = terms.min_decisions;
        let message = match may_read_all(read) {
            true => format!("its trial has seen {seen} of {least} decisions; {FEWER}"),
            false => format!("its trial has not seen {least} decisions yet; {FEWER}"),
        };
        return Err(Refusal { retry_after: Some(LATER), ..Refusal::conflict(message) });
    }
    Ok(())
}

/// Returns what the tick records of a canary: its end if it is over budget, otherwise new results.
pub fn measured(read: &Reader<'_>) -> Option<Event> {
    let tried = read.tried_change().ok()??;
    let Some(trial) = read.trial().filter(|trial| trial.change.id == tried.id) else {
        let (id, author, trialled) = (Id::stored(&tried.id), tried.author, tried.trialled.unwrap_or_default());
        return Some(CanaryAborted { id, author, reason: UNFIT.into(), trialled, notice: UNFIT.into() }.into());
    };
    let (id, author) = (Id::stored(&trial.change.id), trial.change.author.clone());
    let trialled = trial.trialled();
    if let Some(over) = trial.over().first() {
        let notice = counted::ending(over, &trialled, &author, read);
        let reason = counted::in_figures(over);
        return Some(CanaryAborted { id, author, reason, trialled, notice }.into());
    }
    let recorded = read.change(&trial.change.id).ok()??.trialled.unwrap_or_default();
    (recorded != trialled).then(|| CanaryMeasured { id, author, trialled }.into())
}
