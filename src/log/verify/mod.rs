//! The offline verifier: checks from the stored bytes alone whether a log is what its key holder signed.
//!
//! It shares no code with the writer, so an error there cannot hide here. Both have only `docs/concepts/log-format.md`
//! in common. Always true: it reads forward once, in constant memory; no input makes it panic; every departure from the
//! format is a [`Problem`], never a silent pass.

mod export;
mod finding;
mod form;
mod keys;
pub mod leaf;
mod link;
mod mark;
pub mod merkle;
pub mod note;
mod payload;
pub mod proof;
mod source;
mod sqlite;
mod tile;
mod trust;
mod walk;

pub use export::verify_export;
pub use keys::KeySpan;
pub use sqlite::verify_sqlite;

/// What the auditor brings along. All of it is optional; each part makes the verdict stronger.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask<'a> {
    /// The verifier key. Without it, the key that lies beside the log is believed.
    pub vkey: Option<&'a str>,
    /// A checkpoint remembered from earlier: shows truncation, rollback and forks.
    pub since: Option<&'a str>,
    /// The first entry whose payload is checked. The tree is always checked from entry 1.
    pub from: Option<u64>,
    /// The last entry whose payload is checked.
    pub to: Option<u64>,
}

/// The verdict on a log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Report {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// How many entries were checked with their payloads.
    pub checked: u64,
    /// How many entries the log has.
    pub size: u64,
    /// The root that the entries give, base64.
    pub root: String,
    /// Up to this entry everything that was checked is as signed: its leaf by a signed root, its payload by its leaf.
    pub vouched: u64,
    /// The smallest entry number known to be bad; none where only a checkpoint or a key is.
    pub first_bad_seq: Option<u64>,
    /// What is wrong, in the order of the entries; at most 100.
    #[schemars(length(max = 100))]
    pub problems: Vec<Problem>,
    /// How many of the checked payloads are erased and declared so.
    pub redacted: u64,
    /// Which key signs which entries, oldest first; several where a lost one was replaced (`log_rekeyed`).
    pub keys: Vec<KeySpan>,
    /// What this verdict says nothing about.
    pub not_checked: Vec<String>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct Problem {
    /// The entry that it is about; none where it is a checkpoint, a key or a table.
    pub seq: Option<u64>,
    /// What is wrong with it.
    pub message: String,
}

/// Why there is no verdict: there is no log to read, or the auditor's own papers are unreadable.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("cannot read `{path}`")]
    File { path: String, source: std::io::Error },
    #[error("cannot read the log's tables")]
    Tables(#[from] rusqlite::Error),
    #[error("the verifier key that you gave cannot be used")]
    GivenKey(#[source] note::NoteError),
    #[error("the checkpoint that you gave cannot be used")]
    GivenCheckpoint(#[source] note::NoteError),
}
