//! Reading the log.

use std::ops::ControlFlow;

use super::Reader;
use log::head::Head;
use log::read::{self, Filter, Logged, Order, Published};
use log::{proof, verify};
use types::refusal::{Fault, Refusal, Stop};

impl Reader<'_> {
    pub fn head(&self) -> &Head {
        &self.world.head
    }

    pub fn event(&self, seq: i64) -> Result<Option<Logged>, Fault> {
        if seq < 1 || seq > read::last_seq(self.conn()?)? { Ok(None) } else { read::one(self.conn()?, seq).map(Some) }
    }

    pub fn last_seq(&self) -> Result<i64, Fault> {
        read::last_seq(self.conn()?)
    }

    pub fn scan(
        &self,
        order: Order,
        filter: &Filter,
        each: &mut dyn FnMut(Logged) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<(), Fault> {
        read::scan(self.conn()?, order, filter, each)
    }

    pub fn checkpoints(&self, before: u64, limit: usize) -> Result<Vec<Published>, Fault> {
        read::checkpoints(self.conn()?, before, limit)
    }

    pub fn inclusion_proof(&self, seq: u64) -> Result<String, Fault> {
        proof::inclusion(self.conn()?, self.head(), seq)
    }

    /// That the tree of `to` leaves, which `note` is the checkpoint of, continues that of `from`.
    pub fn consistency_proof(&self, from: u64, to: u64, note: &str) -> Result<String, Fault> {
        proof::consistency(self.conn()?, from, to, note)
    }

    /// The published checkpoint of a tree of this size.
    pub fn checkpoint_note(&self, size: u64) -> Result<Option<String>, Fault> {
        let newest = read::checkpoints(self.conn()?, size + 1, 1)?.pop();
        Ok(newest.filter(|published| published.size == size).map(|published| published.note))
    }

    /// Walks the whole log with the verifier, which trusts nothing of this program.
    pub fn verify(&self, ask: &verify::Ask<'_>) -> Result<verify::Report, Stop> {
        use verify::Unreadable;
        let verified = verify::verify_sqlite(self.conn()?, ask).map(|mut report| {
            let tables = "whether the tables are what the log says: `ok audit verify` looks, where the state file is";
            report.not_checked.push(tables.to_owned());
            report
        });
        verified.map_err(|why| match why {
            Unreadable::GivenKey(_) | Unreadable::GivenCheckpoint(_) => Refusal::field("checkpoint", why).into(),
            Unreadable::File { .. } | Unreadable::Tables(_) => Stop::Failed(Fault::Broken(why.to_string())),
        })
    }
}
