//! The alternatives of a condition, each on its own: an operand of `||`, with everything before it false; the two arms
//! of an `if`; and a condition that is only a part of a value, such as of a set, both true and false.
//!
//! Always true: a condition holds if, and only if, one of its branches does, and each branch can be evaluated wherever
//! Cedar would evaluate the alternative. A branch is decisive if the conditions have the wanted value, and would not
//! have it without the branch.

use cedar_policy_core::ast::{BinaryOp, Effect, Expr, ExprKind, UnaryOp};

use super::compiled::CompiledPolicy;
use super::parts::{constant, line, place, text};

/// So many alternatives of one condition are told apart. What is before the last of them is one together, which nothing shows.
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
    /// All conditions with the opposite of what is wanted in the place of the alternative; none of a part of a value.
    without: Option<Expr>,
    /// The alternative alone, and what it is.
    own: Expr,
    is_true: bool,
    /// What the condition is to be that it is an alternative of.
    wanted: bool,
    /// There are alternatives in it that are not told apart.
    is_cut: bool,
}

/// The alternatives of the conditions of a policy; none where there are no two.
pub(super) fn branches(compiled: &CompiledPolicy) -> Vec<Branch> {
    ways(compiled, true)
}

/// Returns what else keeps a policy from holding, each exception on its own: for `unless { a || b }`, `b` with `a`
/// false. The conditions of each are false where it keeps the policy from holding.
pub(super) fn exceptions(compiled: &CompiledPolicy) -> Vec<Branch> {
    ways(compiled, false)
}

fn ways(compiled: &CompiledPolicy, wanted: bool) -> Vec<Branch> {
    let conditions = compiled.policy.non_scope_constraints();
    // What is part of a value is told where it would let through what the other version does not.
    let loosens = (compiled.policy.effect() == Effect::Permit) == wanted;
    let mut room = Room { left: MOST, values: loosens };
    let Some(all) = conditions else { return Vec::new() };
    let found = within(all, wanted, &mut room);
    // That its only condition holds is that the policy does; that it does not, is to be seen like any other.
    if found.is_empty() && !wanted { vec![Branch::whole(all, wanted)] } else { found }
}

impl Branch {
    /// The text of the alternative, as one line, and its line in the file.
    pub fn describe(&self, compiled: &CompiledPolicy) -> (String, usize) {
        let span = place(&self.own, compiled);
        let text = text(compiled, span);
        // Of a whole clause `unless`, what is in it is the opposite.
        let inside = text.strip_prefix("unless").and_then(|clause| clause.trim().strip_prefix('{')?.strip_suffix('}'));
        let (text, is_true) = match inside {
            Some(inside) => (inside.trim().to_owned(), !self.is_true),
            None => (text, self.is_true),
        };
        (if is_true { text } else { format!("{text} is false") }, line(compiled, span))
    }

    /// Whether it stands within another of the same policy.
    pub fn is_within(&self, other: &Branch, compiled: &CompiledPolicy) -> bool {
        let [(begin, length), (from, whole)] = [self, other].map(|branch| place(&branch.own, compiled));
        whole > length && from <= begin && begin + length <= from + whole
    }

    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns all conditions as they would be if the alternative did not have the wanted value. None for a part of a
    /// value, where it would show nothing: the value may be the same.
    pub fn without(&self) -> Option<&Expr> {
        self.without.as_ref()
    }

    /// The alternative alone.
    pub fn own(&self) -> &Expr {
        &self.own
    }

    /// Whether another version of the policy has it just so. What keeps a policy from holding is compared without what else has
    /// to be false: of that, each alternative is one of its own.
    pub fn is_same(&self, other: &Branch) -> bool {
        let same = if self.wanted { (&self.condition, &other.condition) } else { (&self.alone, &other.alone) };
        // What is cut is by its condition like any other that is.
        same.0.eq_shape(same.1) && (!self.is_cut || self.own.eq_shape(&other.own))
    }

    /// A whole expression as one alternative.
    fn whole(expr: &Expr, wanted: bool) -> Branch {
        let own = expr.clone();
        let without = Some(Expr::val(!wanted));
        Branch { condition: own.clone(), alone: own.clone(), without, own, is_true: wanted, wanted, is_cut: false }
    }

    /// A part that is seen wherever something else is so.
    pub fn seen_where(part: &Expr, condition: Expr) -> Branch {
        Branch { alone: condition.clone(), condition, ..Branch::whole(part, true) }
    }

    /// Creates a branch for an expression with more alternatives than are told apart. It never counts as having the
    /// wanted value.
    pub fn cut(expr: &Expr, wanted: bool) -> Branch {
        let never = Expr::val(!wanted);
        Branch { condition: never.clone(), alone: never, is_cut: true, ..Branch::whole(expr, wanted) }
    }

    /// As a part of something else: with what has to be so beside it, and in the place that it has there.
    fn put(self, beside: impl Fn(Expr) -> Expr, place: impl Fn(Expr) -> Expr) -> Branch {
        Branch { condition: beside(self.condition), without: self.without.map(place), ..self }
    }

    /// The same where nothing has to be so beside it.
    fn put_whole(self, into: impl Fn(Expr) -> Expr, place: impl Fn(Expr) -> Expr) -> Branch {
        Branch { condition: into(self.condition), alone: into(self.alone), without: self.without.map(place), ..self }
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
            within(arg, !wanted, room).into_iter().map(|branch| branch.put_whole(Expr::not, Expr::not)).collect()
        }
        ExprKind::And { left: one, right: other } if wanted => sides(both, (one, other), wanted, room),
        ExprKind::Or { left: one, right: other } if !wanted => sides(both, (one, other), wanted, room),
        ExprKind::And { left: one, right: other } | ExprKind::Or { left: one, right: other } => {
            // Of two alternatives, the second decides where the first does not.
            let beside = |at: Expr| both.of(Expr::not((**one).clone()), at);
            let either = Join::both(!wanted);
            let second = each(other, wanted, room).into_iter();
            let second = second.map(|at| at.put_whole(beside, |at| either.of((**one).clone(), at)));
            let second: Vec<Branch> = second.collect();
            let first = each(one, wanted, room).into_iter();
            let first = first.map(|at| at.put_whole(|at| at, |at| either.of(at, (**other).clone())));
            second.into_iter().chain(first).collect()
        }
        ExprKind::If { test_expr, then_expr, else_expr } => {
            let parts = (&**test_expr, &**then_expr, &**else_expr);
            let last = arm(parts, false, wanted, room);
            last.into_iter().chain(arm(parts, true, wanted, room)).collect()
        }
        _ => parts_of_values(expr, wanted, room),
    }
}

/// The alternatives of two sides that have to be as is wanted together.
fn sides(both: Join, (one, other): (&Expr, &Expr), wanted: bool, room: &mut Room) -> Vec<Branch> {
    let beside_one = |at: Expr| both.of(one.clone(), at);
    let second: Vec<Branch> =
        within(other, wanted, room).into_iter().map(|at| at.put(beside_one, beside_one)).collect();
    let beside_other = |at: Expr| both.of(at, other.clone());
    let first = within(one, wanted, room).into_iter().map(|at| at.put(beside_other, beside_other));
    second.into_iter().chain(first).collect()
}

/// The alternatives of an arm of an `if`, and of its test, where the test leads to the arm.
fn arm((test, then, other): (&Expr, &Expr, &Expr), leads: bool, wanted: bool, room: &mut Room) -> Vec<Branch> {
    let both = Join::both(wanted);
    let arm = if leads { then } else { other };
    let in_test = |test: Expr| Expr::ite(test, then.clone(), other.clone());
    let in_arm = |arm: Expr| match leads {
        true => Expr::ite(test.clone(), arm, other.clone()),
        false => Expr::ite(test.clone(), then.clone(), arm),
    };
    // What the test has to be beside the arm, as the part of a whole that is as is wanted.
    let led = |test: Expr| if leads == wanted { test } else { Expr::not(test) };
    match constant(arm) {
        // It is never as is wanted.
        Some(value) if value != wanted => Vec::new(),
        // The test alone decides.
        Some(_) => {
            let all = each(test, leads, room).into_iter().map(|at| Branch { wanted, ..at.put_whole(led, in_test) });
            all.collect()
        }
        None => {
            let beside = |at: Expr| both.of(led(test.clone()), at);
            let own: Vec<Branch> = each(arm, wanted, room).into_iter().map(|at| at.put_whole(beside, in_arm)).collect();
            let tests = within(test, leads, room).into_iter();
            let tests = tests.map(|at| Branch { wanted, ..at.put(|at| both.of(led(at), arm.clone()), in_test) });
            own.into_iter().chain(tests).collect()
        }
    }
}

/// Of a comparison, a set or the like: each condition that is a part of its value, once true and once false.
fn parts_of_values(expr: &Expr, wanted: bool, room: &mut Room) -> Vec<Branch> {
    let parts = if room.values { conditions_within(expr) } else { Vec::new() };
    let Some(left) = room.left.checked_sub(2 * parts.len()) else {
        room.left = 0;
        return vec![Branch::cut(expr, wanted)];
    };
    room.left = left;
    let of = |part: &Expr, is_true: bool| {
        let beside = if is_true == wanted { part.clone() } else { Expr::not(part.clone()) };
        let condition = Join::both(wanted).of(beside, expr.clone());
        Branch { alone: condition.clone(), condition, without: None, is_true, ..Branch::whole(part, wanted) }
    };
    parts.into_iter().flat_map(|part| [of(part, true), of(part, false)]).collect()
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
    if room.left > 1 {
        let all = within(side, wanted, room);
        if !all.is_empty() {
            return all;
        }
    }
    let made_of_others =
        |part: &Expr| matches!(part.expr_kind(), ExprKind::And { .. } | ExprKind::Or { .. } | ExprKind::If { .. });
    let is_cut = room.left == 0 || (room.left == 1 && side.subexpressions().any(made_of_others));
    room.left = room.left.saturating_sub(1);
    vec![if is_cut { Branch::cut(side, wanted) } else { Branch::whole(side, wanted) }]
}
