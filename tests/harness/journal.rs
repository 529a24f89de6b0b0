//! A log kept elsewhere: in memory, where any number of companies continue it. And what can happen on the way there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use ok::log::head::Tip;
use ok::log::journal::{Batch, Journal, NotCommitted, Passage, Row, Since};
use ok::log::read::Published;
use ok::policy::Bundle;
use ok::types::refusal::Fault;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Test, With};

impl Test {
    /// A new company whose log is kept elsewhere.
    pub async fn with_journal(journal: Arc<dyn Journal>) -> Test {
        Test::begun(Test::founded(With::policies(Bundle::built_in()), journal)).await
    }

    /// Another server of the same company, which continues the same log with a state file of its own.
    pub fn beside(&self, journal: Arc<dyn Journal>) -> Test {
        let dir = tempfile::tempdir().unwrap();
        ok::store::backup::copy(&self.file(), &dir.path().join("state.db")).unwrap();
        for key in ["state.db.key", "state.db.secrets"] {
            std::fs::copy(self.dir.path().join(key), dir.path().join(key)).unwrap();
        }
        self.beside_in(dir, journal)
    }

    /// The same with a state file that it had before.
    pub fn beside_in(&self, dir: TempDir, journal: Arc<dyn Journal>) -> Test {
        let beside = Test::opened(dir, Arc::clone(&self.clock), self.with.clone(), journal, self.opened + 100);
        Test { admin: self.admin.clone(), ..beside }
    }
}

#[derive(Default)]
pub struct Memory(Mutex<Log>);

#[derive(Default)]
struct Log {
    tip: Option<Tip>,
    rows: Vec<Row>,
    published: BTreeMap<u64, Published>,
}

impl Journal for Memory {
    fn is_shared(&self) -> bool {
        true
    }

    fn tip(&self, _: &Connection) -> Result<Option<Tip>, Fault> {
        Ok(self.0.lock().unwrap().tip.clone())
    }

    fn read(&self, _: &Connection, since: Since, most: usize) -> Result<Passage, Fault> {
        let log = self.0.lock().unwrap();
        let rows = log.rows.iter().skip(since.entries as usize).take(most).cloned().collect();
        let published = log.published.range(since.published + 1..).map(|(_, one)| one.clone()).collect();
        Ok(Passage { rows, published })
    }

    fn commit(&self, batch: &Batch<'_>) -> Result<(), NotCommitted> {
        let rows = batch.rows()?;
        let mut log = self.0.lock().unwrap();
        NotCommitted::unless_at(batch.after, log.tip.as_ref().map(Tip::mark))?;
        for seq in batch.erased {
            let row = &mut log.rows[*seq as usize - 1];
            (row.payload, row.kept) = (None, None);
        }
        for row in &mut log.rows {
            row.kept.take_if(|kept| batch.forgotten.iter().any(|key| key[..] == kept.key));
        }
        log.rows.extend(rows);
        log.published.extend(batch.published.iter().map(|one| (one.size, one.clone())));
        log.tip = Some(batch.tip.clone());
        Ok(())
    }
}

/// What happens to one commit.
pub enum Trouble {
    /// Somebody does something just before it.
    First(Box<dyn FnOnce() + Send>),
    /// Nothing arrives.
    Unreachable,
    /// It breaks off, and nothing has arrived.
    BrokenOff,
    /// It breaks off, and all has arrived.
    Unanswered,
}

/// The way of one company to its log.
pub struct Way {
    log: Arc<Memory>,
    ahead: Mutex<VecDeque<Trouble>>,
}

impl Way {
    pub fn to(log: &Arc<Memory>) -> Arc<Way> {
        Arc::new(Way { log: Arc::clone(log), ahead: Mutex::default() })
    }

    /// What will happen to the next commits, one after the other.
    pub fn expect(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.ahead.lock().unwrap().extend(troubles);
    }

    /// Whether all that was to happen has.
    pub fn is_clear(&self) -> bool {
        self.ahead.lock().unwrap().is_empty()
    }
}

impl Journal for Way {
    fn is_shared(&self) -> bool {
        true
    }

    fn tip(&self, file: &Connection) -> Result<Option<Tip>, Fault> {
        self.log.tip(file)
    }

    fn read(&self, file: &Connection, since: Since, most: usize) -> Result<Passage, Fault> {
        self.log.read(file, since, most)
    }

    fn commit(&self, batch: &Batch<'_>) -> Result<(), NotCommitted> {
        let trouble = self.ahead.lock().unwrap().pop_front();
        let lost = || Fault::Broken("no answer".into());
        match trouble {
            Some(Trouble::Unreachable) => return Err(NotCommitted::Unavailable(lost())),
            Some(Trouble::BrokenOff) => return Err(NotCommitted::Unknown(lost())),
            Some(Trouble::First(act)) => act(),
            Some(Trouble::Unanswered) => {
                return self.log.commit(batch).and(Err(NotCommitted::Unknown(lost())));
            }
            None => {}
        }
        self.log.commit(batch)
    }
}
