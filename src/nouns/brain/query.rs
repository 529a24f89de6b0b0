//! Queries records: those that match and that the caller may read, page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::filter::Filters;
use super::judged::{Withheld, may_read, values_of};
use super::past::{self, record_at};
use super::shown::{Shape, ShownRecord};
use super::{COLLECTION, is_kept_elsewhere, known};
use gate::{Permit, Query as QueryOperation, Reader, Spec, Target, get, post};
use store::brain::Record;
use store::brain::query::{After, Sorted};
use types::collection::Collection;
use types::condition::Condition;
use types::json;
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;
use types::view::MOST_SORTED;

/// The maximum number of records judged one by one per page, where the policies cannot be pushed down into the query.
const PATIENCE: usize = 20_000;
const CHUNK: usize = 500;

/// What is looked for.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Ask {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The filter: `{"total": {"gt": "100"}}`, with and, or, not.
    #[serde(default)]
    #[arg(long, value_name = "JSON", value_parser = super::values::json)]
    pub filter: Option<Value>,
    /// The fields to sort by, at most 4; prefix one with `-` for descending order. By default the newest first; for records of another system, by their key.
    #[schemars(length(max = 4))]
    #[serde(default)]
    #[arg(long, value_name = "FIELD", value_delimiter = ',', allow_hyphen_values = true)]
    pub sort: Vec<String>,
    /// The fields to show; by default all.
    #[serde(default)]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// The records as they were at that time, in the order of their ids.
    #[serde(default)]
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<Time>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// Query records.
pub enum Query {}

impl QueryOperation for Query {
    const SPEC: Spec = Spec {
        name: "collection.query",
        doc: "Query the records of a collection: those that the policies let the caller read (`record.read`), with \
              the fields that they may read (`field.read`).",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/query").listed().partial(),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = Ask;
    type Output = Page<ShownRecord>;

    fn target(input: &Ask, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: Ask, read: &Reader<'_>) -> Result<Page<ShownRecord>, Stop> {
        answer(input, read)
    }

    fn next(output: &Page<ShownRecord>) -> Option<String> {
        output.next.clone()
    }

    fn is_elsewhere(input: &Ask, read: &Reader<'_>) -> bool {
        is_kept_elsewhere(&input.collection, read)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct WhichRecords {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List the records of a collection.
pub enum Records {}

impl QueryOperation for Records {
    const SPEC: Spec = Spec {
        name: "record.list",
        doc: "List the records of a collection that the caller may read, newest first.",
        scope: Reach::READ,
        route: get("/brain/collections/{collection}/records").listed().partial(),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = WhichRecords;
    type Output = Page<ShownRecord>;

    fn target(input: &WhichRecords, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: WhichRecords, read: &Reader<'_>) -> Result<Page<ShownRecord>, Stop> {
        let WhichRecords { collection, page } = input;
        answer(Ask { collection, filter: None, sort: Vec::new(), fields: Vec::new(), as_of: None, page }, read)
    }

    fn next(output: &Page<ShownRecord>) -> Option<String> {
        output.next.clone()
    }

    fn is_elsewhere(input: &WhichRecords, read: &Reader<'_>) -> bool {
        is_kept_elsewhere(&input.collection, read)
    }
}

/// Returns a page of the records that match and that the caller may read.
pub fn answer(input: Ask, read: &Reader<'_>) -> Result<Page<ShownRecord>, Stop> {
    let of = &*known(&input.collection, read)?;
    let withheld = Withheld::of(of, read);
    let filters = Filters { of, withheld: &withheld, read, bygone: input.as_of.is_some() };
    let search = Search {
        of,
        filter: filters.read(input.filter.as_ref())?,
        sorted: sorted(&input, &filters)?,
        limit: input.page.limit()?,
        read,
    };
    let only = shown_fields(&input, of)?;
    let what = format!("collection.query {} for {}", digest(&input), read.caller().actor());
    let cursor = input.page.cursor.as_deref();
    let (records, next) = match input.as_of {
        Some(at) => search.as_of(at, cursor.map(|cursor| read.opened(what.clone(), cursor)).transpose()?)?,
        None => {
            let opened = cursor.map(|cursor| read.opened(what.clone(), cursor)).transpose()?;
            let after = opened.map(|text| json::read::<After>(text.as_bytes())).transpose()?;
            let (records, next) = search.page(after)?;
            (records, next.map(|after| serde_json::to_string(&after)).transpose()?)
        }
    };
    let shape = Shape { of, withheld, only };
    let rows = records.into_iter().map(|record| shape.record(record, read)).collect::<Result<_, Stop>>()?;
    Ok(Page { rows, next: next.and_then(|position| read.sealed(what, &position)) })
}

/// Hashes a query: a cursor is valid for one query only.
fn digest(input: &Ask) -> String {
    let Ask { collection, filter, sort, as_of, .. } = input;
    let text = serde_json::json!([collection, filter, sort, as_of]).to_string();
    hex::encode(Sha256::digest(text))
}

fn shown_fields(input: &Ask, of: &Collection) -> Result<Option<Vec<String>>, Refusal> {
    match input.fields.iter().find(|name| of.field(name).is_none()) {
        Some(unknown) => Err(Refusal::field("fields", of.no_field(unknown))),
        None => Ok((!input.fields.is_empty()).then(|| input.fields.clone())),
    }
}

fn sorted(input: &Ask, filters: &Filters<'_>) -> Result<Vec<Sorted>, Refusal> {
    let of = filters.of;
    if let (Some(_), Some(source)) = (input.as_of, &of.spec.source) {
        return Err(Refusal::field(
            "as_of",
            format!("earlier versions of records kept in {} are not known", source.system),
        ));
    }
    if input.as_of.is_some_and(|at| at > filters.read.now()) {
        return Err(Refusal::field("as_of", "must not be in the future"));
    }
    if input.as_of.is_some() && !input.sort.is_empty() {
        return Err(Refusal::field("sort", "not allowed with `as_of`: these records come in the order of their ids"));
    }
    if input.sort.len() > MOST_SORTED {
        return Err(Refusal::field("sort", format!("must be at most {MOST_SORTED} fields")));
    }
    let by = input.sort.iter().map(|text| {
        let (descending, name) = text.strip_prefix('-').map_or((false, text.as_str()), |name| (true, name));
        let field = filters.field(name).map_err(|what| Refusal::field("sort", what))?;
        field.kind.sorts(name).map_err(|what| Refusal::field("sort", what))?;
        Ok(Sorted { column: name.to_owned(), descending })
    });
    let sorted = by.collect::<Result<Vec<_>, _>>()?;
    let usual = || match (&of.spec.source, of.spec.key.first()) {
        (Some(_), Some(key)) => Sorted { column: key.clone(), descending: false },
        _ => Sorted { column: "created_at".into(), descending: true },
    };
    Ok(if sorted.is_empty() { vec![usual()] } else { sorted })
}

/// A query by one caller.
struct Search<'a> {
    of: &'a Collection,
    filter: Condition,
    sorted: Vec<Sorted>,
    limit: usize,
    read: &'a Reader<'a>,
}

impl Search<'_> {
    fn page(&self, after: Option<After>) -> Result<(Vec<Record>, Option<After>), Stop> {
        match self.read.rows("record.read", self.of) {
            Some(rows) => self.found(&Condition::all([rows, self.filter.clone()]), after.as_ref()),
            None => self.judged(after),
        }
    }

    /// Pushes the policies down into the database query.
    fn found(&self, condition: &Condition, after: Option<&After>) -> Result<(Vec<Record>, Option<After>), Stop> {
        let mut records = self.read.records(self.of, condition, &self.sorted, after, self.limit + 1)?;
        let more = records.len() > self.limit;
        records.truncate(self.limit);
        let next = if more { records.last().map(|last| self.after(last)) } else { None };
        Ok((records, next))
    }

    /// Asks the policies about each record. The page ends after a maximum number of records.
    fn judged(&self, mut after: Option<After>) -> Result<(Vec<Record>, Option<After>), Stop> {
        let (mut records, mut left) = (Vec::new(), PATIENCE);
        loop {
            let chunk = self.read.records(self.of, &self.filter, &self.sorted, after.as_ref(), CHUNK)?;
            let last = chunk.len() < CHUNK;
            for record in chunk {
                let is_seen = may_read(self.of, &record, self.read);
                if is_seen && records.len() == self.limit {
                    return Ok((records, after));
                }
                after = Some(self.after(&record));
                left -= 1;
                if is_seen {
                    records.push(record);
                }
                if left == 0 {
                    return Ok((records, after));
                }
            }
            if last {
                return Ok((records, None));
            }
        }
    }

    fn after(&self, record: &Record) -> After {
        let values = values_of(self.of, record);
        After { values: self.sorted.iter().map(|by| values.get(&by.column).cloned()).collect(), id: record.id.clone() }
    }

    /// Returns past versions of records, each judged as it was.
    fn as_of(&self, at: Time, after: Option<String>) -> Result<(Vec<Record>, Option<String>), Stop> {
        let (mut records, mut after, mut left) = (Vec::new(), after.unwrap_or_default(), PATIENCE);
        loop {
            let ids = self.read.record_ids(self.of.name(), &after, CHUNK)?;
            let last = ids.len() < CHUNK;
            for id in ids {
                let record = record_at(self.of, &id, at, self.read)?;
                let is_seen = |record: &Record| {
                    self.filter.holds(&values_of(self.of, record)) && may_read(self.of, record, self.read)
                };
                // A record that is hidden now does not show its past versions either.
                let seen = match record.filter(is_seen) {
                    Some(record) => past::last(self.of, &id, self.read)
                        .is_ok_and(|now| may_read(self.of, &now, self.read))
                        .then_some(record),
                    None => None,
                };
                if seen.is_some() && records.len() == self.limit {
                    return Ok((records, Some(after)));
                }
                after = id;
                left -= 1;
                records.extend(seen);
                if left == 0 {
                    return Ok((records, Some(after)));
                }
            }
            if last {
                return Ok((records, None));
            }
        }
    }
}
