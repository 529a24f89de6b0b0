//! Writing many records at once: all of them, or none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::values_of;
use super::values::{CHANGE, Parted, WRITE, check_against_others, keep, may, row, would_be};
use super::{COLLECTION, known};
use crate::gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use crate::store::brain::Record;
use crate::store::brain::events::RecordWritten;
use crate::store::content::events::ContentKept;
use crate::types::collection::Collection;
use crate::types::condition::Condition;
use crate::types::id::{Id, Kind};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;

/// The most records of one call.
const MOST: usize = 5_000;
/// The most problems that one answer names.
const MOST_TOLD: usize = 20;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewRecords {
    /// The collection.
    pub collection: String,
    /// The values of each, by field; 1 to 5000. Where a record has the same key, these of its fields are changed.
    #[schemars(extend("x-erasable" = true))]
    pub records: Vec<Map<String, Value>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    pub collection: String,
    pub created: u64,
    pub changed: u64,
}

/// Write many records.
pub enum Import {}

impl Change for Import {
    const SPEC: Spec = Spec {
        name: "record.import",
        doc: "Write many records in one transaction: all of them, or none. The policies are asked about each as \
              when it is written alone.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/import").large().slow(),
        about: &[&COLLECTION],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "writes records of {collection}";
    type Input = NewRecords;
    type Output = Imported;

    fn target(input: &NewRecords, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: NewRecords, draft: &mut Draft<'_>) -> Result<Imported, Stop> {
        let of = known(&input.collection, draft.read())?;
        if !(1..=MOST).contains(&input.records.len()) {
            return Err(Refusal::field("records", format!("must be 1 to {MOST}, not {}", input.records.len())).into());
        }
        let rows = |operation| draft.read().rows(operation, &of);
        let mut batch = Batch { of: &of, written: rows(WRITE), changed: rows(CHANGE), keys: BTreeMap::new() };
        let (mut written, mut problems) = (Vec::new(), Vec::new());
        for (number, fields) in input.records.iter().enumerate() {
            match batch.one(number, fields, draft.read()) {
                Ok(one) => written.push(one),
                Err(Stop::Refused(refusal)) => problems.extend(told(number, &refusal)),
                Err(stop) => return Err(stop),
            }
            if problems.len() >= MOST_TOLD {
                break;
            }
        }
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        record(&of, written, draft)
    }
}

/// What is wrong with one of them, with its place.
fn told(number: usize, refusal: &Refusal) -> Vec<String> {
    let at = |what: &str| format!("records[{number}]: {what}");
    match refusal.problems.as_slice() {
        [] => vec![at(&refusal.message)],
        all => all.iter().map(|what| at(what)).collect(),
    }
}

/// One record of a batch: what was there, and what will be.
struct Row {
    is_new: bool,
    record: Record,
    personal: Map<String, Value>,
}

struct Batch<'a> {
    of: &'a Collection,
    /// Which records may be written, and which changed, where that is a condition on their columns.
    written: Option<Condition>,
    changed: Option<Condition>,
    /// The keys of those before, with their places.
    keys: BTreeMap<Vec<String>, usize>,
}

impl Batch<'_> {
    fn one(&mut self, number: usize, given: &Map<String, Value>, read: &Reader<'_>) -> Result<Row, Stop> {
        let (of, filled) = (self.of, self.of.filled(given));
        let key = |fields: &Map<String, Value>| -> Vec<String> {
            of.spec.key.iter().map(|name| fields.get(name).unwrap_or(&Value::Null).to_string()).collect()
        };
        let before = match &filled {
            Ok(fields) if !of.spec.key.is_empty() => read.record_by_key(of, fields)?,
            Ok(_) | Err(_) => None,
        };
        let fields = match &before {
            None => filled.map_err(Refusal::invalid)?,
            Some(before) => {
                let mut all = before.fields.clone();
                all.extend(super::shown::personal(of, &before.id, before.version, read)?);
                all.extend(given.clone());
                of.checked(&all).map_err(Refusal::invalid)?
            }
        };
        if !of.spec.key.is_empty()
            && let Some(first) = self.keys.insert(key(&fields), number)
        {
            return Err(
                Refusal::conflict(format!("has the same {} as records[{first}]", of.spec.key.join(", "))).into()
            );
        }
        let Parted { open, personal } = Parted::of(of, fields);
        let record = would_be(before.as_ref(), &open, read);
        before.iter().try_for_each(|record| self.may(CHANGE, &self.changed, record, read))?;
        before.iter().chain([&record]).try_for_each(|record| self.may(WRITE, &self.written, record, read))?;
        let was = before.as_ref().map(|before| before.fields.clone()).unwrap_or_default();
        check_against_others(of, &record, &was, read)?;
        Ok(Row { is_new: before.is_none(), record, personal })
    }

    fn may(
        &self,
        operation: &str,
        rows: &Option<Condition>,
        record: &Record,
        read: &Reader<'_>,
    ) -> Result<(), Refusal> {
        match rows {
            Some(rows) if rows.holds(&values_of(self.of, record)) => Ok(()),
            _ => may(operation, &read.record_target(self.of, record), read),
        }
    }
}

fn record(of: &Collection, rows: Vec<Row>, draft: &mut Draft<'_>) -> Result<Imported, Stop> {
    let run = draft.read().caller().run.as_ref().map(|run| run.run.clone());
    let created = rows.iter().filter(|row| row.is_new).count() as u64;
    let changed = rows.len() as u64 - created;
    let mut named = Vec::new();
    for one in rows {
        let id = if one.is_new { draft.new_id(Kind::Record) } else { Id::stored(&one.record.id) };
        named.push((Record { id: id.to_string(), ..one.record }, one.personal));
    }
    let all = named.iter().map(|(record, _)| row(record)).collect();
    draft.record(RecordWritten { collection: of.name().to_owned(), rows: all, run })?;
    for (record, personal) in named {
        keep(&Id::stored(&record.id), record.version, personal, draft)?;
    }
    Ok(Imported { collection: of.name().to_owned(), created, changed })
}
