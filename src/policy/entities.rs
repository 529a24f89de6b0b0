//! Closed entities and the slice of them that one decision reads.
//!
//! Always true: a closed entity already names all its ancestors, so a slice is built without computing a closure; a slice
//! carries its action with the action's groups, because no schema is passed along; two different entities under one id
//! make a slice that is refused. That a closed entity is closed and fits the schema is its builder's promise; it is made
//! once, when the directory changes, and `Snapshot::conforms` proves it there.

use std::sync::Arc;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{Entity, EntityUID, PartialValue, Value};
use cedar_policy_core::entities::{Dereference, Entities, NoEntitiesSchema, TCComputation};
use cedar_policy_core::extensions::Extensions;

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

    /// The same of values that were made for it alone.
    pub(super) fn holding(uid: EntityUID, ancestors: Vec<EntityUID>, attributes: Vec<(&str, Value)>) -> Self {
        let values = attributes.into_iter().map(|(name, value)| (name.into(), PartialValue::Value(value)));
        let ancestors = ancestors.into_iter().collect();
        Self(Arc::new(Entity::new_with_attr_partial_value(uid, values, ancestors, Default::default(), [])))
    }

    pub(super) fn entity(&self) -> &Arc<Entity> {
        &self.0
    }

    pub(super) fn of(entity: Entity) -> Self {
        Self(Arc::new(entity))
    }
}

/// The few entities that one decision reads, with its action and the action's groups.
#[derive(Clone, Debug)]
pub struct Slice(Result<Entities, String>);

impl Slice {
    pub fn new(snapshot: &Snapshot, action: &EntityUid, entities: impl IntoIterator<Item = Closed>) -> Self {
        let actions = snapshot.action_family(action.as_ref()).iter().cloned();
        let all = actions.chain(entities).map(|closed| closed.0);
        let closure = TCComputation::AssumeAlreadyComputed;
        let built = Entities::new().add_entities(all, None::<&NoEntitiesSchema>, closure, Extensions::all_available());
        Self(built.map_err(|error| format!("the entities contradict each other: {error}")))
    }

    pub(super) fn entities(&self) -> Result<&Entities, String> {
        self.0.as_ref().map_err(Clone::clone)
    }
}

/// The first reference that a policy could follow within two hops and would not find.
///
/// Policies are validated to level 2: they read the attributes of the roots and of what the roots refer to, and no
/// further. So those must be there; what they in turn refer to is compared, never opened. `known` names the ids that need
/// no entity (enumerated types: no attributes, no parents).
pub(super) fn unresolved<'a>(
    entities: &'a Entities,
    roots: impl IntoIterator<Item = &'a EntityUID>,
    known: &impl Fn(&EntityUID) -> bool,
) -> Option<EntityUID> {
    let mut missing = None;
    for root in roots {
        let Some(entity) = find(entities, root, known, &mut missing) else { continue };
        for (_, value) in entity.attrs().chain(entity.tags()) {
            let PartialValue::Value(value) = value else { continue };
            references(value, &mut |uid| {
                find(entities, uid, known, &mut missing);
            });
        }
    }
    missing.cloned()
}

fn find<'a>(
    entities: &'a Entities,
    uid: &'a EntityUID,
    known: &impl Fn(&EntityUID) -> bool,
    missing: &mut Option<&'a EntityUID>,
) -> Option<&'a Entity> {
    match entities.entity(uid) {
        Dereference::Data(entity) => Some(entity),
        Dereference::NoSuchEntity | Dereference::Residual(_) => {
            if missing.is_none() && !known(uid) {
                *missing = Some(uid);
            }
            None
        }
    }
}
