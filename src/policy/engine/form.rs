//! What a policy says, whichever way its comparisons are written: `"paid" == resource.status` is `resource.status == "paid"`,
//! `!(a <= b)` is `b < a`, and in a set the order is nothing.
//!
//! Always true: two policies of the same form have the same effect on every question. What is written otherwise and means the
//! same may have another form.

use cedar_policy_core::ast::{ActionConstraint, BinaryOp, Expr, ExprKind, UnaryOp};

use super::compiled::CompiledPolicy;

impl CompiledPolicy {
    /// Whether another version of it says the same.
    pub fn is_same(&self, other: &CompiledPolicy) -> bool {
        self.meta.id == other.meta.id && (self.meta.text == other.meta.text || self.form() == other.form())
    }

    /// All that it says but its id. Written down once: every operation that it is about compares it.
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
        let told = format!("{:?} {:?} {:?} {:?} {:?}", meta.effect, meta.reason, meta.title, meta.runbook, meta.kinds);
        let scope = format!("{} {actions} {}", policy.principal_constraint(), policy.resource_constraint());
        format!("{told} {scope} {}", policy.non_scope_constraints().map(form).unwrap_or_default())
    }
}

fn form(expr: &Expr) -> String {
    match expr.expr_kind() {
        ExprKind::And { left, right } => format!("({} && {})", form(left), form(right)),
        ExprKind::Or { left, right } => format!("({} || {})", form(left), form(right)),
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => match arg.expr_kind() {
            ExprKind::BinaryApp { op: BinaryOp::Less, arg1, arg2 } => format!("({} <= {})", form(arg2), form(arg1)),
            ExprKind::BinaryApp { op: BinaryOp::LessEq, arg1, arg2 } => format!("({} < {})", form(arg2), form(arg1)),
            _ => format!("!{}", form(arg)),
        },
        ExprKind::BinaryApp { op: BinaryOp::Less, arg1, arg2 } => format!("({} < {})", form(arg1), form(arg2)),
        ExprKind::BinaryApp { op: BinaryOp::LessEq, arg1, arg2 } => format!("({} <= {})", form(arg1), form(arg2)),
        ExprKind::BinaryApp { op: BinaryOp::Eq, arg1, arg2 } => {
            let mut sides = [form(arg1), form(arg2)];
            sides.sort();
            format!("({})", sides.join(" == "))
        }
        ExprKind::BinaryApp { op, arg1, arg2 } => format!("({op:?} {} {})", form(arg1), form(arg2)),
        ExprKind::If { test_expr, then_expr, else_expr } => {
            format!("(if {} then {} else {})", form(test_expr), form(then_expr), form(else_expr))
        }
        ExprKind::Set(elements) => {
            let mut elements: Vec<String> = elements.iter().map(form).collect();
            elements.sort();
            format!("[{}]", elements.join(", "))
        }
        _ => format!("({expr})"),
    }
}
