//! Knowledge: what people and agents have learnt, and others may rely on once a steward has accepted it. It is data: nothing in
//! it grants anybody a right.

mod decide;
pub mod document;
mod list;
mod propose;
mod recall;
mod resource;
pub mod scan;
mod search;
mod shown;
pub mod vectors;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::{Entry, Reader};
use store::knowledge::Knowledge;
use store::knowledge::events::KnowledgeExpired;
use types::id::Id;
use types::refusal::{Refusal, Stop};

pub use decide::{Accept, Reject, Retract, Verdict};
#[cfg(feature = "pdf")]
pub use document::pdf::limited as pdf;
pub use document::{DocumentText, NewDocument, Passage, Read, Upload, text_of};
pub use list::{List, Quarantine, Show, Which};
pub use propose::{NewKnowledge, Propose};
pub use recall::{Recall, Recalled, Recollection, Sought};
pub use resource::KNOWLEDGE;
pub use search::{Known, known};
pub use shown::{ShownDocument, ShownKnowledge};
pub use vectors::{Batch, Embed, From, Made, Settle as KeepVectors, Texts, Unembedded};

pub const ALL: &[Entry] = &[
    Entry::query::<list::List>(),
    Entry::query::<list::Quarantine>(),
    Entry::query::<recall::Recall>(),
    Entry::query::<list::Show>(),
    Entry::query::<document::Read>(),
    Entry::change::<propose::Propose>(),
    Entry::change::<document::Upload>(),
    Entry::change::<decide::Accept>(),
    Entry::change::<decide::Reject>(),
    Entry::change::<decide::Retract>(),
    Entry::query::<vectors::Unembedded>(),
    Entry::change::<vectors::Embed>(),
    Entry::change::<vectors::Settle>(),
];

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneEntry {
    /// The entry.
    #[arg(value_name = "KNOWLEDGE")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Knowledge, Stop> {
    Ok(read.knowledge(id)?.ok_or_else(Refusal::not_found)?)
}

/// Builds the event for an expired entry.
pub(super) fn expired(entry: &Knowledge) -> KnowledgeExpired {
    KnowledgeExpired { id: Id::stored(&entry.id), proposer: entry.proposer.clone() }
}
