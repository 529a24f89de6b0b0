//! The policies in which two snapshots differ, by themselves: a question that meets none of them has the same answer from both.
//!
//! Always true: what does not hold for a question holds no more once approvals are given (`approvals` lints that), so one
//! evaluation is enough, and only of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cedar_policy_core::ast::{ActionConstraint, EntityUID, Expr, Policy, Var};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::branch::{Branch, branches, exceptions};
use super::changed::{Changed, changed};
use super::compiled::CompiledPolicy;
use super::decide::{Question, Reached, Unknown, is_true};
use super::index::Positions;
use super::parts::clauses;
use super::ruling::PolicyMeta;
use super::snapshot::Snapshot;
use types::effort;

/// The policies that only one of two snapshots has, and which of them, and of their alternatives, a question has met: they hold
/// for it, and its answers are not what they would be anyway.
#[derive(Debug)]
pub struct Difference {
    snapshot: Snapshot,
    /// By the place of the policy.
    met: Vec<Met>,
}

/// What the answers to a question show of the policies that hold for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing that would not be so without them.
    Nothing,
    /// Policies of both sides hold, whose answers are compared.
    Compared,
    /// Their effect.
    Effect,
}

/// What has been seen of one policy.
#[derive(Debug)]
struct Met {
    /// It is of the first of the two.
    is_ours: bool,
    whole: AtomicBool,
    /// The alternatives that the other version of the policy does not have just so.
    branches: Vec<Marked>,
    /// What keeps it from holding, and not the other version just so.
    exceptions: Vec<Marked>,
    /// The operations that its scope lists.
    operations: Vec<Marked>,
    /// What it has in the place of something else, and what the policy is to be that this shows; either, unless given.
    changed: Vec<(Marked, Option<bool>)>,
    /// The conditions of one of them, and how many more are evaluated.
    size: usize,
    left: AtomicUsize,
}

/// So many conditions of one policy are evaluated to see whether what was replaced matters; what was not seen then is named.
const MOST_TRIED: usize = 500_000;

impl Met {
    /// Of a policy whose other versions are these, nothing that they have, too.
    fn of((is_ours, compiled): (bool, &CompiledPolicy), others: &[&CompiledPolicy], looks_for_changes: bool) -> Met {
        let alike = alike(compiled, others);
        let marked = |one: Changed| (Marked::unmet(one.branch), one.wanted);
        let changes = others.first().filter(|_| looks_for_changes).map(|other| changed(compiled, other));
        let size = changes.iter().flatten().map(|one| one.size).next().unwrap_or_default();
        Met {
            is_ours,
            whole: AtomicBool::new(false),
            branches: fresh(branches, compiled, &alike),
            // That a new policy does not hold somewhere is nothing new.
            exceptions: if others.is_empty() { Vec::new() } else { fresh(exceptions, compiled, others) },
            operations: Marked::none(listed(compiled, others)),
            changed: changes.unwrap_or_default().into_iter().map(marked).collect(),
            size,
            left: AtomicUsize::new(MOST_TRIED),
        }
    }

    fn can_try(&self) -> bool {
        let spent = |left: usize| left.checked_sub(self.size);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent).is_ok()
    }

    fn parts(&self) -> impl Iterator<Item = &Marked> {
        let changed = self.changed.iter().map(|(part, _)| part);
        self.operations.iter().chain(&self.branches).chain(&self.exceptions).chain(changed)
    }

    /// What a question may show for which the policy holds, or does not.
    fn open<'a>(&'a self, compiled: &'a CompiledPolicy, holds: bool, shown: Shown) -> impl Iterator<Item = Open<'a>> {
        let (some, others) =
            if holds { (&self.branches, self.operations.as_slice()) } else { (&self.exceptions, Default::default()) };
        let plain = some.iter().chain(others).map(move |part| (part, holds, false));
        let is_shown =
            move |wanted: Option<bool>| shown == Shown::Effect && wanted.is_none_or(|wanted| wanted == holds);
        let changed = self.changed.iter().filter(move |(part, wanted)| is_shown(*wanted) && !part.branch.is_cut());
        // With the other condition, the policy is to be the opposite.
        let changed = changed.map(move |(part, _)| (part, !holds, holds));
        let changed = changed.filter(|(part, _, _)| part.is_open() && self.can_try());
        let open = plain.filter(|(part, _, _)| part.is_open()).chain(changed);
        open.map(move |(part, wanted, or_fails)| Open { compiled, part, holds, wanted, or_fails })
    }
}

/// A part of a policy, and whether it has decided a question.
#[derive(Debug)]
struct Marked {
    branch: Branch,
    is_met: AtomicBool,
}

/// A part that a question may show.
struct Open<'a> {
    compiled: &'a CompiledPolicy,
    part: &'a Marked,
    /// Whether the policy holds.
    holds: bool,
    /// What the part's condition is to be; or that it cannot be evaluated, which is to Cedar as if it did not hold.
    wanted: bool,
    or_fails: bool,
}

impl Marked {
    fn unmet(branch: Branch) -> Marked {
        Marked { branch, is_met: AtomicBool::new(false) }
    }

    fn none(branches: Vec<Branch>) -> Vec<Marked> {
        branches.into_iter().map(Marked::unmet).collect()
    }

    fn is_open(&self) -> bool {
        !self.is_met.load(Ordering::Relaxed)
    }
}

/// A policy that no question has met, or a part of one: an operation, an alternative, an exception, a replaced condition.
pub struct Unmet<'a> {
    pub policy: &'a PolicyMeta,
    /// The text of the part, and its line.
    pub branch: Option<(String, usize)>,
}

impl Snapshot {
    /// The policies that are not the same, by id and text, in both. The two have the same schema, kinds of approval and collections.
    pub fn difference(&self, other: &Snapshot) -> Difference {
        Difference::of((self, missing(self, other)), (other, missing(other, self)), false)
    }

    /// The policies that the other has not, in questions as this one's schema has them. What conditions it has in the place of
    /// others is looked for where it is the newer one.
    pub fn beyond(&self, other: &Snapshot, is_newer: bool) -> Difference {
        Difference::of((self, missing(self, other)), (other, Vec::new()), is_newer)
    }
}

/// The policies of one that the other has not.
fn missing(from: &Snapshot, other: &Snapshot) -> Vec<CompiledPolicy> {
    let theirs: BTreeSet<(&str, &str)> =
        other.policies.iter().map(|compiled| (compiled.meta.id.as_str(), compiled.meta.text.as_str())).collect();
    from.policies
        .iter()
        .filter(|compiled| !theirs.contains(&(&compiled.meta.id, &compiled.meta.text)))
        .cloned()
        .collect()
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

fn has_same_ends(one: &Policy, next: &Policy) -> bool {
    one.principal_constraint() == next.principal_constraint() && one.resource_constraint() == next.resource_constraint()
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
) -> Vec<Marked> {
    let theirs: Vec<Branch> = versions.iter().flat_map(|other| parts(other)).collect();
    let is_known = |branch: &Branch| theirs.iter().any(|other| branch.is_same(other));
    Marked::none(parts(compiled).into_iter().filter(|branch| !is_known(branch)).collect())
}

impl Difference {
    /// Of two snapshots, each with its policies that differ. What conditions stand in the place of others is looked for in the
    /// policies of the second, or in those of the first where that `is_newer`.
    fn of(
        (snapshot, ours): (&Snapshot, Vec<CompiledPolicy>),
        (other, theirs): (&Snapshot, Vec<CompiledPolicy>),
        is_newer: bool,
    ) -> Difference {
        let marked = |is_ours: bool| move |compiled| (is_ours, compiled);
        let mut policies: Vec<(bool, CompiledPolicy)> =
            ours.into_iter().map(marked(true)).chain(theirs.into_iter().map(marked(false))).collect();
        policies.sort_by(|(_, one), (_, next)| one.meta.id.cmp(&next.meta.id));
        let mut versions: BTreeMap<&str, Vec<&CompiledPolicy>> = BTreeMap::new();
        for compiled in [snapshot, other].into_iter().flat_map(|side| &side.policies) {
            versions.entry(&compiled.meta.id).or_default().push(compiled);
        }
        let met = policies.iter().map(|(is_ours, compiled)| {
            let versions = versions.get(compiled.meta.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let is_other = |other: &&&CompiledPolicy| {
                other.meta.text != compiled.meta.text && other.policy.effect() == compiled.policy.effect()
            };
            let others: Vec<&CompiledPolicy> = versions.iter().filter(is_other).copied().collect();
            Met::of((*is_ours, compiled), &others, *is_ours == is_newer)
        });
        let met = met.collect();
        let policies = policies.into_iter().map(|(_, compiled)| compiled).collect();
        Difference { snapshot: snapshot.with_policies(policies), met }
    }

    /// What a question reaches of them; an error where it cannot be told of each whether it holds.
    pub fn reached(&self, question: &Question<'_>) -> Result<Reached, Unknown> {
        self.snapshot.reached(question)
    }

    /// Whether any of them holds for a question that reaches these; also where that cannot be told. Those that hold are met where
    /// the answers show it, or compare both versions of them.
    pub fn met_by(&self, question: &Question<'_>, reached: &Result<Reached, Unknown>, shown: Shown) -> bool {
        let Ok(Reached { met, candidates }) = reached else { return true };
        let mut open = Vec::new();
        for at in candidates {
            let (Some(compiled), Some(seen)) = (self.snapshot.policies.get(*at as usize), self.met.get(*at as usize))
            else {
                continue;
            };
            let holds = met.contains(at);
            if holds && shown == Shown::Nothing && !self.is_on_both_sides((compiled, seen), met) {
                continue;
            }
            if holds {
                seen.whole.store(true, Ordering::Relaxed);
            }
            open.extend(seen.open(compiled, holds, shown));
        }
        if !open.is_empty() {
            self.mark(question, &open);
        }
        !met.is_empty()
    }

    /// Whether the other side's version of a policy is among these, too.
    fn is_on_both_sides(&self, (compiled, seen): (&CompiledPolicy, &Met), met: &Positions) -> bool {
        met.iter().any(|at| {
            let (policy, other) = (self.snapshot.policies.get(*at as usize), self.met.get(*at as usize));
            policy.is_some_and(|policy| policy.meta.id == compiled.meta.id)
                && other.is_some_and(|other| other.is_ours != seen.is_ours)
        })
    }

    /// Notes which parts let their policies hold, or keep them from it.
    fn mark(&self, question: &Question<'_>, open: &[Open<'_>]) {
        let Ok(entities) = question.entities.entities() else { return };
        effort::spend(open.len());
        let evaluator = Evaluator::new(self.snapshot.request(question), entities, Extensions::all_available());
        for Open { compiled, part, holds, wanted, or_fails } in open {
            let value =
                |expr: &Expr| evaluator.interpret(expr, compiled.policy.env()).ok().map(|value| is_true(&value));
            // What does not hold may not be asked about here.
            let is_asked = *holds
                || compiled.scope_is_indexed
                || clauses(&compiled.policy).iter().all(|(_, one)| value(one) == Some(true));
            if is_asked && value(&part.branch.condition).map_or(*or_fails, |is| is == *wanted) {
                part.is_met.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Those that no question has met yet; of a policy that one has met: its parts.
    pub fn unmet(&self) -> Vec<Unmet<'_>> {
        let is_unmet = |met: &AtomicBool| !met.load(Ordering::Relaxed);
        let of = |(compiled, met): (&'_ CompiledPolicy, &'_ Met)| -> Vec<Option<(String, usize)>> {
            if is_unmet(&met.whole) {
                return vec![None];
            }
            let open = || met.parts().filter(|part| part.is_open());
            // Of what stands within another that is told nothing more is said.
            let is_outer = |part: &&Marked| !open().any(|other| part.branch.is_within(&other.branch, compiled));
            open().filter(is_outer).map(|part| Some(part.branch.describe(compiled))).collect()
        };
        let policies = self.snapshot.policies.iter().zip(&self.met);
        policies
            .flat_map(|(compiled, met)| {
                of((compiled, met)).into_iter().map(|branch| Unmet { policy: &compiled.meta, branch })
            })
            .collect()
    }

    /// A snapshot with the schema in which they are asked.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}
