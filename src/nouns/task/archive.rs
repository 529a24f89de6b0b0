//! Archives closed tasks and runs after the company's retention period. The tick does it once: changing the period brings
//! nothing back.

use serde_json::Value;

use gate::Reader;
use store::tasks::Task;
use store::tasks::events::TaskArchived;
use types::id::Id;
use types::refusal::Stop;
use types::time::{DAY, Time};

/// Returns the time before which ended items are archived; `None` if the company archives nothing.
pub(crate) fn kept_since(now: Time, read: &Reader<'_>) -> Result<Option<Time>, Stop> {
    let days = read.company()?.settings.get("retention_days").and_then(Value::as_i64).filter(|days| *days > 0);
    Ok(days.map(|days| now.plus_ms(days.saturating_mul(-DAY))))
}

pub(crate) fn archived(task: Task) -> TaskArchived {
    TaskArchived { id: Id::stored(&task.id), owner: task.owner, creator: task.creator }
}
