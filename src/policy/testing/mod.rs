//! Tests of policies: a small company, questions to the gate, and the expected answers (`tests/*.yaml`).
//!
//! Always true: the entities and facts of a question are made by the implementation of [`Stage`], which in the product
//! is the gate's serving code, so a test sees what a caller would see.

mod case;
mod file;
mod matrix;
mod own;
mod rows;
mod run;
mod samples;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ptr;
use std::sync::Arc;

use cedar_policy::EntityUid;
use serde_json::Value;

pub use case::{Around, Case, Expected, Way};
pub use file::{TestFile, parse};
pub use own::{Evaluation, Records};
pub use rows::{Delegation, Fixture, Member, Row, Step, Team};
pub use run::{Coverage, Mutation, Ran, Run, Tried, cover, mutate, run};
pub use samples::{Cast, Sample, other_than};

use super::engine::{Because, Difference, Reached, Standing, Supposed, Unknown, Words};
use super::{Answered, Closed, For, Giver, Question, Record, Ruling, Slice, Snapshot};

/// Turns the company of a test into the questions that the gate would ask.
pub trait Stage: Words + Sync {
    /// The company of a fixture, to be asked about.
    fn stage<'s>(&'s self, snapshot: &Arc<Snapshot>, fixture: &'s Fixture) -> Box<dyn Staged + 's>;

    /// The operation that must be allowed for a resource of this Cedar type to exist as far as the caller can tell.
    fn sight(&self, _resource: &str) -> Option<&'static str> {
        None
    }

    /// The list of a test file that holds what is of a Cedar type.
    fn list(&self, _kind: &str) -> Option<&'static str> {
        None
    }

    /// The Cedar type of what stands in a list.
    fn kind(&self, _list: &str) -> Option<String> {
        None
    }

    /// What the company that a comparison makes up has of these lists.
    fn samples(&self, _lists: &BTreeSet<&str>, _cast: &Cast<'_>) -> Vec<Sample> {
        Vec::new()
    }

    /// Whether a row is one of its list, or what is wrong with it.
    fn row(&self, _row: &Row) -> Result<(), String> {
        Ok(())
    }
}

/// A test's company.
pub trait Staged {
    /// The question of a case, or what it names that does not exist.
    fn question(&mut self, case: &Case) -> Result<OwnedQuestion, String>;
}

/// One question, free of any policy, so that several snapshots can answer it.
pub struct OwnedQuestion {
    pub principal: EntityUid,
    pub action: EntityUid,
    pub resource: EntityUid,
    pub entities: Vec<Closed>,
    pub facts: Record,
    /// What the operation is given.
    pub input: Option<Value>,
    pub granted: Vec<String>,
    /// On whose behalf it is asked, nearest first.
    pub givers: Vec<Giver>,
    /// What must be allowed for the resource to exist as far as the principal can tell.
    pub sight: Option<EntityUid>,
    /// The gate's own refusal, which applies whatever the policies say.
    pub refused: Option<Ruling>,
}

impl OwnedQuestion {
    pub fn answer(&self, snapshot: &Snapshot) -> Answered {
        self.answer_in(&self.slice(snapshot), snapshot, None)
    }

    /// What two sides answer that have the same schema: what they look at is gathered once.
    pub fn answers(&self, before: &Snapshot, after: &Snapshot) -> (Answered, Answered) {
        let slice = self.slice(before);
        (self.answer_in(&slice, before, None), self.answer_in(&slice, after, None))
    }

    /// The same for the sides of which this is the difference.
    pub fn gathered<'a>(&'a self, difference: &'a Difference) -> Gathered<'a> {
        let slice = self.slice(difference.snapshot());
        Gathered { asked: self, difference, slice, reached: OnceCell::new(), answers: Default::default() }
    }

    /// Everything that is asked of policies, for the principal and for those on whose behalf it asks.
    fn questions<'a>(&'a self, slice: &'a Slice) -> impl Iterator<Item = Question<'a>> {
        let own = Some((&self.action, self.granted.as_slice())).filter(|_| self.refused.is_none());
        let seen = self.sight.as_ref().map(|sight| (sight, [].as_slice()));
        own.into_iter().chain(seen).flat_map(|(action, granted)| {
            let mine = self.question(slice, action, granted);
            let theirs = |giver: &'a Giver| Question { principal: &giver.principal, facts: &giver.facts, ..mine };
            std::iter::once(mine).chain(self.givers.iter().map(theirs)).collect::<Vec<_>>()
        })
    }

    /// The entities with both actions that may be asked about.
    fn slice(&self, snapshot: &Snapshot) -> Slice {
        let family = |action: &EntityUid| snapshot.action_family(action.as_ref()).iter().cloned();
        let sight = self.sight.iter().flat_map(family);
        Slice::new(snapshot, &self.action, self.entities.iter().cloned().chain(sight))
    }

    fn answer_in<'a>(&'a self, slice: &'a Slice, snapshot: &Snapshot, supposed: Option<&'a Supposed<'a>>) -> Answered {
        let question = |action, granted| Question { supposed, ..self.question(slice, action, granted) };
        let asked = || snapshot.decide_for(&question(&self.action, &self.granted), &self.givers, For::Doing);
        let ruling = self.refused.clone().unwrap_or_else(asked);
        // The read by which it is seen may be the very question.
        let is_same = self.refused.is_none() && self.givers.is_empty() && self.granted.is_empty();
        let same = self.sight.as_ref().filter(|sight| is_same && **sight == self.action).map(|_| ruling.clone());
        let seeing = |sight| snapshot.decide_for(&question(sight, &[]), &self.givers, For::Seeing);
        Answered::of(ruling, || same.or_else(|| self.sight.as_ref().map(seeing)))
    }

    fn question<'a>(&'a self, entities: &'a Slice, action: &'a EntityUid, approvals: &'a [String]) -> Question<'a> {
        let OwnedQuestion { principal, resource, facts, .. } = self;
        // What shows the resource is asked without it.
        let input = self.input.as_ref().filter(|_| *action == self.action);
        Question { principal, action, resource, entities, facts, input, approvals, supposed: None }
    }

    /// Puts the question as these policies are asked it.
    pub fn put<T>(
        &self,
        snapshot: &Snapshot,
        action: &EntityUid,
        granted: &[String],
        then: impl FnOnce(&Question<'_>) -> T,
    ) -> T {
        let slice = Slice::new(snapshot, action, self.entities.iter().cloned());
        then(&self.question(&slice, action, granted))
    }
}

/// A question with what two sides look at that differ in some policies.
pub struct Gathered<'a> {
    asked: &'a OwnedQuestion,
    difference: &'a Difference,
    slice: Slice,
    /// What it reaches of those policies, once that was looked for.
    reached: OnceCell<Vec<Result<Reached, Unknown>>>,
    /// What the sides answer, once that was asked.
    answers: [OnceCell<Answered>; 2],
}

/// What is known of a question that each side takes in its own way.
#[derive(Clone, Copy)]
pub struct Across {
    /// The sides answer it differently.
    pub differs: bool,
    /// Policies that differ hold on both sides, or on neither.
    pub is_as_before: bool,
}

impl Gathered<'_> {
    /// What the two sides answer that have the schema in which the difference is asked; the same one twice where only one has.
    pub fn answers(&self, sides: [&Snapshot; 2]) -> [&Answered; 2] {
        let [before, after] = &self.answers;
        let [old, new] = sides;
        let answer = |side| self.asked.answer_in(&self.slice, side, None);
        let first = before.get_or_init(|| answer(old));
        [first, if ptr::eq(old, new) { first } else { after.get_or_init(|| answer(new)) }]
    }

    /// Whether the two sides may answer otherwise. If not, their answers are the same.
    pub fn is_met(&self) -> bool {
        self.reached().iter().any(|reached| reached.as_ref().map_or(true, Reached::is_met))
    }

    /// Notes which of those policies the question shows. It shows a policy if the answer of the policy's side would
    /// change if the policy did the opposite, or if the other side's answer would change if the policy did the same
    /// there. If both sides answer the same, it shows only policies whose two versions do the same for it: other
    /// policies may compensate for each other here, but not elsewhere.
    pub fn observe(&self, sides: [&Snapshot; 2], across: Option<Across>) {
        for (one, reached) in self.asked.questions(&self.slice).zip(self.reached()) {
            self.difference.observe(&one, reached, |standing| self.tells(sides, across, &one, standing));
        }
    }

    fn tells(
        &self,
        [before, after]: [&Snapshot; 2],
        across: Option<Across>,
        one: &Question<'_>,
        standing: &Standing<'_>,
    ) -> bool {
        let Standing { policy, other, is_ours, holds, is_as_before } = *standing;
        let [old, new] = self.answers([before, after]);
        let Across { differs, is_as_before } =
            across.unwrap_or_else(|| Across { differs: !old.decides_as(new), is_as_before });
        if !differs && !is_as_before {
            return false;
        }
        let (mine, theirs) = if is_ours { ((before, old), (after, new)) } else { ((after, new), (before, old)) };
        let is_otherwise = |(side, answer): (&Snapshot, &Answered), policy: &Because, holds: bool| {
            let supposed = Supposed { policy, holds, principal: one.principal, action: one.action };
            !answer.decides_as(&self.asked.answer_in(&self.slice, side, Some(&supposed)))
        };
        // On the other side it is the same already where its version there is, and where there is no other side.
        let is_same_there = standing.is_as_before || ptr::eq(before, after);
        is_otherwise(mine, policy, !holds) || (!is_same_there && is_otherwise(theirs, other, holds))
    }

    /// The parts of those policies that make them what they are here.
    pub fn decisive(&self) -> BTreeSet<(u32, usize)> {
        let asked = self.asked.questions(&self.slice).zip(self.reached());
        asked.flat_map(|(one, reached)| self.difference.decisive(&one, reached)).collect()
    }

    fn reached(&self) -> &[Result<Reached, Unknown>] {
        let reach = || self.asked.questions(&self.slice).map(|one| self.difference.reached(&one)).collect();
        self.reached.get_or_init(reach)
    }
}
