//! What has ended leaves the lists after as many days as the company says. The tick does it, once: to change the number of days
//! brings nothing back.

use serde_json::Value;

use gate::Reader;
use store::tasks::Task;
use store::tasks::events::TaskArchived;
use types::id::Id;
use types::refusal::Stop;
use types::time::{DAY, Time};

/// What ended before this is to be archived by a time; none where the company keeps all of it in lists.
pub(crate) fn kept_since(now: Time, read: &Reader<'_>) -> Result<Option<Time>, Stop> {
    let days = read.company()?.settings.get("retention_days").and_then(Value::as_i64).filter(|days| *days > 0);
    Ok(days.map(|days| now.plus_ms(days.saturating_mul(-DAY))))
}

pub(crate) fn archived(task: Task) -> TaskArchived {
    TaskArchived { id: Id::stored(&task.id), owner: task.owner, creator: task.creator }
}
