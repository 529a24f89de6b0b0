//! The policies in which two snapshots differ, by themselves: a question that meets none of them has the same answer from both.
//!
//! Always true: what does not hold for a question holds no more once approvals are given (`approvals` lints that), so one
//! evaluation is enough, and only of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::behalf::Giver;
use super::branch::{Branch, branches};
use super::decide::{Question, is_true};
use super::ruling::PolicyMeta;
use super::snapshot::{Rule, Snapshot};
use crate::types::effort;

/// The policies that only one of two snapshots has, and which of them, and of their alternatives, a question has met.
#[derive(Debug)]
pub struct Difference {
    rules: Snapshot,
    /// By the place of the policy.
    met: Vec<Met>,
}

/// What has been seen of one policy.
#[derive(Debug)]
struct Met {
    whole: AtomicBool,
    /// The alternatives that the other version of the policy does not have just so.
    branches: Vec<(Branch, AtomicBool)>,
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
        Difference::of(self, other, [missing(self, other), missing(other, self)].concat())
    }

    /// The policies that the other has not, in questions as this one's schema has them.
    pub fn beyond(&self, other: &Snapshot) -> Difference {
        Difference::of(self, other, missing(self, other))
    }
}

/// The policies of one that the other has not.
fn missing(from: &Snapshot, other: &Snapshot) -> Vec<Rule> {
    let theirs: BTreeSet<(&str, &str)> =
        other.rules.iter().map(|rule| (rule.meta.id.as_str(), rule.meta.text.as_str())).collect();
    from.rules.iter().filter(|rule| !theirs.contains(&(&rule.meta.id, &rule.meta.text))).cloned().collect()
}

/// The alternatives of a policy that no other version of it has just so.
fn fresh(rule: &Rule, versions: &[&Rule]) -> Vec<Branch> {
    let scope = |rule: &Rule| {
        (
            rule.policy.effect(),
            rule.policy.principal_constraint().clone(),
            rule.policy.action_constraint().clone(),
            rule.policy.resource_constraint().clone(),
        )
    };
    let alike = versions.iter().filter(|other| other.meta.text != rule.meta.text && scope(other) == scope(rule));
    let theirs: Vec<Branch> = alike.flat_map(|other| branches(other)).collect();
    let is_known = |branch: &Branch| theirs.iter().any(|other| other.condition.eq_shape(&branch.condition));
    branches(rule).into_iter().filter(|branch| !is_known(branch)).collect()
}

impl Difference {
    fn of(snapshot: &Snapshot, other: &Snapshot, mut rules: Vec<Rule>) -> Difference {
        rules.sort_by(|one, next| one.meta.id.cmp(&next.meta.id));
        let mut versions: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
        for rule in [snapshot, other].into_iter().flat_map(|side| &side.rules) {
            versions.entry(&rule.meta.id).or_default().push(rule);
        }
        let met = rules.iter().map(|rule| {
            let versions = versions.get(rule.meta.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let branches = fresh(rule, versions).into_iter().map(|branch| (branch, AtomicBool::new(false)));
            Met { whole: AtomicBool::new(false), branches: branches.collect() }
        });
        let met = met.collect();
        Difference { rules: snapshot.with_rules(rules), met }
    }

    /// Whether any of them holds for the caller, or for somebody on whose behalf it is asked; also where that cannot be told.
    pub fn is_met(&self, question: &Question<'_>, givers: &[Giver]) -> bool {
        let theirs =
            |giver: &Giver| self.meets(&Question { principal: &giver.principal, facts: &giver.facts, ..*question });
        givers.iter().fold(self.meets(question), |met, giver| theirs(giver) || met)
    }

    fn meets(&self, question: &Question<'_>) -> bool {
        let Ok(met) = self.rules.met(question) else { return true };
        let rules =
            met.iter().filter_map(|at| Some((self.rules.rules.get(*at as usize)?, self.met.get(*at as usize)?)));
        let mut open = Vec::new();
        for (rule, met) in rules {
            met.whole.store(true, Ordering::Relaxed);
            let unmet = met.branches.iter().filter(|(_, met)| !met.load(Ordering::Relaxed));
            open.extend(unmet.map(|(branch, met)| (rule, branch, met)));
        }
        if !open.is_empty() {
            self.meet(question, &open);
        }
        !met.is_empty()
    }

    /// Notes which alternatives let their policies hold.
    fn meet(&self, question: &Question<'_>, open: &[(&Rule, &Branch, &AtomicBool)]) {
        let Ok(entities) = question.entities.entities() else { return };
        effort::spend(open.len());
        let evaluator = Evaluator::new(self.rules.request(question), entities, Extensions::all_available());
        for (rule, branch, met) in open {
            let holds = evaluator.interpret(&branch.condition, rule.policy.env());
            if holds.is_ok_and(|value| is_true(&value)) {
                met.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Those that no question has met yet; of a policy that one has met: the alternatives.
    pub fn unmet(&self) -> Vec<Unmet<'_>> {
        let is_unmet = |met: &AtomicBool| !met.load(Ordering::Relaxed);
        let of = |(rule, met): (&'_ Rule, &'_ Met)| -> Vec<Option<(String, usize)>> {
            if is_unmet(&met.whole) {
                return vec![None];
            }
            met.branches.iter().filter(|(_, met)| is_unmet(met)).map(|(branch, _)| Some(branch.told(rule))).collect()
        };
        let rules = self.rules.rules.iter().zip(&self.met);
        rules
            .flat_map(|(rule, met)| of((rule, met)).into_iter().map(|branch| Unmet { policy: &rule.meta, branch }))
            .collect()
    }

    /// A snapshot with the schema in which they are asked.
    pub fn snapshot(&self) -> &Snapshot {
        &self.rules
    }
}
