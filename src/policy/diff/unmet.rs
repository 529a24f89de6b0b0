//! The policies that differ, and which of them hold in no question that was compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pair::Decisive;
use super::{Answer, Shift, Sides};
use crate::Snapshot;
use crate::engine::Difference;
use crate::testing::{Across, Gathered, OwnedQuestion};

/// A policy that differs, and that no question met; or a part of one that none met: an operation that it lists, an alternative, an
/// exception, a condition in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unmet {
    pub policy: String,
    pub file: String,
    pub line: usize,
    /// The part, where the policy was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// The policies that differ, as questions meet them.
pub(super) struct Differences {
    all: Vec<Difference>,
    /// Whether what meets none of them has the same answer on both sides.
    decide: bool,
}

/// A question to both sides.
pub(super) struct Comparison<'a> {
    /// For each difference; where there are two, the first is of the one side, the last of the other.
    parts: Vec<Gathered<'a>>,
    decide: bool,
}

impl Comparison<'_> {
    /// Whether both sides surely answer the same.
    pub(super) fn is_spared(&self) -> bool {
        self.decide && !self.parts.iter().any(Gathered::is_met)
    }

    /// Notes what it shows of the policies that differ.
    pub(super) fn observe(&self, before: &Snapshot, after: &Snapshot) {
        match self.parts.as_slice() {
            [both] => both.observe([before, after], None),
            each => {
                let differs =
                    self.answers(before, after).is_some_and(|(old, new)| Shift::between(&old, &new) != Shift::Same);
                let is_met: Vec<bool> = each.iter().map(Gathered::is_met).collect();
                let across = Across { differs, is_as_before: is_met.first() == is_met.last() };
                each.iter().zip([before, after]).for_each(|(one, side)| one.observe([side, side], Some(across)));
            }
        }
    }

    /// What the two sides answer.
    pub(super) fn answers(&self, before: &Snapshot, after: &Snapshot) -> Option<(Answer, Answer)> {
        let (old, new) = match self.parts.as_slice() {
            [both] => both.answers([before, after]).into(),
            [one, other] => {
                let ([old, _], [new, _]) = (one.answers([before, before]), other.answers([after, after]));
                (old, new)
            }
            _ => return None,
        };
        Some((Answer::of(old), Answer::of(new)))
    }

    /// The parts that make their policies what they are here.
    pub(super) fn decisive(&self) -> Decisive {
        let sides = self.parts.iter().enumerate();
        sides.flat_map(|(side, of)| of.decisive().into_iter().map(move |(at, part)| (side, at, part))).collect()
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
    pub(super) fn gathered<'a>(&'a self, asked: &'a OwnedQuestion) -> Comparison<'a> {
        Comparison {
            parts: self.all.iter().map(|difference| asked.gathered(difference)).collect(),
            decide: self.decide,
        }
    }

    /// The same of a question that each side takes in its own way.
    pub(super) fn gathered_of<'a>(&'a self, sides: [&'a OwnedQuestion; 2]) -> Comparison<'a> {
        let parts = self.all.iter().zip(sides).map(|(difference, asked)| asked.gathered(difference));
        Comparison { parts: parts.collect(), decide: self.decide }
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
