//! Reads stored entities.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rusqlite::Connection;

use super::Reader;
use crate::past::moment::AsOf;
use crate::past::recorded::event_of;
use log::read::{self, Filter, Order};
use store::Position;
use store::entities::events::{EntityKept, EntityRemoved};
use store::entities::{self as table, Entity};
use types::refusal::Fault;

impl Reader<'_> {
    pub fn keeps_anything(&self) -> bool {
        !self.world.kept.is_empty()
    }

    /// Checks whether any entity of a type is stored.
    pub fn keeps_any(&self, kind: &str) -> bool {
        self.world.kept.contains(kind)
    }

    /// Returns an entity; without a query if none of its type is stored.
    pub fn entity(&self, kind: &str, name: &str) -> Result<Option<Entity>, Fault> {
        if !self.keeps_any(kind) {
            return Ok(None);
        }
        Ok(table::named(self.conn()?, kind, name)?)
    }

    /// Returns entities of a type after a name, by name.
    pub fn entities_of(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<Entity>, Fault> {
        if !self.keeps_any(kind) {
            return Ok(Vec::new());
        }
        Ok(table::of_kind(self.conn()?, kind, after, limit)?)
    }

    /// Returns entities of all types or one, newest first.
    pub fn entities_after(&self, kind: Option<&str>, from: &Position, limit: usize) -> Result<Vec<Entity>, Fault> {
        Ok(table::after(self.conn()?, kind, from, limit)?)
    }

    pub fn count_entities(&self) -> Result<i64, Fault> {
        Ok(table::count(self.conn()?)?)
    }

    /// Returns the entities stored at a past moment. Takes time in proportion to all that was stored until then.
    pub fn entities_then(&self, past: &AsOf) -> Result<EntitiesThen<'_>, Fault> {
        EntitiesThen::after(past.seq, self.conn()?)
    }
}

/// Entities as stored at a past moment, by their events; one whose event has been erased since is missing.
pub struct EntitiesThen<'a> {
    conn: &'a Connection,
    /// Type and name, with the event that described the entity.
    seqs: BTreeMap<(String, String), i64>,
}

impl<'a> EntitiesThen<'a> {
    fn after(last: i64, conn: &'a Connection) -> Result<EntitiesThen<'a>, Fault> {
        let (mut seqs, mut names) = (BTreeMap::new(), BTreeMap::new());
        let filter = Filter { kinds: vec![EntityKept::KIND.name, EntityRemoved::KIND.name], ..Filter::default() };
        read::scan(conn, Order::After(0), &filter, &mut |logged| {
            if logged.seq > last {
                return Ok(ControlFlow::Break(()));
            }
            let (seq, refs) = (logged.seq, logged.refs.clone());
            match event_of(logged)?.and_then(|(_, event)| event.get::<EntityKept>().cloned()) {
                Some(kept) => {
                    let name = (kept.kind, kept.name);
                    seqs.insert(name.clone(), seq);
                    names.insert(kept.id.as_str().to_owned(), name);
                }
                // Removed, or erased together with earlier descriptions.
                None => refs.iter().filter_map(|id| names.remove(id)).for_each(|name| {
                    seqs.remove(&name);
                }),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(EntitiesThen { conn, seqs })
    }

    pub fn keeps_anything(&self) -> bool {
        !self.seqs.is_empty()
    }

    pub fn keeps_any(&self, kind: &str) -> bool {
        let from = (kind.to_owned(), String::new());
        self.seqs.range(from..).next().is_some_and(|((found, _), _)| found == kind)
    }

    pub fn entity(&self, kind: &str, name: &str) -> Result<Option<Entity>, Fault> {
        let Some(seq) = self.seqs.get(&(kind.to_owned(), name.to_owned())) else { return Ok(None) };
        let logged = read::one(self.conn, *seq)?;
        let kept_at = logged.at;
        let event = event_of(logged)?.and_then(|(_, event)| event.get::<EntityKept>().cloned());
        Ok(event.map(|EntityKept { id, kind, name, properties }| {
            let id = id.as_str().to_owned();
            Entity { id, kind, name, properties, seq: *seq, kept_at }
        }))
    }
}
