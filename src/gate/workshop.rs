//! What takes long to make is made before a change's turn, where it delays nobody, and kept here for the writer: compiled
//! policies above all. Everything in it can be made again; nothing is true because it stands here.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::policy::{Bundle, Finding, Snapshot, kinds};

/// Things that are kept; the oldest goes first. A compiled bundle of 10,000 policies is the largest of them.
const MOST: usize = 12;

type Made = Arc<dyn Any + Send + Sync>;

/// Things by a key that says everything that they were made of.
pub struct Workshop {
    /// The product's Cedar schema.
    schema: String,
    made: Mutex<VecDeque<(String, Made)>>,
}

impl Workshop {
    pub fn new(schema: String) -> Workshop {
        Workshop { schema, made: Mutex::default() }
    }

    /// The product's Cedar schema as a bundle is checked against it: with the bundle's kinds of approval.
    pub fn schema(&self, bundle: &Bundle) -> String {
        kinds::schema_for(&self.schema, bundle)
    }

    /// The bundle, compiled.
    pub fn snapshot(&self, bundle: &Bundle) -> Result<Arc<Snapshot>, Vec<Finding>> {
        self.make(&format!("snapshot {}", bundle.hash()), || Snapshot::load(&self.schema, bundle))
    }

    /// The compiled bundle of this hash, if it is here.
    pub fn compiled(&self, hash: &str) -> Option<Arc<Snapshot>> {
        self.get(&format!("snapshot {hash}"))
    }

    /// What stands under the key, or is made now.
    pub fn make<T: Any + Send + Sync, E>(&self, key: &str, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        if let Some(found) = self.get(key) {
            return Ok(found);
        }
        Ok(self.put(key, make()?))
    }

    /// Puts a thing under the key, in place of what stands there.
    pub fn put<T: Any + Send + Sync>(&self, key: &str, thing: T) -> Arc<T> {
        let fresh = Arc::new(thing);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(known, _)| known != key);
        made.push_back((key.to_owned(), fresh.clone()));
        if made.len() > MOST {
            made.pop_front();
        }
        fresh
    }

    /// What stands under the key.
    pub fn get<T: Any + Send + Sync>(&self, key: &str) -> Option<Arc<T>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made.iter().find(|(known, _)| known == key).map(|(_, made)| Arc::clone(made));
        found.and_then(|made| made.downcast().ok())
    }
}
