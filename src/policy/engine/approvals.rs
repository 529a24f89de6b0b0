//! The approvals lint: which kinds release a policy, and that nothing else in it depends on approvals.
//!
//! Always true of a policy that passes: approvals are read only as `context.approvals.contains(<literal kind>)`, positively
//! and in the `unless` of a forbid; so one more approval never adds a denial. Kinds are never alternatives to each other;
//! so "all the kinds that it names" is also the least that will do. (Cedar reads `when { !x }` as `unless { x }`; so do we.)

use cedar_policy_core::ast::{BinaryOp, Effect, EntityType, Expr, ExprKind, Literal, Policy, UnaryOp, Var};

/// The attribute of the context that holds the approvals granted.
pub(crate) const ATTRIBUTE: &str = "approvals";
/// The enumerated entity type of approval kinds.
pub(super) const KIND_TYPE: &str = "Ok::ApprovalKind";

const MISPLACED: &str = "approvals may only be read as `context.approvals.contains(Ok::ApprovalKind::\"...\")`, in the `unless` of a forbid";
const ALTERNATIVES: &str =
    "two approval kinds may not be alternatives: all the kinds that a forbid names are asked for";
const BARE_CONTEXT: &str = "the context may only be read by its attributes";

/// What the lint tells of one policy: the kinds that release it, and what is wrong, each with its place.
#[derive(Default)]
pub(super) struct Lint<'a> {
    pub kinds: Vec<String>,
    pub wrong: Vec<(&'a Expr, &'static str)>,
}

/// Reads the conditions of a policy.
pub(super) fn lint<'a>(policy: &'a Policy, kind_type: &EntityType) -> Lint<'a> {
    let mut lint = Lint::default();
    if let Some(condition) = policy.non_scope_constraints() {
        let mut reader = Reader { kind_type, forbid: policy.effect() == Effect::Forbid, lint: &mut lint };
        reader.condition(condition);
        reader.bare_context(condition);
    }
    lint.kinds.sort_unstable();
    lint.kinds.dedup();
    lint
}

struct Reader<'l, 'a> {
    kind_type: &'l EntityType,
    forbid: bool,
    lint: &'l mut Lint<'a>,
}

impl<'a> Reader<'_, 'a> {
    /// The conjuncts of all `when` and `unless`; an `unless` is a negated one. Each negated one alone releases the policy.
    fn condition(&mut self, whole: &'a Expr) {
        let mut released_by = 0_usize;
        for conjunct in conjuncts(whole) {
            match conjunct.expr_kind() {
                ExprKind::UnaryApp { op: UnaryOp::Not, arg } if self.forbid => {
                    let names = self.unless(arg);
                    released_by += usize::from(names);
                    if names && released_by > 1 {
                        self.lint.wrong.push((conjunct, ALTERNATIVES));
                    }
                }
                _ => self.misplaced(conjunct),
            }
        }
    }

    /// One `unless`, or a part of it. Tells whether it names a kind.
    fn unless(&mut self, part: &'a Expr) -> bool {
        match part.expr_kind() {
            ExprKind::And { left, right } => {
                let left = self.unless(left);
                self.unless(right) || left
            }
            ExprKind::Or { left, right } => {
                let (left, right) = (self.unless(left), self.unless(right));
                if left && right {
                    self.lint.wrong.push((part, ALTERNATIVES));
                }
                left || right
            }
            _ => match self.kind_asked(part) {
                Some(kind) => {
                    self.lint.kinds.push(kind);
                    true
                }
                None => {
                    self.misplaced(part);
                    false
                }
            },
        }
    }

    /// The kind, if this is exactly `context.approvals.contains(<literal kind>)`.
    fn kind_asked(&self, part: &Expr) -> Option<String> {
        let ExprKind::BinaryApp { op: BinaryOp::Contains, arg1, arg2 } = part.expr_kind() else { return None };
        let ExprKind::Lit(Literal::EntityUID(uid)) = arg2.expr_kind() else { return None };
        let asked = reads_approvals(arg1) && uid.entity_type() == self.kind_type;
        asked.then(|| AsRef::<str>::as_ref(uid.eid()).to_owned())
    }

    fn misplaced(&mut self, part: &'a Expr) {
        let kind_type = self.kind_type;
        let places = part.subexpressions().filter(|inner| speaks_of_approvals(inner, kind_type));
        self.lint.wrong.extend(places.map(|place| (place, MISPLACED)));
    }

    /// `context` as a whole could smuggle the approvals into a comparison.
    fn bare_context(&mut self, whole: &'a Expr) {
        let all = whole.subexpressions().filter(|part| is_context(part)).count();
        let by_attribute = whole.subexpressions().filter(|part| opens_context(part)).count();
        if all > by_attribute {
            self.lint.wrong.push((whole, BARE_CONTEXT));
        }
    }
}

fn conjuncts(whole: &Expr) -> Vec<&Expr> {
    match whole.expr_kind() {
        ExprKind::And { left, right } => [conjuncts(left), conjuncts(right)].concat(),
        _ => vec![whole],
    }
}

pub(super) fn is_context(part: &Expr) -> bool {
    matches!(part.expr_kind(), ExprKind::Var(Var::Context))
}

fn reads_approvals(part: &Expr) -> bool {
    matches!(part.expr_kind(), ExprKind::GetAttr { expr, attr } if is_context(expr) && attr == ATTRIBUTE)
}

fn opens_context(part: &Expr) -> bool {
    match part.expr_kind() {
        ExprKind::GetAttr { expr, .. } | ExprKind::HasAttr { expr, .. } | ExprKind::ExtHasAttr { expr, .. } => {
            is_context(expr)
        }
        _ => false,
    }
}

fn speaks_of_approvals(part: &Expr, kind_type: &EntityType) -> bool {
    match part.expr_kind() {
        ExprKind::Lit(Literal::EntityUID(uid)) => uid.entity_type() == kind_type,
        ExprKind::HasAttr { expr, attr } => is_context(expr) && attr == ATTRIBUTE,
        ExprKind::ExtHasAttr { expr, attrs } => is_context(expr) && attrs.head == ATTRIBUTE,
        _ => reads_approvals(part),
    }
}
