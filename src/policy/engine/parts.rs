//! The parts on which a policy's answer can turn: the three clauses of its scope, and each condition between `&&`,
//! `||`, `!` and `if`. For a policy that is only a scope, the scope as a whole is a part, too. Tests are measured by
//! which parts they have seen true, and which false.
//!
//! Always true: a part of a condition counts only if Cedar itself would have evaluated it: the scope holds, and what
//! stands before the part did not settle the result. The clauses of a scope are evaluated independently.

use std::sync::Arc;

use cedar_policy_core::ast::{
    ActionConstraint, Expr, ExprKind, Literal, Policy, PrincipalOrResourceConstraint, SlotEnv, UnaryOp,
};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::compiled::CompiledPolicy;
use super::decide::Question;
use super::evaluate::is_true;
use super::names::covers;
use super::ruling::Because;
use super::snapshot::Snapshot;
use crate::lexer;
use types::effort;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    Principal,
    Action,
    Resource,
    Condition,
    /// All clauses of a scope together.
    Scope,
}

/// One part of one policy.
#[derive(Clone, Debug)]
pub struct Part {
    pub policy: Because,
    pub kind: PartKind,
    pub text: String,
    pub line: usize,
    /// Bytes of the file: where it starts, and how long it is.
    pub span: (usize, usize),
    pub seen_true: bool,
    pub seen_false: bool,
}

impl Part {
    pub fn is_covered(&self) -> bool {
        self.seen_true && self.seen_false
    }
}

/// What the questions asked so far have shown.
pub struct Seen {
    parts: Vec<Part>,
    watched: Vec<Watched>,
}

/// One policy with the expressions of its parts, and where the first of them stands in the list.
struct Watched {
    scope: Vec<(PartKind, Expr)>,
    action: ActionConstraint,
    condition: Option<Arc<Expr>>,
    first: usize,
    env: SlotEnv,
}

impl Seen {
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Snapshot {
    /// Every part, none of them seen yet.
    pub fn unseen(&self) -> Seen {
        let mut seen = Seen { parts: Vec::new(), watched: Vec::new() };
        for compiled in &self.policies {
            let first = seen.parts.len();
            let clauses = clauses(&compiled.policy);
            seen.parts.extend(clauses.iter().map(|(kind, _)| part(compiled, *kind, scope_span(compiled, *kind))));
            let condition = compiled.policy.non_scope_constraints();
            let whole = (condition.is_none() && clauses.len() > 1).then(|| whole_scope_span(compiled));
            // That it does not match is seen by its clauses.
            let whole = whole.map(|span| Part { seen_false: true, ..part(compiled, PartKind::Scope, span) });
            seen.parts.extend(whole);
            let conditions = condition.map(conditions).unwrap_or_default();
            seen.parts.extend(conditions.iter().map(|leaf| part(compiled, PartKind::Condition, place(leaf, compiled))));
            let condition = compiled.policy.non_scope_constraints_arc().cloned();
            let (action, env) = (compiled.policy.action_constraint().clone(), compiled.policy.env().clone());
            seen.watched.push(Watched { scope: clauses, action, condition, first, env });
        }
        seen
    }

    /// Notes what one question shows.
    pub fn observe(&self, question: &Question<'_>, seen: &mut Seen) {
        let Ok(entities) = question.entities.entities() else { return };
        effort::spend(1 + seen.watched.len());
        let evaluator = Evaluator::new(self.request(question), entities, Extensions::all_available());
        let action = self.action(question).ok().and_then(|action| action.family.first());
        for watched in &seen.watched {
            let mut look = Look { evaluator: &evaluator, env: &watched.env, parts: &mut seen.parts, at: watched.first };
            let covered = action.map(|action| covers(&watched.action, action.entity()));
            let mut holds = covered.unwrap_or(true);
            for (kind, clause) in &watched.scope {
                holds &= match (kind, covered) {
                    (PartKind::Action, Some(covered)) => look.note(covered),
                    // Nothing is left to be learnt of it, and nothing turns on it here.
                    _ if !holds && look.is_covered() => look.pass_one(),
                    _ => look.leaf(clause) == Some(true),
                };
            }
            if watched.condition.is_none() && watched.scope.len() > 1 {
                look.note(holds);
            }
            if let Some(condition) = watched.condition.as_deref().filter(|_| holds) {
                look.condition(condition);
            }
        }
    }
}

struct Look<'a> {
    evaluator: &'a Evaluator<'a>,
    env: &'a SlotEnv,
    parts: &'a mut Vec<Part>,
    /// The part that comes next.
    at: usize,
}

impl Look<'_> {
    /// None where it cannot be evaluated.
    fn condition(&mut self, expr: &Expr) -> Option<bool> {
        match expr.expr_kind() {
            ExprKind::And { left, right } => match self.condition(left) {
                Some(true) => self.condition(right),
                settled => self.pass(right, settled),
            },
            ExprKind::Or { left, right } => match self.condition(left) {
                Some(false) => self.condition(right),
                settled => self.pass(right, settled),
            },
            ExprKind::UnaryApp { op: UnaryOp::Not, arg } if is_one_comparison(expr, arg) => {
                self.leaf_of(arg, true).map(|holds| !holds)
            }
            ExprKind::UnaryApp { op: UnaryOp::Not, arg } => self.condition(arg).map(|holds| !holds),
            ExprKind::If { test_expr, then_expr, else_expr } => match self.condition(test_expr) {
                Some(true) => {
                    let answer = self.arm(then_expr);
                    self.pass_arm(else_expr, answer)
                }
                Some(false) => {
                    self.pass_arm(then_expr, None);
                    self.arm(else_expr)
                }
                None => {
                    self.pass_arm(then_expr, None);
                    self.pass_arm(else_expr, None)
                }
            },
            _ => self.leaf(expr),
        }
    }

    fn arm(&mut self, expr: &Expr) -> Option<bool> {
        constant(expr).or_else(|| self.condition(expr))
    }

    fn pass(&mut self, unseen: &Expr, settled: Option<bool>) -> Option<bool> {
        self.at += conditions(unseen).len();
        settled
    }

    fn pass_arm(&mut self, unseen: &Expr, settled: Option<bool>) -> Option<bool> {
        self.at += conditions_of_arm(unseen).len();
        settled
    }

    fn leaf(&mut self, expr: &Expr) -> Option<bool> {
        self.leaf_of(expr, false)
    }

    /// The text of one that is `turned` says the opposite of the expression.
    fn leaf_of(&mut self, expr: &Expr, turned: bool) -> Option<bool> {
        let holds = self.evaluator.interpret(expr, self.env).ok().map(|value| is_true(&value));
        match holds {
            Some(holds) => {
                self.note(holds != turned);
            }
            None => self.at += 1,
        }
        holds
    }

    /// What the next part was.
    fn note(&mut self, holds: bool) -> bool {
        if let Some(part) = self.parts.get_mut(self.at) {
            part.seen_true |= holds;
            part.seen_false |= !holds;
        }
        self.at += 1;
        holds
    }

    /// Whether the next part was seen to be either already.
    fn is_covered(&self) -> bool {
        self.parts.get(self.at).is_some_and(Part::is_covered)
    }

    fn pass_one(&mut self) -> bool {
        self.at += 1;
        false
    }
}

/// Whether this is how Cedar reads `>`, `>=` and `!=`: as the denial of `<=`, `<` and `==`, at the very same place.
fn is_one_comparison(denied: &Expr, compared: &Expr) -> bool {
    let place = |expr: &Expr| expr.source_loc().map(|loc| super::load::span(Some(loc)));
    matches!(compared.expr_kind(), ExprKind::BinaryApp { .. }) && place(denied) == place(compared)
}

/// What a condition is made of, between `&&`, `||`, `!` and `if`.
pub(super) fn conditions(expr: &Expr) -> Vec<&Expr> {
    turned_conditions(expr).into_iter().map(|(part, _)| part).collect()
}

/// Returns the same conditions, each with whether an odd number of `!` applies to it. For the test of an `if`, where
/// both results lead on, that flag has no meaning.
pub(super) fn turned_conditions(expr: &Expr) -> Vec<(&Expr, bool)> {
    let mut found = Vec::new();
    gather(expr, Some(false), &mut found);
    found
}

/// `turned` is none within a test.
fn gather<'a>(expr: &'a Expr, turned: Option<bool>, into: &mut Vec<(&'a Expr, bool)>) {
    match expr.expr_kind() {
        ExprKind::And { left, right } | ExprKind::Or { left, right } => {
            gather(left, turned, into);
            gather(right, turned, into);
        }
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => gather(arg, turned.map(|turned| !turned), into),
        ExprKind::If { test_expr, then_expr, else_expr } => {
            gather(test_expr, None, into);
            let arms = [then_expr, else_expr].into_iter().filter(|arm| constant(arm).is_none());
            arms.for_each(|arm| gather(arm, turned, into));
        }
        _ => into.push((expr, turned.unwrap_or_default())),
    }
}

/// Returns the conditions of an arm of an `if`. Empty if the arm is constant, so that there is nothing to observe.
pub(super) fn conditions_of_arm(arm: &Expr) -> Vec<&Expr> {
    if constant(arm).is_some() { Vec::new() } else { conditions(arm) }
}

/// What a condition always is.
pub(super) fn constant(expr: &Expr) -> Option<bool> {
    match expr.expr_kind() {
        ExprKind::Lit(Literal::Bool(value)) => Some(*value),
        _ => None,
    }
}

/// The clauses of a scope that limit anything.
pub(super) fn clauses(policy: &Policy) -> Vec<(PartKind, Expr)> {
    let (principal, resource) = (policy.principal_constraint(), policy.resource_constraint());
    let limits = |scope: &PrincipalOrResourceConstraint| !matches!(scope, PrincipalOrResourceConstraint::Any);
    let action = policy.action_constraint();
    let mut found = Vec::new();
    found.extend(limits(principal.as_inner()).then(|| (PartKind::Principal, principal.as_expr())));
    found.extend((!matches!(action, ActionConstraint::Any)).then(|| (PartKind::Action, action.as_expr())));
    found.extend(limits(resource.as_inner()).then(|| (PartKind::Resource, resource.as_expr())));
    found
}

/// Where a clause of a policy's scope stands.
pub(super) fn scope_span(compiled: &CompiledPolicy, kind: PartKind) -> (usize, usize) {
    let begin = compiled.policy.loc().map_or(0, |loc| loc.start());
    lexer::scope(&compiled.meta.text).get(kind as usize).map_or((begin, 1), |(at, length)| (begin + at, *length))
}

/// Where all the clauses of a policy's scope stand, from the first to the last.
fn whole_scope_span(compiled: &CompiledPolicy) -> (usize, usize) {
    let spans = clauses(&compiled.policy).into_iter().map(|(kind, _)| scope_span(compiled, kind));
    let (from, to) = spans.fold((usize::MAX, 0), |(from, to), (at, length)| (from.min(at), to.max(at + length)));
    (from, to.saturating_sub(from))
}

/// Where an expression of a policy stands.
pub(super) fn place(expr: &Expr, compiled: &CompiledPolicy) -> (usize, usize) {
    super::load::span(expr.source_loc().or_else(|| compiled.policy.loc()))
}

/// The line of a place in a policy.
pub(super) fn line(compiled: &CompiledPolicy, span: (usize, usize)) -> usize {
    let begin = compiled.policy.loc().map_or(0, |loc| loc.start());
    let before = compiled.meta.text.as_bytes().iter().take(span.0.saturating_sub(begin));
    compiled.meta.line + before.filter(|byte| **byte == b'\n').count()
}

/// The text of a place in a policy, as one line.
pub(super) fn text(compiled: &CompiledPolicy, span: (usize, usize)) -> String {
    let begin = span.0.saturating_sub(compiled.policy.loc().map_or(0, |loc| loc.start()));
    let text = compiled.meta.text.get(begin..begin + span.1).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn part(compiled: &CompiledPolicy, kind: PartKind, span: (usize, usize)) -> Part {
    Part {
        policy: Arc::clone(&compiled.meta),
        kind,
        text: text(compiled, span),
        line: line(compiled, span),
        span,
        seen_true: false,
        seen_false: false,
    }
}
