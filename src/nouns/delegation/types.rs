//! The vocabulary of delegations: authority, status and terms.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;
use super::id::ActorId;
use super::operations::Operations;
use super::time::Time;

/// The maximum length of a chain of delegations.
pub const DEEPEST: u32 = 3;
/// The maximum budget, and the maximum sum reserved or settled at once, in cents.
pub const MOST_CENTS: i64 = 1_000_000_000_000;

named! {
    /// How far a delegation goes, each tier with all that the one before allows.
    Authority, "authority", {
        /// Operations that change nothing.
        Inform = "inform",
        /// And operations that propose.
        Propose = "propose",
        /// Everything in the scope.
        Act = "act",
    }
}

named! {
    /// Where a delegation stands.
    DelegationStatus, "state of a delegation", {
        Active = "active",
        /// Its budget is used up: nothing can be changed under it, but read.
        Exhausted = "exhausted",
        Expired = "expired",
        Revoked = "revoked",
    }
}

impl DelegationStatus {
    /// Checks whether it can still be used.
    pub const fn is_live(self) -> bool {
        matches!(self, DelegationStatus::Active | DelegationStatus::Exhausted)
    }
}

impl Authority {
    /// Checks whether an operation is within it; `changes` says whether the operation is a change.
    pub fn admits(self, operation: &str, changes: bool) -> bool {
        match self {
            Authority::Inform => !changes,
            Authority::Propose => !changes || operation.ends_with(".propose"),
            Authority::Act => true,
        }
    }
}

/// The terms of a delegation: what was granted, by whom, to whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub id: String,
    pub from: ActorId,
    pub to: ActorId,
    pub scope: Operations,
    pub authority: Authority,
    pub tools: BTreeSet<String>,
    pub expires_at: Time,
    /// The delegation under which the giver acted.
    pub parent: Option<String>,
    /// 1 if its giver acted in their own right.
    pub depth: u32,
    /// Everybody on whose behalf the taker acts, the giver first.
    pub chain: Vec<ActorId>,
    pub status: DelegationStatus,
}

impl Terms {
    pub fn is_live(&self, now: Time) -> bool {
        self.status.is_live() && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_holds_what_the_one_before_holds() {
        let cases = [("task.read", false), ("change.propose", true), ("actor.offboard", true)];
        let held = |authority: Authority| cases.map(|(name, changes)| authority.admits(name, changes));
        assert_eq!(held(Authority::Inform), [true, false, false]);
        assert_eq!(held(Authority::Propose), [true, true, false]);
        assert_eq!(held(Authority::Act), [true, true, true]);
    }
}
