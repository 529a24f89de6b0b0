//! Mutants: policies with one small mistake of the kind that people make. Good tests fail for each of them. A mistake
//! that `policy check` would refuse anyway is not a mutant.

use std::collections::BTreeSet;
use std::sync::Arc;

use cedar_policy::{EntityUid, PolicySet, ValidationMode, Validator};
use cedar_policy_core::ast::{
    ActionConstraint, BinaryOp, EntityType, EntityUID, Expr, ExprKind, Literal, Policy, PrincipalConstraint,
    PrincipalOrResourceConstraint, ResourceConstraint, StaticPolicy, UnaryOp,
};
use cedar_policy_core::validator::typecheck::{PolicyCheck, Typechecker};
use cedar_policy_core::validator::{ValidationMode as CoreMode, ValidatorEntityTypeKind};

use super::approvals::{self, KIND_TYPE};
use super::compiled::CompiledPolicy;
use super::load::{MAX_HOPS, span};
use super::names::covers;
use super::parts::{PartKind, conditions, conditions_of_arm, line, place, scope_span, text};
use super::ruling::{Because, Effect};
use super::snapshot::Snapshot;

/// One changed policy.
pub struct Mutant {
    pub policy: Because,
    /// What was changed.
    pub what: String,
    pub line: usize,
    pub span: (usize, usize),
    position: usize,
    /// None where the policy is left out.
    compiled: Option<CompiledPolicy>,
}

impl Snapshot {
    /// Returns every mutant that would load, of the policies in these files, or of all policies if `files` is none.
    pub fn mutants(&self, files: Option<&BTreeSet<String>>) -> Vec<Mutant> {
        let Ok(kind_type) = EntityType::from_normalized_str(KIND_TYPE) else { return Vec::new() };
        let maker = Maker { snapshot: self, validator: Validator::new(self.schema().clone()), kind_type };
        let concerned = |compiled: &CompiledPolicy| files.is_none_or(|files| files.contains(&compiled.meta.file));
        let policies = self.policies.iter().enumerate().filter(|(_, compiled)| concerned(compiled));
        policies.flat_map(|(position, compiled)| maker.of(position, compiled)).collect()
    }

    /// Whether a changed policy was about this action.
    pub fn concerns(&self, mutant: &Mutant, action: &EntityUid) -> bool {
        let action = self.action_family(action.as_ref()).first();
        let compiled = self.policies.get(mutant.position);
        action
            .zip(compiled)
            .is_some_and(|(action, compiled)| covers(compiled.policy.action_constraint(), action.entity()))
    }

    /// This snapshot with one policy changed.
    pub fn mutated(&self, mutant: &Mutant) -> Snapshot {
        let changed =
            self.policies.iter().enumerate().filter_map(|(position, compiled)| match position == mutant.position {
                true => mutant.compiled.clone(),
                false => Some(compiled.clone()),
            });
        self.with_policies(changed.collect())
    }
}

struct Maker<'a> {
    snapshot: &'a Snapshot,
    validator: Validator,
    kind_type: EntityType,
}

/// A policy taken apart.
#[derive(Clone)]
struct Draft {
    effect: cedar_policy_core::ast::Effect,
    principal: PrincipalConstraint,
    action: ActionConstraint,
    resource: ResourceConstraint,
    condition: Option<Expr>,
}

impl Draft {
    /// Whether it differs from a policy in nothing but actions and types of its scope; then the schema knows which requests
    /// that makes a difference to. Where it makes none, there is no mistake to notice.
    fn only_types_differ(&self, compiled: &CompiledPolicy) -> bool {
        use PrincipalOrResourceConstraint::{Any, Is};
        let policy = &compiled.policy;
        let typed = |mine: &PrincipalOrResourceConstraint, theirs: &PrincipalOrResourceConstraint| {
            mine == theirs || matches!((mine, theirs), (Any, Is(_)))
        };
        self.effect == policy.effect()
            && self.condition.as_ref() == policy.non_scope_constraints()
            && typed(self.principal.as_inner(), policy.principal_constraint().as_inner())
            && typed(self.resource.as_inner(), policy.resource_constraint().as_inner())
    }
}

type Span = (usize, usize);

impl Maker<'_> {
    fn of(&self, position: usize, compiled: &CompiledPolicy) -> Vec<Mutant> {
        let mutant = |what: String, span: Span, changed: Option<CompiledPolicy>| Mutant {
            policy: Arc::clone(&compiled.meta),
            what,
            line: line(compiled, span),
            span,
            position,
            compiled: changed,
        };
        let mut found = vec![mutant("the policy was left out".into(), span(compiled.policy.loc()), None)];
        for (what, span, draft) in self.drafts(compiled) {
            let typed = draft.only_types_differ(compiled);
            let changed = self.viable(compiled, draft);
            let changed =
                changed.filter(|changed| !typed || self.relevant(&changed.policy) != self.relevant(&compiled.policy));
            found.extend(changed.map(|changed| mutant(what, span, Some(changed))));
        }
        found
    }

    /// For each kind of request that there can be, whether a policy could match it.
    fn relevant(&self, policy: &Policy) -> Vec<bool> {
        let checker = Typechecker::new(self.snapshot.schema().as_ref(), CoreMode::Strict);
        let kinds = checker.typecheck_by_request_env(policy.template());
        kinds.map(|(_, found)| !matches!(found, PolicyCheck::Irrelevant(..))).collect()
    }

    fn drafts(&self, compiled: &CompiledPolicy) -> Vec<(String, Span, Draft)> {
        let policy = &compiled.policy;
        let whole = Draft {
            effect: policy.effect(),
            principal: policy.principal_constraint(),
            action: policy.action_constraint().clone(),
            resource: policy.resource_constraint(),
            condition: policy.non_scope_constraints().cloned(),
        };
        let mut drafts = vec![effect(compiled, &whole)];
        scope(compiled, &whole, &mut drafts);
        if let Some(condition) = policy.non_scope_constraints() {
            let with = |condition| Draft { condition, ..whole.clone() };
            for (index, leaf) in conditions(condition).into_iter().enumerate() {
                let (at, shown) = (place(leaf, compiled), text(compiled, place(leaf, compiled)));
                let without = replaced(condition, index, None);
                drafts.push((format!("`{shown}` was dropped"), at, with(without)));
                for (what, changed) in self.changes(leaf) {
                    drafts.push((format!("`{shown}`: {what}"), at, with(replaced(condition, index, Some(&changed)))));
                }
            }
            for (index, node) in nodes(condition).into_iter().enumerate() {
                let what =
                    if matches!(node.expr_kind(), ExprKind::And { .. }) { "&& became ||" } else { "|| became &&" };
                let at = node.source_loc().map_or_else(|| place(condition, compiled), |loc| span(Some(loc)));
                drafts.push((
                    format!("`{}`: {what}", text(compiled, at)),
                    at,
                    with(Some(swapped(condition, &mut index.clone()))),
                ));
            }
        }
        drafts
    }

    /// What one part of a condition could be mistaken for.
    fn changes(&self, leaf: &Expr) -> Vec<(String, Expr)> {
        let mut changes = Vec::new();
        match leaf.expr_kind() {
            ExprKind::BinaryApp { op: BinaryOp::Eq, .. } => {
                changes.push(("== and != were swapped".into(), Expr::not(leaf.clone())));
            }
            _ => changes.push(("it was negated".into(), Expr::not(leaf.clone()))),
        }
        if let ExprKind::BinaryApp { op, arg1, arg2 } = leaf.expr_kind() {
            let (one, two) = (arg1.as_ref(), arg2.as_ref());
            let other = match op {
                BinaryOp::Less => Some(BinaryOp::LessEq),
                BinaryOp::LessEq => Some(BinaryOp::Less),
                _ => None,
            };
            let shifted = |op| ("the bound was moved by one".into(), Expr::binary_app(op, one.clone(), two.clone()));
            changes.extend(other.map(shifted));
            changes.extend(self.constant(one).map(|(change, new)| (change, Expr::binary_app(*op, new, two.clone()))));
            changes.extend(self.constant(two).map(|(change, new)| (change, Expr::binary_app(*op, one.clone(), new))));
        }
        changes
    }

    /// Another constant of the same type.
    fn constant(&self, expr: &Expr) -> Option<(String, Expr)> {
        let ExprKind::Lit(literal) = expr.expr_kind() else { return None };
        let other = match literal {
            Literal::Bool(value) => Literal::from(!value),
            Literal::Long(value) => Literal::from(value.checked_add(1)?),
            Literal::String(value) if value.is_empty() => Literal::from("x"),
            Literal::String(_) => Literal::from(""),
            Literal::EntityUID(uid) => Literal::from(self.sibling(uid)?),
        };
        Some((format!("{literal} became {other}"), Expr::val(other)))
    }

    /// The next id of an enumerated type.
    fn sibling(&self, uid: &EntityUID) -> Option<EntityUID> {
        match &self.snapshot.schema().as_ref().get_entity_type(uid.entity_type())?.kind {
            ValidatorEntityTypeKind::Enum(choices) => {
                let after = choices.iter().skip_while(|eid| *eid != uid.eid()).nth(1);
                let other = after.or_else(|| choices.iter().find(|eid| *eid != uid.eid()))?;
                Some(EntityUID::from_components(uid.entity_type().clone(), other.clone(), None))
            }
            ValidatorEntityTypeKind::Standard(_) | ValidatorEntityTypeKind::External => None,
        }
    }

    /// The changed policy, unless loading would refuse it.
    fn viable(&self, compiled: &CompiledPolicy, draft: Draft) -> Option<CompiledPolicy> {
        let policy = &compiled.policy;
        let (id, annotations) = (policy.id().clone(), policy.annotations_arc().as_ref().clone());
        let Draft { effect, principal, action, resource, condition } = draft;
        let changed = StaticPolicy::new(id, None, annotations, effect, principal, action, resource, condition).ok()?;
        let changed = Policy::from(changed);
        let lint = approvals::lint(&changed, &self.kind_type);
        let set = PolicySet::from_policies([cedar_policy::Policy::from(changed.clone())]).ok()?;
        let checked = self.validator.validate_with_level(&set, ValidationMode::Strict, MAX_HOPS);
        if !lint.wrong.is_empty() || !checked.validation_passed_without_warnings() {
            return None;
        }
        let mut meta = compiled.meta.as_ref().clone();
        meta.kinds = lint.kinds;
        meta.effect = match changed.effect() {
            cedar_policy_core::ast::Effect::Permit => Effect::Permit,
            cedar_policy_core::ast::Effect::Forbid => Effect::Forbid,
        };
        Some(CompiledPolicy::new(changed, meta))
    }
}

fn effect(compiled: &CompiledPolicy, whole: &Draft) -> (String, Span, Draft) {
    use cedar_policy_core::ast::Effect::{Forbid, Permit};
    let (what, effect) = match whole.effect {
        Permit => ("permit became forbid", Forbid),
        Forbid => ("forbid became permit", Permit),
    };
    (what.into(), span(compiled.policy.loc()), Draft { effect, ..whole.clone() })
}

fn scope(compiled: &CompiledPolicy, whole: &Draft, drafts: &mut Vec<(String, Span, Draft)>) {
    let mut dropped = |kind, draft| {
        let at = scope_span(compiled, kind);
        drafts.push((format!("`{}` was dropped", text(compiled, at)), at, draft));
    };
    if !matches!(whole.principal.as_inner(), PrincipalOrResourceConstraint::Any) {
        dropped(PartKind::Principal, Draft { principal: PrincipalConstraint::any(), ..whole.clone() });
    }
    if !matches!(whole.action, ActionConstraint::Any) {
        dropped(PartKind::Action, Draft { action: ActionConstraint::any(), ..whole.clone() });
    }
    if !matches!(whole.resource.as_inner(), PrincipalOrResourceConstraint::Any) {
        dropped(PartKind::Resource, Draft { resource: ResourceConstraint::any(), ..whole.clone() });
    }
    if let ActionConstraint::In(actions) = &whole.action {
        for left_out in actions.iter().filter(|_| actions.len() > 1) {
            let rest = actions.iter().filter(|action| *action != left_out).map(|action| action.as_ref().clone());
            let draft = Draft { action: ActionConstraint::is_in(rest), ..whole.clone() };
            drafts.push((format!("`{left_out}` was dropped"), scope_span(compiled, PartKind::Action), draft));
        }
    }
}

/// A condition with one of its parts replaced, or left out. None if nothing is left.
pub(super) fn replaced(expr: &Expr, index: usize, with: Option<&Expr>) -> Option<Expr> {
    match expr.expr_kind() {
        ExprKind::And { left, right } | ExprKind::Or { left, right } => {
            let before = conditions(left).len();
            let (left, right) = match index.checked_sub(before) {
                Some(index) => (Some(left.as_ref().clone()), replaced(right, index, with)),
                None => (replaced(left, index, with), Some(right.as_ref().clone())),
            };
            match (left, right) {
                (Some(left), Some(right)) if matches!(expr.expr_kind(), ExprKind::And { .. }) => {
                    Some(Expr::and(left, right))
                }
                (Some(left), Some(right)) => Some(Expr::or(left, right)),
                (left, right) => left.or(right),
            }
        }
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => replaced(arg, index, with).map(Expr::not),
        ExprKind::If { test_expr, then_expr, else_expr } => {
            Some(replaced_in_if((test_expr, then_expr, else_expr), index, with))
        }
        _ => with.cloned(),
    }
}

/// The same of an `if`. Without its test, its first arm decides; without an arm, the other does.
fn replaced_in_if((test, then, other): (&Expr, &Expr, &Expr), index: usize, with: Option<&Expr>) -> Expr {
    let again = |test: &Expr, then: &Expr, other: &Expr| Expr::ite(test.clone(), then.clone(), other.clone());
    let in_test = conditions(test).len();
    let Some(index) = index.checked_sub(in_test) else {
        return replaced(test, index, with).map_or_else(|| then.clone(), |test| again(&test, then, other));
    };
    match index.checked_sub(conditions_of_arm(then).len()) {
        None => replaced(then, index, with).map_or_else(|| other.clone(), |then| again(test, &then, other)),
        Some(index) => replaced(other, index, with).map_or_else(|| then.clone(), |other| again(test, then, &other)),
    }
}

/// Every `&&` and `||` of a condition.
fn nodes(expr: &Expr) -> Vec<&Expr> {
    match expr.expr_kind() {
        ExprKind::And { left, right } | ExprKind::Or { left, right } => {
            [vec![expr], nodes(left), nodes(right)].concat()
        }
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => nodes(arg),
        ExprKind::If { test_expr, then_expr, else_expr } => {
            [nodes(test_expr), nodes(then_expr), nodes(else_expr)].concat()
        }
        _ => Vec::new(),
    }
}

/// A condition with one `&&` as `||`, or the other way round.
fn swapped(expr: &Expr, left_to_go: &mut usize) -> Expr {
    match expr.expr_kind() {
        ExprKind::And { left, right } | ExprKind::Or { left, right } => {
            let here = *left_to_go == 0;
            *left_to_go = left_to_go.wrapping_sub(1);
            let (left, right) = (swapped(left, left_to_go), swapped(right, left_to_go));
            let is_and = matches!(expr.expr_kind(), ExprKind::And { .. });
            if is_and == here { Expr::or(left, right) } else { Expr::and(left, right) }
        }
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => Expr::not(swapped(arg, left_to_go)),
        ExprKind::If { test_expr, then_expr, else_expr } => {
            let test = swapped(test_expr, left_to_go);
            let then = swapped(then_expr, left_to_go);
            Expr::ite(test, then, swapped(else_expr, left_to_go))
        }
        _ => expr.clone(),
    }
}
