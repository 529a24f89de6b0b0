//! A snapshot: one bundle, loaded and indexed, that answers questions until another takes its place.
//!
//! Always true: nothing in it changes but two counters; its policies stand in the order of their ids; it exists only if the
//! whole bundle was free of findings. Hold it in an `ArcSwap`; where there is none, the gate denies.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use cedar_policy::{EntityUid, Schema};
use cedar_policy_core::ast::{self, EntityType, EntityUID};
use cedar_policy_core::entities::Entities;
use cedar_policy_core::entities::conformance::EntitySchemaConformanceChecker;
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::CoreSchema;
use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::compiled::CompiledPolicy;
use super::index::{ByAction, Index, Position};
use super::looks::Looks;
use super::ruling::{Because, PolicyMeta};
use super::vocabulary::{Declared, Vocabulary, rates};
use crate::approvals::ApprovalRules;
use crate::brain::Collections;
use crate::entities::of_all;
use crate::limits::{Limits, Rate};
use crate::own::Catalog;
use crate::views::Views;
use crate::{Closed, Hash};

/// An immutable, loaded bundle.
#[derive(Debug)]
pub struct Snapshot {
    hash: Hash,
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) policies: Vec<CompiledPolicy>,
    /// The same policies as Cedar keeps them, for `plain`.
    pub(super) set: cedar_policy::PolicySet,
    /// In the order of their ids, and found by a hash.
    pub(super) actions: Actions,
    approvals: ApprovalRules,
    limits: Limits,
    /// What the company's own data is made of.
    collections: Arc<Collections>,
    views: Arc<Views>,
    /// The names of the rate limits that each operation falls under.
    rates: BTreeMap<String, Vec<String>>,
    /// The company's own types, once somebody asks about them.
    catalog: OnceLock<Catalog>,
    /// Nobody has asked its questions: what goes wrong in them is not told.
    pub(super) quiet: bool,
    faults: AtomicU64,
    skipped: AtomicU64,
}

/// One action of the schema, with the policies about it.
#[derive(Debug)]
pub(super) struct Action {
    pub declared: Arc<Declared>,
    pub index: Arc<Index>,
    /// What its policies look at, once somebody has asked.
    pub looks: OnceLock<Looks>,
}

impl Deref for Action {
    type Target = Declared;

    fn deref(&self) -> &Declared {
        &self.declared
    }
}

impl Action {
    fn again(&self) -> Action {
        let (declared, index) = (Arc::clone(&self.declared), Arc::clone(&self.index));
        Action { declared, index, looks: self.looks.clone() }
    }

    /// The same action under other policies.
    fn with_policies(&self, by_action: &ByAction<'_>, policies: &[CompiledPolicy]) -> Action {
        let covering = self.family.first().map(|action| by_action.covering(action.entity()));
        let index = index(&covering.unwrap_or_default(), policies);
        Action { declared: Arc::clone(&self.declared), index: Arc::new(index), looks: OnceLock::new() }
    }
}

type Actions = IndexMap<EntityUID, Action, RandomState>;

/// What went wrong since the snapshot was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Denials because something could not be evaluated.
    pub faults: u64,
    /// Permits that could not be evaluated, and were passed over.
    pub skipped: u64,
}

/// What `load` found fit to serve.
pub(super) struct Parts {
    pub vocabulary: Arc<Vocabulary>,
    pub policies: Vec<CompiledPolicy>,
    pub set: cedar_policy::PolicySet,
    pub approvals: ApprovalRules,
    pub limits: Limits,
    pub collections: Collections,
    pub views: Views,
}

impl Snapshot {
    /// What was found fit to serve, of a bundle with this hash.
    pub(super) fn of(hash: Hash, parts: Parts) -> Self {
        Self {
            hash,
            rates: rates(&parts.vocabulary.schema, &parts.limits),
            limits: parts.limits,
            actions: actions(&parts.vocabulary, &parts.policies),
            vocabulary: parts.vocabulary,
            policies: parts.policies,
            set: parts.set,
            approvals: parts.approvals,
            collections: Arc::new(parts.collections),
            views: Arc::new(parts.views),
            catalog: OnceLock::new(),
            quiet: false,
            faults: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
        }
    }

    /// The same policies for another company: what goes wrong in them is counted for each by itself.
    pub fn again(&self) -> Self {
        let actions = self.actions.iter().map(|(uid, action)| (uid.clone(), action.again())).collect();
        Self { set: self.set.clone(), quiet: self.quiet, ..self.like(self.policies.clone(), actions) }
    }

    /// Returns the same bundle with other policies, for a test. Policies are sorted by id.
    pub(super) fn with_policies(&self, policies: Vec<CompiledPolicy>) -> Self {
        let by_action = ByAction::of(policies.iter().map(|compiled| &compiled.policy));
        let actions = self.actions.iter();
        let actions = actions.map(|(uid, action)| (uid.clone(), action.with_policies(&by_action, &policies))).collect();
        self.like(policies, actions)
    }

    fn like(&self, policies: Vec<CompiledPolicy>, actions: Actions) -> Self {
        Self {
            hash: self.hash.clone(),
            actions,
            vocabulary: Arc::clone(&self.vocabulary),
            policies,
            set: cedar_policy::PolicySet::new(),
            approvals: self.approvals.clone(),
            limits: self.limits.clone(),
            collections: Arc::clone(&self.collections),
            views: Arc::clone(&self.views),
            rates: self.rates.clone(),
            catalog: OnceLock::new(),
            quiet: false,
            faults: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
        }
    }

    /// Returns the same policies for hypothetical questions: faults in them are neither counted nor reported.
    pub fn apart(&self) -> Snapshot {
        Snapshot { quiet: true, ..self.again() }
    }

    /// The hash of the bundle.
    pub fn hash(&self) -> &str {
        self.hash.as_str()
    }

    pub fn schema(&self) -> &Schema {
        &self.vocabulary.schema
    }

    /// All policies, in the order of their ids.
    pub fn policies(&self) -> impl Iterator<Item = &PolicyMeta> {
        self.policies.iter().map(|compiled| compiled.meta.as_ref())
    }

    /// The approval kinds that the schema knows, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.vocabulary.kinds.keys().map(String::as_str)
    }

    /// Who gives which kind of approval.
    pub fn approvals(&self) -> &ApprovalRules {
        &self.approvals
    }

    /// How often something may be asked, and how much a change may change.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the company's own data is made of.
    pub fn collections(&self) -> &Arc<Collections> {
        &self.collections
    }

    /// The views of the company's own data.
    pub fn views(&self) -> &Arc<Views> {
        &self.views
    }

    /// The rate limits that an operation falls under, by itself or by a group that it is in.
    pub fn rates_of(&self, operation: &str) -> impl Iterator<Item = (&str, &Rate)> {
        let names = self.rates.get(operation).into_iter().flatten();
        names.filter_map(|name| Some((name.as_str(), self.limits.rates.get(name)?)))
    }

    pub fn counts(&self) -> Counts {
        Counts { faults: self.faults.load(Ordering::Relaxed), skipped: self.skipped.load(Ordering::Relaxed) }
    }

    /// Whether an entity is as the schema says. Asked once when the directory changes, never on the way to a decision.
    pub fn conforms(&self, entity: &Closed) -> Result<(), String> {
        let schema = CoreSchema::new(self.schema().as_ref());
        let checker = EntitySchemaConformanceChecker::new(&schema, Extensions::all_available());
        checker.validate_entity(entity.entity()).map_err(|error| error.to_string())
    }

    /// The action and its groups, closed. Empty for an action that the schema does not know.
    pub(crate) fn action_family(&self, action: &EntityUID) -> &[Closed] {
        self.actions.get(action).map_or(&[], |action| action.family.as_slice())
    }

    /// Where an action of the schema stands, the action, and its family as decisions read it.
    pub(crate) fn family_at(&self, action: &EntityUID) -> Option<(usize, &Closed, &Entities)> {
        let (place, _, action) = self.actions.get_full(action)?;
        Some((place, action.family.first()?, action.entities.get_or_init(|| of_all(&action.family))))
    }

    /// What other programs can ask about.
    pub(crate) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| Catalog::of(self.schema()))
    }

    /// Whether the context of an action holds approvals, which nobody may claim.
    pub(crate) fn takes_approvals(&self, action: &EntityUid) -> bool {
        self.actions.get(action.as_ref()).is_some_and(|action| action.takes_approvals)
    }

    /// Whether an action was found to take a principal and a resource of these types already.
    pub(crate) fn is_known_to_take(&self, action: &EntityUid, one: &EntityType, other: &EntityType) -> bool {
        self.actions.get(action.as_ref()).is_some_and(|action| action.fitting.knows_ends(one, other))
    }

    /// Ids of enumerated types are known from the schema: they need no entity.
    pub(super) fn is_enumerated(&self, uid: &EntityUID) -> bool {
        self.vocabulary.enums.contains(uid.entity_type())
    }

    pub(super) fn compiled(&self, position: Position) -> Option<&CompiledPolicy> {
        self.policies.get(position as usize)
    }

    /// The policy of an id, compiled.
    pub(super) fn policy_of(&self, id: &str) -> Option<&CompiledPolicy> {
        self.position_of(id).and_then(|position| self.compiled(position))
    }

    /// Where it is.
    pub(super) fn position_of(&self, id: &str) -> Option<Position> {
        let found = self.policies.binary_search_by(|compiled| compiled.meta.id.as_str().cmp(id));
        found.ok().and_then(|position| Position::try_from(position).ok())
    }

    pub(super) fn because(&self, positions: &[Position]) -> Vec<Because> {
        positions
            .iter()
            .filter_map(|position| self.compiled(*position))
            .map(|compiled| Arc::clone(&compiled.meta))
            .collect()
    }

    pub(super) fn count_fault(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }
}

fn actions(vocabulary: &Vocabulary, policies: &[CompiledPolicy]) -> Actions {
    let by_action = ByAction::of(policies.iter().map(|compiled| &compiled.policy));
    let action = |(entity, declared): &(ast::Entity, Arc<Declared>)| {
        let (declared, index) = (Arc::clone(declared), Arc::new(index(&by_action.covering(entity), policies)));
        (entity.uid().clone(), Action { declared, index, looks: OnceLock::new() })
    };
    let mut actions: Actions = vocabulary.actions.iter().map(action).collect();
    actions.sort_unstable_keys();
    actions
}

fn index(covering: &[Position], policies: &[CompiledPolicy]) -> Index {
    let mut index = Index::default();
    for position in covering {
        if let Some(compiled) = policies.get(*position as usize) {
            index.insert(*position, &compiled.policy);
        }
    }
    index
}
