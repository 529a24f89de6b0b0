//! Events of the company's own data.

use std::collections::BTreeMap;

use rusqlite::params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fold::{self, Remaking};
use super::{retention, table};
use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::Settles;
use crate::{search, to_json};
use types::brain::{FlagKind, Operation, ProposalStatus, Written};
use types::collection::Collection;
use types::id::{ActorId, Id};

const COLLECTION: Table = Table { name: "collection", key: "name" };
/// Also stands for the collections' own tables, which are derived from it.
pub const VERSION: Table = Table { name: "record_version", key: "collection || ' ' || id || ' ' || version" };
const FLAG: Table = Table { name: "record_flag", key: "id" };
const PROPOSAL: Table = Table { name: "schema_proposal", key: "id" };

/// A record as it was written, without what is personal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    pub id: Id,
    pub version: i64,
    pub fields: Map<String, Value>,
}

events! {
    /// Somebody proposed to change the schema of a collection.
    SchemaProposed = "schema_proposed" {
        id: Id, collection: String, ops: Vec<Operation>, base: i64,
        reason: String, proposer: ActorId,
    } about [id, proposer] => {
        says: "proposed to change the schema of `{collection}`[: «{reason}»]",
        content: Content::SHOWN, tables: &[PROPOSAL], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(proposed), notify: Notify::Nobody, news: None,
    }
    /// A schema proposal was applied: a collection was created, changed or, without a definition, retired.
    SchemaApplied = "schema_applied" {
        id: Id, collection: String, proposer: ActorId, version: i64, renamed: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")] merged: BTreeMap<String, String>,
        // What the records got with new fields.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")] #[schemars(extend("x-names" = "json"))]
        filled: BTreeMap<String, serde_json::Value>,
        definition: Option<Collection>,
    } about [id, proposer] => {
        says: "changed the schema of `{collection}`",
        content: Content::SHOWN, tables: &[COLLECTION, PROPOSAL, VERSION, search::TABLE], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(applied), notify: Notify::Nobody, news: None,
    }
    /// A schema proposal was rejected.
    SchemaRejected = "schema_rejected" {
        id: Id, collection: String, proposer: ActorId, reason: String,
    } about [id, proposer] => {
        says: "rejected a change of the schema of `{collection}`[: «{reason}»]",
        content: Content::SHOWN, tables: &[PROPOSAL], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| decided(moment, &event.id, ProposalStatus::Rejected)),
        notify: Notify::Nobody, news: None,
    }
    /// Records were written: new ones, or new versions.
    RecordWritten = "record_written" {
        collection: String, rows: Vec<Row>, run: Option<Id>,
    } about [run] => {
        says: "wrote {count#record}[ `{rows.0.id}`{count=1?| and others}] of `{collection}`",
        content: Content::SHOWN.showing("rows", &["id", "version"]), tables: &[VERSION, search::TABLE], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(written), notify: Notify::Nobody, news: None,
    }
    /// A record was deleted. Its history is kept.
    RecordDeleted = "record_deleted" {
        collection: String, id: Id, version: i64, run: Option<Id>,
    } about [id, run] => {
        says: "deleted `{id}` of `{collection}`",
        content: Content::SHOWN, tables: &[VERSION, search::TABLE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(deleted), notify: Notify::Nobody, news: None,
    }
    /// Earlier versions of records were removed, as the collection's `retention` says.
    HistoryRemoved = "history_removed" {
        collection: String,
        /// Each record with the version that stays: those before it are gone.
        rows: Vec<(Id, i64)>,
    } about [] => {
        says: "removed earlier versions of records of {collection}",
        content: Content::SHOWN.hiding(&["rows"]), tables: &[VERSION], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(history_removed), notify: Notify::Nobody, news: None,
    }
    /// An earlier version of a record was restored as a new version.
    RecordRolledBack = "record_rolled_back" {
        collection: String, id: Id, version: i64, to_version: i64, fields: Map<String, Value>, run: Option<Id>,
        reason: String,
    } about [id, run] => {
        says: "rolled `{id}` of `{collection}` back[: «{reason}»]",
        content: Content::SHOWN.hiding(&["fields"]), tables: &[VERSION, search::TABLE], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(rolled_back), notify: Notify::Nobody, news: None,
    }
    /// Somebody flagged a record.
    RecordFlagged = "record_flagged" {
        id: Id, collection: String, record: Id, kind: FlagKind,
        note: String,
    } about [id, record] => {
        says: "flagged `{record}` of `{collection}`[: «{note}»]",
        content: Content::SHOWN, tables: &[FLAG], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(flagged), notify: Notify::Nobody, news: None,
    }
}

fn proposed(event: &SchemaProposed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let SchemaProposed { id, collection, ops, base, reason, proposer } = event;
    let sql = "INSERT INTO schema_proposal (id, collection, ops, base, reason, proposer, status, created_at) \
               VALUES (?, ?, ?, ?, ?, ?, 'proposed', ?)";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        collection,
        to_json(ops)?,
        base,
        reason,
        proposer.as_str(),
        moment.at.0
    ])?;
    Ok(Touched::Nothing)
}

fn decided(moment: &Moment<'_>, id: &Id, status: ProposalStatus) -> rusqlite::Result<Touched> {
    let sql = "UPDATE schema_proposal SET status = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![status.name(), id.as_str()])?;
    Ok(Touched::Nothing)
}

fn applied(event: &SchemaApplied, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let SchemaApplied { collection, version, definition, renamed, merged, filled, .. } = event;
    let (name, definition) = (collection, definition.as_ref());
    let remaking = Remaking { name, version: *version, definition, renamed, merged, filled };
    fold::remade(&remaking, moment)?;
    decided(moment, &event.id, ProposalStatus::Applied)
}

fn flagged(event: &RecordFlagged, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let RecordFlagged { id, collection, record, kind, note } = event;
    let sql =
        "INSERT INTO record_flag (id, collection, record, kind, note, by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        collection,
        record.as_str(),
        kind.name(),
        note,
        moment.by.as_str(),
        moment.at.0
    ])?;
    Ok(Touched::Nothing)
}

fn written(event: &RecordWritten, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let of = fold::known(moment, &event.collection)?;
    for row in &event.rows {
        fold::put(moment, &of, &row.id, row.version, &row.fields)?;
        let at = (event.collection.as_str(), &row.id, row.version);
        fold::add_version(moment, at, Written::Written, &row.fields, event.run.as_ref())?;
    }
    Ok(Touched::Nothing)
}

fn rolled_back(event: &RecordRolledBack, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let of = fold::known(moment, &event.collection)?;
    fold::put(moment, &of, &event.id, event.version, &event.fields)?;
    let at = (event.collection.as_str(), &event.id, event.version);
    fold::add_version(moment, at, Written::RolledBack, &event.fields, event.run.as_ref())?;
    Ok(Touched::Nothing)
}

fn deleted(event: &RecordDeleted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = format!("DELETE FROM {} WHERE id = ?", table::name(&event.collection));
    moment.conn.prepare_cached(&sql)?.execute([event.id.as_str()])?;
    search::remove(moment.conn, search::Thing { place: &event.collection, id: event.id.as_str() })?;
    let at = (event.collection.as_str(), &event.id, event.version);
    fold::add_version(moment, at, Written::Deleted, &Map::new(), event.run.as_ref())?;
    Ok(Touched::Nothing)
}

fn history_removed(event: &HistoryRemoved, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    event.rows.iter().try_for_each(|(id, from)| retention::remove(moment.conn, &event.collection, id, *from))?;
    Ok(Touched::Nothing)
}
