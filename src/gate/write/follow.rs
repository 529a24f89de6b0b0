//! Entries that others have committed to the same log, folded into the tables as one's own are.

use rusqlite::Connection;

use crate::decide::usage;
use crate::past::recorded::event_of;
use crate::write::writer::Writer;
use log::append::{self, Tail};
use log::journal::{Journal, NotCommitted};
use log::read;
use store::context::events::ContextForgotten;
use store::event::{Event, Moment};
use store::memory::Touched;
use types::id::ActorId;
use types::refusal::Fault;

/// What came of an entry: who did it, what happened, and what of the directory it has touched.
type Folded<'a> = &'a mut dyn FnMut(&ActorId, &Event, &Touched) -> Result<(), Fault>;

/// Folds an entry that was taken over.
fn fold(conn: &Connection, seq: i64, each: Folded<'_>) -> Result<(), Fault> {
    let logged = read::one(conn, seq)?;
    let at = logged.at;
    usage::count(conn, &logged)?;
    // Erased contents fold nothing: only such may be erased.
    let Some((by, event)) = event_of(logged)? else { return Ok(()) };
    let touched = event.fold(&Moment { conn, seq, at, by: &by })?;
    if let Some(forgotten) = event.get::<ContextForgotten>() {
        forgotten.events.iter().try_for_each(|seq| append::erase(conn, *seq).map(drop))?;
    }
    each(&by, &event, &touched)
}

/// Takes over all that the journal has, in the open transaction, before there is a directory in memory.
pub(crate) fn tables(conn: &Connection, tail: &mut Tail, journal: &dyn Journal) -> Result<(), Fault> {
    while tail.catch_up(journal, conn, &mut |seq| fold(conn, seq, &mut |_, _, _| Ok(())))? {}
    Ok(())
}

impl Writer {
    /// Takes over what others have committed, tables and memory, some in a transaction.
    pub(crate) fn catch_up(&mut self) -> Result<(), Fault> {
        if !self.journal.is_shared() || !self.tail.is_behind(&*self.journal, &self.conn)? {
            return Ok(());
        }
        self.healthy = false;
        while self.take_some()? {}
        self.healthy = true;
        let head = self.tail.tip().head;
        self.repeats.keep(head.size);
        self.world.set_head(head);
        self.publish();
        Ok(())
    }

    fn take_some(&mut self) -> Result<bool, Fault> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        self.guard.untouched(&self.conn)?;
        self.tail.fence(&self.conn).map_err(NotCommitted::into_fault)?;
        let Writer { conn, tail, journal, world, erased, .. } = self;
        let more = tail.catch_up(&**journal, conn, &mut |seq| {
            fold(conn, seq, &mut |by, event, touched| {
                *erased |= event.get::<ContextForgotten>().is_some();
                world.touch(conn, touched)?;
                world.recount(conn, by, event)
            })
        })?;
        conn.execute_batch("COMMIT")?;
        Ok(more)
    }
}
