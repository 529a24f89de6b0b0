//! The configured models, from variables or `OK_LLM_CONFIG`. Keys are read here, once, and disclosed to nobody.

use std::collections::BTreeMap;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::types::models::{Catalog, ProviderKind};

/// A provider's key. It has no `Debug`, so that it cannot end up in a message by accident.
#[derive(Clone)]
pub struct Key(pub(super) Zeroizing<String>);

impl Key {
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

/// The models, and the keys to ask them with.
#[derive(Clone, Default)]
pub struct Setup {
    pub catalog: Arc<Catalog>,
    /// By provider.
    pub(super) keys: BTreeMap<String, Key>,
}

/// What the usual variables hold.
#[derive(Default)]
pub struct Usual {
    pub keys: BTreeMap<ProviderKind, Zeroizing<String>>,
    /// Where Ollama is.
    pub ollama: Option<String>,
}

/// Looks up another variable.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<Zeroizing<String>>;

impl Setup {
    /// No models, and why.
    pub fn wrong(problem: String) -> Setup {
        let catalog = Arc::new(Catalog { problem: Some(problem), ..Catalog::default() });
        Setup { catalog, keys: BTreeMap::new() }
    }
}
