//! Vectors of what is known, so that it is recalled by its meaning: the server has a model make them of what was accepted, where
//! the company has said so (`vector_search`).
//!
//! Always true: what a text is sent for was decided and recorded before. What was learnt from something confidential or personal
//! is not sent, nor what concerns one person alone.

mod embed;
mod question;
mod settle;
mod unembedded;

pub use embed::{Embed, Texts};
pub use question::{Near, announced, embed, fused, leaves};
pub use settle::{Made, Settle};
pub use unembedded::{Batch, From, Unembedded};

use gate::Reader;
use store::knowledge::Knowledge;
use types::field::Label;
use types::knowledge::KnowledgeStatus;
use types::refusal::{Refusal, Stop};

/// Whether vectors may be made of an entry, but for the policies.
fn is_fit(entry: &Knowledge, read: &Reader<'_>) -> bool {
    let is_kept_here = entry.person.is_some() || entry.labels.iter().any(|label| *label != Label::Untrusted);
    let is_over = entry.expires_at.is_some_and(|at| at <= read.now());
    entry.status == KnowledgeStatus::Accepted && !is_over && !is_kept_here
}

/// Nothing is sent, and no vector is kept, of an entry that is not fit (any more), or by a model that is not asked (any more).
fn expect_fit(entry: &Knowledge, model: &str, read: &Reader<'_>) -> Result<(), Stop> {
    let is_asked = read.embedder()?.is_some_and(|embedder| embedder.model() == model);
    match is_asked && is_fit(entry, read) {
        true => Ok(()),
        false => Err(Refusal::conflict(format!("no vectors are made of {} by {model} now", entry.id)).into()),
    }
}
