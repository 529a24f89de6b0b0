//! Where the log is kept. A batch is staged in the open transaction of the state file, where every room reads it as it reads
//! what is older; then the journal commits it, if the log's head is still the one that the batch continues; then the state
//! file's transaction is committed with the tables in it (`docs/decisions/0022`).
//!
//! Always true: a batch is committed whole, with the answers that are kept for retries, or nothing of it is; of two batches
//! that continue the same head, one is; what was committed is read back by the byte.

mod sqlite;

use rusqlite::Connection;

use super::head::{Mark, Tip};
use super::idem::{self, KeptAnswer};
use super::read::{self, Published};
use types::refusal::Fault;

pub use sqlite::InFile;

/// A log that entries can be committed to and read from. `file` is the state file that asks; only the journal that is this
/// very file looks into it.
pub trait Journal: Send + Sync {
    /// Whether other state files continue the same log. Then opening one fences nobody off, and its tables follow.
    fn is_shared(&self) -> bool;

    /// The newest head that is committed; none before the log has begun.
    fn tip(&self, file: &Connection) -> Result<Option<Tip>, Fault>;

    /// What was committed from a place on, at the most so many entries.
    fn read(&self, file: &Connection, since: Since, most: usize) -> Result<Passage, Fault>;

    /// Commits a batch if the head is still `batch.after`. Of a log in the state file, this is durable once its transaction
    /// is; of any other, when it returns.
    fn commit(&self, batch: &Batch<'_>) -> Result<(), NotCommitted>;
}

/// Why a batch is not committed.
#[derive(Debug, thiserror::Error)]
pub enum NotCommitted {
    /// Another batch was quicker: this is the head by now.
    #[error("another program has written to the log")]
    Conflict(Mark),
    /// A later owner has taken over: nothing of this one's is committed any more.
    #[error("another program has taken over the log")]
    Fenced,
    /// It cannot be reached, or takes nothing: nothing was committed.
    #[error(transparent)]
    Unavailable(Fault),
    /// It may be committed or not, which reading tells.
    #[error(transparent)]
    Unknown(Fault),
}

impl<F> From<F> for NotCommitted
where
    Fault: From<F>,
{
    fn from(fault: F) -> NotCommitted {
        NotCommitted::Unavailable(fault.into())
    }
}

impl NotCommitted {
    /// Compares the head that a batch continues with the head that the journal has.
    pub fn unless_at(after: Option<Mark>, found: Option<Mark>) -> Result<(), NotCommitted> {
        match (after, found) {
            (after, found) if after == found => Ok(()),
            (Some(after), Some(found)) if after.epoch != found.epoch => Err(NotCommitted::Fenced),
            (_, Some(found)) => Err(NotCommitted::Conflict(found)),
            (_, None) => Err(NotCommitted::Unavailable(Fault::Broken("the log has no head".into()))),
        }
    }

    /// For those who have nothing else to try.
    pub fn into_fault(self) -> Fault {
        match self {
            NotCommitted::Unavailable(fault) | NotCommitted::Unknown(fault) => fault,
            lost @ (NotCommitted::Conflict(_) | NotCommitted::Fenced) => Fault::Broken(lost.to_string()),
        }
    }
}

/// The place up to which a log was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// The entries before it.
    pub entries: u64,
    /// The size of the newest published checkpoint before it.
    pub published: u64,
}

/// One entry as it is stored, with the answer that is kept with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub leaf: Vec<u8>,
    /// Salt and body; none once erased.
    pub payload: Option<([u8; 32], Vec<u8>)>,
    pub kept: Option<KeptAnswer>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    pub rows: Vec<Row>,
    /// The checkpoints that were published after the place, of no more entries than were committed.
    pub published: Vec<Published>,
}

/// What is to be committed as one.
pub struct Batch<'a> {
    /// The state file, in whose open transaction it is staged.
    pub file: &'a Connection,
    /// The head that it continues; none where it begins the log.
    pub after: Option<Mark>,
    /// The head that it leads to.
    pub tip: &'a Tip,
    /// The entries with which an answer is kept, and its key.
    pub(super) kept: &'a [(u64, [u8; 32])],
    /// The entries before it whose content it erases.
    pub erased: &'a [i64],
    /// The keys under which no answer is kept any more.
    pub forgotten: &'a [Vec<u8>],
    /// Checkpoints that it publishes. One of a size that was published before takes the other's place.
    pub published: &'a [Published],
}

impl Batch<'_> {
    /// Its entries, in order.
    pub fn rows(&self) -> Result<Vec<Row>, Fault> {
        let first = self.after.map_or(0, |after| after.size) + 1;
        (first..=self.tip.head.size).map(|seq| self.row(seq)).collect()
    }

    fn row(&self, seq: u64) -> Result<Row, Fault> {
        let (leaf, payload) = read::stored(self.file, seq)?;
        let key = self.kept.iter().find(|(at, _)| *at == seq).map(|(_, key)| key);
        let kept = key.map(|key| idem::stored(self.file, key)).transpose()?.flatten();
        let kept = kept.filter(|kept| !kept.is_erased());
        Ok(Row { leaf, payload, kept })
    }
}
