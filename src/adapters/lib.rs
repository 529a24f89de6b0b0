//! Collections that are kept in other systems. A definition says which table of which system its records are read from
//! (`spec.source`); whoever runs the server says which systems there are, and which of their tables may be read
//! (`OK_SYSTEMS_CONFIG`).
//!
//! Always true: a system is only read. What comes from it is checked against the definition, and judged and filtered here as
//! records are that are kept here: a system that answers with too much shows nobody more.

mod embedder;
mod file;
mod postgres;
mod pushed;
mod ranked;
mod row;
mod sqlite;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use zeroize::Zeroizing;

use types::collection::{Collection, Source};
use types::condition::Condition;

pub use embedder::{Embedder, MOST_TEXTS};
pub use row::{SourceRow, kept};
pub use sqlite::connect as connect_sqlite;

/// The most rows that are read for one answer.
pub const MOST_ROWS: usize = 5_000;
/// How long they are read at the most.
pub const LONGEST: Duration = Duration::from_secs(60);
/// The most bytes of the rows of one answer.
const MOST_BYTES: usize = 16 << 20;
/// Longer values than these fit no field, so no more is read of them: characters.
const LONGEST_VALUE: usize = 70_000;

/// The rows that are wanted.
#[derive(Debug)]
pub struct Wanted<'a> {
    pub of: &'a Collection,
    pub source: &'a Source,
    /// Rows of which it does not hold need not come; those that come may be too many, never too few.
    pub condition: &'a Condition,
    /// The columns to sort by, and which of them from the largest down.
    pub sorted: Vec<(&'a str, bool)>,
}

/// Rows: the values of each as texts, in the order of the fields.
#[derive(Debug, Default)]
pub struct Rows {
    pub rows: Vec<Vec<Option<String>>>,
    /// There are more, which were not read.
    pub is_cut: bool,
}

/// Why there are no rows, in words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(pub String);

/// A kind of system that tables can be read from.
pub trait Adapter: Send + Sync {
    /// What it is called: `x-ok-partial-from` names it.
    fn name(&self) -> &'static str;
    /// The rows that may fit. It blocks, for no longer than the system's time limit, and ends when nobody waits for it.
    fn rows(&self, wanted: &Wanted<'_>) -> Result<Rows, Unread>;
    /// Whether it answers, and how.
    fn check(&self) -> Result<String, Unread>;
}

/// A system, and what may be read of it.
struct System {
    adapter: Box<dyn Adapter>,
    tables: Vec<String>,
}

/// The other systems, by name.
#[derive(Default)]
pub struct Systems(BTreeMap<String, System>);

impl fmt::Debug for Systems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Reads a variable that holds a password.
pub type Secret<'a> = &'a dyn Fn(&str) -> Option<Zeroizing<String>>;

impl Systems {
    /// The systems of a file; paths in it start from its folder.
    pub fn read(path: &Path, secret: Secret<'_>) -> Result<Systems, String> {
        file::systems(path, secret)
    }

    /// The adapter by which a table is read, or why it cannot be.
    pub fn adapter(&self, source: &Source) -> Result<&dyn Adapter, Unread> {
        let Source { system, table, .. } = source;
        match self.0.get(system) {
            None => Err(Unread(format!("no system `{system}` is set up on this server (OK_SYSTEMS_CONFIG)"))),
            Some(System { tables, .. }) if !tables.contains(table) => {
                Err(Unread(format!("the table `{table}` of `{system}` may not be read by this server")))
            }
            Some(system) => Ok(&*system.adapter),
        }
    }

    /// Each system, with whether it answers.
    pub fn check(&self) -> impl Iterator<Item = (&str, Result<String, Unread>)> {
        self.0.iter().map(|(name, system)| (name.as_str(), system.adapter.check()))
    }
}
