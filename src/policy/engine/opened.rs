//! Policies whose scope is rewritten so that conditions name the people and things instead.
//!
//! Always true: the rewritten policy holds for the same questions. Types and operations stay in its scope.

use std::sync::Arc;

use cedar_policy_core::ast::{
    EntityReference::EUID, EntityUID, Expr, Policy, PrincipalConstraint, PrincipalOrResourceConstraint as Scope,
    ResourceConstraint, StaticPolicy, Var,
};

use super::compiled::CompiledPolicy;
use super::parts::{PartKind, scope_span};

impl CompiledPolicy {
    /// Returns the same policy with what its scope says about people and things moved to the beginning of its
    /// conditions: `principal in Ok::Team::"team:ops"`. Whatever distinguishes conditions then distinguishes scopes,
    /// too.
    pub fn opened(&self) -> CompiledPolicy {
        let policy = &self.policy;
        let (principal, who) = opened(policy.principal_constraint().as_inner(), Var::Principal);
        let (resource, what) = opened(policy.resource_constraint().as_inner(), Var::Resource);
        let clauses = [(PartKind::Principal, who), (PartKind::Resource, what)].into_iter();
        let clauses = clauses.filter_map(|(kind, clause)| {
            let place = policy.loc().map(|loc| loc.span(scope_span(self, kind)));
            Some(clause?.with_maybe_source_loc(place))
        });
        let conditions = clauses.chain(policy.non_scope_constraints().cloned()).reduce(Expr::and);
        let changed = StaticPolicy::new(
            policy.id().clone(),
            policy.loc().cloned(),
            policy.annotations_arc().as_ref().clone(),
            policy.effect(),
            PrincipalConstraint::new(principal),
            policy.action_constraint().clone(),
            ResourceConstraint::new(resource),
            conditions,
        );
        // It has no slots to refuse: what it is made of has none.
        changed.map_or_else(|_| self.clone(), |changed| self.with(Policy::from(changed)))
    }
}

/// What stays in a scope, and what a condition says of the same instead.
fn opened(scope: &Scope, var: Var) -> (Scope, Option<Expr>) {
    let is_in = |uid: &Arc<EntityUID>| Expr::is_in(Expr::var(var), Expr::val(uid.as_ref().clone()));
    match scope {
        Scope::In(EUID(uid)) => (Scope::Any, Some(is_in(uid))),
        Scope::IsIn(kind, EUID(uid)) => (Scope::Is(kind.clone()), Some(is_in(uid))),
        Scope::Eq(EUID(uid)) => (Scope::Any, Some(Expr::is_eq(Expr::var(var), Expr::val(uid.as_ref().clone())))),
        stays => (stays.clone(), None),
    }
}
