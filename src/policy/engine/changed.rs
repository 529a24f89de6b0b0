//! The conditions in which a policy differs from its other version: `resource.peers < 2` instead of `resource.peers ==
//! 0`.
//!
//! Always true: a question shows a change if the policy's conditions hold for it and would not hold with the other
//! version's condition in that place, or the other way round. That both versions hold, or that neither does, shows
//! nothing about the change.

use cedar_policy_core::ast::{Effect, Expr, ExprKind};
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use super::branch::Branch;
use super::compiled::CompiledPolicy;
use super::mutant::replaced;
use super::parts::turned_conditions;
use types::effort;

/// So many changes of one policy are told apart.
const MOST: usize = 16;

/// So many pairs of conditions are looked at for what stands in the place of what.
const MOST_COMPARED: usize = 1_024;

/// A condition that stands in the place of another.
pub(super) struct Changed {
    /// The condition; and all conditions of the policy with the old one in its place.
    pub branch: Branch,
    /// The value that the policy must have where the old condition would give the opposite. None accepts either value.
    pub wanted: Option<bool>,
}

/// Whether the conditions of two versions of a policy are made of the same, in whatever order.
pub(super) fn has_same_conditions(compiled: &CompiledPolicy, other: &CompiledPolicy) -> bool {
    let parts = |compiled: &CompiledPolicy| {
        let all = compiled.policy.non_scope_constraints().map(turned_conditions).unwrap_or_default();
        effort::spend(all.len());
        let mut all = texts(&all);
        all.sort();
        all
    };
    parts(compiled) == parts(other)
}

fn texts(all: &[(&Expr, bool)]) -> Vec<String> {
    all.iter().map(|(part, turned)| format!("{turned} {part}")).collect()
}

/// What stands in the conditions of a policy where those of its other version have something else. What is only added, or only
/// left out, is in the place of nothing.
pub(super) fn changed(compiled: &CompiledPolicy, other: &CompiledPolicy) -> Vec<Changed> {
    let (mine, theirs) = (compiled.policy.non_scope_constraints(), other.policy.non_scope_constraints());
    let (Some(mine), Some(theirs)) = (mine, theirs) else { return Vec::new() };
    let (own, old) = (turned_conditions(mine), turned_conditions(theirs));
    effort::spend(own.len() + old.len());
    let hunks = capture_diff_slices(Algorithm::Myers, &texts(&old), &texts(&own));
    let replacing = hunks.iter().filter(|hunk| hunk.tag() == DiffTag::Replace);
    let mut pairs = replacing.flat_map(|hunk| pairs_of(hunk, &own, &old));
    let loosens = Some(compiled.policy.effect() == Effect::Permit);
    let change = |(index, before): (usize, usize)| {
        effort::spend(own.len());
        let ((part, turned), (old, was_turned)) = (own.get(index)?, old.get(before)?);
        let turned_back = if turned == was_turned { (*old).clone() } else { Expr::not((*old).clone()) };
        let with_old = replaced(mine, index, Some(&turned_back))?;
        // Of the same value compared with another constant, often only one of the two can be.
        let wanted = if is_of_one_value(part, old) { None } else { loosens };
        Some(Changed { branch: Branch::seen_where(part, with_old), wanted })
    };
    let mut found: Vec<Changed> = pairs.by_ref().take(MOST).filter_map(change).collect();
    found.extend(pairs.next().map(|_| Changed { branch: Branch::cut(mine, true), wanted: loosens }));
    found
}

/// Which condition is in the place of which: one after the other where there are as many of both, else where both look at the
/// same attribute.
fn pairs_of(hunk: &DiffOp, own: &[(&Expr, bool)], old: &[(&Expr, bool)]) -> Vec<(usize, usize)> {
    let (mine, theirs) = (hunk.new_range(), hunk.old_range());
    if mine.len() == theirs.len() {
        return mine.zip(theirs).collect();
    }
    let most = mine.len() * theirs.len();
    effort::spend(most.min(MOST_COMPARED));
    // Of more, some are not told apart, whichever they are.
    let is_alike = |index: usize, before: usize| match (own.get(index), old.get(before)) {
        (Some((one, _)), Some((other, _))) => most > MOST_COMPARED || share_an_attribute(one, other),
        _ => false,
    };
    let beside =
        |index: usize| theirs.clone().filter(move |before| is_alike(index, *before)).map(move |at| (index, at));
    mine.flat_map(beside).take(MOST_COMPARED).collect()
}

fn share_an_attribute(one: &Expr, other: &Expr) -> bool {
    let is_attribute = |expr: &&Expr| matches!(expr.expr_kind(), ExprKind::GetAttr { .. });
    let attributes: Vec<&Expr> = one.subexpressions().filter(is_attribute).collect();
    other.subexpressions().filter(is_attribute).any(|part| attributes.iter().any(|known| known.eq_shape(part)))
}

/// Whether both compare the same with a constant.
fn is_of_one_value(one: &Expr, other: &Expr) -> bool {
    matches!((compared(one), compared(other)), (Some(one), Some(other)) if one.eq_shape(other))
}

fn compared(expr: &Expr) -> Option<&Expr> {
    let (arg1, arg2) = match expr.expr_kind() {
        ExprKind::BinaryApp { arg1, arg2, .. } => (&**arg1, &**arg2),
        ExprKind::ExtensionFunctionApp { args, .. } => match args.as_slice() {
            [one, other] => (one, other),
            _ => return None,
        },
        _ => return None,
    };
    let is_variable = |part: &Expr| matches!(part.expr_kind(), ExprKind::Var(_));
    let is_constant = |expr: &Expr| !expr.subexpressions().any(is_variable);
    match (is_constant(arg1), is_constant(arg2)) {
        (false, true) => Some(arg1),
        (true, false) => Some(arg2),
        _ => None,
    }
}
