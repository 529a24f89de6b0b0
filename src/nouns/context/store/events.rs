//! The events of content.

use crate::approvals::events::{self as approvals, APPROVAL};
use crate::content::events::{self as content, CONTENT};
use crate::entities::events::{self as entities, ENTITY};
use crate::event::{Content, Moment, Notify, events};
use crate::knowledge::documents::{self, CHUNK};
use crate::memory::{Memory, Touched};
use crate::settles::{End, Over, Settles};
use types::id::Id;

/// Why a request with an erased part is stale.
pub const ERASED: &str = "a part of what was asked for has been erased";

events! {
    /// The content of events was erased. The entry itself names them as `event:<seq>`.
    ContextForgotten = "context_forgotten" {
        events: Vec<i64>, reason: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvals: Vec<Id>,
        /// What was written with tasks and runs: the id of each with its part.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        contents: Vec<(Id, String)>,
        /// What other programs ask about: the id of each with the event that told of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entities: Vec<(Id, i64)>,
    } about [events] => {
        says: "erased the content of {events#event}[: «{reason}»]",
        content: Content::SHOWN, tables: &[APPROVAL, CONTENT, CHUNK, ENTITY], memory: Memory::Entities,
        settles: Settles::Ends(|event, _| Ok(event.approvals.iter().map(erased_part).collect())),
        fold: Some(erased), notify: Notify::Nobody, news: None,
    }
}

/// Ends a request with an erased part: nobody can approve it.
fn erased_part(request: &Id) -> End {
    End { over: Over::Request(request.to_string()), because: ERASED.to_owned() }
}

fn erased(event: &ContextForgotten, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    event.approvals.iter().try_for_each(|id| approvals::forgotten(moment, id))?;
    event.contents.iter().try_for_each(|(id, part)| content::forgotten(moment, id.as_str(), part))?;
    event.contents.iter().try_for_each(|(id, part)| documents::forgotten(moment, id, part))?;
    event.entities.iter().try_for_each(|(id, seq)| entities::forgotten(moment, id, *seq))?;
    Ok(if event.entities.is_empty() { Touched::Nothing } else { Touched::Entities })
}
