//! Conditions that several policies share, like policies written for one team or folder after another. Each is
//! evaluated once per question.
//!
//! Always true: the value of a condition depends on the question alone, so one result holds for every policy that has
//! the condition. A condition that cannot be evaluated is evaluated separately for each policy, because the error
//! belongs to that policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy_core::ast::{Expr, ExprShapeOnly};
use smallvec::SmallVec;

use super::compiled::CompiledPolicy;

/// More are not kept for one question: looking for them would cost more than it saves.
const FEW: usize = 8;

/// Lets the policies that have the same condition know it by one pointer.
pub(super) fn share(policies: &mut [CompiledPolicy]) {
    let mut known: BTreeMap<ExprShapeOnly<'_>, (Arc<Expr>, Vec<usize>)> = BTreeMap::new();
    for (place, compiled) in policies.iter().enumerate().filter(|(_, compiled)| compiled.scope_is_indexed) {
        if let Some(condition) = compiled.policy.non_scope_constraints_arc() {
            let shape = ExprShapeOnly::new_from_borrowed(condition.as_ref());
            known.entry(shape).or_insert_with(|| (Arc::clone(condition), Vec::new())).1.push(place);
        }
    }
    let several: Vec<_> = known.into_values().filter(|(_, places)| places.len() > 1).collect();
    for (condition, places) in several {
        for place in places {
            policies.get_mut(place).into_iter().for_each(|compiled| compiled.shared = Some(Arc::clone(&condition)));
        }
    }
}

/// What the shared conditions of one question came to.
#[derive(Default)]
pub(super) struct Known<'a>(SmallVec<[(&'a Arc<Expr>, bool); FEW]>);

impl<'a> Known<'a> {
    pub fn of(&self, compiled: &CompiledPolicy) -> Option<bool> {
        let shared = compiled.shared.as_ref()?;
        self.0.iter().find(|(condition, _)| Arc::ptr_eq(condition, shared)).map(|(_, holds)| *holds)
    }

    pub fn keep(&mut self, compiled: &'a CompiledPolicy, holds: bool) {
        if let Some(shared) = compiled.shared.as_ref().filter(|_| self.0.len() < FEW) {
            self.0.push((shared, holds));
        }
    }
}
