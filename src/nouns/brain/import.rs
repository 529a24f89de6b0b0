//! Writes many records at once: all of them, or none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::{Withheld, values_of};
use super::values::{CHANGE, WRITE, may};
use super::writing::{Next, Writing, record};
use super::{COLLECTION, kept_here, known};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::brain::Record;
use store::brain::events::RecordWritten;
use store::content::events::ContentKept;
use types::collection::Collection;
use types::condition::Condition;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// The maximum number of records per call.
const MOST: usize = 5_000;
/// The maximum number of problems in one answer.
const MOST_REPORTED: usize = 20;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewRecords {
    /// The collection.
    pub collection: String,
    /// The values of each record, by field; 1 to 5000 records. If the key exists, only these fields of that record
    /// change.
    #[schemars(length(max = 5_000), extend("x-erasable" = true))]
    pub records: Vec<Map<String, Value>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    pub collection: String,
    pub created: u64,
    pub changed: u64,
    /// Records that already had these values: they get no version.
    #[serde(default)]
    pub unchanged: u64,
}

/// Write many records.
pub enum Import {}

impl Change for Import {
    const SPEC: Spec = Spec {
        name: "record.import",
        doc: "Write many records in one transaction, all or none. The policies decide each record as if it were \
              written alone.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/import").large().slow(),
        about: &[&COLLECTION],
        events: &[RecordWritten::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "writes records of {collection}";
    type Input = NewRecords;
    type Output = Imported;

    fn target(input: &NewRecords, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(kept_here(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: NewRecords, draft: &mut Draft<'_>) -> Result<Imported, Stop> {
        let of = known(&input.collection, draft.read())?;
        if !(1..=MOST).contains(&input.records.len()) {
            return Err(Refusal::field("records", format!("must be 1 to {MOST}, not {}", input.records.len())).into());
        }
        let rows = |operation| draft.read().rows(operation, &of);
        let withheld = Withheld::of(&of, draft.read());
        // If unchanged records expire, an import renews them.
        let renews = of.spec.retention.is_some_and(|kept| kept.record_days.is_some());
        let mut batch = Batch { of: &of, written: rows(WRITE), changed: rows(CHANGE), keys: BTreeMap::new() };
        let (mut written, mut problems, mut denied) = (Vec::new(), Vec::new(), false);
        for (number, fields) in input.records.iter().enumerate() {
            match batch.one(number, fields, draft.read()) {
                // Reporting an equal withheld value as unchanged would reveal it.
                Ok(one) => written.push((one, fields.keys().any(|name| withheld.is(&of, name)))),
                Err(Stop::Refused(refusal)) => {
                    denied |= refusal.code == Code::Denied;
                    problems.extend(problems_of(number, &refusal));
                }
                Err(stop) => return Err(stop),
            }
            if problems.len() >= MOST_REPORTED {
                break;
            }
        }
        if denied {
            let message = format!("policy denied {}: {}", Self::SPEC.name, problems.join("; "));
            return Err(Refusal { problems, ..Refusal::new(Code::Denied, message) }.into());
        }
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        let all = written.len() as u64;
        let created = written.iter().filter(|(next, _)| next.before.is_none()).count() as u64;
        written.retain(|(next, is_secret)| renews || *is_secret || next.is_change());
        let changed = written.len() as u64 - created;
        if !written.is_empty() {
            record(&of, written.into_iter().map(|(next, _)| next).collect(), draft)?;
        }
        Ok(Imported { collection: input.collection, created, changed, unchanged: all - created - changed })
    }
}

/// Returns the problems of one record, prefixed by its index.
fn problems_of(number: usize, refusal: &Refusal) -> Vec<String> {
    let at = |what: &str| format!("records[{number}]: {what}");
    match refusal.problems.as_slice() {
        [] => vec![at(&refusal.message)],
        all => all.iter().map(|what| at(what)).collect(),
    }
}

struct Batch<'a> {
    of: &'a Collection,
    /// Records that may be written, if that is a condition on columns; below, those that may be changed.
    written: Option<Condition>,
    changed: Option<Condition>,
    /// The keys of the records before, with their indexes.
    keys: BTreeMap<Vec<String>, usize>,
}

impl Batch<'_> {
    fn one(&mut self, number: usize, given: &Map<String, Value>, read: &Reader<'_>) -> Result<Next, Stop> {
        let writing = Writing::by_key(self.of, None, given, read)?;
        if let Some(record) = &writing.before {
            self.may(CHANGE, &self.changed, record, read)?;
            self.may(WRITE, &self.written, record, read)?;
        }
        let next = writing.next(self.of, read);
        self.take_key(number, &next)?;
        self.may(WRITE, &self.written, &next.record, read)?;
        next.check_against_others(self.of, read)?;
        Ok(next)
    }

    /// Refuses a second record with the same key in one call.
    fn take_key(&mut self, number: usize, next: &Next) -> Result<(), Refusal> {
        let key = &self.of.spec.key;
        if key.is_empty() {
            return Ok(());
        }
        let values = [&next.record.fields, &next.personal];
        let value = |name: &String| values.iter().find_map(|fields| fields.get(name)).map(Value::to_string);
        let taken = self.keys.insert(key.iter().map(|name| value(name).unwrap_or_default()).collect(), number);
        let repeated = |first| Refusal::conflict(format!("has the same {} as records[{first}]", key.join(", ")));
        taken.map_or(Ok(()), |first| Err(repeated(first)))
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
            _ => may(operation, self.of, record, read),
        }
    }
}
