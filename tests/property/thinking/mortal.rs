//! A server that dies between two records.

use std::sync::{Arc, Mutex};

use ok::log::head::Tip;
use ok::log::journal::{Batch, InFile, Journal, NotCommitted, Passage, Since};
use ok::types::refusal::Fault;
use rusqlite::Connection;
use tokio::sync::Notify;

/// The log of a server that records so much more, and then nothing.
pub struct Mortal {
    left: Mutex<Option<u32>>,
    dies: Arc<Notify>,
}

impl Mortal {
    pub fn new(dies: Arc<Notify>) -> Mortal {
        Mortal { left: Mutex::new(None), dies }
    }

    /// How many batches are recorded yet; none for a server that does not die.
    pub fn dies_after(&self, batches: Option<u32>) {
        *self.left.lock().unwrap() = batches;
    }
}

impl Journal for Mortal {
    fn is_shared(&self) -> bool {
        false
    }

    fn tip(&self, file: &Connection) -> Result<Option<Tip>, Fault> {
        InFile.tip(file)
    }

    fn read(&self, file: &Connection, since: Since, most: usize) -> Result<Passage, Fault> {
        InFile.read(file, since, most)
    }

    fn commit(&self, batch: &Batch<'_>) -> Result<(), NotCommitted> {
        match self.left.lock().unwrap().as_mut() {
            Some(0) => {
                self.dies.notify_one();
                return Err(NotCommitted::Unavailable(Fault::Broken("it is dead".into())));
            }
            Some(left) => *left -= 1,
            None => {}
        }
        InFile.commit(batch)
    }
}
