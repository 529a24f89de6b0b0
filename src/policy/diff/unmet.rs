//! The policies that differ, and which of them hold in no question that was compared.

use schemars::JsonSchema;
use serde::Serialize;

use super::Sides;
use crate::engine::{Difference, Meeting};
use crate::testing::OwnedQuestion;

/// A policy that differs, and that no question met; or an alternative of one, that none met.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Unmet {
    pub policy: String,
    pub file: String,
    pub line: usize,
    /// The alternative, where others of the same policy were met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// The policies that differ, as questions meet them.
pub(super) struct Differences {
    all: Vec<Difference>,
    /// Whether what meets none of them has the same answer on both sides.
    pub(super) decide: bool,
}

impl Differences {
    pub(super) fn between(sides: &Sides<'_>) -> Differences {
        let (before, after) = (sides.before.snapshot, sides.after.snapshot);
        match sides.have_same_types() {
            true => Differences { all: vec![before.difference(after)], decide: true },
            false => Differences { all: vec![before.beyond(after), after.beyond(before)], decide: false },
        }
    }

    /// Whether both sides surely answer the same.
    pub(super) fn spare(&self, asked: &OwnedQuestion) -> bool {
        let met: Vec<Meeting> = self.all.iter().map(|difference| asked.meets(difference, false)).collect();
        // Each is of one side: where both hold, the answers compare them.
        if met.len() > 1 && met.iter().all(|met| met.any) {
            self.observe(asked);
        }
        self.decide && !met.iter().any(|met| met.any)
    }

    /// Takes note of what a question meets, whose answers show it or do not.
    pub(super) fn note(&self, asked: &OwnedQuestion, shows: bool) {
        if shows {
            self.observe(asked);
        } else {
            // Where both versions of a policy hold, their answers are compared all the same.
            self.spare(asked);
        }
    }

    /// Whatever a question meets is met from now on: its answers show it.
    pub(super) fn observe(&self, asked: &OwnedQuestion) {
        for difference in &self.all {
            asked.meets(difference, true);
        }
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
