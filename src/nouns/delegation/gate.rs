//! Reads delegations.

use std::collections::BTreeMap;

use super::Reader;
use crate::admit::chain;
use crate::declare::target::{Target, Thing};
use policy::is_own;
use store::delegations::{self, Delegation, Reservation};
use types::delegation::Terms;
use types::id::ActorId;
use types::operations::Operations;
use types::refusal::Fault;
use types::time::Time;

impl Reader<'_> {
    pub fn delegation(&self, id: &str) -> Result<Option<Delegation>, Fault> {
        Ok(delegations::get(self.conn()?, id)?)
    }

    /// Returns the delegation under which the caller acts.
    pub fn acting_under(&self) -> Result<Option<Delegation>, Fault> {
        match &self.caller().under {
            Some(under) => self.delegation(under.as_str()),
            None => Ok(None),
        }
    }

    /// Returns everybody on whose behalf the caller acts, the nearest first.
    pub fn on_behalf_of(&self) -> Vec<ActorId> {
        chain::behalf(self.world(), self.caller())
    }

    /// Returns a delegation as a target of the gate.
    pub fn delegation_target(&self, delegation: &Delegation) -> Target {
        delegation_thing(&delegation.terms).into()
    }

    /// Counts the live delegations that an actor granted.
    pub fn delegations_given(&self, giver: &ActorId) -> Result<i64, Fault> {
        Ok(delegations::count_live_from(self.conn()?, giver)?)
    }

    /// Returns the live delegations from or to an actor.
    pub fn live_delegations_of(&self, actor: &ActorId) -> Result<Vec<Delegation>, Fault> {
        Ok(delegations::live_of(self.conn()?, actor)?)
    }

    /// Returns a live delegation with all that depend on it, in the order of ending: each after those that depend on it.
    pub fn resting_on(&self, delegation: Delegation) -> Result<Vec<Delegation>, Fault> {
        let mut found = vec![delegation];
        let mut at = 0;
        while let Some(next) = found.get(at) {
            let children = delegations::live_children(self.conn()?, &next.terms.id)?;
            found.extend(children);
            at += 1;
        }
        found.reverse();
        Ok(found)
    }

    pub fn overdue_delegations(&self, now: Time, limit: usize) -> Result<Vec<Delegation>, Fault> {
        Ok(delegations::overdue(self.conn()?, now, limit)?)
    }

    pub fn reservation(&self, id: &str) -> Result<Option<Reservation>, Fault> {
        Ok(delegations::reservation(self.conn()?, id)?)
    }

    /// Returns the unsettled reservations of a run: reservation, delegation, cents.
    pub fn reserved_for(&self, run: &str) -> Result<Vec<(String, String, i64)>, Fault> {
        Ok(delegations::reserved_for(self.conn()?, run)?)
    }

    /// Counts the unsettled reservations of a delegation.
    pub fn open_reservations(&self, id: &str) -> Result<i64, Fault> {
        Ok(delegations::count_open(self.conn()?, id)?)
    }

    /// Checks whether the policies know an operation, or a group of operations, by this name.
    pub fn knows_operation(&self, name: &str) -> bool {
        name == Operations::ALL || self.operation_names().any(|known| known == name)
    }

    /// Returns the names that a scope can hold: operations and groups.
    pub fn operation_names(&self) -> impl Iterator<Item = &str> {
        // The company's own actions are decided for other programs and never performed here.
        self.world().policy.action_names().into_iter().filter(|name| !is_own(name))
    }

    /// Returns each operation in a scope, with whether it is a change.
    pub fn operations_in(&self, scope: &Operations) -> BTreeMap<&str, bool> {
        self.world().policy.operations_in(scope)
    }
}

/// Returns a delegation as policies see it.
pub fn delegation_thing(terms: &Terms) -> Thing {
    let Terms { id, from, to, chain, .. } = terms;
    Thing::new("Delegation", id).actor("giver", from).actor("taker", to).actors("chain", chain.iter().cloned())
}
