//! The conditions that a policy has instead of others: `resource.peers < 2` where its other version says `resource.peers == 0`.
//!
//! Always true: each is seen by a question for which the policy holds and would not with the other's condition in its place, or
//! the other way round. That both versions hold, or neither, shows nothing of the change.

use cedar_policy_core::ast::{BinaryOp, Expr};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::branch::{Branch, MOST};
use super::compiled::CompiledPolicy;
use super::mutant::replaced;
use super::parts::conditions;

/// What stands in the conditions of a policy where those of its other version have something else. What is only added, or only
/// left out, is in the place of nothing.
pub(super) fn changed(compiled: &CompiledPolicy, other: &CompiledPolicy) -> Vec<Branch> {
    let (mine, theirs) = (compiled.policy.non_scope_constraints(), other.policy.non_scope_constraints());
    let (Some(mine), Some(theirs)) = (mine, theirs) else { return Vec::new() };
    let (own, old) = (conditions(mine), conditions(theirs));
    let text = |all: &[&Expr]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let hunks = capture_diff_slices(Algorithm::Myers, &text(&old), &text(&own));
    let replacing = hunks.iter().filter(|hunk| hunk.tag() == DiffTag::Replace);
    let mut pairs = replacing.flat_map(|hunk| hunk.new_range().zip(hunk.old_range()));
    let seen_where = |(index, before): (usize, usize)| {
        let with_old = replaced(mine, index, Some(old.get(before)?))?;
        let differs = Expr::not(Expr::binary_app(BinaryOp::Eq, mine.clone(), with_old));
        Some(Branch::seen_where(own.get(index)?, differs))
    };
    let mut found: Vec<Branch> = pairs.by_ref().take(MOST).filter_map(seen_where).collect();
    found.extend(pairs.next().map(|_| Branch::cut(mine, true)));
    found
}
