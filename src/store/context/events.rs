//! What happens to the content of events.

use crate::store::approvals::events::{APPROVAL, forgotten};
use crate::store::event::{Content, Moment, Notify, events};
use crate::store::memory::{Memory, Touched};
use crate::types::id::Id;

events! {
    /// The content of events was erased. The entry itself names them as `event:<seq>`.
    ContextForgotten = "context_forgotten" {
        events: Vec<i64>, reason: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvals: Vec<Id>,
    } about [events] => {
        content: Content::SHOWN, tables: &[APPROVAL], memory: Memory::Nothing,
        fold: Some(erased), notify: Notify::Nobody, news: None,
    }
}

fn erased(event: &ContextForgotten, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    event.approvals.iter().try_for_each(|id| forgotten(moment, id))?;
    Ok(Touched::Nothing)
}
