//! What was found about one operation for one kind of actor.

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
    /// The plainest question of each direction.
    pub witnesses: Vec<Witness>,
}

impl Pair {
    pub(super) fn count(&mut self, fixture: &Fixture, case: &Case, old: Answer, new: Answer) {
        let shift = Shift::between(&old, &new);
        if shift == Shift::Same {
            return;
        }
        self.change = self.change.and(shift);
        if !self.witnesses.iter().any(|witness| witness.change == shift) {
            self.witnesses.push(Witness::new(fixture, case, old, new));
        }
    }
}
