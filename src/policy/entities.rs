//! Closed entities and the slice of them that one decision reads.
//!
//! Always true: a closed entity already names all its ancestors, so a slice is built without computing a closure; a slice
//! carries its action with the action's groups, because no schema is passed along; two different entities under one id
//! make a slice that is refused. That a closed entity is closed and fits the schema is its builder's promise; it is made
//! once, when the directory changes, and `Snapshot::conforms` proves it there.

use std::sync::Arc;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{Entity, EntityUID, PartialValue};
use cedar_policy_core::entities::{Dereference, Entities, NoEntitiesSchema, TCComputation};
use cedar_policy_core::extensions::Extensions;
use smol_str::SmolStr;

use super::engine::Snapshot;
use super::record::{Record, references};

/// One entity with all its ancestors, near and far. A clone costs one pointer.
#[derive(Clone, Debug)]
pub struct Closed(Arc<Entity>);

impl Closed {
    /// An entity with these attributes. `ancestors` must hold the ancestors of the ancestors too.
    pub fn new(uid: &EntityUid, ancestors: impl IntoIterator<Item = EntityUid>, attributes: &Record) -> Self {
        let values = attributes.pairs().map(|(name, value)| (name.into(), PartialValue::Value(value.clone())));
        let ancestors = ancestors.into_iter().map(EntityUID::from).collect();
        let direct = Default::default();
        let entity = Entity::new_with_attr_partial_value(uid.as_ref().clone(), values, ancestors, direct, []);
        Self(Arc::new(entity))
    }

    /// Creates the entity from values that were made for it alone.
    pub(super) fn holding(uid: EntityUID, ancestors: Vec<EntityUID>, attributes: Vec<(SmolStr, PartialValue)>) -> Self {
        let ancestors = ancestors.into_iter().collect();
        Self(Arc::new(Entity::new_with_attr_partial_value(uid, attributes, ancestors, Default::default(), [])))
    }

    /// As Cedar has it.
    pub fn entity(&self) -> &Arc<Entity> {
        &self.0
    }

    pub(super) fn of(entity: Entity) -> Self {
        Self(Arc::new(entity))
    }
}

/// The few entities that one decision reads, with its action and the action's groups.
#[derive(Clone, Debug)]
pub struct Slice {
    entities: Result<Entities, String>,
    /// The action that they were gathered for, and where the snapshot has it.
    action: Option<(usize, Closed)>,
}

impl Slice {
    pub fn new(snapshot: &Snapshot, action: &EntityUid, entities: impl IntoIterator<Item = Closed>) -> Self {
        let Some((place, action, family)) = snapshot.family_at(action.as_ref()) else {
            return Self { entities: added(Entities::new(), entities), action: None };
        };
        Self { entities: added(family.clone(), entities), action: Some((place, action.clone())) }
    }

    /// The same with more entities.
    #[must_use]
    pub(super) fn and(&self, more: impl IntoIterator<Item = Closed>) -> Self {
        let entities = self.entities.clone().and_then(|entities| added(entities, more));
        Self { entities, action: self.action.clone() }
    }

    pub(super) fn entities(&self) -> Result<&Entities, String> {
        self.entities.as_ref().map_err(Clone::clone)
    }

    /// Where the snapshot that they were gathered for has its action.
    pub(super) fn place(&self) -> Option<usize> {
        self.action.as_ref().map(|(place, _)| *place)
    }

    /// Whether the entities were gathered for this action as it is here, or hold it beside.
    pub(super) fn is_for(&self, action: &Closed) -> bool {
        if self.action.as_ref().is_some_and(|(_, own)| Arc::ptr_eq(&own.0, &action.0)) {
            return true;
        }
        match self.entities.as_ref().map(|entities| entities.entity(action.0.uid())) {
            Ok(Dereference::Data(held)) => std::ptr::eq(held, action.0.as_ref()) || held.deep_eq(&action.0),
            _ => false,
        }
    }
}

/// Distinct entities.
pub(super) fn of_all(entities: &[Closed]) -> Entities {
    added(Entities::new(), entities.iter().cloned()).unwrap_or_default()
}

fn added(entities: Entities, more: impl IntoIterator<Item = Closed>) -> Result<Entities, String> {
    let more = more.into_iter().map(|closed| closed.0);
    let closure = TCComputation::AssumeAlreadyComputed;
    let built = entities.add_entities(more, None::<&NoEntitiesSchema>, closure, Extensions::all_available());
    built.map_err(|error| format!("the entities contradict each other: {error}"))
}

/// Looks for references that a policy could follow within two hops and would not find.
///
/// Policies are validated to level 2: they read the attributes of the roots and of the entities that the roots refer
/// to, and no further. So those must be present; what they refer to in turn is compared, never opened. `known` returns
/// whether an id needs no entity (enumerated types: no attributes, no parents).
pub(super) struct Within<'a, K> {
    entities: &'a Entities,
    known: K,
    /// The first that was not found.
    pub missing: Option<&'a EntityUID>,
}

impl<'a, K: Fn(&EntityUID) -> bool> Within<'a, K> {
    pub fn new(entities: &'a Entities, known: K) -> Self {
        Self { entities, known, missing: None }
    }

    /// Checks a root and what it refers to. Returns none if the root needs no entity, or is missing.
    pub fn root(&mut self, uid: &'a EntityUID) -> Option<&'a Entity> {
        let root = self.find(uid)?;
        for (_, value) in root.attrs().chain(root.tags()) {
            let PartialValue::Value(value) = value else { continue };
            references(value, &mut |uid| {
                self.find(uid);
            });
        }
        Some(root)
    }

    fn find(&mut self, uid: &'a EntityUID) -> Option<&'a Entity> {
        match self.entities.entity(uid) {
            Dereference::Data(entity) => Some(entity),
            Dereference::NoSuchEntity | Dereference::Residual(_) => {
                if self.missing.is_none() && !(self.known)(uid) {
                    self.missing = Some(uid);
                }
                None
            }
        }
    }
}
