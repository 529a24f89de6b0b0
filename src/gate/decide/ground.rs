//! What a world is built on: everything that does not follow from the log, and so survives when a world is read again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::admit::limiter::Rates;
use crate::decide::entities::Entities;
use crate::declare::noun::Nouns;
use crate::state::vault::Vault;
use crate::write::build_cache::BuildCache;
use adapters::{Embedder, Systems};
use policy::Snapshot;
use store::company::Instance;
use types::egress::Egress;
use types::models::Catalog;

/// What there is outside of the company.
#[derive(Clone, Default)]
pub(crate) struct Outside {
    /// Where what is sent may go.
    pub egress: Arc<Egress>,
    /// The models that agents may ask.
    pub models: Arc<Catalog>,
    /// The systems that keep collections.
    pub systems: Arc<Systems>,
    /// Whoever makes vectors of texts.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// What a world is begun with.
pub(crate) struct Ground {
    pub policy: Arc<Snapshot>,
    /// The version under which the policies are in force.
    pub version: i64,
    pub instance: Arc<Instance>,
    pub dev_auth: bool,
    pub tools: Arc<BTreeSet<String>>,
    pub build_cache: Arc<BuildCache>,
    pub nouns: Nouns,
    pub rates: Arc<Rates>,
    pub vault: Arc<Vault>,
    pub outside: Outside,
    pub writes: Arc<AtomicBool>,
    pub entities: Arc<Entities>,
}
