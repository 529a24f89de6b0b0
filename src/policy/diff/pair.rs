//! What was found about one operation for one kind of actor.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::witness::Witness;
use super::{Answer, Shift};
use crate::testing::{Case, Fixture};

/// One operation, for one kind of actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pair {
    pub operation: String,
    /// A person's role, `agent`, `visitor` or `server`.
    pub actor_kind: String,
    /// `looser`, `tighter`, `mixed`, or `same` if no difference was found.
    pub change: Shift,
    pub questions: usize,
    /// The plainest question of each direction, and of each part of a policy that another one shows, at most 4 in all.
    pub witnesses: Vec<Witness>,
    /// The parts of policies that they show.
    #[serde(skip)]
    pub(super) shown: BTreeSet<(usize, u32, usize)>,
}

/// As many questions are told of one pair.
const MOST: usize = 4;

impl Pair {
    /// Counts one question with its answers, and with the parts of policies that make them what they are.
    pub(super) fn count(
        &mut self,
        (fixture, case): (&Fixture, &Case),
        (old, new): (Answer, Answer),
        decisive: impl FnOnce() -> BTreeSet<(usize, u32, usize)>,
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
            self.witnesses.push(Witness::new(fixture, case, old, new));
        }
    }
}
