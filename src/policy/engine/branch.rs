//! The alternatives of a condition, each by itself: what stands beside an `||`, where everything before it is false; the two arms
//! of an `if`; and a condition that is only a part of a value, such as of a set, where it is true and where it is false.
//!
//! Always true: a condition holds if, and only if, one of its branches does; and each can be evaluated wherever Cedar would
//! evaluate the alternative.

use cedar_policy_core::ast::{BinaryOp, Effect, Expr, ExprKind, Literal, UnaryOp};

use super::compiled::CompiledPolicy;
use super::parts::{line, place, text};

/// So many alternatives of one condition are told apart; what is before the last of them is one together.
const MOST: usize = 64;

/// How many more alternatives are told apart, and whether those within values are.
struct Room {
    left: usize,
    values: bool,
}

/// One alternative.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The conditions with this alternative in the place of all.
    pub condition: Expr,
    /// The same without what has to be so beside it.
    alone: Expr,
    /// The alternative alone, and what it is.
    own: Expr,
    is_true: bool,
    /// What the condition is to be that it is an alternative of.
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
    // What is part of a value is told where it would let through what the other version does not.
    let loosens = (compiled.policy.effect() == Effect::Permit) == wanted;
    let mut room = Room { left: MOST, values: loosens };
    conditions.map(|all| within(all, wanted, &mut room)).unwrap_or_default()
}

impl Branch {
    /// The text of the alternative, as one line, and its line in the file.
    pub fn describe(&self, compiled: &CompiledPolicy) -> (String, usize) {
        let span = place(&self.own, compiled);
        let text = text(compiled, span);
        (if self.is_true { text } else { format!("{text} is false") }, line(compiled, span))
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

/// How the answer of a whole is made of those of its two sides.
#[derive(Clone, Copy)]
enum Join {
    And,
    Or,
}

impl Join {
    fn of(self, one: Expr, other: Expr) -> Expr {
        match self {
            Join::And => Expr::and(one, other),
            Join::Or => Expr::or(one, other),
        }
    }

    /// The one by which both sides have a say in what is wanted.
    fn both(wanted: bool) -> Join {
        if wanted { Join::And } else { Join::Or }
    }
}

/// The alternatives within an expression that is to be true, or to be false; the last ones first.
fn within(expr: &Expr, wanted: bool, room: &mut Room) -> Vec<Branch> {
    let both = Join::both(wanted);
    match expr.expr_kind() {
        ExprKind::UnaryApp { op: UnaryOp::Not, arg } => {
            within(arg, !wanted, room).into_iter().map(|branch| branch.put_whole(Expr::not)).collect()
        }
        ExprKind::And { left: one, right: other } if wanted => sides(both, (one, other), wanted, room),
        ExprKind::Or { left: one, right: other } if !wanted => sides(both, (one, other), wanted, room),
        ExprKind::And { left: one, right: other } | ExprKind::Or { left: one, right: other } => {
            // Of two alternatives, the second decides where the first does not.
            let beside = |at: Expr| both.of(Expr::not((**one).clone()), at);
            let second: Vec<Branch> = each(other, wanted, room).into_iter().map(|at| at.put_whole(beside)).collect();
            second.into_iter().chain(each(one, wanted, room)).collect()
        }
        ExprKind::If { test_expr, then_expr, else_expr } => {
            let last = arm(test_expr, (false, else_expr), wanted, room);
            last.into_iter().chain(arm(test_expr, (true, then_expr), wanted, room)).collect()
        }
        _ => parts_of_values(expr, wanted, room),
    }
}

/// The alternatives of two sides that have to be as is wanted together.
fn sides(both: Join, (one, other): (&Expr, &Expr), wanted: bool, room: &mut Room) -> Vec<Branch> {
    let second = within(other, wanted, room).into_iter().map(|at| at.put(|at| both.of(one.clone(), at)));
    let second: Vec<Branch> = second.collect();
    let first = within(one, wanted, room).into_iter().map(|at| at.put(|at| both.of(at, other.clone())));
    second.into_iter().chain(first).collect()
}

/// The alternatives of an arm of an `if`, and of its test, where the test leads to the arm.
fn arm(test: &Expr, (leads, arm): (bool, &Expr), wanted: bool, room: &mut Room) -> Vec<Branch> {
    let both = Join::both(wanted);
    // What the test has to be beside the arm, as the part of a whole that is as is wanted.
    let led = |test: Expr| if leads == wanted { test } else { Expr::not(test) };
    let constant = match arm.expr_kind() {
        ExprKind::Lit(Literal::Bool(value)) => Some(*value),
        _ => None,
    };
    match constant {
        // It is never as is wanted.
        Some(value) if value != wanted => Vec::new(),
        // The test alone decides.
        Some(_) => {
            let all = each(test, leads, room).into_iter().map(|at| Branch { wanted, ..at.put_whole(led) });
            all.collect()
        }
        None => {
            let beside = |at: Expr| both.of(led(test.clone()), at);
            let own: Vec<Branch> = each(arm, wanted, room).into_iter().map(|at| at.put_whole(beside)).collect();
            let tests = within(test, leads, room).into_iter();
            let tests = tests.map(|at| Branch { wanted, ..at.put(|at| both.of(led(at), arm.clone())) });
            own.into_iter().chain(tests).collect()
        }
    }
}

/// Of a comparison, a set or the like: each condition that is a part of its value, once true and once false.
fn parts_of_values(expr: &Expr, wanted: bool, room: &mut Room) -> Vec<Branch> {
    let both = Join::both(wanted);
    let mut found = Vec::new();
    let parts = if room.values { conditions_within(expr) } else { Vec::new() };
    for part in parts {
        for is_true in [true, false] {
            if room.left == 0 {
                return found;
            }
            room.left -= 1;
            let beside = if is_true == wanted { part.clone() } else { Expr::not(part.clone()) };
            let condition = both.of(beside, expr.clone());
            found.push(Branch { alone: condition.clone(), condition, own: part.clone(), is_true, wanted });
        }
    }
    found
}

/// The conditions, each as large as it can be, that are parts of the value of an expression which is no condition made of others.
fn conditions_within(expr: &Expr) -> Vec<&Expr> {
    let of = |part| if is_condition(part) { vec![part] } else { conditions_within(part) };
    match expr.expr_kind() {
        ExprKind::If { test_expr, then_expr, else_expr } => [vec![&**test_expr], of(then_expr), of(else_expr)].concat(),
        ExprKind::UnaryApp { arg, .. } => of(arg),
        ExprKind::BinaryApp { arg1, arg2, .. } => [of(arg1), of(arg2)].concat(),
        ExprKind::GetAttr { expr, .. } | ExprKind::HasAttr { expr, .. } => of(expr),
        ExprKind::Like { expr, .. } | ExprKind::Is { expr, .. } => of(expr),
        ExprKind::ExtensionFunctionApp { args, .. } => args.iter().flat_map(of).collect(),
        ExprKind::Set(elements) => elements.iter().flat_map(of).collect(),
        ExprKind::Record(fields) => fields.values().flat_map(of).collect(),
        _ => Vec::new(),
    }
}

/// Whether it can be nothing but true or false, and not always the same.
fn is_condition(expr: &Expr) -> bool {
    use BinaryOp::{Contains, ContainsAll, ContainsAny, Eq, HasTag, In, Less, LessEq};
    match expr.expr_kind() {
        ExprKind::And { .. } | ExprKind::Or { .. } => true,
        ExprKind::HasAttr { .. } | ExprKind::Like { .. } | ExprKind::Is { .. } => true,
        ExprKind::UnaryApp { op: UnaryOp::Not, .. } => true,
        ExprKind::BinaryApp { op, .. } => {
            matches!(op, Eq | Less | LessEq | In | Contains | ContainsAll | ContainsAny | HasTag)
        }
        _ => false,
    }
}

/// The alternatives of one side of two, which is one if there are none in it, or if there are too many.
fn each(side: &Expr, wanted: bool, room: &mut Room) -> Vec<Branch> {
    let all = if room.left > 1 { within(side, wanted, room) } else { Vec::new() };
    if !all.is_empty() || room.left == 0 {
        return all;
    }
    room.left -= 1;
    vec![Branch { condition: side.clone(), alone: side.clone(), own: side.clone(), is_true: wanted, wanted }]
}
