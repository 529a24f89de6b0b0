//! Retention of records. The tick removes what a collection no longer keeps: earlier versions, long unchanged records, and the
//! personal data of either, which is erased from the log.

use super::shown::version_of;
use gate::{Draft, Reader};
use store::brain::events::{HistoryRemoved, RecordDeleted};
use store::context::events::ContextForgotten;
use types::collection::Collection;
use types::id::Id;
use types::refusal::Stop;
use types::time::{DAY, Time};

/// What has expired in one collection.
pub struct Expired {
    collection: String,
    /// Expired records, with their versions.
    records: Vec<(Id, i64)>,
    /// Records with expired earlier versions, with the version that stays.
    rows: Vec<(Id, i64)>,
    /// How many versions and records have expired.
    pub count: usize,
}

/// Returns what has expired by a time, at most so much.
pub fn expired(now: Time, most: usize, read: &Reader<'_>) -> Result<Vec<Expired>, Stop> {
    let (mut all, mut left) = (Vec::new(), most);
    for of in read.all_collections() {
        let expired = expired_of(of, now, left, read)?;
        left -= expired.count.min(left);
        all.extend(Some(expired).filter(|expired| expired.count > 0));
    }
    Ok(all)
}

fn expired_of(of: &Collection, now: Time, most: usize, read: &Reader<'_>) -> Result<Expired, Stop> {
    let kept = of.spec.retention.unwrap_or_default();
    let before = |days: u32| now.plus_ms(-DAY * i64::from(days));
    let overtaken = match kept.history().filter(|_| most > 0) {
        Some(days) => read.overtaken_versions(of.name(), before(days), most)?,
        None => Vec::new(),
    };
    let mut count: usize = overtaken.iter().map(|one| one.count).sum();
    let mut rows: Vec<_> = overtaken.into_iter().map(|one| (Id::stored(&one.id), one.from)).collect();
    // Records are removed after versions, so that one tick removes little.
    let left = most.saturating_sub(count);
    let unchanged = match kept.record_days.filter(|_| left > 0) {
        Some(days) => read.unchanged_records(of, before(days), left)?,
        None => Vec::new(),
    };
    count += unchanged.len();
    let records: Vec<_> = unchanged.into_iter().map(|(id, version)| (Id::stored(&id), version + 1)).collect();
    rows.retain(|(id, _)| records.iter().all(|(gone, _)| gone != id));
    rows.extend(records.iter().cloned());
    Ok(Expired { collection: of.name().to_owned(), records, rows, count })
}

impl Expired {
    pub fn record(self, draft: &mut Draft<'_>) -> Result<(), Stop> {
        let Expired { collection, records, rows, .. } = self;
        let (mut events, mut contents) = (Vec::new(), Vec::new());
        for (id, from) in &rows {
            let parts = draft.read().kept_parts(id.as_str())?;
            let gone = parts.into_iter().filter(|(part, _)| version_of(part).is_some_and(|version| version < *from));
            for (part, seq) in gone {
                events.push(seq);
                contents.push((id.clone(), part));
            }
        }
        for (id, version) in records {
            draft.record(RecordDeleted { collection: collection.clone(), id, version, run: None })?;
        }
        let reason = format!("the retention of the collection {collection}");
        draft.record(HistoryRemoved { collection, rows })?;
        if !events.is_empty() {
            let (approvals, entities) = (Vec::new(), Vec::new());
            draft.record(ContextForgotten { events, reason, approvals, contents, entities })?;
        }
        Ok(())
    }
}
