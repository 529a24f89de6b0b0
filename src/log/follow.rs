//! A state file that follows a log which others continue too: what they have committed is taken over entry by entry, in the
//! open transaction, and has to lead to the same signed head.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::Connection;
use serde::Deserialize;

use super::append::{Keys, Tail};
use super::head::{self, Tip};
use super::idem;
use super::journal::{Journal, Passage, Row, Since};
use types::refusal::Fault;
use types::time::Time;

/// Entries that are taken over at once.
const MOST: usize = 512;

/// What of a leaf says where it belongs and how it is found.
#[derive(Deserialize)]
struct Link {
    actor: String,
    idem: Option<String>,
    origin: String,
    prev: String,
    refs: Vec<String>,
    seq: i64,
    ts: i64,
    r#type: String,
}

impl Tail {
    /// Whether the journal has what the state file lacks.
    pub fn is_behind(&self, journal: &dyn Journal, file: &Connection) -> Result<bool, Fault> {
        let Some(tip) = journal.tip(file)? else { return Ok(false) };
        self.is_mine(&tip)?;
        Ok(tip.head.size > self.size())
    }

    /// Takes over some of what the journal has and the state file lacks, in the open transaction, and hands the number of each
    /// entry to `each`. False once there is nothing more.
    pub fn catch_up(
        &mut self,
        journal: &dyn Journal,
        file: &Connection,
        each: &mut dyn FnMut(i64) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let Some(tip) = journal.tip(file)? else { return Ok(false) };
        self.is_mine(&tip)?;
        let since = Since { entries: self.size(), published: self.published.0 };
        let Passage { rows, published } = journal.read(file, since, MOST)?;
        let rows: Vec<Row> = rows.into_iter().take((tip.head.size - self.size()) as usize).collect();
        if rows.is_empty() && self.size() < tip.head.size {
            return Err(Fault::Broken("the log holds fewer entries than its head says".into()));
        }
        for row in &rows {
            each(self.take_in(file, row)?)?;
        }
        for checkpoint in published.iter().take_while(|one| one.size <= tip.head.size) {
            self.put_checkpoint(file, checkpoint)?;
        }
        if !rows.is_empty() {
            self.settle(file, &tip)?;
        }
        Ok(self.size() < tip.head.size)
    }

    /// Continues under the log's current owner: a shared log is not taken over.
    pub fn join(&mut self, journal: &dyn Journal, file: &Connection) -> Result<(), Fault> {
        if let Some(tip) = journal.tip(file)? {
            self.be_owned(tip.epoch);
        }
        Ok(())
    }

    fn is_mine(&self, tip: &Tip) -> Result<(), Fault> {
        if tip.epoch != self.epoch() {
            return Err(Fault::Broken("another program has taken over the log".into()));
        }
        if tip.head.size < self.size() {
            return Err(Fault::Broken("the log has fewer entries than were committed to it".into()));
        }
        Ok(())
    }

    fn take_in(&mut self, file: &Connection, row: &Row) -> Result<i64, Fault> {
        let link: Link = serde_json::from_slice(&row.leaf)?;
        let prev = BASE64.encode(self.prev);
        if (link.seq, &link.origin, &link.prev) != (self.next(), &self.origin().to_owned(), &prev) {
            return Err(Fault::Broken(format!("entry {} does not continue the log", self.next())));
        }
        self.ts = Time(link.ts);
        let payload = row.payload.as_ref().map(|(salt, body)| (salt, body.as_slice()));
        let keys = Keys { kind: &link.r#type, actor: &link.actor, refs: &link.refs };
        let seq = self.put(file, &row.leaf, payload, &keys)?;
        row.kept.iter().try_for_each(|kept| idem::keep(file, kept, self.ts))?;
        let key = link.idem.filter(|_| row.payload.is_none()).and_then(|key| BASE64.decode(key).ok()?.try_into().ok());
        key.map_or(Ok(()), |key| idem::erase(file, key, self.ts))?;
        Ok(seq)
    }

    /// The state file has the head that the log has, or one on the way there.
    fn settle(&mut self, file: &Connection, tip: &Tip) -> Result<(), Fault> {
        let own = self.tip();
        if own.head.size == tip.head.size && own != *tip {
            return Err(Fault::Broken("the log's entries do not lead to its signed head".into()));
        }
        head::set(file, &own)?;
        self.after = Some(own.mark());
        Ok(())
    }
}
