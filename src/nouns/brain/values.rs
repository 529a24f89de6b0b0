//! Validates values to be written against the collection and other records.

use serde_json::{Map, Value};

use super::judged::{may_read, named, ruling};
use super::shown::part;
use gate::{Draft, NEW, Reader, also};
use store::brain::Record;
use store::content::events::ContentKept;
use types::collection::Collection;
use types::field::{FieldKind, Label};
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};

/// Parses an argument that is JSON.
pub fn json(text: &str) -> Result<Value, String> {
    types::json::read(text.as_bytes()).map_err(|error| format!("must be JSON: {error}"))
}

/// A record's values in two parts: those of its table, and personal data.
#[derive(Clone, Debug, Default)]
pub struct Parted {
    pub open: Map<String, Value>,
    pub personal: Map<String, Value>,
}

impl Parted {
    pub fn of(of: &Collection, fields: Map<String, Value>) -> Parted {
        let is_open = |name: &str| of.field(name).is_some_and(|field| field.label != Some(Label::Personal));
        let (open, personal) = fields.into_iter().partition(|(name, _)| is_open(name));
        Parted { open, personal }
    }
}

/// Returns a record as it would be.
pub fn would_be(before: Option<&Record>, open: &Map<String, Value>, read: &Reader<'_>) -> Record {
    let (me, now) = (read.caller().actor(), read.now());
    let before = before.cloned();
    let (id, version) = before.as_ref().map_or((NEW.to_owned(), 1), |record| (record.id.clone(), record.version + 1));
    let (created_by, created_at) = before.map_or((me.clone(), now), |record| (record.created_by, record.created_at));
    Record { id, version, fields: open.clone(), created_by, created_at, updated_by: me, updated_at: now }
}

/// Checks new references and uniqueness: actors and records newly named exist, and unique values and the key are not taken.
pub fn check_against_others(
    of: &Collection,
    record: &Record,
    before: &Map<String, Value>,
    read: &Reader<'_>,
) -> Result<(), Stop> {
    let mut problems = Vec::new();
    for (name, value) in record.fields.iter().filter(|(name, value)| before.get(*name) != Some(*value)) {
        let Some(field) = of.field(name) else { continue };
        let text = value.as_str().unwrap_or_default();
        let is_there = match field.kind {
            FieldKind::Actor | FieldKind::Team => text.parse::<ActorId>().is_ok_and(|id| read.knows(&id)),
            FieldKind::Ref => refers(field.to.as_deref().unwrap_or_default(), text, read)?,
            _ => true,
        };
        if !is_there {
            problems.push(format!("fields.{name}: there is no {text}"));
        }
    }
    if !problems.is_empty() {
        return Err(Refusal::invalid(problems).into());
    }
    for (name, field) in &of.spec.fields {
        let Some(value) = record.fields.get(name).filter(|_| field.unique) else { continue };
        if read.is_taken(of, name, value, &record.id)? {
            return Err(Refusal::conflict(format!("fields.{name}: another record has {value}")).into());
        }
    }
    let same = read.record_by_key(of, &record.fields)?.filter(|same| same.id != record.id);
    same.map_or(Ok(()), |_| {
        Err(Refusal::conflict(format!("another record has the same {}", of.spec.key.join(", "))).into())
    })
}

/// Checks whether a record exists that the caller may read.
fn refers(collection: &str, id: &str, read: &Reader<'_>) -> Result<bool, Stop> {
    let Some(of) = read.collection(collection) else { return Ok(false) };
    let record = read.record(&of, id)?;
    Ok(record.is_some_and(|record| may_read(&of, &record, read)))
}

/// Checks an additional operation on a record, besides what the gate has decided: each way of writing asks the same.
pub fn may(operation: &str, of: &Collection, record: &Record, read: &Reader<'_>) -> Result<(), Refusal> {
    also(operation, &ruling(operation, of, record, read))
}

/// Same for the single record that a call writes: if that needs approval, the call waits for it.
pub fn asks(operation: &str, of: &Collection, record: &Record, draft: &mut Draft<'_>) -> Result<(), Refusal> {
    draft.asks(operation, &draft.read().record_target(of, record), &named(of, record))
}

/// Checks whether an existing record may be changed as it is: by `record.write` as well as `record.change`.
pub fn asks_to_change(of: &Collection, record: &Record, draft: &mut Draft<'_>) -> Result<(), Refusal> {
    asks(CHANGE, of, record, draft)?;
    asks(WRITE, of, record, draft)
}

/// Decided on a record as it is and as it would be.
pub const WRITE: &str = "record.write";
/// Decided on an existing record as it is.
pub const CHANGE: &str = "record.change";

/// Records a version's personal data, apart from the version itself.
pub fn keep(id: &Id, version: i64, personal: Map<String, Value>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    if !personal.is_empty() {
        draft.record(ContentKept { id: id.clone(), part: part(version), kept: personal })?;
    }
    Ok(())
}
