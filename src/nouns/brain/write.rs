//! Writes one record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shown::{Shape, ShownRecord, shown_again};
use super::values::{WRITE, asks, asks_to_change};
use super::writing::{Way, Writing, record_one};
use super::{OneRecord, RECORD, found, is_kept_elsewhere, kept_here, known};
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, delete, get, patch, post, put};
use store::brain::Record;
use store::brain::events::{RecordDeleted, RecordWritten};
use store::content::events::ContentKept;
use types::collection::Collection;
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// Show one record.
pub enum ShowRecord {}

impl Query for ShowRecord {
    const SPEC: Spec = Spec {
        name: "record.read",
        doc: "Show one record, with the fields that the caller may read.",
        scope: Reach::READ,
        route: get("/brain/collections/{collection}/records/{id}").partial(),
        about: &[&RECORD],
        events: &[],
    };
    type Input = OneRecord;
    type Output = ShownRecord;

    fn target(input: &OneRecord, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known(&input.collection, read)?;
        Ok(read.record_target(&of, &shown(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneRecord, read: &Reader<'_>) -> Result<ShownRecord, Stop> {
        let of = known(&input.collection, read)?;
        Shape::whole(&of, read).record(shown(&of, &input.id, read)?, read)
    }

    fn is_elsewhere(input: &OneRecord, read: &Reader<'_>) -> bool {
        is_kept_elsewhere(&input.collection, read)
    }
}

/// Returns an existing record, wherever it is kept.
fn shown(of: &Collection, id: &str, read: &Reader<'_>) -> Result<Record, Stop> {
    match &of.spec.source {
        None => found(of, id, read),
        // For callers who may not know the collection, no external system is queried, and nothing is revealed.
        Some(_) if !read.sees(&read.collection_target(of.name())) => Err(Refusal::not_found().into()),
        Some(_) => Ok(read.record_elsewhere(of, id)?.ok_or_else(Refusal::not_found)?),
    }
}

/// A record to be written.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewRecord {
    /// The collection.
    pub collection: String,
    /// The record to change; by default the one with the same key, or a new one.
    pub id: Option<String>,
    /// The values, by field. In an existing record, only these fields change.
    #[schemars(extend("x-erasable" = true, "x-sets" = "fields"))]
    pub fields: Map<String, Value>,
    /// The version of the record that the change was made from; it must be the current one.
    pub version: Option<i64>,
}

/// Write a record.
pub enum Upsert {}

impl Change for Upsert {
    const SPEC: Spec = Spec {
        name: "record.write",
        doc: "Create a record, or write a new version of the one with the same key. The policies decide about the \
              record as it will be; for an existing record also about it as it is, by this operation and by \
              `record.change`.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/records").made_from("version"),
        about: &[&RECORD],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "writes a record of {collection}";
    type Input = NewRecord;
    type Output = ShownRecord;

    fn target(input: &NewRecord, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = kept_here(&input.collection, read)?;
        let next =
            Writing::by_key(&of, input.id.as_deref(), &input.fields, read).map(|writing| writing.next(&of, read));
        match next {
            Ok(next) => Ok(read.record_target(&of, &next.record)),
            // Problems with the values would reveal the collection's schema.
            Err(Stop::Refused(_)) if !read.sees(&read.collection_target(of.name())) => Err(Refusal::not_found().into()),
            Err(stop) => Err(stop),
        }
    }

    fn run(_: Permit<Self>, input: NewRecord, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        let of = known(&input.collection, draft.read())?;
        let change = Writing::by_key(&of, input.id.as_deref(), &input.fields, draft.read())?;
        carry_out(change, &of, Self::SPEC.name, draft)
    }

    fn shown_again(answer: Value, read: &Reader<'_>) -> Result<Value, Stop> {
        shown_again(answer, read)
    }
}

/// Another content of a record.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Fields {
    /// The collection.
    pub collection: String,
    /// The record.
    pub id: String,
    /// The values, by field.
    #[schemars(extend("x-erasable" = true))]
    pub fields: Map<String, Value>,
    /// The version of the record that the change was made from; it must be the current one.
    pub version: Option<i64>,
}

/// Returns an existing record as a target of the gate.
fn standing(collection: &str, id: &str, read: &Reader<'_>) -> Result<Target, Stop> {
    let of = kept_here(collection, read)?;
    Ok(read.record_target(&of, &found(&of, id, read)?))
}

fn change(input: &Fields, way: Way, operation: &str, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
    let of = known(&input.collection, draft.read())?;
    let before = found(&of, &input.id, draft.read())?;
    let change = Writing::to(&of, before, &input.fields, way, draft.read())?;
    carry_out(change, &of, operation, draft)
}

fn carry_out(change: Writing, of: &Collection, operation: &str, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
    let read = draft.read();
    if let Some(before) = &change.before {
        asks_to_change(of, before, draft)?;
    }
    let next = change.next(of, read);
    // The gate has decided this already, perhaps because it was approved.
    if operation != WRITE {
        asks(WRITE, of, &next.record, draft)?;
    }
    next.check_against_others(of, read)?;
    let shape = Shape::whole(of, read);
    let written = record_one(of, next, draft)?;
    Ok(shape.whole_record(written, draft.read()))
}

/// Replace the values of a record.
pub enum Put {}

impl Change for Put {
    const SPEC: Spec = Spec {
        name: "record.replace",
        doc: "Replace all values of a record; omitted fields are removed. Requires the version that the values were made \
              from. The policies also decide `record.change` and `record.write`.",
        scope: Reach::Full,
        route: put("/brain/collections/{collection}/records/{id}").made_from("version"),
        about: &[&RECORD],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "replaces the record {id} of {collection}";
    type Input = Fields;
    type Output = ShownRecord;

    fn target(input: &Fields, read: &Reader<'_>) -> Result<Target, Stop> {
        standing(&input.collection, &input.id, read)
    }

    fn run(_: Permit<Self>, input: Fields, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        // Without a version, concurrent changes by others would be lost.
        if input.version.is_none() {
            let message =
                "required to replace a record: the version that its values were made from, here or in If-Match";
            return Err(Refusal::field("version", message).into());
        }
        change(&input, Way::Whole, Self::SPEC.name, draft)
    }

    fn shown_again(answer: Value, read: &Reader<'_>) -> Result<Value, Stop> {
        shown_again(answer, read)
    }
}

/// Change some values of a record.
pub enum Patch {}

impl Change for Patch {
    const SPEC: Spec = Spec {
        name: "record.change",
        doc: "Update some values of a record; `null` removes one. The policies decide about the record as it is; \
              `record.write` about it as it is and as it will be.",
        scope: Reach::Full,
        route: patch("/brain/collections/{collection}/records/{id}").made_from("version"),
        about: &[&RECORD],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "changes the record {id} of {collection}";
    type Input = Fields;
    type Output = ShownRecord;

    fn target(input: &Fields, read: &Reader<'_>) -> Result<Target, Stop> {
        standing(&input.collection, &input.id, read)
    }

    fn run(_: Permit<Self>, input: Fields, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        change(&input, Way::Some, Self::SPEC.name, draft)
    }

    fn shown_again(answer: Value, read: &Reader<'_>) -> Result<Value, Stop> {
        shown_again(answer, read)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Deletion {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The record.
    #[arg(value_name = "RECORD")]
    pub id: String,
    /// The version of the record that the change was made from; it must be the current one.
    #[arg(skip)]
    pub version: Option<i64>,
}

/// Delete a record.
pub enum Delete {}

impl Change for Delete {
    const SPEC: Spec = Spec {
        name: "record.delete",
        doc: "Delete a record. Its history is kept, and a rollback restores it.",
        scope: Reach::Full,
        route: delete("/brain/collections/{collection}/records/{id}").made_from("version"),
        about: &[&RECORD],
        events: &[RecordDeleted::KIND],
    };
    const SAYS: &'static str = "deletes the record {id} of {collection}";
    type Input = Deletion;
    type Output = ShownRecord;

    fn target(input: &Deletion, read: &Reader<'_>) -> Result<Target, Stop> {
        standing(&input.collection, &input.id, read)
    }

    fn run(_: Permit<Self>, input: Deletion, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        let of = known(&input.collection, draft.read())?;
        let record = found(&of, &input.id, draft.read())?;
        let run = draft.read().caller().run.as_ref().map(|run| run.run.clone());
        let (id, version) = (Id::stored(&record.id), record.version + 1);
        draft.record(RecordDeleted { collection: of.name().to_owned(), id, version, run })?;
        Shape::whole(&of, draft.read()).record(record, draft.read())
    }

    fn shown_again(answer: Value, read: &Reader<'_>) -> Result<Value, Stop> {
        shown_again(answer, read)
    }
}
