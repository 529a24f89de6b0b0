//! What is worked out once, kept for good, and the same for everybody: there are as many as the program has declarations.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

pub struct Known<K: 'static, V: 'static>(RwLock<BTreeMap<K, &'static V>>);

impl<K: Ord, V> Default for Known<K, V> {
    fn default() -> Known<K, V> {
        Known::new()
    }
}

impl<K: Ord, V> Known<K, V> {
    pub const fn new() -> Known<K, V> {
        Known(RwLock::new(BTreeMap::new()))
    }

    /// What belongs to a key, made when it is asked for first.
    pub fn get(&self, key: K, make: impl FnOnce() -> V) -> &'static V {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known;
        }
        let made: &'static V = Box::leak(Box::new(make()));
        self.0.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made)
    }
}
