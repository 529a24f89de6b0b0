//! The policies in which two snapshots differ, by themselves: a question that meets none of them has the same answer from both.
//!
//! Always true: what does not hold for a question holds no more once approvals are given (`approvals` lints that), so one
//! evaluation is enough, and only of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use cedar_policy_core::ast::{ActionConstraint, EntityUID, Expr, Var};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::branch::{Branch, branches, exceptions};
use super::changed::changed;
use super::compiled::CompiledPolicy;
use super::decide::{Question, Reached, Unknown, is_true};
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

/// Whether any of the policies that differ holds for a question, and whether one of each snapshot does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meeting {
    pub any: bool,
    pub both: bool,
}

impl Meeting {
    #[must_use]
    pub fn and(self, other: Meeting) -> Meeting {
        Meeting { any: self.any || other.any, both: self.both || other.both }
    }
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
    /// What it has in the place of something else.
    changed: Vec<Marked>,
}

/// A part of a policy, and whether it has decided a question.
#[derive(Debug)]
struct Marked {
    branch: Branch,
    is_met: AtomicBool,
}

impl Marked {
    fn none(branches: Vec<Branch>) -> Vec<Marked> {
        branches.into_iter().map(|branch| Marked { branch, is_met: AtomicBool::new(false) }).collect()
    }

    fn is_open(&self) -> bool {
        !self.is_met.load(Ordering::Relaxed)
    }
}

/// A policy that no question has met, or an alternative of one.
pub struct Unmet<'a> {
    pub policy: &'a PolicyMeta,
    /// The text of the alternative, and its line.
    pub branch: Option<(String, usize)>,
}

impl Snapshot {
    /// The policies that are not the same, by id and text, in both. The two have the same schema, kinds of approval and collections.
    pub fn difference(&self, other: &Snapshot) -> Difference {
        Difference::of(self, other, missing(self, other), missing(other, self))
    }

    /// The policies that the other has not, in questions as this one's schema has them.
    pub fn beyond(&self, other: &Snapshot) -> Difference {
        Difference::of(self, other, missing(self, other), Vec::new())
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

/// The other versions of a policy that differ in nothing but their conditions.
fn alike<'a>(compiled: &CompiledPolicy, versions: &[&'a CompiledPolicy]) -> Vec<&'a CompiledPolicy> {
    let scope = |compiled: &CompiledPolicy| {
        (
            compiled.policy.effect(),
            compiled.policy.principal_constraint().clone(),
            compiled.policy.action_constraint().clone(),
            compiled.policy.resource_constraint().clone(),
        )
    };
    versions
        .iter()
        .copied()
        .filter(|other| other.meta.text != compiled.meta.text && scope(other) == scope(compiled))
        .collect()
}

/// The operations, or groups of them, that the scope of a policy lists, each seen where it is asked about; without those that
/// another version lists, too, where it differs in nothing but its list.
fn listed(compiled: &CompiledPolicy, versions: &[&CompiledPolicy]) -> Vec<Branch> {
    let list = |compiled: &CompiledPolicy| -> BTreeSet<EntityUID> {
        match compiled.policy.action_constraint() {
            ActionConstraint::In(uids) => uids.iter().map(|uid| uid.as_ref().clone()).collect(),
            ActionConstraint::Eq(uid) => BTreeSet::from([uid.as_ref().clone()]),
            ActionConstraint::Any => BTreeSet::new(),
        }
    };
    let is_same_beside = |other: &&&CompiledPolicy| {
        let (one, next) = (&compiled.policy, &other.policy);
        one.effect() == next.effect()
            && one.principal_constraint() == next.principal_constraint()
            && one.resource_constraint() == next.resource_constraint()
            && match (one.non_scope_constraints(), next.non_scope_constraints()) {
                (Some(one), Some(next)) => one.eq_shape(next),
                (one, next) => one.is_none() && next.is_none(),
            }
    };
    let is_other = |other: &&&CompiledPolicy| other.meta.text != compiled.meta.text;
    let known: BTreeSet<EntityUID> =
        versions.iter().filter(is_other).filter(is_same_beside).flat_map(|other| list(other)).collect();
    let mine = list(compiled);
    if mine.len() < 2 {
        return Vec::new();
    }
    let seen = |uid: EntityUID| {
        let part = Expr::val(uid.clone()).with_maybe_source_loc(uid.loc().cloned());
        Branch::seen_where(&part, Expr::is_in(Expr::var(Var::Action), Expr::val(uid)))
    };
    mine.difference(&known).cloned().map(seen).collect()
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
    fn of(snapshot: &Snapshot, other: &Snapshot, ours: Vec<CompiledPolicy>, theirs: Vec<CompiledPolicy>) -> Difference {
        let marked = |is_ours: bool| move |compiled| (is_ours, compiled);
        let mut policies: Vec<(bool, CompiledPolicy)> =
            ours.into_iter().map(marked(true)).chain(theirs.into_iter().map(marked(false))).collect();
        policies.sort_by(|(_, one), (_, next)| one.meta.id.cmp(&next.meta.id));
        let mut versions: BTreeMap<&str, Vec<&CompiledPolicy>> = BTreeMap::new();
        for compiled in [snapshot, other].into_iter().flat_map(|side| &side.policies) {
            versions.entry(&compiled.meta.id).or_default().push(compiled);
        }
        // A change is of both versions: it is looked for in one.
        let has_both = policies.iter().any(|(is_ours, _)| !is_ours);
        let met = policies.iter().map(|(is_ours, compiled)| {
            let versions = versions.get(compiled.meta.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let is_other = |other: &&&CompiledPolicy| other.meta.text != compiled.meta.text;
            let other =
                versions.iter().find(is_other).filter(|other| other.policy.effect() == compiled.policy.effect());
            let other = other.filter(|_| !(*is_ours && has_both));
            let changed = other.map(|other| Marked::none(changed(compiled, other))).unwrap_or_default();
            let operations = Marked::none(listed(compiled, versions));
            let versions = alike(compiled, versions);
            // That a new policy does not hold somewhere is nothing new.
            let has_other = !versions.is_empty();
            Met {
                is_ours: *is_ours,
                whole: AtomicBool::new(false),
                branches: fresh(branches, compiled, &versions),
                exceptions: if has_other { fresh(exceptions, compiled, &versions) } else { Vec::new() },
                operations,
                changed,
            }
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
    /// the answers show their effect, or where they hold on both sides and the answers compare them.
    pub fn met_by(&self, question: &Question<'_>, reached: &Result<Reached, Unknown>, shows: bool) -> Meeting {
        let Ok(Reached { met, candidates }) = reached else {
            return Meeting { any: true, both: false };
        };
        let is_there =
            |ours: bool| met.iter().any(|at| self.met.get(*at as usize).is_some_and(|seen| seen.is_ours == ours));
        let both = is_there(true) && is_there(false);
        let mut open = Vec::new();
        for at in candidates {
            let (Some(compiled), Some(seen)) = (self.snapshot.policies.get(*at as usize), self.met.get(*at as usize))
            else {
                continue;
            };
            let holds = met.contains(at);
            if holds && !(shows || both) {
                continue;
            }
            if holds {
                seen.whole.store(true, Ordering::Relaxed);
            }
            let (parts, operations) = if holds {
                (&seen.branches, seen.operations.as_slice())
            } else {
                (&seen.exceptions, Default::default())
            };
            let parts = parts.iter().chain(operations);
            open.extend(parts.filter(|part| part.is_open()).map(|part| (compiled, part, holds)));
            let changed = seen.changed.iter().filter(|part| shows && part.is_open());
            open.extend(changed.map(|part| (compiled, part, true)));
        }
        if !open.is_empty() {
            self.mark(question, &open);
        }
        Meeting { any: !met.is_empty(), both }
    }

    /// Notes which parts let their policies hold, or keep them from it.
    fn mark(&self, question: &Question<'_>, open: &[(&CompiledPolicy, &Marked, bool)]) {
        let Ok(entities) = question.entities.entities() else { return };
        effort::spend(open.len());
        let evaluator = Evaluator::new(self.snapshot.request(question), entities, Extensions::all_available());
        for (compiled, part, wanted) in open {
            let is_so = |expr: &Expr, wanted: bool| {
                evaluator.interpret(expr, compiled.policy.env()).is_ok_and(|value| is_true(&value) == wanted)
            };
            // What does not hold may not be asked about here.
            let is_asked =
                compiled.scope_is_indexed || clauses(&compiled.policy).iter().all(|(_, one)| is_so(one, true));
            if is_asked && is_so(&part.branch.condition, *wanted) {
                part.is_met.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Those that no question has met yet; of a policy that one has met: the alternatives and exceptions.
    pub fn unmet(&self) -> Vec<Unmet<'_>> {
        let is_unmet = |met: &AtomicBool| !met.load(Ordering::Relaxed);
        let of = |(compiled, met): (&'_ CompiledPolicy, &'_ Met)| -> Vec<Option<(String, usize)>> {
            if is_unmet(&met.whole) {
                return vec![None];
            }
            let parts = || met.operations.iter().chain(&met.branches).chain(&met.exceptions).chain(&met.changed);
            let open = || parts().filter(|part| part.is_open());
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
