//! Reads past versions of records.

use serde_json::{Map, Value};

use gate::Reader;
use store::brain::{Record, Version};
use types::brain::Written;
use types::collection::Collection;
use types::condition::Scalar;
use types::refusal::{Refusal, Stop};
use types::time::Time;

/// Returns a record as it is, or as it was before it was deleted.
pub fn last(of: &Collection, id: &str, read: &Reader<'_>) -> Result<Record, Stop> {
    if let Some(record) = read.record(of, id)? {
        return Ok(record);
    }
    let versions = read.versions(of.name(), id, i64::MAX, 2)?;
    let version = versions.into_iter().find(|version| version.what != Written::Deleted);
    let first = read.origin(of.name(), id)?;
    Ok(version.zip(first).map(|(version, first)| record_of(of, id, version, &first)).ok_or_else(Refusal::not_found)?)
}

/// Returns a record as it was at a time, if it existed.
pub fn record_at(of: &Collection, id: &str, at: Time, read: &Reader<'_>) -> Result<Option<Record>, Stop> {
    let Some(version) = read.version_at(of.name(), id, at)?.filter(|version| version.what != Written::Deleted) else {
        return Ok(None);
    };
    let Some(first) = read.origin(of.name(), id)? else { return Ok(None) };
    Ok(Some(record_of(of, id, version, &first)))
}

/// Converts a version to a record under the collection's current schema.
pub fn record_of(of: &Collection, id: &str, version: Version, first: &Version) -> Record {
    let fits =
        |(name, value): &(String, Value)| of.field(name).is_some_and(|field| Scalar::of(field.kind, value).is_some());
    let fields: Map<String, Value> = of.as_today(version.fields).into_iter().filter(fits).collect();
    Record {
        id: id.to_owned(),
        version: version.version,
        fields,
        created_by: first.by.clone(),
        created_at: first.at,
        updated_by: version.by,
        updated_at: version.at,
    }
}
