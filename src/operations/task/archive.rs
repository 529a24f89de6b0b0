//! What has ended leaves the lists after as many days as the company says. The tick does it, once: to change the number of days
//! brings nothing back.

use serde_json::Value;

use crate::gate::Reader;
use crate::store::tasks::Task;
use crate::store::tasks::events::TaskArchived;
use crate::types::id::Id;
use crate::types::refusal::Stop;
use crate::types::time::{DAY, Time};

/// What ended before this is to be archived by a time; none where the company keeps all of it in lists.
pub(in crate::operations) fn kept_since(now: Time, read: &Reader<'_>) -> Result<Option<Time>, Stop> {
    let days = read.company()?.settings.get("retention_days").and_then(Value::as_i64).filter(|days| *days > 0);
    Ok(days.map(|days| now.plus_ms(days.saturating_mul(-DAY))))
}

pub(in crate::operations) fn archived(task: Task) -> TaskArchived {
    TaskArchived { id: Id::stored(&task.id), owner: task.owner, creator: task.creator }
}
