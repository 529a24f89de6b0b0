//! One policy, ready to be evaluated.

use std::sync::{Arc, OnceLock};

use cedar_policy_core::ast::{self, Expr};

use super::index;
use super::ruling::{Because, PolicyMeta};

#[derive(Clone, Debug)]
pub(super) struct CompiledPolicy {
    pub policy: ast::Policy,
    /// The scope and the conditions as one expression; Cedar would rebuild it for each evaluation.
    pub condition: Expr,
    /// Whether the index gathers it if, and only if, its scope is true: then its conditions alone are evaluated.
    pub scope_is_indexed: bool,
    /// Its conditions, where other policies have the same.
    pub shared: Option<Arc<Expr>>,
    pub meta: Because,
    /// What it decides by, once that was asked for.
    pub(super) form: Arc<OnceLock<String>>,
}

impl CompiledPolicy {
    pub fn new(policy: ast::Policy, meta: PolicyMeta) -> CompiledPolicy {
        CompiledPolicy::of(policy, Arc::new(meta))
    }

    fn of(policy: ast::Policy, meta: Because) -> CompiledPolicy {
        let (condition, scope_is_indexed) = (policy.condition(), index::decides(&policy));
        CompiledPolicy { condition, scope_is_indexed, shared: None, policy, meta, form: Arc::default() }
    }

    /// Returns the same policy in another formulation.
    pub fn with(&self, policy: ast::Policy) -> CompiledPolicy {
        CompiledPolicy::of(policy, Arc::clone(&self.meta))
    }
}
