//! A cache of what takes long to build, above all compiled policies. It is built before a change's turn, when it delays
//! nobody, and kept here for the writer. Everything in it can be rebuilt; nothing is true merely because it is here.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use policy::{Bundle, Finding, Snapshot, kinds};

/// Things that are kept; the oldest goes first.
const MOST: usize = 12;
/// Bytes of the texts that kept things were made of: compiled, policies take many times as much. The newest two are always
/// kept: what is compared, and what with.
const MOST_BYTES: usize = 3 << 20;
const ALWAYS: usize = 2;

type Made = Arc<dyn Any + Send + Sync>;

/// Built things, each under a key that states everything it was built from.
pub struct BuildCache {
    /// The product's Cedar schema.
    schema: String,
    made: Mutex<VecDeque<Entry>>,
}

struct Entry {
    key: String,
    /// Of the text that it was made of, where that is much.
    bytes: usize,
    thing: Made,
}

impl BuildCache {
    pub fn new(schema: String) -> BuildCache {
        BuildCache { schema, made: Mutex::default() }
    }

    /// Begins with what was compiled for another company by the same schema.
    pub fn with(self, compiled: &[Arc<Snapshot>]) -> BuildCache {
        for snapshot in compiled {
            self.keep(key_of(snapshot.hash()), 0, Arc::new(snapshot.again()));
        }
        self
    }

    /// The product's Cedar schema as a bundle is checked against it: with the bundle's kinds of approval.
    pub fn schema(&self, bundle: &Bundle) -> String {
        kinds::schema_for(&self.schema, bundle)
    }

    /// The bundle, compiled.
    pub fn snapshot(&self, bundle: &Bundle) -> Result<Arc<Snapshot>, Vec<Finding>> {
        let key = key_of(bundle.hash().as_str());
        if let Some(found) = self.get(&key) {
            return Ok(found);
        }
        let made = Arc::new(Snapshot::load(&self.schema, bundle)?);
        self.keep(key, bundle.files.values().map(String::len).sum(), made.clone());
        Ok(made)
    }

    /// The compiled bundle of this hash, if it is here.
    pub fn compiled(&self, hash: &str) -> Option<Arc<Snapshot>> {
        self.get(&key_of(hash))
    }

    /// Returns what is stored under the key, or builds and stores it.
    pub fn make<T: Any + Send + Sync, E>(&self, key: &str, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        if let Some(found) = self.get(key) {
            return Ok(found);
        }
        Ok(self.put(key, make()?))
    }

    /// Stores a thing under the key, and replaces what was there.
    pub fn put<T: Any + Send + Sync>(&self, key: &str, thing: T) -> Arc<T> {
        let fresh = Arc::new(thing);
        self.keep(key.to_owned(), 0, fresh.clone());
        fresh
    }

    fn keep(&self, key: String, bytes: usize, thing: Made) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|kept| kept.key != key);
        made.push_back(Entry { key, bytes, thing });
        let is_much = |made: &VecDeque<Entry>| made.iter().map(|kept| kept.bytes).sum::<usize>() > MOST_BYTES;
        while made.len() > MOST || (made.len() > ALWAYS && is_much(&made)) {
            made.pop_front();
        }
    }

    /// What stands under the key.
    pub fn get<T: Any + Send + Sync>(&self, key: &str) -> Option<Arc<T>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made.iter().find(|kept| kept.key == key).map(|kept| Arc::clone(&kept.thing));
        found.and_then(|made| made.downcast().ok())
    }
}

fn key_of(hash: &str) -> String {
    format!("snapshot {hash}")
}
