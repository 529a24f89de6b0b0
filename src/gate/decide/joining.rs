//! Who joins: how an agent was defined, and what would hold of somebody who is not there yet.

use crate::past::moment::AsOf;
use crate::reader::Reader;
use store::actors::{self, Actor};
use types::id::ActorId;
use types::refusal::Fault;

impl Reader<'_> {
    /// What a hired agent was hired by.
    pub fn definition(&self, agent: &ActorId) -> Result<Option<serde_json::Value>, Fault> {
        Ok(actors::definition(self.conn()?, agent)?)
    }

    /// The company with these actors in it, in this order: teams before those who are in them.
    pub fn supposing<'a>(&self, actors: impl IntoIterator<Item = &'a Actor>) -> AsOf {
        let mut world = self.world().clone();
        actors.into_iter().for_each(|actor| world.put(actor.clone()));
        AsOf { world, at: self.now(), seq: i64::MAX }
    }
}
