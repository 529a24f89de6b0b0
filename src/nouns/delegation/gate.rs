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

    /// The delegation that the caller acts under.
    pub fn acting_under(&self) -> Result<Option<Delegation>, Fault> {
        match &self.caller().under {
            Some(under) => self.delegation(under.as_str()),
            None => Ok(None),
        }
    }

    /// All on whose behalf the caller acts, the nearest first.
    pub fn on_behalf_of(&self) -> Vec<ActorId> {
        chain::behalf(self.world(), self.caller())
    }

    /// A delegation as the gate sees it.
    pub fn delegation_target(&self, delegation: &Delegation) -> Target {
        delegation_thing(&delegation.terms).into()
    }

    /// How many that an actor gave have not ended.
    pub fn delegations_given(&self, giver: &ActorId) -> Result<i64, Fault> {
        Ok(delegations::count_live_from(self.conn()?, giver)?)
    }

    /// What an actor gave or got, and has not ended.
    pub fn live_delegations_of(&self, actor: &ActorId) -> Result<Vec<Delegation>, Fault> {
        Ok(delegations::live_of(self.conn()?, actor)?)
    }

    /// A delegation that has not ended with everything that rests on it: what rests on others first, each after what rests
    /// on it.
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

    /// What is set aside for a run and not settled: reservation, delegation, cents.
    pub fn reserved_for(&self, run: &str) -> Result<Vec<(String, String, i64)>, Fault> {
        Ok(delegations::reserved_for(self.conn()?, run)?)
    }

    /// How many reservations of a delegation are not settled.
    pub fn open_reservations(&self, id: &str) -> Result<i64, Fault> {
        Ok(delegations::count_open(self.conn()?, id)?)
    }

    /// Whether the policies know an operation, or a group of them, by this name.
    pub fn knows_operation(&self, name: &str) -> bool {
        name == Operations::ALL || self.operation_names().any(|known| known == name)
    }

    /// The names that a scope can hold: operations and groups.
    pub fn operation_names(&self) -> impl Iterator<Item = &str> {
        // What other programs ask about is decided for them, and never carried out here.
        self.world().policy.action_names().into_iter().filter(|name| !is_own(name))
    }

    /// Each operation in a scope, with whether it changes anything.
    pub fn operations_in(&self, scope: &Operations) -> BTreeMap<&str, bool> {
        self.world().policy.operations_in(scope)
    }
}

/// A delegation as policies see it.
pub fn delegation_thing(terms: &Terms) -> Thing {
    let Terms { id, from, to, chain, .. } = terms;
    Thing::new("Delegation", id).actor("giver", from).actor("taker", to).actors("chain", chain.iter().cloned())
}
