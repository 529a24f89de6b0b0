//! What questions have shown of one policy that differs, and of its parts: the operations that it lists, its alternatives and
//! exceptions, and the conditions that it has in the place of others.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use cedar_policy_core::ast::{ActionConstraint, EntityUID, Expr, Policy, Var};

use super::branch::{Branch, branches, exceptions};
use super::changed::{Changed, changed, has_same_conditions};
use super::compiled::CompiledPolicy;
use super::index::Position;

/// What has been seen of one policy.
#[derive(Debug)]
pub(super) struct Met {
    /// It is one of the first snapshot's.
    pub is_ours: bool,
    /// Where its other version is, where that is among those that differ.
    pub other: Option<Position>,
    /// Its other version has its scope, with as many operations or more: what that one shows, it need not show again.
    pub is_covered: bool,
    /// Whether its other version consists of the same conditions, for example if operands that can fail have changed
    /// places. Then only a question for which exactly one of the two holds shows it.
    pub is_recast: bool,
    /// It has decided a question.
    pub whole: AtomicBool,
    pub parts: Vec<Part>,
}

/// A part of a policy, and whether it has decided a question.
#[derive(Debug)]
pub(super) struct Part {
    pub branch: Branch,
    when: When,
    is_met: AtomicBool,
    /// It could be evaluated for a question.
    is_known: AtomicBool,
}

/// When a part decides.
#[derive(Clone, Copy, Debug)]
enum When {
    /// The policy holds, and the branch does.
    Listed,
    /// The policy holds, and would not without the branch.
    Holds,
    /// The policy does not hold, and would without the branch.
    Fails,
    /// The two versions of the policy are not the same, and with the old condition in its place, this one would not be what it
    /// is: which is to be this, where given.
    Differs(Option<bool>),
}

/// What a question says of a policy.
#[derive(Clone, Copy)]
pub(super) struct Stand {
    pub holds: bool,
    /// Whether its other version is known to be the same.
    pub is_as_before: bool,
}

impl Met {
    /// Of a policy whose other versions are these, nothing that they have, too. What stands in the place of something else is
    /// looked for in the newer one.
    pub fn of(compiled: &CompiledPolicy, others: &[&CompiledPolicy], is_newer: bool) -> Met {
        let mut parts: Vec<Part> = Vec::new();
        let mut add =
            |when: When, all: Vec<Branch>| parts.extend(all.into_iter().map(|branch| Part::new(branch, when)));
        add(When::Listed, listed(compiled, others));
        add(When::Holds, fresh(branches, compiled, &alike(compiled, others)));
        // That a new policy does not hold somewhere is nothing new.
        if let Some(other) = others.first() {
            add(When::Fails, fresh(exceptions, compiled, others));
            let changes = if is_newer { changed(compiled, other) } else { Vec::new() };
            changes.into_iter().for_each(|Changed { branch, wanted }| add(When::Differs(wanted), vec![branch]));
        }
        let is_covered = others.first().is_some_and(|other| covers(other, compiled));
        let has_same_scope = |other: &CompiledPolicy| {
            let (one, next) = (&compiled.policy, &other.policy);
            has_same_ends(one, next) && one.action_constraint() == next.action_constraint()
        };
        let is_recast =
            others.first().is_some_and(|other| has_same_scope(other) && has_same_conditions(compiled, other));
        Met { is_ours: true, other: None, is_covered, is_recast, whole: AtomicBool::new(false), parts }
    }

    /// Whether no question has shown yet that it holds.
    pub fn is_open(&self) -> bool {
        !self.whole.load(Ordering::Relaxed)
    }

    /// Notes that a question has shown it.
    pub fn see(&self) {
        self.whole.store(true, Ordering::Relaxed);
    }

    /// All parts that a question may show, each with its number.
    pub fn shown_by(&self, stand: Stand) -> impl Iterator<Item = (usize, &Part)> {
        self.parts.iter().enumerate().filter(move |(_, part)| part.may_be_shown(stand))
    }
}

impl Part {
    fn new(branch: Branch, when: When) -> Part {
        Part { branch, when, is_met: AtomicBool::new(false), is_known: AtomicBool::new(false) }
    }

    pub fn is_open(&self) -> bool {
        !self.is_met.load(Ordering::Relaxed)
    }

    /// Whether no question can show it: the old condition looks at what the schema of the new one does not have.
    pub fn is_of_another_schema(&self) -> bool {
        matches!(self.when, When::Differs(_)) && !self.branch.is_cut() && !self.is_known.load(Ordering::Relaxed)
    }

    fn may_be_shown(&self, Stand { holds, is_as_before }: Stand) -> bool {
        match self.when {
            When::Listed => holds,
            When::Holds => holds && !self.branch.is_cut(),
            When::Fails => !holds && !self.branch.is_cut(),
            When::Differs(wanted) => {
                !is_as_before && !self.branch.is_cut() && wanted.is_none_or(|wanted| wanted == holds)
            }
        }
    }

    /// What is asked about it.
    pub fn condition(&self) -> &Expr {
        match self.when {
            When::Listed | When::Differs(_) => &self.branch.condition,
            When::Holds | When::Fails => self.branch.without().unwrap_or(&self.branch.condition),
        }
    }

    /// Notes that its condition can be evaluated.
    pub fn know(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Notes that a question has shown it.
    pub fn see(&self) {
        self.is_met.store(true, Ordering::Relaxed);
    }

    /// Returns whether the value of its condition makes the policy what it is. `value` is none if the condition cannot
    /// be evaluated, which Cedar treats as not holding.
    pub fn decides(&self, holds: bool, value: Option<bool>) -> bool {
        match self.when {
            When::Holds | When::Fails if self.branch.without().is_none() => value == Some(holds),
            When::Listed => value == Some(true),
            When::Holds | When::Fails | When::Differs(_) => (value == Some(true)) != holds,
        }
    }
}

/// Those of the other versions of a policy that differ in nothing but their conditions.
fn alike<'a>(compiled: &CompiledPolicy, others: &[&'a CompiledPolicy]) -> Vec<&'a CompiledPolicy> {
    let is_alike = |other: &&&CompiledPolicy| {
        let (one, next) = (&compiled.policy, &other.policy);
        let is_single = |policy: &Policy| matches!(policy.action_constraint(), ActionConstraint::Eq(_));
        has_same_ends(one, next) && is_single(one) == is_single(next) && named(compiled) == named(other)
    };
    others.iter().filter(is_alike).copied().collect()
}

/// Whether the scopes of two policies name the same people and things.
pub(super) fn has_same_ends(one: &Policy, next: &Policy) -> bool {
    one.principal_constraint() == next.principal_constraint() && one.resource_constraint() == next.resource_constraint()
}

/// Whether a policy has the scope of another version, or one with more operations.
fn covers(other: &CompiledPolicy, compiled: &CompiledPolicy) -> bool {
    let (one, next) = (compiled.policy.action_constraint(), other.policy.action_constraint());
    let is_superset = one == next || (*one != ActionConstraint::Any && named(other).is_superset(&named(compiled)));
    has_same_ends(&compiled.policy, &other.policy) && is_superset
}

/// The operations, or groups of them, that the scope of a policy names.
fn named(compiled: &CompiledPolicy) -> BTreeSet<EntityUID> {
    match compiled.policy.action_constraint() {
        ActionConstraint::In(uids) => uids.iter().map(|uid| uid.as_ref().clone()).collect(),
        ActionConstraint::Eq(uid) => BTreeSet::from([uid.as_ref().clone()]),
        ActionConstraint::Any => BTreeSet::new(),
    }
}

/// The operations, or groups of them, that the scope of a policy lists, each seen where it is asked about; without those that
/// another version lists, too, where it differs in nothing but its list.
fn listed(compiled: &CompiledPolicy, others: &[&CompiledPolicy]) -> Vec<Branch> {
    let mine = named(compiled);
    if mine.len() < 2 {
        return Vec::new();
    }
    let is_same_beside = |other: &&&CompiledPolicy| {
        let (one, next) = (&compiled.policy, &other.policy);
        let has_same_conditions = match (one.non_scope_constraints(), next.non_scope_constraints()) {
            (Some(one), Some(next)) => one.eq_shape(next),
            (one, next) => one.is_none() && next.is_none(),
        };
        has_same_ends(one, next) && has_same_conditions
    };
    let known: BTreeSet<EntityUID> = others.iter().filter(is_same_beside).flat_map(|other| named(other)).collect();
    let branch_of = |uid: EntityUID| {
        let part = Expr::val(uid.clone()).with_maybe_source_loc(uid.loc().cloned());
        Branch::seen_where(&part, Expr::is_in(Expr::var(Var::Action), Expr::val(uid)))
    };
    mine.difference(&known).cloned().map(branch_of).collect()
}

/// The parts of a policy that none of these has just so.
fn fresh(
    parts: fn(&CompiledPolicy) -> Vec<Branch>,
    compiled: &CompiledPolicy,
    versions: &[&CompiledPolicy],
) -> Vec<Branch> {
    let theirs: Vec<Branch> = versions.iter().flat_map(|other| parts(other)).collect();
    let is_known = |branch: &Branch| theirs.iter().any(|other| branch.is_same(other));
    parts(compiled).into_iter().filter(|branch| !is_known(branch)).collect()
}
