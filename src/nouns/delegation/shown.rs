//! A delegation as it is shown.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use store::delegations::Delegation;
use types::delegation::{Authority, DelegationStatus};
use types::id::ActorId;
use types::operations::Operations;
use types::time::Time;

/// What somebody lets another do on their behalf.
#[derive(Serialize, JsonSchema)]
pub struct ShownDelegation {
    pub id: String,
    pub status: DelegationStatus,
    pub from: ActorId,
    pub to: ActorId,
    pub scope: Operations,
    pub authority: Authority,
    pub tools: BTreeSet<String>,
    /// None where its giver set none.
    pub budget_cents: Option<i64>,
    pub spent_cents: i64,
    /// Reserved for calls in progress and for delegations passed on.
    pub reserved_cents: i64,
    pub left_cents: Option<i64>,
    /// The delegation that its giver acted under.
    pub parent: Option<String>,
    /// 1 if its giver granted it in their own right; at most 3.
    pub depth: u32,
    /// All on whose behalf its taker acts, the nearest first.
    pub on_behalf_of: Vec<ActorId>,
    pub created_at: Time,
    pub expires_at: Time,
    pub ended_at: Option<Time>,
}

pub(super) fn shown(delegation: Delegation, now: Time) -> ShownDelegation {
    let left_cents = delegation.left_cents();
    let Delegation { terms, budget_cents, spent_cents, reserved_cents, created_at, ended_at } = delegation;
    ShownDelegation {
        // An overdue delegation is expired, whether or not the tick has recorded that.
        status: if terms.status.is_live() && !terms.is_live(now) { DelegationStatus::Expired } else { terms.status },
        id: terms.id,
        from: terms.from,
        to: terms.to,
        scope: terms.scope,
        authority: terms.authority,
        tools: terms.tools,
        budget_cents,
        spent_cents,
        reserved_cents,
        left_cents,
        parent: terms.parent,
        depth: terms.depth,
        on_behalf_of: terms.chain,
        created_at,
        expires_at: terms.expires_at,
        ended_at,
    }
}
