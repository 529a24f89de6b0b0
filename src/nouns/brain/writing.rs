//! Writes records: decided, validated and recorded in the same way, whether written alone or in bulk.

use serde_json::{Map, Value};

use super::found;
use super::judged::Withheld;
use super::shown::personal;
use super::values::{Parted, check_against_others, keep, would_be};
use gate::{Draft, Reader};
use store::brain::Record;
use store::brain::events::{RecordWritten, Row};
use types::collection::Collection;
use types::id::{Id, Kind};
use types::refusal::{Refusal, Stop};

/// A record's current state, if it exists, and its new values.
pub struct Writing {
    pub before: Option<Record>,
    was_personal: Map<String, Value>,
    fields: Map<String, Value>,
}

/// How given fields combine with existing ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// They replace all others that the caller may read.
    Whole,
    /// The others stay; `null` removes one.
    Some,
}

impl Writing {
    /// Upserts: changes the record with this id or key, or creates one. A record that the caller may not see is not revealed.
    pub fn by_key(
        of: &Collection,
        id: Option<&str>,
        given: &Map<String, Value>,
        read: &Reader<'_>,
    ) -> Result<Writing, Stop> {
        let has_key = !of.spec.key.is_empty() && of.spec.key.iter().all(|name| given.contains_key(name));
        let before = match id {
            Some(id) => Some(found(of, id, read)?),
            None if has_key => read.record_by_key(of, &in_form(of, given))?,
            None => None,
        };
        match before {
            Some(record) if !read.sees(&read.record_target(of, &record)) => Err(Refusal::not_found().into()),
            Some(record) => Writing::to(of, record, given, Way::Some, read),
            None => Ok(Writing {
                before: None,
                was_personal: Map::new(),
                fields: of.filled(given).map_err(Refusal::invalid)?,
            }),
        }
    }

    /// Changes an existing record.
    pub fn to(
        of: &Collection,
        before: Record,
        given: &Map<String, Value>,
        way: Way,
        read: &Reader<'_>,
    ) -> Result<Writing, Stop> {
        let mut all = before.fields.clone();
        let was_personal = personal(of, &before.id, before.version, read)?;
        all.extend(was_personal.clone());
        if way == Way::Whole {
            // Fields that they may not read are kept.
            let withheld = Withheld::of(of, read);
            all.retain(|name, _| withheld.is(of, name));
        }
        all.extend(given.clone());
        let fields = of.checked(&all).map_err(Refusal::invalid)?;
        Ok(Writing { fields, was_personal, before: Some(before) })
    }

    /// Returns the record as it would be.
    pub fn next(self, of: &Collection, read: &Reader<'_>) -> Next {
        let Parted { open, personal } = Parted::of(of, self.fields);
        let Writing { before, was_personal, .. } = self;
        Next { record: would_be(before.as_ref(), &open, read), before, was_personal, personal }
    }
}

/// A record as it would be.
pub struct Next {
    pub before: Option<Record>,
    was_personal: Map<String, Value>,
    pub record: Record,
    pub personal: Map<String, Value>,
}

impl Next {
    /// Checks whether it is new or differs from before.
    pub fn is_change(&self) -> bool {
        let is_same = |before: &Record| before.fields == self.record.fields && self.was_personal == self.personal;
        !self.before.as_ref().is_some_and(is_same)
    }

    /// Checks new references and uniqueness.
    pub fn check_against_others(&self, of: &Collection, read: &Reader<'_>) -> Result<(), Stop> {
        let nothing = Map::new();
        let was = self.before.as_ref().map_or(&nothing, |before| &before.fields);
        check_against_others(of, &self.record, was, read)
    }

    fn named(self, draft: &mut Draft<'_>) -> Named {
        let id = self.before.map_or_else(|| draft.new_id(Kind::Record), |before| Id::stored(&before.id));
        (id, self.record, self.personal)
    }
}

/// Records the write of one record, and returns it as it is now, with all its values.
pub fn record_one(of: &Collection, next: Next, draft: &mut Draft<'_>) -> Result<Record, Stop> {
    let (id, record, personal) = next.named(draft);
    let mut fields = record.fields.clone();
    fields.extend(personal.clone());
    record_all(of, vec![(id.clone(), record.clone(), personal)], draft)?;
    Ok(Record { id: id.to_string(), fields, ..record })
}

/// Records the writes of several records.
pub fn record(of: &Collection, all: Vec<Next>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let named = all.into_iter().map(|next| next.named(draft)).collect();
    record_all(of, named, draft)
}

/// A record with its id and personal data.
type Named = (Id, Record, Map<String, Value>);

fn record_all(of: &Collection, all: Vec<Named>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let run = draft.read().caller().run.as_ref().map(|run| run.run.clone());
    let row = |(id, record, _): &Named| Row { id: id.clone(), version: record.version, fields: record.fields.clone() };
    let rows = all.iter().map(row).collect();
    draft.record(RecordWritten { collection: of.name().to_owned(), rows, run })?;
    all.into_iter().try_for_each(|(id, record, personal)| keep(&id, record.version, personal, draft))
}

/// Normalizes the valid ones of the given values.
fn in_form(of: &Collection, given: &Map<String, Value>) -> Map<String, Value> {
    given.iter().filter_map(|(name, value)| Some((name.clone(), of.field(name)?.value(value).ok()?))).collect()
}
