//! Entities that the company keeps for decisions, as an operation may read them.

use super::Reader;
use crate::store::Position;
use crate::store::entities::{self as store, Entity};
use crate::types::refusal::Fault;

impl Reader<'_> {
    pub fn keeps_anything(&self) -> bool {
        !self.world.kept.is_empty()
    }

    /// Whether there are any of a type.
    pub fn keeps_any(&self, kind: &str) -> bool {
        self.world.kept.contains(kind)
    }

    /// One of a type; nothing is looked for where none of the type is kept.
    pub fn entity(&self, kind: &str, name: &str) -> Result<Option<Entity>, Fault> {
        if !self.keeps_any(kind) {
            return Ok(None);
        }
        Ok(store::named(self.conn()?, kind, name)?)
    }

    /// Those of a type after a name, by name.
    pub fn entities_of(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<Entity>, Fault> {
        if !self.keeps_any(kind) {
            return Ok(Vec::new());
        }
        Ok(store::of_kind(self.conn()?, kind, after, limit)?)
    }

    /// All, or those of a type, newest first.
    pub fn entities_after(&self, kind: Option<&str>, from: &Position, limit: usize) -> Result<Vec<Entity>, Fault> {
        Ok(store::after(self.conn()?, kind, from, limit)?)
    }

    pub fn count_entities(&self) -> Result<i64, Fault> {
        Ok(store::count(self.conn()?)?)
    }
}
