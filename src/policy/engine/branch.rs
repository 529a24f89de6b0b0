//! The alternatives of a condition, each by itself: what stands beside an `||`, where everything before it is false.
//!
//! Always true: a condition holds if, and only if, one of its branches does; and each can be evaluated wherever Cedar would
//! evaluate the alternative.

use cedar_policy_core::ast::{Expr, ExprKind, UnaryOp};

use super::compiled::CompiledPolicy;
use super::parts::{line, place, text};

/// So many alternatives of one condition are told apart; what is before the last of them is one together.
const MOST: usize = 64;

/// One alternative.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The conditions with this alternative in the place of all.
    pub condition: Expr,
    /// The same without what has to be so beside it.
    alone: Expr,
    /// The alternative alone, and what it is to be.
    own: Expr,
    wanted: bool,
}

/// The alternatives of the conditions of a policy; none where there are no two.
pub(super) fn branches(compiled: &CompiledPolicy) -> Vec<Branch> {
    ways(compiled, true)
}

/// What else keeps a policy from holding, each alone: of `unless { a || b }`, `b` where `a` is false. The conditions of each are
/// false where it does.
pub(super) fn exceptions(compiled: &CompiledPolicy) -> Vec<Branch> {
    ways(compiled, false)
}

fn ways(compiled: &CompiledPolicy, wanted: bool) -> Vec<Branch> {
    let conditions = compiled.policy.non_scope_constraints();
    let mut left = MOST;
    conditions.map(|all| within(all, wanted, &mut left)).unwrap_or_default()
}

impl Branch {
    /// The text of the alternative, as one line, and its line in the file.
    pub fn describe(&self, compiled: &CompiledPolicy) -> (String, usize) {
        let span = place(&self.own, compiled);
        let text = text(compiled, span);
        (if self.wanted { text } else { format!("{text} is false") }, line(compiled, span))
    }

    /// Whether it stands within another of the same policy.
    pub fn is_within(&self, other: &Branch, compiled: &CompiledPolicy) -> bool {
        let [(begin, length), (from, whole)] = [self, other].map(|branch| place(&branch.own, compiled));
        whole > length && from <= begin && begin + length <= from + whole
    }

    /// The alternative alone.
    pub fn own(&self) -> &Expr {
        &self.own
    }

    /// Whether another version of the policy has it just so. What keeps a policy from holding is compared without what else has
    /// to be false: of that, each alternative is one of its own.
    pub fn is_same(&self, other: &Branch) -> bool {
        if self.wanted { self.condition.eq_shape(&other.condition) } else { self.alone.eq_shape(&other.alone) }
    }

    fn put(self, into: impl Fn(Expr) -> Expr) -> Branch {
        Branch { condition: into(self.condition), ..self }
    }

    fn put_whole(self, into: impl Fn(Expr) -> Expr) -> Branch {
        Branch { condition: into(self.condition), alone: into(self.alone), ..self }
    }
}

/// The alternatives within an expression that is to be true, or to be false; the last ones first.
fn within(expr: &Expr, wanted: bool, left: &mut usize) -> Vec<Branch> {
    let (is_and, one, other) = match expr.expr_kind() {
        ExprKind::And { left, right } => (true, &**left, &**right),
        ExprKind::Or { left, right } => (false, &**left, &**right),
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => {
            return within(arg, !wanted, left).into_iter().map(|branch| branch.put_whole(Expr::not)).collect();
        }
        _ => return Vec::new(),
    };
    let join = |is_and: bool, one: Expr, other: Expr| if is_and { Expr::and(one, other) } else { Expr::or(one, other) };
    if is_and == wanted {
        let second = within(other, wanted, left).into_iter().map(|at| at.put(|at| join(is_and, one.clone(), at)));
        let second: Vec<Branch> = second.collect();
        let first = within(one, wanted, left).into_iter().map(|at| at.put(|at| join(is_and, at, other.clone())));
        second.into_iter().chain(first).collect()
    } else {
        let beside = |at: Expr| join(!is_and, Expr::not(one.clone()), at);
        let second: Vec<Branch> = each(other, wanted, left).into_iter().map(|at| at.put_whole(beside)).collect();
        second.into_iter().chain(each(one, wanted, left)).collect()
    }
}

/// The alternatives of one side of two, which is one if there are none in it, or if there are too many.
fn each(side: &Expr, wanted: bool, left: &mut usize) -> Vec<Branch> {
    let all = if *left > 1 { within(side, wanted, left) } else { Vec::new() };
    if !all.is_empty() || *left == 0 {
        return all;
    }
    *left -= 1;
    vec![Branch { condition: side.clone(), alone: side.clone(), own: side.clone(), wanted }]
}
