//! What a policy decides, independent of how it is written: `"paid" == resource.status` equals `resource.status ==
//! "paid"`, `!(a <= b)` equals `b < a`, `!(a && b)` equals `!a || !b`, and `trust < 2` equals `trust <= 1`. Order does
//! not matter within a set or between conditions that cannot fail.
//!
//! Always true: two policies of the same form decide every question the same way, so removing one of them changes
//! nothing. Policies that are written differently may have different forms although they mean the same.

use cedar_policy_core::ast::{ActionConstraint, BinaryOp, Expr, ExprKind, Literal, UnaryOp};

use super::compiled::CompiledPolicy;

impl CompiledPolicy {
    /// All that it decides by, whatever its id and its reason. Written down once: every operation that it is about compares it.
    pub fn form(&self) -> &str {
        self.form.get_or_init(|| self.written())
    }

    fn written(&self) -> String {
        let actions = match self.policy.action_constraint() {
            ActionConstraint::In(uids) => {
                let mut uids: Vec<String> = uids.iter().map(ToString::to_string).collect();
                uids.sort();
                format!("in [{}]", uids.join(", "))
            }
            constraint => constraint.to_string(),
        };
        let (policy, meta) = (&self.policy, &self.meta);
        let (who, what) = (policy.principal_constraint(), policy.resource_constraint());
        let conditions = policy.non_scope_constraints().map_or_else(|| "true".to_owned(), |all| form(all, true));
        format!("{:?} {:?} {who} {actions} {what} {conditions}", meta.effect, meta.kinds)
    }
}

/// The form of a condition, or of its opposite.
fn form(expr: &Expr, is_true: bool) -> String {
    match expr.expr_kind() {
        ExprKind::And { .. } | ExprKind::Or { .. } => joined(expr, is_true),
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => form(arg, !is_true),
        ExprKind::Lit(Literal::Bool(value)) => (*value == is_true).to_string(),
        ExprKind::BinaryApp { op: BinaryOp::Less, arg1, arg2 } if is_true => less(arg1, arg2),
        ExprKind::BinaryApp { op: BinaryOp::Less, arg1, arg2 } => less_or_equal(arg2, arg1),
        ExprKind::BinaryApp { op: BinaryOp::LessEq, arg1, arg2 } if is_true => less_or_equal(arg1, arg2),
        ExprKind::BinaryApp { op: BinaryOp::LessEq, arg1, arg2 } => less(arg2, arg1),
        ExprKind::If { test_expr, then_expr, else_expr } => {
            let (then, other) = (form(then_expr, is_true), form(else_expr, is_true));
            format!("(if {} then {then} else {other})", form(test_expr, true))
        }
        _ if !is_true => format!("!{}", form(expr, true)),
        ExprKind::BinaryApp { op: BinaryOp::Eq, arg1, arg2 } => {
            let mut sides = [form(arg1, true), form(arg2, true)];
            sides.sort();
            format!("({})", sides.join(" == "))
        }
        ExprKind::BinaryApp { op, arg1, arg2 } => format!("({op:?} {} {})", form(arg1, true), form(arg2, true)),
        ExprKind::Set(elements) => {
            let mut elements: Vec<String> = elements.iter().map(|element| form(element, true)).collect();
            elements.sort();
            format!("[{}]", elements.join(", "))
        }
        _ => format!("({expr})"),
    }
}

/// What has to hold together, or one of which has to: one after the other, and in one order as far as none of them can fail.
fn joined(expr: &Expr, is_true: bool) -> String {
    let is_all = matches!(expr.expr_kind(), ExprKind::And { .. }) == is_true;
    let mut parts = Vec::new();
    flatten(expr, is_true, is_all, &mut parts);
    let neutral = is_all.to_string();
    let mut forms: Vec<(bool, String)> =
        parts.into_iter().map(|(part, wanted)| (is_total(part), form(part, wanted))).collect();
    forms.retain(|(_, form)| *form != neutral);
    forms.chunk_by_mut(|(one, _), (next, _)| *one && *next).for_each(<[(bool, String)]>::sort);
    match forms.as_slice() {
        [] => neutral,
        [(_, one)] => one.clone(),
        _ => {
            let forms: Vec<&str> = forms.iter().map(|(_, form)| form.as_str()).collect();
            format!("({})", forms.join(if is_all { " && " } else { " || " }))
        }
    }
}

/// The operands of a row of `&&`, or of `||`, each with what it is to be.
fn flatten<'a>(expr: &'a Expr, is_true: bool, is_all: bool, into: &mut Vec<(&'a Expr, bool)>) {
    match expr.expr_kind() {
        ExprKind::And { left, right } if is_true == is_all => {
            flatten(left, is_true, is_all, into);
            flatten(right, is_true, is_all, into);
        }
        ExprKind::Or { left, right } if is_true != is_all => {
            flatten(left, is_true, is_all, into);
            flatten(right, is_true, is_all, into);
        }
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => flatten(arg, !is_true, is_all, into),
        _ => into.push((expr, is_true)),
    }
}

/// Less than a number is as much as the next smaller one, or less.
fn less(one: &Expr, other: &Expr) -> String {
    match (long(one), long(other)) {
        (_, Some(number)) if number > i64::MIN => format!("({} <= {})", form(one, true), number - 1),
        (Some(number), _) if number < i64::MAX => format!("({} <= {})", number + 1, form(other, true)),
        _ => format!("({} < {})", form(one, true), form(other, true)),
    }
}

fn less_or_equal(one: &Expr, other: &Expr) -> String {
    let side = |expr| long(expr).map_or_else(|| form(expr, true), |number| number.to_string());
    format!("({} <= {})", side(one), side(other))
}

fn long(expr: &Expr) -> Option<i64> {
    match expr.expr_kind() {
        ExprKind::Lit(Literal::Long(number)) => Some(*number),
        _ => None,
    }
}

/// Whether it can be evaluated whatever is the case. Attributes can: the policy is valid, and what it refers to is loaded, or the
/// question is not put.
fn is_total(expr: &Expr) -> bool {
    expr.subexpressions().all(|part| match part.expr_kind() {
        ExprKind::Lit(_)
        | ExprKind::Var(_)
        | ExprKind::If { .. }
        | ExprKind::And { .. }
        | ExprKind::Or { .. }
        | ExprKind::UnaryApp { op: UnaryOp::Not, .. }
        | ExprKind::GetAttr { .. }
        | ExprKind::HasAttr { .. }
        | ExprKind::Like { .. }
        | ExprKind::Is { .. }
        | ExprKind::Set(_) => true,
        ExprKind::BinaryApp { op, .. } => matches!(
            op,
            BinaryOp::Eq
                | BinaryOp::Less
                | BinaryOp::LessEq
                | BinaryOp::In
                | BinaryOp::Contains
                | BinaryOp::ContainsAll
                | BinaryOp::ContainsAny
        ),
        // Sums may overflow; what else there is may fail, too.
        _ => false,
    })
}
