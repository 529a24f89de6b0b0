//! Embeddings of knowledge, for recall by meaning: the server has a model embed accepted entries, if the company has enabled it
//! (`vector_search`).
//!
//! Always true: sending a text is decided and recorded beforehand. What was learnt from confidential or personal data is not
//! sent, nor what is about one person only.

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

/// Checks whether an entry may be embedded, policies aside.
fn is_fit(entry: &Knowledge, read: &Reader<'_>) -> bool {
    let is_kept_here = entry.person.is_some() || entry.labels.iter().any(|label| *label != Label::Untrusted);
    let is_over = entry.expires_at.is_some_and(|at| at <= read.now());
    entry.status == KnowledgeStatus::Accepted && !is_over && !is_kept_here
}

/// Refuses to send or store anything of an entry that is not fit (any more), or for a model that is not used (any more).
fn expect_fit(entry: &Knowledge, model: &str, read: &Reader<'_>) -> Result<(), Stop> {
    let is_asked = read.embedder()?.is_some_and(|embedder| embedder.model() == model);
    match is_asked && is_fit(entry, read) {
        true => Ok(()),
        false => Err(Refusal::conflict(format!("no vectors are made of {} by {model} now", entry.id)).into()),
    }
}
