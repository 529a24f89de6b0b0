//! Whether a question could get any answer other than no, before its target and the rest of it are known. It spares the
//! server from reading a long request of a caller whom every policy refuses.
//!
//! Always true: if this says no, the decision is no. It may say yes although the decision is no.

use std::sync::Arc;

use cedar_policy_core::ast::{Expr, ExprKind, SlotEnv, UnaryOp, Value, Var};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::compiled::CompiledPolicy;
use super::decide::Question;
use super::evaluate::is_true;
use super::parts::{PartKind, clauses};
use super::ruling::{Because, Effect};
use super::snapshot::Snapshot;

/// The part of the context that a question brings with it.
const INPUT: &str = "input";

impl Snapshot {
    /// Whether the question could be allowed, or allowed with approval, whatever its resource. Otherwise the forbids that
    /// stand in the way of everything, if it is they.
    pub fn could(&self, question: &Question<'_>) -> Result<(), Vec<Because>> {
        let (Ok(entities), Ok(action)) = (question.entities.entities(), self.action(question)) else {
            return Err(Vec::new());
        };
        let evaluator = Evaluator::new(self.request(question), entities, Extensions::all_available());
        let mut permitted = false;
        for compiled in action.index.every().into_iter().filter_map(|position| self.compiled(position)) {
            let place = Place { evaluator: &evaluator, env: compiled.policy.env() };
            match compiled.meta.effect {
                Effect::Permit => permitted = permitted || can_hold(compiled, place),
                Effect::Forbid if must_hold(compiled, place) => return Err(vec![Arc::clone(&compiled.meta)]),
                Effect::Forbid => {}
            }
        }
        if permitted { Ok(()) } else { Err(Vec::new()) }
    }
}

/// Where a question is asked.
#[derive(Clone, Copy)]
struct Place<'e> {
    evaluator: &'e Evaluator<'e>,
    env: &'e SlotEnv,
}

impl Place<'_> {
    fn value(&self, expr: &Expr) -> Option<Value> {
        self.evaluator.interpret(expr, self.env).ok()
    }
}

fn can_hold(compiled: &CompiledPolicy, place: Place<'_>) -> bool {
    let scope = clauses(&compiled.policy);
    let known = scope.iter().filter(|(kind, _)| *kind != PartKind::Resource);
    known.into_iter().all(|(_, clause)| can_be(clause, true, place))
        && compiled.policy.non_scope_constraints().is_none_or(|condition| can_be(condition, true, place))
}

/// A forbid that no approval lifts, and that does not look at what is not known.
fn must_hold(compiled: &CompiledPolicy, place: Place<'_>) -> bool {
    let is_true = |expr: &Expr| !is_open(expr) && place.value(expr).is_some_and(|value| is_true(&value));
    compiled.meta.kinds.is_empty()
        && clauses(&compiled.policy).iter().all(|(_, clause)| is_true(clause))
        && compiled.policy.non_scope_constraints().is_none_or(is_true)
}

/// Whether an expression can come to what is wanted. What cannot be evaluated yet, can.
fn can_be(expr: &Expr, wanted: bool, place: Place<'_>) -> bool {
    match expr.expr_kind() {
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => can_be(arg, !wanted, place),
        ExprKind::And { left, right } if wanted => can_be(left, wanted, place) && can_be(right, wanted, place),
        ExprKind::Or { left, right } if !wanted => can_be(left, wanted, place) && can_be(right, wanted, place),
        ExprKind::And { left, right } | ExprKind::Or { left, right } => {
            can_be(left, wanted, place) || can_be(right, wanted, place)
        }
        _ if is_open(expr) => true,
        _ => place.value(expr).is_none_or(|value| is_true(&value) == wanted),
    }
}

/// Whether an expression looks at what is not known yet.
fn is_open(expr: &Expr) -> bool {
    expr.subexpressions().any(|part| match part.expr_kind() {
        ExprKind::Var(Var::Resource) => true,
        ExprKind::GetAttr { expr, attr } | ExprKind::HasAttr { expr, attr } => {
            attr == INPUT && matches!(expr.expr_kind(), ExprKind::Var(Var::Context))
        }
        ExprKind::ExtHasAttr { .. } => true,
        _ => false,
    })
}
