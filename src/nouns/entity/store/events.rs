//! The events of stored entities.
//!
//! Always true: what names or describes somebody stands in content that can be erased; what cannot be erased names an entity
//! by a generated id alone.

use rusqlite::params;
use serde_json::{Map, Value};

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::Settles;
use crate::to_json;
use types::id::Id;

pub(crate) const ENTITY: Table = Table { name: "entity", key: "id" };

events! {
    /// Stored entities changed, this many.
    EntitiesChanged = "entities_changed" {
        kept: u64, removed: u64,
    } about [] => {
        says: "stored {kept#entity} for decisions and removed {removed}",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
    /// An entity of the company's own types was stored.
    EntityKept = "entity_kept" {
        id: Id, kind: String, name: String, properties: Map<String, Value>,
    } about [id] => {
        says: "stored `{kind}::{name}` for decisions",
        content: Content::ERASABLE.hiding(&["properties"]), tables: &[ENTITY], memory: Memory::Entities,
        settles: Settles::Nothing,
        fold: Some(kept), notify: Notify::Nobody, news: None,
    }
    /// A stored entity was removed.
    EntityRemoved = "entity_removed" {
        id: Id,
    } about [id] => {
        says: "removed an entity stored for decisions",
        content: Content::SHOWN, tables: &[ENTITY], memory: Memory::Entities, settles: Settles::Nothing,
        fold: Some(removed), notify: Notify::Nobody, news: None,
    }
}

fn kept(event: &EntityKept, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let EntityKept { id, kind, name, properties } = event;
    let sql = "INSERT OR REPLACE INTO entity (id, kind, name, properties, seq, kept_at) VALUES (?, ?, ?, ?, ?, ?)";
    let row = params![id.as_str(), kind, name, to_json(properties)?, moment.seq, moment.at.0];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(Touched::Entities)
}

fn removed(event: &EntityRemoved, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    moment.conn.prepare_cached("DELETE FROM entity WHERE id = ?")?.execute([event.id.as_str()])?;
    Ok(Touched::Entities)
}

/// Erases an entity as described by an event or an earlier one; a later description stays.
pub(crate) fn forgotten(moment: &Moment<'_>, id: &Id, seq: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM entity WHERE id = ? AND seq <= ?";
    moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), seq])?;
    Ok(())
}
