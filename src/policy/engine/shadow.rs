//! Policies without effect: those that cannot match, and those that match only where another policy decides the same.
//!
//! Always true: only what the texts alone prove is reported. One policy implies another if each clause of its scope is
//! at least as narrow and it contains all conditions of the other; then whatever the first matches, the second matches.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy_core::ast::{
    ActionConstraint, BinaryOp, Effect, EntityReference, EntityUID, Expr, ExprKind, Literal,
    PrincipalOrResourceConstraint as Scope, UnaryOp,
};

use super::compiled::CompiledPolicy;
use super::load::span;
use super::names::covers;
use super::parts::{line, place};
use super::snapshot::Snapshot;
use crate::Finding;
use crate::finding::code;

impl Snapshot {
    /// What is valid, and yet cannot be meant.
    pub fn lint(&self) -> Vec<Finding> {
        let mut policies: Vec<Read<'_>> = self.policies.iter().map(Read::of).collect();
        policies.sort_by_key(|read| (read.compiled.meta.file.clone(), read.compiled.meta.line));
        let mut findings: Vec<Finding> = policies.iter().filter_map(Read::never).collect();
        findings.extend(policies.iter().filter_map(Read::allows_all));
        findings.extend(self.shadowed(&policies));
        findings
    }

    fn shadowed(&self, policies: &[Read<'_>]) -> Vec<Finding> {
        let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (position, read) in policies.iter().enumerate() {
            let first = read.conjuncts.first().map(|(_, text)| text.clone()).unwrap_or_default();
            by_key.entry((read.principal.clone(), read.resource.clone(), first)).or_default().push(position);
        }
        let entities = self.schema().as_ref().action_entities().unwrap_or_default();
        let actions = |scope: &ActionConstraint| -> BTreeSet<EntityUID> {
            entities.iter().filter(|action| covers(scope, action)).map(|action| action.uid().clone()).collect()
        };
        let expanded: BTreeMap<String, BTreeSet<EntityUID>> = policies
            .iter()
            .map(|read| (read.action.clone(), actions(read.compiled.policy.action_constraint())))
            .collect();
        let mut by_wide: BTreeMap<usize, Vec<&Read<'_>>> = BTreeMap::new();
        for (position, read) in policies.iter().enumerate() {
            let candidates = read.keys().into_iter().filter_map(|key| by_key.get(&key)).flatten().take(MOST);
            let others = candidates.filter(|other| **other != position);
            let by = others.filter_map(|other| Some((*other, policies.get(*other)?))).find(|(other, wide)| {
                let (theirs, ours) = (expanded.get(&wide.action), expanded.get(&read.action));
                let (Some(theirs), Some(ours)) = (theirs, ours) else { return false };
                // Of two that are alike, the first stays.
                let alike = wide.is_like(read) && theirs == ours;
                wide.decides_for(read) && theirs.is_superset(ours) && !(alike && position < *other)
            });
            if let Some((wide, _)) = by {
                by_wide.entry(wide).or_default().push(read);
            }
        }
        by_wide.iter().filter_map(|(wide, narrow)| Some((policies.get(*wide)?, narrow))).flat_map(shadowing).collect()
    }
}

/// One policy that makes more than so many needless is told as one finding, about itself.
const EACH: usize = 5;

fn shadowing<'a>((wide, narrow): (&Read<'a>, &Vec<&Read<'a>>)) -> Vec<Finding> {
    if narrow.len() > EACH {
        vec![wide.shadows(narrow)]
    } else {
        narrow.iter().map(|one| one.shadowed_by(wide)).collect()
    }
}

/// As many policies are compared with one; more of them with one scope are data, not policies.
const MOST: usize = 1_000;

type Key = (String, String, String);

/// A policy with its clauses as text; equal texts are equal expressions.
struct Read<'a> {
    compiled: &'a CompiledPolicy,
    principal: String,
    action: String,
    resource: String,
    conjuncts: Vec<(&'a Expr, String)>,
}

impl<'a> Read<'a> {
    fn of(compiled: &'a CompiledPolicy) -> Read<'a> {
        let mut conjuncts = Vec::new();
        if let Some(condition) = compiled.policy.non_scope_constraints() {
            split(condition, &mut conjuncts);
        }
        conjuncts.retain(|conjunct| !matches!(conjunct.expr_kind(), ExprKind::Lit(Literal::Bool(true))));
        Read {
            compiled,
            principal: compiled.policy.principal_constraint().as_expr().to_string(),
            action: compiled.policy.action_constraint().as_expr().to_string(),
            resource: compiled.policy.resource_constraint().as_expr().to_string(),
            conjuncts: conjuncts.into_iter().map(|conjunct| (conjunct, conjunct.to_string())).collect(),
        }
    }

    fn finding(&self, code: &'static str, at: (usize, usize), message: String) -> Finding {
        Finding::new(code, self.compiled.meta.file.as_str(), line(self.compiled, at), at, message)
    }

    /// Conditions that contradict each other.
    fn never(&self) -> Option<Finding> {
        let texts: BTreeSet<&str> = self.conjuncts.iter().map(|(_, text)| text.as_str()).collect();
        let mut equal: BTreeMap<String, String> = BTreeMap::new();
        for (conjunct, text) in &self.conjuncts {
            let (contradicts, why) = match conjunct.expr_kind() {
                ExprKind::UnaryApp { op: UnaryOp::Not, arg } => {
                    (texts.contains(arg.to_string().as_str()), format!("`{arg}` must be true and must be false"))
                }
                ExprKind::BinaryApp { op: BinaryOp::Eq, arg1, arg2 } => {
                    let (what, value) = if is_literal(arg2) { (arg1, arg2) } else { (arg2, arg1) };
                    let before = equal.insert(what.to_string(), value.to_string()).filter(|_| is_literal(value));
                    (
                        before.is_some_and(|before| before != value.to_string()),
                        format!("`{what}` cannot be two things at once"),
                    )
                }
                _ => (false, text.clone()),
            };
            if contradicts {
                let message = format!("the policy `{}` can never match: {why}", self.compiled.meta.id);
                return Some(self.finding(code::NEVER, place(conjunct, self.compiled), message));
            }
        }
        None
    }

    fn allows_all(&self) -> Option<Finding> {
        let policy = &self.compiled.policy;
        let open = matches!(policy.principal_constraint().as_inner(), Scope::Any)
            && matches!(policy.action_constraint(), ActionConstraint::Any)
            && matches!(policy.resource_constraint().as_inner(), Scope::Any)
            && self.conjuncts.is_empty()
            && policy.effect() == Effect::Permit;
        let message = format!("the policy `{}` permits everything to everybody", self.compiled.meta.id);
        open.then(|| self.finding(code::ALLOWS_ALL, span(policy.loc()), message))
    }

    /// The keys of every policy that this one could imply.
    fn keys(&self) -> Vec<Key> {
        let principals = wider(self.compiled.policy.principal_constraint().as_inner(), "principal");
        let resources = wider(self.compiled.policy.resource_constraint().as_inner(), "resource");
        let firsts: Vec<&str> =
            std::iter::once("").chain(self.conjuncts.iter().map(|(_, text)| text.as_str())).collect();
        let mut keys = Vec::new();
        for principal in &principals {
            for resource in &resources {
                keys.extend(firsts.iter().map(|first| (principal.clone(), resource.clone(), (*first).to_owned())));
            }
        }
        keys
    }

    /// Whether this one, where it matches, leaves the narrower one nothing to decide. By its key it is as wide in principal
    /// and resource.
    fn decides_for(&self, narrow: &Read<'_>) -> bool {
        let (mine, theirs) = (self.compiled.policy.effect(), narrow.compiled.policy.effect());
        let same = mine == theirs || mine == Effect::Forbid && self.compiled.meta.kinds.is_empty();
        let stands = |text: &String| narrow.conjuncts.iter().any(|(_, other)| other == text);
        same && self.conjuncts.iter().all(|(_, text)| stands(text))
    }

    /// The same effect, scope and conditions, actions apart.
    fn is_like(&self, other: &Read<'_>) -> bool {
        self.compiled.policy.effect() == other.compiled.policy.effect()
            && (&self.principal, &self.resource) == (&other.principal, &other.resource)
            && self.decides_for(other)
            && other.decides_for(self)
    }

    fn shadowed_by(&self, by: &Read<'_>) -> Finding {
        let (mine, by_meta) = (&self.compiled.meta, &by.compiled.meta);
        let does = if mine.effect == by_meta.effect { "decides the same" } else { "forbids it" };
        let message = format!(
            "the policy `{}` changes nothing: where it matches, `{}` ({}:{}) {does}",
            mine.id, by_meta.id, by_meta.file, by_meta.line
        );
        self.finding(code::SHADOWED, span(self.compiled.policy.loc()), message)
    }

    fn shadows(&self, narrow: &[&Read<'_>]) -> Finding {
        let names: Vec<String> = narrow.iter().take(EACH).map(|one| format!("`{}`", one.compiled.meta.id)).collect();
        let message = format!(
            "because of the policy `{}`, {} others change nothing: {} and {} more",
            self.compiled.meta.id,
            narrow.len(),
            names.join(", "),
            narrow.len() - names.len()
        );
        self.finding(code::SHADOWED, span(self.compiled.policy.loc()), message)
    }
}

/// What must hold together.
pub(super) fn split<'a>(expr: &'a Expr, into: &mut Vec<&'a Expr>) {
    match expr.expr_kind() {
        ExprKind::And { left, right } => {
            split(left, into);
            split(right, into);
        }
        _ => into.push(expr),
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.expr_kind(), ExprKind::Lit(_))
}

/// The scopes, as text, that hold wherever this one does.
fn wider(scope: &Scope, variable: &str) -> Vec<String> {
    use cedar_policy_core::ast::PrincipalConstraint as P;
    use cedar_policy_core::ast::ResourceConstraint as R;
    let text = |scope: Scope| match variable {
        "principal" => P::new(scope).as_expr().to_string(),
        _ => R::new(scope).as_expr().to_string(),
    };
    let mut scopes = vec![Scope::Any, scope.clone()];
    match scope {
        Scope::Eq(EntityReference::EUID(uid)) => {
            let (ty, within) = (std::sync::Arc::new(uid.entity_type().clone()), EntityReference::EUID(uid.clone()));
            scopes.extend([Scope::In(within.clone()), Scope::Is(ty.clone()), Scope::IsIn(ty, within)]);
        }
        Scope::IsIn(ty, within) => scopes.extend([Scope::Is(ty.clone()), Scope::In(within.clone())]),
        _ => {}
    }
    let mut texts: Vec<String> = scopes.into_iter().map(text).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}
