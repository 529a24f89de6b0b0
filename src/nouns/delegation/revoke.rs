//! Revokes a delegation, and in the same transaction everything that was granted under it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DELEGATION;
use super::{OneDelegation, find};
use gate::{Change, Draft, Permit, Reader, Spec, Target, delete};
use store::delegations::Delegation;
use store::delegations::events::DelegationRevoked;
use store::runs::events::RunResumed;
use types::id::{ActorId, Id};
use types::refusal::{Code, Stop};
use types::scope::Reach;

/// What was revoked.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RevokedDelegations {
    /// Ids: what rested on others first.
    pub revoked: Vec<String>,
}

/// Revoke a delegation.
pub enum Revoke {}

impl Change for Revoke {
    const SPEC: Spec = Spec {
        name: "delegation.revoke",
        doc: "Revoke a delegation, as the one who granted it or the one who holds it. Delegations passed on from it \
              end with it. Revoking it again changes nothing.",
        scope: Reach::Full,
        route: delete("/delegations/{id}").stops().denied_as(Code::NotOwner),
        about: &[&DELEGATION],
        events: &[DelegationRevoked::KIND, RunResumed::KIND],
    };
    const SAYS: &'static str = "revokes {id}";
    type Input = OneDelegation;
    type Output = RevokedDelegations;

    fn target(input: &OneDelegation, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.delegation_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneDelegation, draft: &mut Draft<'_>) -> Result<RevokedDelegations, Stop> {
        let delegation = find(&input.id, draft.read())?;
        if delegation.ended_at.is_some() {
            return Ok(RevokedDelegations { revoked: Vec::new() });
        }
        let ending = draft.read().resting_on(delegation)?;
        let revoked = end(ending, Some(&input.id), draft)?;
        Ok(RevokedDelegations { revoked })
    }
}

/// Ends all delegations from or to somebody who leaves, and returns how many.
pub fn end_all_of(actor: &ActorId, draft: &mut Draft<'_>) -> Result<u64, Stop> {
    let read = draft.read();
    let mut ending: BTreeMap<String, Delegation> = BTreeMap::new();
    for delegation in read.live_delegations_of(actor)? {
        let all = read.resting_on(delegation)?;
        ending.extend(all.into_iter().map(|one| (one.terms.id.clone(), one)));
    }
    let mut ending: Vec<Delegation> = ending.into_values().collect();
    // Sub-delegations end first: they give back to their parents.
    ending.sort_by_key(|one| std::cmp::Reverse(one.terms.depth));
    Ok(end(ending, None, draft)?.len() as u64)
}

/// Ends these in order. All but the named one are recorded as ended with it.
fn end(ending: Vec<Delegation>, named: Option<&str>, draft: &mut Draft<'_>) -> Result<Vec<String>, Stop> {
    let mut ended = Vec::new();
    for Delegation { terms, .. } in ending {
        draft.record(DelegationRevoked {
            id: Id::stored(&terms.id),
            from: terms.from,
            to: terms.to,
            with: named.filter(|named| *named != terms.id).map(Id::stored),
        })?;
        ended.push(terms.id);
    }
    crate::run::resume_under(&ended, draft)?;
    Ok(ended)
}
