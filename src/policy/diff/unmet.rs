//! The policies that differ, and which of them hold in no question that was compared.

use schemars::JsonSchema;
use serde::Serialize;

use super::pair::Decisive;
use super::{Answer, Decision, Shift, Sides};
use crate::Snapshot;
use crate::engine::{Difference, Shown};
use crate::testing::{Gathered, OwnedQuestion};

/// A policy that differs, and that no question met; or a part of one that none met: an operation that it lists, an alternative, an
/// exception, a condition in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Unmet {
    pub policy: String,
    pub file: String,
    pub line: usize,
    /// The part, where the policy was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// The policies that differ, as questions meet them.
pub(super) struct Differences {
    all: Vec<Difference>,
    /// Whether what meets none of them has the same answer on both sides.
    decide: bool,
}

/// A question to both sides.
pub(super) struct Asked<'a> {
    /// For each difference; where there are two, the first is of the one side, the last of the other.
    parts: Vec<Gathered<'a>>,
    decide: bool,
}

impl Asked<'_> {
    /// Whether both sides surely answer the same.
    pub(super) fn is_spared(&self) -> bool {
        let met: Vec<bool> = self.parts.iter().map(|part| part.meets(Shown::Nothing)).collect();
        // Each is of one side: where both hold, or neither, the answers compare them.
        match met.as_slice() {
            [true, true] => self.meet(Shown::Compared),
            [false, false] => self.meet(Shown::Neither),
            _ => {}
        }
        self.decide && !met.contains(&true)
    }

    /// What the two sides answer.
    pub(super) fn answers(&self, before: &Snapshot, after: &Snapshot) -> Option<(Answer, Answer)> {
        let (one, other) = (self.parts.first()?, self.parts.last()?);
        Some((Answer::of(&one.answer(before)), Answer::of(&other.answer(after))))
    }

    /// The parts that make their policies what they are here.
    pub(super) fn decisive(&self) -> Decisive {
        let sides = self.parts.iter().enumerate();
        sides.flat_map(|(side, of)| of.decisive().into_iter().map(move |(at, part)| (side, at, part))).collect()
    }

    /// Whatever the question meets is met from now on, if its answers show it: that what is denied anyway is denied shows nothing.
    pub(super) fn observe(&self, old: &Answer, new: &Answer) {
        if new.decision != Decision::Deny || Shift::between(old, new) != Shift::Same {
            self.meet(Shown::Effect);
        }
    }

    fn meet(&self, shown: Shown) {
        for part in &self.parts {
            part.meets(shown);
        }
    }
}

impl Differences {
    pub(super) fn between(sides: &Sides<'_>) -> Differences {
        let (before, after) = (sides.before.snapshot, sides.after.snapshot);
        match sides.have_same_types() {
            true => Differences { all: vec![before.difference(after)], decide: true },
            false => Differences { all: vec![before.beyond(after, false), after.beyond(before, true)], decide: false },
        }
    }

    /// A question with what either side looks at.
    pub(super) fn gathered<'a>(&'a self, asked: &'a OwnedQuestion) -> Asked<'a> {
        Asked { parts: self.all.iter().map(|difference| asked.gathered(difference)).collect(), decide: self.decide }
    }

    /// The same of a question that each side takes in its own way.
    pub(super) fn gathered_of<'a>(&'a self, sides: [&'a OwnedQuestion; 2]) -> Asked<'a> {
        let parts = self.all.iter().zip(sides).map(|(difference, asked)| asked.gathered(difference));
        Asked { parts: parts.collect(), decide: self.decide }
    }

    pub(super) fn unmet(&self) -> Vec<Unmet> {
        let unmet = self.all.iter().flat_map(Difference::unmet).map(|unmet| {
            let (part, line) = unmet.branch.unzip();
            let (policy, file) = (unmet.policy.id.clone(), unmet.policy.file.clone());
            Unmet { policy, file, line: line.unwrap_or(unmet.policy.line), part }
        });
        let mut unmet: Vec<Unmet> = unmet.collect();
        unmet.sort();
        // One that was changed is named once, also where only one of its versions is among them.
        unmet.dedup_by(|next, one| next.policy == one.policy && next.part == one.part);
        unmet
    }
}
