//! One policy held against one question: each clause of its scope and each leaf of its conditions, on its own.
//!
//! Always true: a part that cannot be evaluated is not a failure of its own; a guard before it failed. Of alternatives
//! (`||`) of which one holds, the others are not failures either.

use cedar_policy_core::ast::{EntityUID, Expr, ExprKind, Literal, SlotEnv, UnaryOp, Value, ValueKind, Var};
use cedar_policy_core::evaluator::Evaluator;
use serde::Serialize;

use super::Eyes;
use crate::engine::compiled::CompiledPolicy;
use crate::engine::evaluate::is_true;
use crate::engine::parts::{PartKind, clauses};

/// How one part of a policy stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As the policy wants it.
    Ok,
    Fail,
    /// It does not matter: a guard before it failed, or an alternative to it holds.
    #[serde(rename = "n/a")]
    NotAsked,
    /// It reads what the asker may not see.
    Hidden,
}

/// A clause, or a leaf of the conditions.
pub(super) struct Seen<'a> {
    pub kind: PartKind,
    pub expr: Leaf<'a>,
    /// Whether the policy wants it true.
    pub wanted: bool,
    pub state: State,
}

/// Clauses are built, leaves belong to the policy.
pub(super) enum Leaf<'a> {
    Clause(Expr),
    Condition(&'a Expr),
}

impl Leaf<'_> {
    pub fn expr(&self) -> &Expr {
        match self {
            Leaf::Clause(expr) => expr,
            Leaf::Condition(expr) => expr,
        }
    }
}

/// Whether a policy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stands {
    Holds,
    /// How many parts, at the least, are not as it wants them.
    Fails(usize),
    /// It cannot be evaluated.
    Broken,
}

/// A policy with its parts as a question finds them.
pub(super) struct Look<'a> {
    pub compiled: &'a CompiledPolicy,
    pub stands: Stands,
    pub parts: Vec<Seen<'a>>,
}

/// Where a question is asked.
#[derive(Clone, Copy)]
pub(super) struct Place<'e> {
    pub evaluator: &'e Evaluator<'e>,
    pub env: &'e SlotEnv,
}

impl Place<'_> {
    pub fn value(&self, expr: &Expr) -> Option<Value> {
        self.evaluator.interpret(expr, self.env).ok()
    }

    /// The entity that an expression comes to.
    pub fn entity(&self, expr: &Expr) -> Option<EntityUID> {
        match self.value(expr)?.value_kind() {
            ValueKind::Lit(Literal::EntityUID(uid)) => Some(uid.as_ref().clone()),
            _ => None,
        }
    }

    /// Whether an expression opens an entity that may not be seen, or reads what of the resource is withheld.
    pub fn is_hidden(&self, expr: &Expr, eyes: &Eyes<'_>) -> bool {
        let withheld = |part: &Expr| match part.expr_kind() {
            ExprKind::GetAttr { expr, attr } | ExprKind::HasAttr { expr, attr } => {
                matches!(expr.expr_kind(), ExprKind::Var(Var::Resource)) && eyes.withheld.contains(attr.as_str())
            }
            _ => false,
        };
        if expr.subexpressions().any(withheld) {
            return true;
        }
        let opened = expr.subexpressions().filter_map(|part| match part.expr_kind() {
            ExprKind::GetAttr { expr, .. } | ExprKind::HasAttr { expr, .. } | ExprKind::ExtHasAttr { expr, .. } => {
                self.entity(expr)
            }
            ExprKind::BinaryApp { arg1, .. } => self.entity(arg1),
            _ => None,
        });
        opened.into_iter().any(|uid| !eyes.sees(&uid))
    }
}

impl<'a> Look<'a> {
    /// Holds a policy against a question.
    pub fn new(compiled: &'a CompiledPolicy, evaluator: &Evaluator<'_>) -> Look<'a> {
        let place = Place { evaluator, env: compiled.policy.env() };
        let mut walk = Walk { place, parts: Vec::new() };
        let mut met = Met::YES;
        for (kind, clause) in clauses(&compiled.policy) {
            met = met.and(walk.leaf(kind, Leaf::Clause(clause), true));
        }
        if let Some(condition) = compiled.policy.non_scope_constraints() {
            met = met.and(walk.condition(condition, true));
        }
        Look { compiled, stands: met.stands(), parts: walk.parts }
    }

    /// The same, telling nothing about what may not be seen.
    pub fn hide(mut self, evaluator: &Evaluator<'_>, eyes: &Eyes<'_>) -> Look<'a> {
        let place = Place { evaluator, env: self.compiled.policy.env() };
        for part in &mut self.parts {
            if place.is_hidden(part.expr.expr(), eyes) {
                part.state = State::Hidden;
            }
        }
        self
    }

    pub fn has(&self, state: State) -> bool {
        self.parts.iter().any(|part| part.state == state)
    }
}

/// What a part, or several together, come to.
#[derive(Clone, Copy)]
struct Met {
    /// None where it cannot be evaluated.
    as_wanted: Option<bool>,
    failing: usize,
}

impl Met {
    const YES: Met = Met { as_wanted: Some(true), failing: 0 };

    /// Both are wanted, one after the other.
    fn and(self, next: Met) -> Met {
        let as_wanted = if self.as_wanted == Some(true) { next.as_wanted } else { self.as_wanted };
        Met { as_wanted, failing: self.failing + next.failing }
    }

    fn stands(self) -> Stands {
        match self.as_wanted {
            Some(true) => Stands::Holds,
            Some(false) => Stands::Fails(self.failing.max(1)),
            None => Stands::Broken,
        }
    }
}

struct Walk<'e, 'a> {
    place: Place<'e>,
    parts: Vec<Seen<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn condition(&mut self, expr: &'a Expr, wanted: bool) -> Met {
        match expr.expr_kind() {
            ExprKind::UnaryApp { op: UnaryOp::Not, arg } => self.condition(arg, !wanted),
            ExprKind::And { left, right } if wanted => self.all(left, right, wanted),
            ExprKind::Or { left, right } if !wanted => self.all(left, right, wanted),
            ExprKind::And { left, right } | ExprKind::Or { left, right } => self.any(left, right, wanted),
            _ => self.leaf(PartKind::Condition, Leaf::Condition(expr), wanted),
        }
    }

    fn all(&mut self, left: &'a Expr, right: &'a Expr, wanted: bool) -> Met {
        let left = self.condition(left, wanted);
        left.and(self.condition(right, wanted))
    }

    /// One of two is enough.
    fn any(&mut self, left: &'a Expr, right: &'a Expr, wanted: bool) -> Met {
        let from = self.parts.len();
        let first = self.condition(left, wanted);
        let between = self.parts.len();
        if first.as_wanted == Some(true) {
            self.not_asked(right, wanted);
            return first;
        }
        let second = self.condition(right, wanted);
        match (first.as_wanted, second.as_wanted) {
            (Some(_), Some(true)) => {
                self.parts.iter_mut().take(between).skip(from).for_each(Seen::forgive);
                second
            }
            (None, _) => first,
            (Some(_), None) => second,
            (Some(_), Some(false)) => Met { failing: first.failing.min(second.failing), ..first },
        }
    }

    /// What need not be asked any more.
    fn not_asked(&mut self, expr: &'a Expr, wanted: bool) {
        match expr.expr_kind() {
            ExprKind::UnaryApp { op: UnaryOp::Not, arg } => self.not_asked(arg, !wanted),
            ExprKind::And { left, right } | ExprKind::Or { left, right } => {
                self.not_asked(left, wanted);
                self.not_asked(right, wanted);
            }
            _ => {
                let expr = Leaf::Condition(expr);
                self.parts.push(Seen { kind: PartKind::Condition, expr, wanted, state: State::NotAsked });
            }
        }
    }

    fn leaf(&mut self, kind: PartKind, expr: Leaf<'a>, wanted: bool) -> Met {
        let as_wanted = self.place.value(expr.expr()).map(|value| is_true(&value) == wanted);
        let state = match as_wanted {
            Some(true) => State::Ok,
            Some(false) => State::Fail,
            None => State::NotAsked,
        };
        self.parts.push(Seen { kind, expr, wanted, state });
        Met { as_wanted, failing: usize::from(as_wanted == Some(false)) }
    }
}

impl Seen<'_> {
    fn forgive(&mut self) {
        if self.state == State::Fail {
            self.state = State::NotAsked;
        }
    }
}
