//! Reads knowledge for operations.

use super::Reader;
use crate::declare::target::{Target, Thing};
use store::knowledge::documents::{self, Document, Passage};
use store::knowledge::{self, Knowledge};
use store::search::Words;
use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

impl Reader<'_> {
    pub fn knowledge(&self, id: &str) -> Result<Option<Knowledge>, Fault> {
        Ok(knowledge::get(self.conn()?, id)?)
    }

    /// Returns accepted entries, newest first: those with any of these topics, or all.
    pub fn accepted_knowledge(&self, topics: &[String], limit: usize) -> Result<Vec<Knowledge>, Fault> {
        Ok(knowledge::accepted(self.conn()?, topics, limit)?)
    }

    /// Returns a document's metadata beyond its entry.
    pub fn document(&self, id: &str) -> Result<Option<Document>, Fault> {
        Ok(documents::get(self.conn()?, id)?)
    }

    /// Returns passages of these documents with any of the words.
    pub fn passages(&self, of: &[String], words: &Words, limit: usize) -> Result<Vec<Passage>, Fault> {
        Ok(documents::passages(self.conn()?, of, words, limit)?)
    }

    /// Counts a proposer's undecided entries, up to `most`.
    pub fn open_knowledge_of(&self, proposer: &ActorId, most: usize) -> Result<usize, Fault> {
        Ok(knowledge::open_of(self.conn()?, proposer, most)?)
    }

    /// Returns accepted entries past their expiry.
    pub fn overdue_knowledge(&self, now: Time, limit: usize) -> Result<Vec<Knowledge>, Fault> {
        Ok(knowledge::overdue(self.conn()?, now, limit)?)
    }

    /// Returns an entry as a target of the gate.
    pub fn knowledge_target(&self, entry: &Knowledge) -> Target {
        let thing = Thing::new("Knowledge", &entry.id).actor("proposer", &entry.proposer);
        let thing = thing.maybe("person", entry.person.as_ref()).maybe("team", entry.team.as_ref());
        let thing = thing.text("kind", entry.kind.name()).text("origin", entry.origin.name());
        thing.text("status", entry.status.name()).into()
    }
}
