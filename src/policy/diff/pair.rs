//! What was found about one operation for one kind of actor.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::witness::Witness;
use super::{Answer, Shift};

/// One operation, for one kind of actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    pub operation: String,
    /// A person's role, `agent`, `visitor` or `server`.
    pub actor_kind: String,
    /// `looser`, `tighter`, `mixed`, or `same` if no difference was found.
    pub change: Shift,
    pub questions: usize,
    /// The plainest question of each direction; and, until there are 4, one for each part of a policy that no other shows.
    pub witnesses: Vec<Witness>,
    /// The parts of policies that they show.
    #[serde(skip)]
    shown: Decisive,
}

/// Once so many questions are told, only another direction adds one.
const MOST: usize = 4;

/// A part of a policy that differs: which side's, the place of the policy, the number of the part.
pub(super) type Decisive = BTreeSet<(usize, u32, usize)>;

impl Pair {
    pub(super) fn new(operation: &str, actor_kind: &str) -> Pair {
        Pair {
            operation: operation.to_owned(),
            actor_kind: actor_kind.to_owned(),
            change: Shift::Same,
            questions: 0,
            witnesses: Vec::new(),
            shown: Decisive::new(),
        }
    }

    /// Counts the answers to one question, with the parts of policies that make them what they are.
    pub(super) fn count(
        &mut self,
        (old, new): (Answer, Answer),
        decisive: impl FnOnce() -> Decisive,
        witness: impl FnOnce(Answer, Answer) -> Witness,
    ) {
        let shift = Shift::between(&old, &new);
        if shift == Shift::Same {
            return;
        }
        self.change = self.change.and(shift);
        let is_first = !self.witnesses.iter().any(|witness| witness.change == shift);
        if !is_first && self.witnesses.len() >= MOST {
            return;
        }
        let decisive = decisive();
        if is_first || !decisive.is_subset(&self.shown) {
            self.shown.extend(decisive);
            self.witnesses.push(witness(old, new));
        }
    }
}
