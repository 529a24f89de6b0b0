//! The entity types and actions that the company's own schema declares.

use std::collections::BTreeMap;

use cedar_policy::{EntityUid, Schema};
use cedar_policy_core::ast::{EntityType, EntityUID};
use cedar_policy_core::validator::ValidatorActionId;

use super::{PRODUCT, Wrong};
use crate::policy::Snapshot;

/// Names as other programs say them.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The product's own too: something of the company's can be in one of them.
    types: BTreeMap<String, EntityType>,
    /// Each action by every name that it has; None where two share one.
    actions: BTreeMap<String, Option<EntityUid>>,
}

impl Catalog {
    pub(in crate::policy) fn of(schema: &Schema) -> Catalog {
        let mut catalog = Catalog::default();
        for ty in schema.as_ref().entity_type_names() {
            catalog.types.insert(ty.to_string(), ty.clone());
        }
        for action in own_actions(schema) {
            let uid = action.name();
            let id: &str = uid.eid().as_ref();
            for name in [uid.to_string(), format!("{}::{id}", uid.entity_type()), id.to_owned()] {
                let known = catalog.actions.entry(name);
                let uid = EntityUid::from(uid.clone());
                known.and_modify(|other| *other = other.take().filter(|other| *other == uid)).or_insert(Some(uid));
            }
        }
        catalog
    }

    /// The entity type of a name, whose ever it is.
    pub(super) fn named(&self, name: &str) -> Option<&EntityType> {
        self.types.get(name)
    }
}

/// What can be asked about at all: actions that apply to something.
fn own_actions(schema: &Schema) -> impl Iterator<Item = &ValidatorActionId> {
    let actions = schema.as_ref().action_ids();
    actions.filter(|action| {
        let applies = action.applies_to_principals().next().is_some();
        applies && !action.name().entity_type().to_string().starts_with(PRODUCT)
    })
}

/// An entity type of the company's own.
pub fn entity_type<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a EntityType, Wrong> {
    if name.starts_with(PRODUCT) {
        return Err(Wrong::new(format!("`{}` is the product's own and cannot be asked about here", short(name))));
    }
    let unknown = || Wrong::new(format!("the company's schema has no entity type `{}`", short(name)));
    snapshot.catalog().types.get(name).ok_or_else(unknown)
}

/// An action of the company's own: `Docs::Action::view`, `Docs::Action::"view"`, or `view` where only one has that name.
pub fn action<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a EntityUid, Wrong> {
    if name.starts_with(PRODUCT) {
        return Err(Wrong::new(format!("`{}` is the product's own and cannot be asked about here", short(name))));
    }
    match snapshot.catalog().actions.get(name) {
        Some(Some(uid)) => Ok(uid),
        Some(None) => Err(Wrong::new(format!("several actions are named `{}`; say which", short(name)))),
        None => Err(Wrong::new(format!("the company's schema has no action `{}`", short(name)))),
    }
}

/// The actions that apply to a subject and a resource of these types, by name.
pub fn actions<'a>(snapshot: &'a Snapshot, subject: &EntityType, resource: &EntityType) -> Vec<EntityUid> {
    let applies = |action: &&'a ValidatorActionId| {
        action.is_applicable_principal_type(subject) && action.is_applicable_resource_type(resource)
    };
    let mut found: Vec<EntityUID> =
        own_actions(snapshot.schema()).filter(applies).map(|action| action.name().clone()).collect();
    found.sort_unstable();
    found.into_iter().map(EntityUid::from).collect()
}

/// As much of a name as belongs into a message.
pub(super) fn short(name: &str) -> String {
    name.chars().take(80).collect()
}
