//! The shape of a request's facts: names and types without values. Whether facts fit an action's context depends on
//! nothing else, so Cedar checks each shape once for an action, and a question costs only a look at its shape. So it is with
//! the types of principal and resource.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::RwLock;

use cedar_policy_core::ast::{EntityType, EntityUID, Literal, Value, ValueKind};

use super::history;
use crate::record::Facts;

/// More shapes than a server with many companies makes; past that, each question is checked in full.
const MOST: usize = 256;

/// What was found to fit an action: shapes of facts, and the types of the two ends.
#[derive(Debug, Default)]
pub(super) struct Fitting {
    shapes: RwLock<BTreeSet<u64>>,
    ends: RwLock<Vec<(EntityType, EntityType)>>,
}

impl Fitting {
    pub fn knows(&self, shape: u64) -> bool {
        self.shapes.read().is_ok_and(|known| known.contains(&shape))
    }

    pub fn learn(&self, shape: u64) {
        if let Ok(mut known) = self.shapes.write()
            && known.len() < MOST
        {
            known.insert(shape);
        }
    }

    /// Whether a principal and a resource of these types fit, whatever their ids.
    pub fn knows_ends(&self, principal: &EntityType, resource: &EntityType) -> bool {
        let is = |(one, other): &(EntityType, EntityType)| one == principal && other == resource;
        self.ends.read().is_ok_and(|known| known.iter().any(is))
    }

    /// Only for types that are not enumerated: of those, the ids matter.
    pub fn learn_ends(&self, principal: &EntityType, resource: &EntityType) {
        if let Ok(mut known) = self.ends.write()
            && known.len() < MOST
        {
            known.push((principal.clone(), resource.clone()));
        }
    }
}

/// Returns the shape of facts. The acting actor's history is left out if it is built from the schema itself
/// (`has_history`). `is_enumerated` returns whether an entity's id is part of its type.
pub(super) fn of(facts: &Facts, has_history: bool, is_enumerated: &impl Fn(&EntityUID) -> bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, value) in facts.pairs().filter(|(name, _)| !(has_history && *name == history::ATTRIBUTE)) {
        name.hash(&mut hasher);
        hash_shape(value, is_enumerated, &mut hasher);
    }
    hasher.finish()
}

fn hash_shape(value: &Value, is_enumerated: &impl Fn(&EntityUID) -> bool, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value.value_kind()).hash(hasher);
    match value.value_kind() {
        ValueKind::Lit(Literal::EntityUID(uid)) if is_enumerated(uid) => uid.hash(hasher),
        ValueKind::Lit(Literal::EntityUID(uid)) => uid.entity_type().hash(hasher),
        ValueKind::Lit(literal) => std::mem::discriminant(literal).hash(hasher),
        // The shapes of its items, each once, in whatever order they stand.
        ValueKind::Set(set) => {
            let shape = |item: &Value| {
                let mut own = DefaultHasher::new();
                hash_shape(item, is_enumerated, &mut own);
                own.finish()
            };
            set.iter().map(shape).collect::<BTreeSet<u64>>().hash(hasher);
        }
        ValueKind::Record(pairs) => {
            pairs.len().hash(hasher);
            for (name, value) in pairs.iter() {
                name.hash(hasher);
                hash_shape(value, is_enumerated, hasher);
            }
        }
        ValueKind::ExtensionValue(value) => value.typename().hash(hasher),
    }
}
