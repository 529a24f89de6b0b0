//! What policies may name: a schema with everything that is derived from it alone. Building one takes longer than
//! reading the policies, and most bundles, of one company or of many, use a schema that another uses too, so they share
//! its vocabulary.
//!
//! Always true: nothing in a vocabulary changes, except which facts were found to fit its actions, and that depends on
//! the schema alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cedar_policy::Schema;
use cedar_policy_core::ast::{self, EntityType, EntityUID, EntityUIDEntry, Value};
use cedar_policy_core::entities::Entities;
use cedar_policy_core::validator::ValidatorEntityTypeKind;
use cedar_policy_core::validator::types::Type;
use sha2::{Digest, Sha256};

use super::approvals::{ATTRIBUTE, KIND_TYPE};
use super::history::Blank;
use super::input::Input;
use super::names::name_of;
use super::shape::Fitting;
use crate::Closed;
use crate::limits::{Limits, Rate};

/// Vocabularies that are kept for the next bundle; the one that was used longest ago goes first.
const MOST: usize = 4;

static KEPT: Mutex<VecDeque<(Key, Arc<Vocabulary>)>> = Mutex::new(VecDeque::new());

/// The digest of the texts that a schema is made of.
type Key = [u8; 32];

/// What policies may name.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub schema: Schema,
    pub kind_type: EntityType,
    /// Each approval kind with its value.
    pub kinds: BTreeMap<String, Value>,
    /// The built-in schema, with no more than the bundle's kinds and collections, and what the company declares in namespaces of
    /// its own.
    pub extends_built_in: bool,
    /// The types that name all that there are of them.
    pub enums: BTreeSet<EntityType>,
    pub actions: Vec<(ast::Entity, Arc<Declared>)>,
}

/// What an action is by the schema alone.
#[derive(Debug)]
pub(super) struct Declared {
    /// As people say it.
    pub name: String,
    /// As a request names it.
    pub entry: EntityUIDEntry,
    /// The action and its groups.
    pub family: Vec<Closed>,
    /// The same, as decisions read it.
    pub entities: OnceLock<Entities>,
    /// The facts that were found to fit its context.
    pub fitting: Fitting,
    /// Its input, where its context has one.
    pub input: Option<Input>,
    /// The history in its context for somebody who has done nothing, if its context holds a history.
    pub history: Option<Blank>,
    /// Its context holds approvals: always so for the product's own.
    pub takes_approvals: bool,
}

impl Vocabulary {
    pub fn new(schema: Schema, kind_type: EntityType, kinds: BTreeMap<String, Value>, extends_built_in: bool) -> Self {
        let (enums, actions) = (enums(&schema), actions(&schema));
        Self { schema, kind_type, kinds, extends_built_in, enums, actions }
    }

    /// What was made of these texts, or is made now.
    pub fn of<E>(texts: &[&str], make: impl FnOnce() -> Result<Self, E>) -> Result<Arc<Self>, E> {
        let mut key = Sha256::new();
        for text in texts {
            key.update(Sha256::digest(text));
        }
        let key: Key = key.finalize().into();
        if let Some(found) = taken(&key) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        keep(key, &made);
        Ok(made)
    }
}

/// A vocabulary that is kept: from now on the one that was used last.
fn taken(key: &Key) -> Option<Arc<Vocabulary>> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = kept.iter().position(|(other, _)| other == key).and_then(|place| kept.remove(place))?;
    let vocabulary = Arc::clone(&found.1);
    kept.push_back(found);
    Some(vocabulary)
}

fn keep(key: Key, vocabulary: &Arc<Vocabulary>) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|(other, _)| *other != key);
    kept.push_back((key, Arc::clone(vocabulary)));
    while kept.len() > MOST {
        kept.pop_front();
    }
}

fn enums(schema: &Schema) -> BTreeSet<EntityType> {
    let types = schema.as_ref().entity_types();
    types.filter(|ty| matches!(ty.kind, ValidatorEntityTypeKind::Enum(_))).map(|ty| ty.name().clone()).collect()
}

fn actions(schema: &Schema) -> Vec<(ast::Entity, Arc<Declared>)> {
    let entities = schema.as_ref().action_entities().unwrap_or_default();
    let known: BTreeMap<&EntityUID, &ast::Entity> = entities.iter().map(|entity| (entity.uid(), entity)).collect();
    let mut blank: Option<Blank> = None;
    let mut action = |entity: &ast::Entity| {
        let groups: BTreeSet<&EntityUID> = entity.ancestors().collect();
        let groups = groups.into_iter().filter_map(|group| known.get(group).copied());
        let family = std::iter::once(entity).chain(groups).cloned().map(Closed::of).collect();
        let takes_approvals = takes_approvals(schema, entity.uid());
        let entry = EntityUIDEntry::known(entity.uid().clone(), None);
        let input = Input::of(schema, entity.uid());
        let history = Blank::of(schema, entity.uid(), blank.as_ref());
        blank = blank.take().or_else(|| history.clone());
        let (entities, fitting, name) = (OnceLock::new(), Fitting::default(), name_of(entity.uid()));
        (entity.clone(), Arc::new(Declared { name, entry, family, entities, fitting, input, history, takes_approvals }))
    };
    entities.iter().map(&mut action).collect()
}

fn takes_approvals(schema: &Schema, action: &EntityUID) -> bool {
    let Some(Type::Record { attrs, .. }) = schema.as_ref().context_type(action) else { return false };
    attrs.iter().any(|(name, attribute)| {
        name == ATTRIBUTE
            && matches!(&*attribute.attr_type, Type::Set { element_type: Some(kind) } if kind.to_string() == KIND_TYPE)
    })
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
