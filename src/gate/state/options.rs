//! What a company is opened with, and why it cannot be.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::declare::operation::Entry;
use crate::state::lock::{self, Holder};
use adapters::{Embedder, Systems};
use log::journal::Journal;
use policy::{Bundle, Snapshot};
use store::open::OpenError;
use types::entropy::Entropy;
use types::models::Catalog;
use types::refusal::Fault;
use types::time::Clock;

/// What a company is opened with.
#[derive(Clone)]
pub struct Options {
    pub path: PathBuf,
    pub entries: &'static [Entry],
    /// The default policies of this version.
    pub policies: Bundle,
    /// Policies that were compiled already, for another company that this process has open.
    pub compiled: Vec<Arc<Snapshot>>,
    /// Shown by `/health`.
    pub dev_auth: bool,
    /// The tools from elsewhere that agents may be offered.
    pub tools: Arc<BTreeSet<String>>,
    /// Whether webhooks may be at loopback addresses, over plain http: for development.
    pub loopback: bool,
    /// The key that secrets are made from; in a file beside the state unless given.
    pub secrets: Option<Zeroizing<[u8; 32]>>,
    /// The ports that webhooks may be at.
    pub ports: Vec<u16>,
    /// The models that agents may ask.
    pub models: Arc<Catalog>,
    /// The systems that collections may be kept in.
    pub systems: Arc<Systems>,
    /// Whoever makes vectors of what is known.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// MiB on the disk below which only what stops or revokes is accepted; else 256, or 5 % of a small disk.
    pub low_water: Option<u64>,
    /// Where the log is kept.
    pub journal: Arc<dyn Journal>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

#[derive(Debug, thiserror::Error)]
pub enum CannotOpen {
    #[error(transparent)]
    File(#[from] OpenError),
    /// Another process owns the file.
    #[error("the state file is in use by process {}", .0.pid)]
    Held(Holder),
    #[error("the state file {0} is in use under another name, which another process has opened it by")]
    HeldElsewhere(PathBuf),
    #[error("cannot lock {0}: {1}{hint}", hint = lock::hint(.1))]
    Lock(PathBuf, std::io::Error),
    #[error("the audit key {0} {1}")]
    Key(PathBuf, String),
    #[error(
        "the key that this log is signed with is not at {0}, so nothing can be written: put it there, from where the state file was or from a backup. Read-only commands work without it; if it is lost, `ok audit rekey` creates another, and the log records it"
    )]
    NoKey(PathBuf),
    /// What a company has beside its state file is there, and the file is not.
    #[error(
        "{lost} {0}, but {1} is there: the state file was lost, or moved away. Put it back, or a backup; to begin another company here, move {1} away first",
        lost = if .0.exists() { "nothing is in" } else { "there is no" }
    )]
    Lost(PathBuf, PathBuf),
    #[error("the key {0}, which secrets are made from, {1}")]
    Secrets(PathBuf, String),
    #[error("the policies do not load: {0}")]
    Policies(String),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<rusqlite::Error> for CannotOpen {
    fn from(error: rusqlite::Error) -> CannotOpen {
        CannotOpen::Fault(error.into())
    }
}
