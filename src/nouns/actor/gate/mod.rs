//! Reads actors.

use super::Reader;
use store::Position;
use store::actors::{self, Actor};
use types::refusal::Fault;

impl Reader<'_> {
    pub fn actors_after(&self, from: &Position, limit: usize) -> Result<Vec<Actor>, Fault> {
        Ok(actors::LIST.after(self.conn()?, from, limit)?)
    }
}
