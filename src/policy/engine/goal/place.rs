//! Where a value stands that a condition looks at.

use cedar_policy_core::ast::{Expr, ExprKind, Var};

/// Where a value stands: `["run", "calls"]` of the context, `["total"]` of the resource.
pub type Path = Vec<String>;

/// `context.run.calls`
pub(super) fn path(expr: &Expr) -> Option<(Var, Path)> {
    match expr.expr_kind() {
        ExprKind::Var(var @ (Var::Context | Var::Principal | Var::Resource)) => Some((*var, Vec::new())),
        ExprKind::GetAttr { expr, attr } => {
            let (var, mut path) = path(expr)?;
            path.push(attr.to_string());
            Some((var, path))
        }
        _ => None,
    }
}
