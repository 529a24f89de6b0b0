//! What a schema declares, gathered once.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::Schema;
use cedar_policy_core::ast::{self, EntityType};
use cedar_policy_core::validator::ValidatorEntityTypeKind;

use super::snapshot::name_of;
use crate::policy::limits::{Limits, Rate};

/// The types that name all that there are of them.
pub(super) fn enums(schema: &Schema) -> BTreeSet<EntityType> {
    let types = schema.as_ref().entity_types();
    types.filter(|ty| matches!(ty.kind, ValidatorEntityTypeKind::Enum(_))).map(|ty| ty.name().clone()).collect()
}

/// The limits that each operation falls under.
pub(super) fn rates(schema: &Schema, limits: &Limits) -> BTreeMap<String, Vec<String>> {
    let entities = schema.as_ref().action_entities().unwrap_or_default();
    let of = |action: &ast::Entity| {
        let family: BTreeSet<String> = std::iter::once(action.uid()).chain(action.ancestors()).map(name_of).collect();
        let concerns = |rate: &Rate| {
            let named = rate.operations.is_empty() || !rate.operations.is_disjoint(&family);
            named && rate.except.is_disjoint(&family)
        };
        let rates = limits.rates.iter().filter(|(_, rate)| concerns(rate)).map(|(id, _)| id.clone());
        (name_of(action.uid()), rates.collect())
    };
    entities.iter().map(of).collect()
}
