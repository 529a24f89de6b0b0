//! Writing one record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::Withheld;
use super::shown::{Shape, ShownRecord, personal};
use super::values::{Parted, WRITE, check_against_others, keep, may, may_change, row, would_be};
use super::{OneRecord, RECORD, at_version, found, known};
use crate::gate::{Change, Draft, Permit, Query, Reader, Spec, Target, delete, get, patch, post, put};
use crate::store::brain::Record;
use crate::store::brain::events::{RecordDeleted, RecordWritten};
use crate::store::content::events::ContentKept;
use crate::types::collection::Collection;
use crate::types::id::{Id, Kind};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;

/// Show one record.
pub enum ShowRecord {}

impl Query for ShowRecord {
    const SPEC: Spec = Spec {
        name: "record.read",
        doc: "Show one record, with the fields that the caller may read.",
        scope: Reach::READ,
        route: get("/brain/collections/{collection}/records/{id}"),
        about: &[&RECORD],
        events: &[],
    };
    type Input = OneRecord;
    type Output = ShownRecord;

    fn target(input: &OneRecord, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known(&input.collection, read)?;
        Ok(read.record_target(&of, &found(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneRecord, read: &Reader<'_>) -> Result<ShownRecord, Stop> {
        let of = known(&input.collection, read)?;
        Shape::whole(&of, read).record(found(&of, &input.id, read)?, read)
    }
}

/// A record to be written.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewRecord {
    /// The collection.
    pub collection: String,
    /// The record that is changed; otherwise the one with the same key, or a new one.
    pub id: Option<String>,
    /// Its values by field. Of a record that is there, these are changed and the others stay.
    #[schemars(extend("x-erasable" = true))]
    pub fields: Map<String, Value>,
    /// The version of the record that the change was made from; another one by now is a conflict.
    pub version: Option<i64>,
}

/// What one change makes of a record.
struct Writing {
    before: Option<Record>,
    fields: Map<String, Value>,
}

/// How the given fields meet those that are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// They are all that there is.
    Whole,
    /// The others stay; `null` takes one away.
    Some,
}

impl Writing {
    /// Upsert: the record with this key is changed, or there is a new one.
    fn by_key(of: &Collection, input: &NewRecord, read: &Reader<'_>) -> Result<Writing, Stop> {
        let given = &input.fields;
        if let Some(id) = &input.id {
            return Writing::to(of, found(of, id, read)?, given, Way::Some, read);
        }
        let has_key = !of.spec.key.is_empty() && of.spec.key.iter().all(|name| given.contains_key(name));
        let before = if has_key { read.record_by_key(of, &in_form(of, given))? } else { None };
        match before {
            Some(record) => Writing::to(of, record, given, Way::Some, read),
            None => Ok(Writing { before: None, fields: of.filled(given).map_err(Refusal::invalid)? }),
        }
    }

    fn to(
        of: &Collection,
        before: Record,
        given: &Map<String, Value>,
        way: Way,
        read: &Reader<'_>,
    ) -> Result<Writing, Stop> {
        let fields = match way {
            Way::Whole => {
                // What they may not read they have not taken away.
                let withheld = Withheld::of(of, read);
                let mut all = whole(of, &before, read)?;
                all.retain(|name, _| withheld.is(of, name));
                all.extend(given.clone());
                of.checked(&all)
            }
            Way::Some => {
                let mut all = whole(of, &before, read)?;
                all.extend(given.clone());
                of.checked(&all)
            }
        };
        Ok(Writing { fields: fields.map_err(Refusal::invalid)?, before: Some(before) })
    }

    /// What `record.write` is asked about: the record as it would be. Whoever may not see it as it is knows of none.
    fn target(&self, of: &Collection, read: &Reader<'_>) -> Result<Target, Stop> {
        if let Some(before) = &self.before
            && !read.sees(&read.record_target(of, before))
        {
            return Err(Refusal::not_found().into());
        }
        let open = Parted::of(of, self.fields.clone()).open;
        Ok(read.record_target(of, &would_be(self.before.as_ref(), &open, read)))
    }

    fn carry_out(
        self,
        of: &Collection,
        (operation, made_from): (&str, Option<i64>),
        draft: &mut Draft<'_>,
    ) -> Result<ShownRecord, Stop> {
        let read = draft.read();
        if let Some(before) = &self.before {
            at_version(before, made_from)?;
            may_change(&read.record_target(of, before), read)?;
        }
        let Parted { open, personal } = Parted::of(of, self.fields);
        let record = would_be(self.before.as_ref(), &open, read);
        // The gate has asked that already, and what it found may be that it was approved.
        if operation != WRITE {
            may(WRITE, &read.record_target(of, &record), read)?;
        }
        let was = self.before.as_ref().map(|before| before.fields.clone()).unwrap_or_default();
        check_against_others(of, &record, &was, read)?;
        let id = if self.before.is_some() { Id::stored(&record.id) } else { draft.new_id(Kind::Record) };
        let record = Record { id: id.to_string(), ..record };
        let run = draft.read().caller().run.as_ref().map(|run| run.run.clone());
        draft.record(RecordWritten { collection: of.name().to_owned(), rows: vec![row(&record)], run })?;
        keep(&id, record.version, personal.clone(), draft)?;
        let mut shown = Shape::whole(of, draft.read()).record(record, draft.read())?;
        shown.fields.extend(Shape::whole(of, draft.read()).fields(personal, draft.read()));
        shown.fields.sort_keys();
        Ok(shown)
    }
}

/// All values of a record.
fn whole(of: &Collection, record: &Record, read: &Reader<'_>) -> Result<Map<String, Value>, Stop> {
    let mut all = record.fields.clone();
    all.extend(personal(of, &record.id, record.version, read)?);
    Ok(all)
}

/// The values in the form in which they are kept, as far as they fit.
fn in_form(of: &Collection, given: &Map<String, Value>) -> Map<String, Value> {
    given.iter().filter_map(|(name, value)| Some((name.clone(), of.field(name)?.value(value).ok()?))).collect()
}

/// Write a record.
pub enum Upsert {}

impl Change for Upsert {
    const SPEC: Spec = Spec {
        name: "record.write",
        doc: "Write a record: a new one, or a new version of the one with the same key. The policies are asked about the record as it \
              would be; of one that is there, also as it is, about this and about `record.change`.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/records").made_from("version"),
        about: &[&RECORD],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "writes a record of {collection}";
    type Input = NewRecord;
    type Output = ShownRecord;

    fn target(input: &NewRecord, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known(&input.collection, read)?;
        Writing::by_key(&of, input, read)?.target(&of, read)
    }

    fn run(_: Permit<Self>, input: NewRecord, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        let of = known(&input.collection, draft.read())?;
        let change = Writing::by_key(&of, &input, draft.read())?;
        if change.before.is_none() && input.version.is_some_and(|version| version != 0) {
            return Err(Refusal::conflict("version: there is no such record").into());
        }
        change.carry_out(&of, (Self::SPEC.name, input.version), draft)
    }
}

/// Another content of a record.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Fields {
    /// The collection.
    pub collection: String,
    /// The record.
    pub id: String,
    /// Its values by field.
    #[schemars(extend("x-erasable" = true))]
    pub fields: Map<String, Value>,
    /// The version of the record that the change was made from; another one by now is a conflict.
    pub version: Option<i64>,
}

fn changed(input: &Fields, way: Way, read: &Reader<'_>) -> Result<(std::sync::Arc<Collection>, Writing), Stop> {
    let of = known(&input.collection, read)?;
    let before = found(&of, &input.id, read)?;
    let change = Writing::to(&of, before, &input.fields, way, read)?;
    Ok((of, change))
}

/// Replace the values of a record.
pub enum Put {}

impl Change for Put {
    const SPEC: Spec = Spec {
        name: "record.replace",
        doc: "Replace all values of a record; what is not given is gone. The policies are asked about `record.change` and \
              `record.write` too.",
        scope: Reach::Full,
        route: put("/brain/collections/{collection}/records/{id}").made_from("version"),
        about: &[&RECORD],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "replaces the record {id} of {collection}";
    type Input = Fields;
    type Output = ShownRecord;

    fn target(input: &Fields, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known(&input.collection, read)?;
        Ok(read.record_target(&of, &found(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Fields, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        let (of, change) = changed(&input, Way::Whole, draft.read())?;
        change.carry_out(&of, (Self::SPEC.name, input.version), draft)
    }
}

/// Change some values of a record.
pub enum Patch {}

impl Change for Patch {
    const SPEC: Spec = Spec {
        name: "record.change",
        doc: "Change some values of a record; `null` takes one away. The policies are asked about the record as it is, and about \
              `record.write` as it is and as it would be.",
        scope: Reach::Full,
        route: patch("/brain/collections/{collection}/records/{id}").made_from("version"),
        about: &[&RECORD],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "changes the record {id} of {collection}";
    type Input = Fields;
    type Output = ShownRecord;

    fn target(input: &Fields, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known(&input.collection, read)?;
        Ok(read.record_target(&of, &found(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Fields, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        let (of, change) = changed(&input, Way::Some, draft.read())?;
        change.carry_out(&of, (Self::SPEC.name, input.version), draft)
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
    /// The version of the record that the change was made from; another one by now is a conflict.
    #[arg(skip)]
    pub version: Option<i64>,
}

/// Delete a record.
pub enum Delete {}

impl Change for Delete {
    const SPEC: Spec = Spec {
        name: "record.delete",
        doc: "Delete a record. Its history stays, and it can be rolled back.",
        scope: Reach::Full,
        route: delete("/brain/collections/{collection}/records/{id}").made_from("version"),
        about: &[&RECORD],
        events: &[RecordDeleted::KIND],
    };
    const SAYS: &'static str = "deletes the record {id} of {collection}";
    type Input = Deletion;
    type Output = ShownRecord;

    fn target(input: &Deletion, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = known(&input.collection, read)?;
        Ok(read.record_target(&of, &found(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Deletion, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        let of = known(&input.collection, draft.read())?;
        let record = found(&of, &input.id, draft.read())?;
        at_version(&record, input.version)?;
        let run = draft.read().caller().run.as_ref().map(|run| run.run.clone());
        let (id, version) = (Id::stored(&record.id), record.version + 1);
        draft.record(RecordDeleted { collection: of.name().to_owned(), id, version, run })?;
        Shape::whole(&of, draft.read()).record(record, draft.read())
    }
}
