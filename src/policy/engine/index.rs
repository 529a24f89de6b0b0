//! Which policies can match a request at all: by principal scope, inside it by resource scope. One index per action.
//!
//! The law: a policy is left out only if its scope is false for the request, without an error. Scopes cannot fail, so Cedar
//! over the policies that are gathered answers as Cedar over all of them does. A property test holds the index to it.

use cedar_policy_core::ast::{
    ActionConstraint, Entity, EntityReference, EntityType, EntityUID, Policy, PrincipalOrResourceConstraint,
};
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use smallvec::SmallVec;

/// Where a policy stands in the snapshot's list, which is in the order of ids.
pub(super) type Position = u32;
/// As many policies as a question seldom goes beyond.
pub(super) type Positions = SmallVec<[Position; 16]>;

/// Whether a policy is gathered just where its scope is true. With `is T in e` only `in e` is looked at.
pub(super) fn decides(policy: &Policy) -> bool {
    let exact = |scope: &PrincipalOrResourceConstraint| {
        use PrincipalOrResourceConstraint::{Any, Eq, In, Is, IsIn};
        match scope {
            Any | Is(_) | Eq(EntityReference::EUID(_)) | In(EntityReference::EUID(_)) => true,
            IsIn(..) | Eq(EntityReference::Slot(_)) | In(EntityReference::Slot(_)) => false,
        }
    };
    exact(policy.principal_constraint().as_inner()) && exact(policy.resource_constraint().as_inner())
}

/// Policies by the action that their scope names.
#[derive(Default)]
pub(super) struct ByAction<'a> {
    any: Vec<Position>,
    /// `action == …`.
    alone: IndexMap<&'a EntityUID, Vec<Position>, RandomState>,
    /// `action in …`.
    within: IndexMap<&'a EntityUID, Vec<Position>, RandomState>,
}

impl<'a> ByAction<'a> {
    pub fn of(policies: impl IntoIterator<Item = &'a Policy>) -> Self {
        let mut found = Self::default();
        for (position, policy) in (0..).zip(policies) {
            match policy.action_constraint() {
                ActionConstraint::Any => found.any.push(position),
                ActionConstraint::Eq(uid) => found.alone.entry(uid.as_ref()).or_default().push(position),
                ActionConstraint::In(uids) => {
                    uids.iter().for_each(|uid| found.within.entry(uid.as_ref()).or_default().push(position));
                }
            }
        }
        found
    }

    /// The positions of all policies that cover an action, ascending.
    pub fn covering(&self, action: &Entity) -> Vec<Position> {
        let family = std::iter::once(action.uid()).chain(action.ancestors());
        let within = family.filter_map(|member| self.within.get(member));
        let named = self.alone.get(action.uid()).into_iter().chain(within);
        let mut found: Vec<Position> = self.any.iter().chain(named.flatten()).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The policies of one action.
#[derive(Debug, Default)]
pub(super) struct Index(ByScope<ByScope<Vec<Position>>>);

impl Index {
    pub fn insert(&mut self, position: Position, policy: &Policy) {
        let principal = policy.principal_constraint();
        let resource = policy.resource_constraint();
        self.0.slot(principal.as_inner()).slot(resource.as_inner()).push(position);
    }

    pub fn is_empty(&self) -> bool {
        let mut empty = true;
        self.0.all(&mut |inner| inner.all(&mut |positions| empty &= positions.is_empty()));
        empty
    }

    /// The positions of all policies, ascending.
    pub fn every(&self) -> Vec<Position> {
        let mut found = Vec::new();
        self.0.all(&mut |inner| inner.all(&mut |positions| found.extend_from_slice(positions)));
        found.sort_unstable();
        found
    }

    /// The positions of all policies whose scope may be true, ascending.
    pub fn gather(&self, principal: &Met<'_>, resource: &Met<'_>) -> Positions {
        let mut found = Positions::new();
        self.0.each(principal, &mut |inner| inner.each(resource, &mut |positions| found.extend_from_slice(positions)));
        found.sort_unstable();
        found
    }
}

/// One end of a request, with what the slice holds about it.
#[derive(Clone, Copy)]
pub(super) struct Met<'a> {
    pub uid: &'a EntityUID,
    pub entity: Option<&'a Entity>,
}

impl<'a> Met<'a> {
    fn ancestors(&self) -> impl Iterator<Item = &'a EntityUID> {
        self.entity.into_iter().flat_map(Entity::ancestors)
    }
}

/// Something for each form that a scope can take. `is T in e` stands with `in e`: the evaluator tests the type.
#[derive(Debug, Default)]
struct ByScope<T> {
    any: T,
    equal: IndexMap<EntityUID, T, RandomState>,
    within: IndexMap<EntityUID, T, RandomState>,
    of_type: IndexMap<EntityType, T, RandomState>,
}

impl<T: Default> ByScope<T> {
    fn slot(&mut self, scope: &PrincipalOrResourceConstraint) -> &mut T {
        use PrincipalOrResourceConstraint::{Any, Eq, In, Is, IsIn};
        match scope {
            Eq(EntityReference::EUID(uid)) => self.equal.entry(uid.as_ref().clone()).or_default(),
            In(EntityReference::EUID(uid)) | IsIn(_, EntityReference::EUID(uid)) => {
                self.within.entry(uid.as_ref().clone()).or_default()
            }
            Is(ty) => self.of_type.entry(ty.as_ref().clone()).or_default(),
            Any | Eq(EntityReference::Slot(_)) | In(EntityReference::Slot(_)) | IsIn(_, EntityReference::Slot(_)) => {
                &mut self.any
            }
        }
    }

    /// Calls `take` with every slot.
    fn all(&self, take: &mut impl FnMut(&T)) {
        take(&self.any);
        self.equal.values().chain(self.within.values()).chain(self.of_type.values()).for_each(take);
    }

    /// Calls `take` with the slot of every scope that may hold for `seen`.
    fn each(&self, seen: &Met<'_>, take: &mut impl FnMut(&T)) {
        take(&self.any);
        self.equal.get(seen.uid).into_iter().for_each(&mut *take);
        self.of_type.get(seen.uid.entity_type()).into_iter().for_each(&mut *take);
        if self.within.is_empty() {
            return;
        }
        self.within.get(seen.uid).into_iter().for_each(&mut *take);
        seen.ancestors().filter(|ancestor| *ancestor != seen.uid).filter_map(|uid| self.within.get(uid)).for_each(take);
    }
}
