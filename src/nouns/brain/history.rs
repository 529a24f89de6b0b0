//! Shows a record's earlier versions, and rolls it back to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::judged::may_read;
use super::past::{last, record_of};
use super::shown::{Shape, ShownRecord, personal, shown_again};
use super::values::{Parted, WRITE, asks, asks_to_change, check_against_others, keep, would_be};
use super::{RECORD, kept_here, known};
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, get, post};
use store::brain::events::RecordRolledBack;
use store::brain::{Record, Version};
use store::content::events::ContentKept;
use types::brain::Written;
use types::collection::Collection;
use types::id::{ActorId, Id};
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;
use types::visible::is_blank;

/// A record as it was.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownVersion {
    pub version: i64,
    pub what: Written,
    #[schemars(extend("x-names" = "json"))]
    pub fields: Map<String, Value>,
    /// The fields that the caller may not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    pub by: ActorId,
    /// The run that wrote it.
    pub run: Option<String>,
    pub at: Time,
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct WhichVersions {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The record.
    #[arg(value_name = "RECORD")]
    pub id: String,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// Show a record's history.
pub enum History {}

impl Query for History {
    const SPEC: Spec = Spec {
        name: "record.history",
        doc: "Show the versions of a record, also of a deleted one, newest first: who wrote each, and in which run. \
              `record.read` decides about each version as it was.",
        scope: Reach::READ,
        route: get("/brain/collections/{collection}/records/{id}/history").listed(),
        about: &[&RECORD],
        events: &[],
    };
    type Input = WhichVersions;
    type Output = Page<ShownVersion>;

    fn target(input: &WhichVersions, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = kept_here(&input.collection, read)?;
        Ok(read.record_target(&of, &last(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: WhichVersions, read: &Reader<'_>) -> Result<Page<ShownVersion>, Stop> {
        let of = known(&input.collection, read)?;
        let shape = Shape::whole(&of, read);
        let what = format!("record.history {} {}", of.name(), input.id);
        let limit = input.page.limit()?;
        let opened = input.page.cursor.as_deref().map(|cursor| read.opened(what.clone(), cursor)).transpose()?;
        let before = opened.and_then(|text| text.parse().ok()).unwrap_or(i64::MAX);
        let mut versions = read.versions(of.name(), &input.id, before, limit + 1)?;
        let more = versions.len() > limit;
        versions.truncate(limit);
        let next = versions.last().filter(|_| more).and_then(|last| read.sealed(what, &last.version.to_string()));
        let first = read.origin(of.name(), &input.id)?;
        let was_seen = |version: &Version| match (&first, version.what) {
            (Some(first), what) if what != Written::Deleted => {
                may_read(&of, &record_of(&of, &input.id, version.clone(), first), read)
            }
            _ => true,
        };
        let seen = versions.into_iter().filter(was_seen);
        let rows = seen.map(|version| shown(&input.id, version, &shape, read)).collect::<Result<_, Stop>>()?;
        Ok(Page { rows, next })
    }

    fn next(output: &Page<ShownVersion>) -> Option<String> {
        output.next.clone()
    }
}

fn shown(id: &str, version: Version, shape: &Shape<'_>, read: &Reader<'_>) -> Result<ShownVersion, Stop> {
    let Version { version, what, fields, by, run, at } = version;
    let mut fields = shape.of.as_today(fields);
    fields.extend(personal(shape.of, id, version, read)?);
    let withheld = shape.withheld.names(shape.of).map(str::to_owned).collect();
    Ok(ShownVersion { version, what, fields: shape.fields(fields, read), withheld, by, run, at })
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct RolledBack {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The record.
    #[arg(value_name = "RECORD")]
    pub id: String,
    /// The version to restore.
    #[arg(long = "to", value_name = "VERSION")]
    pub to_version: i64,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The version of the record that the change was made from; it must be the current one.
    #[arg(skip)]
    pub version: Option<i64>,
}

/// Roll a record back.
pub enum Rollback {}

impl Change for Rollback {
    const SPEC: Spec = Spec {
        name: "record.rollback",
        doc: "Restore an earlier version of a record as a new version, also of a deleted record. The policies also \
              decide `record.change` and `record.write`. What is personal stays as it is where that version has none.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/records/{id}/rollback").made_from("version"),
        about: &[&RECORD],
        events: &[RecordRolledBack::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "rolls the record {id} of {collection} back to version {to_version}";
    type Input = RolledBack;
    type Output = ShownRecord;

    fn target(input: &RolledBack, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = kept_here(&input.collection, read)?;
        Ok(read.record_target(&of, &last(&of, &input.id, read)?))
    }

    fn run(_: Permit<Self>, input: RolledBack, draft: &mut Draft<'_>) -> Result<ShownRecord, Stop> {
        if is_blank(&input.reason) || input.reason.chars().count() > 1_000 {
            return Err(Refusal::field("reason", "must have 1 to 1000 characters").into());
        }
        let read = draft.read();
        let of = known(&input.collection, read)?;
        let before = last(&of, &input.id, read)?;
        let newest = read.versions(of.name(), &input.id, i64::MAX, 1)?.first().map_or(0, |version| version.version);
        let wanted = read.versions(of.name(), &input.id, input.to_version.saturating_add(1), 1)?.into_iter().next();
        let wanted = wanted.filter(|wanted| wanted.version == input.to_version && wanted.what != Written::Deleted);
        let Some(wanted) = wanted else {
            return Err(Refusal::field("to_version", "must be a version at which the record was there").into());
        };
        let mut fields: Map<String, Value> =
            of.as_today(wanted.fields).into_iter().filter(|(name, _)| of.field(name).is_some()).collect();
        // If a version's personal values are erased, nothing tells that it had any: today's are kept instead.
        fields.extend(personal(&of, &input.id, before.version, read)?);
        fields.extend(personal(&of, &input.id, wanted.version, read)?);
        fill(&of, &before, &mut fields);
        let Parted { open, personal } = Parted::of(&of, of.checked(&fields).map_err(Refusal::invalid)?);
        let record = Record { version: newest + 1, ..would_be(Some(&before), &open, read) };
        asks_to_change(&of, &before, draft)?;
        asks(WRITE, &of, &record, draft)?;
        // Whether its references still exist is not checked.
        check_against_others(&of, &record, &record.fields, read)?;
        let (id, run) = (Id::stored(&record.id), read.caller().run.as_ref().map(|run| run.run.clone()));
        draft.record(RecordRolledBack {
            collection: of.name().to_owned(),
            id: id.clone(),
            version: record.version,
            to_version: input.to_version,
            fields: record.fields.clone(),
            run,
            reason: input.reason,
        })?;
        let mut written = record.clone();
        written.fields.extend(personal.clone());
        keep(&id, record.version, personal, draft)?;
        Ok(Shape::whole(&of, draft.read()).whole_record(written, draft.read()))
    }

    fn shown_again(answer: Value, read: &Reader<'_>) -> Result<Value, Stop> {
        shown_again(answer, read)
    }
}

/// Fills required fields that the old version lacks: with the record's current value, or else the field's default.
fn fill(of: &Collection, before: &Record, fields: &mut Map<String, Value>) {
    for (name, field) in of.spec.fields.iter().filter(|(_, field)| field.required) {
        let value = before.fields.get(name).or(field.default.as_ref());
        if let (false, Some(value)) = (fields.contains_key(name), value) {
            fields.insert(name.clone(), value.clone());
        }
    }
}
