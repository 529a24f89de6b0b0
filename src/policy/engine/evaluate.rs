//! One evaluation: the policies that hold for a question, and what that comes to.
//!
//! Always true: a forbid that cannot be evaluated denies; a permit that cannot be evaluated is passed over.

use std::sync::Arc;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{Effect, Literal, Request, Value, ValueKind};
use cedar_policy_core::entities::Entities;
use cedar_policy_core::evaluator::{EvaluationError, Evaluator};
use cedar_policy_core::extensions::Extensions;

use super::alike::Known;
use super::index::Position;
use super::ruling::{self, Because, Ruling};
use super::snapshot::Snapshot;

/// The supposition that one policy holds, or does not, whatever its text says, for what this principal asks about this
/// action.
#[derive(Clone, Copy, Debug)]
pub struct Supposed<'a> {
    /// One of these policies, or one from elsewhere.
    pub policy: &'a Because,
    pub holds: bool,
    pub principal: &'a EntityUid,
    pub action: &'a EntityUid,
}

impl Supposed<'_> {
    pub(super) fn concerns(&self, principal: &EntityUid, action: &EntityUid) -> bool {
        (self.principal, self.action) == (principal, action)
    }
}

/// What one evaluation found, in the order of policy ids.
#[derive(Default)]
pub(super) struct Evaluation {
    pub permits: Vec<Position>,
    pub forbids: Vec<Position>,
    pub errors: Vec<(Position, EvaluationError)>,
    /// A policy from elsewhere that is supposed to hold beside them.
    pub beside: Option<Because>,
}

impl Evaluation {
    /// Whether a policy from elsewhere has this effect.
    pub(super) fn has_beside(&self, effect: ruling::Effect) -> bool {
        self.beside.as_ref().is_some_and(|policy| policy.effect == effect)
    }
}

/// What an evaluation comes to.
pub(super) enum Weighed {
    Settled(Ruling),
    /// These forbids stand in the way.
    Refused(Vec<Position>),
}

impl Snapshot {
    pub(super) fn evaluate(&self, request: Request, entities: &Entities, candidates: &[Position]) -> Evaluation {
        let evaluator = Evaluator::new(request, entities, Extensions::all_available());
        let (mut found, mut seen) = (Evaluation::default(), Known::default());
        for position in candidates {
            let Some(compiled) = self.compiled(*position) else { continue };
            // The index stands for the scope where it can.
            let asked = match compiled.policy.non_scope_constraints() {
                _ if !compiled.scope_is_indexed => Some(&compiled.condition),
                conditions => conditions,
            };
            let holds = match (seen.of(compiled), asked) {
                (Some(holds), _) => Ok(holds),
                (None, Some(asked)) => {
                    let holds = evaluator.interpret(asked, compiled.policy.env()).map(|value| is_true(&value));
                    holds.inspect(|holds| seen.keep(compiled, *holds))
                }
                (None, None) => Ok(true),
            };
            match holds {
                Ok(true) => match compiled.policy.effect() {
                    Effect::Permit => found.permits.push(*position),
                    Effect::Forbid => found.forbids.push(*position),
                },
                Ok(false) => {}
                Err(error) => found.errors.push((*position, error)),
            }
        }
        found
    }

    /// The same with one policy as it is supposed to be. A forbid does not hold once the approvals that it names are given.
    pub(super) fn supposing(
        &self,
        supposed: Option<&Supposed<'_>>,
        mut found: Evaluation,
        is_approved: bool,
    ) -> Evaluation {
        let Some(supposed) = supposed else { return found };
        let Some(it) = self.position_of(&supposed.policy.id) else {
            let is_released = is_approved && supposed.policy.effect == ruling::Effect::Forbid;
            found.beside = Some(Arc::clone(supposed.policy)).filter(|_| supposed.holds && !is_released);
            return found;
        };
        found.permits.retain(|position| *position != it);
        found.forbids.retain(|position| *position != it);
        found.errors.retain(|(position, _)| *position != it);
        match self.compiled(it).map(|compiled| compiled.policy.effect()) {
            Some(Effect::Permit) if supposed.holds => found.permits.push(it),
            Some(Effect::Forbid) if supposed.holds && !is_approved => found.forbids.push(it),
            _ => {}
        }
        found
    }

    /// What goes wrong in a question that was really asked is counted and logged.
    pub(super) fn weigh(&self, found: Evaluation, is_real: bool) -> Weighed {
        let is_refused = !found.forbids.is_empty() || found.has_beside(ruling::Effect::Forbid);
        let is_permitted = !found.permits.is_empty() || found.has_beside(ruling::Effect::Permit);
        let mut unsafe_rules = Vec::new();
        let mut fault = None;
        for (position, error) in found.errors {
            let Some(compiled) = self.compiled(position) else { continue };
            if compiled.policy.effect() == Effect::Permit {
                if is_real {
                    self.count_skipped();
                }
                if is_real && !self.quiet {
                    tracing::warn!(policy = compiled.meta.id, %error, "a permit could not be evaluated and is skipped");
                }
                continue;
            }
            unsafe_rules.push(position);
            fault.get_or_insert_with(|| format!("policy_error: `{}`: {error}", compiled.meta.id));
        }
        if fault.is_some() {
            if is_real {
                self.count_fault();
            }
            return Weighed::Settled(Ruling::Deny { because: self.because(&unsafe_rules), fault, why: None });
        }
        match (is_refused, is_permitted) {
            (true, _) => Weighed::Refused(found.forbids),
            (false, true) => Weighed::Settled(Ruling::Allow { because: self.because(&found.permits) }),
            (false, false) => Weighed::Settled(Ruling::Deny { because: Vec::new(), fault: None, why: None }),
        }
    }
}

pub(super) fn is_true(value: &Value) -> bool {
    matches!(value.value_kind(), ValueKind::Lit(Literal::Bool(true)))
}
