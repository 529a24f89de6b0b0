//! The entity types and actions that the company's own schema declares.

use cedar_policy::{EntityUid, Schema};
use cedar_policy_core::ast::{EntityType, EntityUID, InternalName, Name};
use cedar_policy_core::validator::{ValidatorActionId, ValidatorEntityType};
use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::{PRODUCT, Wrong};
use crate::Snapshot;
use crate::engine::name_of;

/// Names as other programs say them. Only the schema's own names are kept, so nobody can crowd the tables.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The product's own too: something of the company's can be in one of them.
    kinds: Vec<Kind>,
    by_name: IndexMap<String, usize, RandomState>,
    by_type: IndexMap<EntityType, usize, RandomState>,
    /// Each action by every name that it has; None where two share one.
    actions: IndexMap<String, Option<EntityUid>, RandomState>,
}

/// An entity type as the schema declares it.
#[derive(Debug)]
pub struct Kind {
    pub name: String,
    pub ty: EntityType,
    pub(super) declared: ValidatorEntityType,
    /// The types that something of this one can be in.
    above: Vec<EntityType>,
}

impl Kind {
    pub(super) fn can_be_in(&self, other: &Kind) -> bool {
        self.above.contains(&other.ty)
    }

    pub(super) fn is_product(&self) -> bool {
        self.name.starts_with(PRODUCT)
    }
}

impl Catalog {
    pub(crate) fn of(schema: &Schema) -> Catalog {
        let mut catalog = Catalog::default();
        for declared in schema.as_ref().entity_types() {
            let ty = unplaced(declared.name());
            let name = ty.to_string();
            catalog.by_name.insert(name.clone(), catalog.kinds.len());
            catalog.by_type.insert(ty.clone(), catalog.kinds.len());
            catalog.kinds.push(Kind { name, ty, declared: declared.clone(), above: Vec::new() });
        }
        for above in schema.as_ref().entity_types() {
            for below in above.descendants.iter().filter_map(|ty| catalog.by_type.get(ty)) {
                catalog.kinds.get_mut(*below).into_iter().for_each(|kind| kind.above.push(above.name().clone()));
            }
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
    pub(super) fn named(&self, name: &str) -> Option<&Kind> {
        self.kinds.get(*self.by_name.get(name)?)
    }

    /// Whether something of one type can be in something of another.
    pub(crate) fn can_be_in(&self, below: &EntityType, above: &EntityType) -> bool {
        below == above || self.kind(below).is_some_and(|kind| kind.above.contains(above))
    }

    pub(super) fn kind(&self, ty: &EntityType) -> Option<&Kind> {
        self.kinds.get(*self.by_type.get(ty)?)
    }
}

/// The same type without its place in the text of the schema: what is made of it costs less.
fn unplaced(ty: &EntityType) -> EntityType {
    let name: &InternalName = ty.name().as_ref();
    let bare = InternalName::new(name.basename().clone(), name.namespace_components().cloned(), None);
    Name::try_from(bare).map_or_else(|_| ty.clone(), EntityType::from)
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
pub fn entity_type<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a Kind, Wrong> {
    if name.starts_with(PRODUCT) {
        return Err(Wrong::new(format!("`{}` is the product's own and cannot be asked about here", short(name))));
    }
    let unknown = || Wrong::new(format!("the company's schema has no entity type `{}`", short(name)));
    snapshot.catalog().named(name).ok_or_else(unknown)
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

/// An action as people say it: `Docs::Action::view`.
pub fn name(action: &EntityUid) -> String {
    name_of(action.as_ref())
}

/// The name by which an action is asked about: its own where no other has it, else with its namespace.
pub fn asked_as(snapshot: &Snapshot, action: &EntityUid) -> String {
    let id = action.id().unescaped();
    let is_alone = snapshot.catalog().actions.get(id).is_some_and(|known| known.as_ref() == Some(action));
    if is_alone { id.to_owned() } else { name(action) }
}

/// Whether no type, or no action, of the company's schema has this name; the product's own are none to be asked about.
pub fn is_unknown(snapshot: &Snapshot, kind: Option<&str>, action: Option<&str>) -> bool {
    let is_other = |name: &&str| !name.starts_with(PRODUCT);
    kind.filter(is_other).is_some_and(|name| snapshot.catalog().named(name).is_none())
        || action.filter(is_other).is_some_and(|name| !snapshot.catalog().actions.contains_key(name))
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
