//! Replays the decisions of the log: what each would have been under other policies, in the directory as it was then.
//!
//! Always true: the log is read once, in order, and never held in memory; a decision is asked again in the directory
//! just before its own events.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, scope};

use crate::decide::usage::Recount;
use crate::declare::operation::Entry;
use crate::past::moment::{Past, directory};
use crate::past::replay::{Batch, Book, Worker};
use crate::reader::Reader;
use log::read::{self, Decided};
use policy::diff::{Sides, Tally};
use types::refusal::{Fault, Refusal, Stop};

/// The most events that one replay looks at: some tens of seconds.
pub const MOST: i64 = 10_000_000;
/// Entries that one thread is given at a time.
const BATCH: usize = 512;
/// Batches that wait for a thread.
const AHEAD: usize = 2;
/// As many threads ask: the machine has other things to do.
const THREADS: usize = 2;
/// Policies may be deep.
const STACK: usize = 8 << 20;
/// Events that one call may leave behind, at the most, until the next question.
const NEAR: i64 = 256;

/// Asks every decision after the event `since` again, on both sides.
pub fn replay(read: &Reader<'_>, entries: &[Entry], sides: &Sides<'_>, since: i64) -> Result<Tally, Stop> {
    let last = read.last_seq()?;
    if last - since > MOST {
        let message =
            format!("there are {} events; at most {MOST} are replayed at once: name a later start", last - since);
        return Err(Refusal::field("since", message).into());
    }
    let book = Book::new(sides, entries);
    let looks_back = [&sides.before, &sides.after].iter().any(|side| side.snapshot.looks_back());
    let walk = Walk::begin(read, since, looks_back)?;
    Ok(scope(|scope| {
        let mut threads = Vec::new();
        let mut queues = Vec::new();
        for _ in 0..THREADS {
            let (queue, batches) = sync_channel(AHEAD);
            threads.push(ask(scope, &book, batches)?);
            queues.push(queue);
        }
        walk.go(read, last, &queues)?;
        drop(queues);
        let mut all = Tally::default();
        for thread in threads {
            all.merge(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok::<Tally, Fault>(all)
    })?)
}

fn ask<'scope>(
    scope: &'scope Scope<'scope, '_>,
    book: &'scope Book<'scope>,
    batches: Receiver<Batch>,
) -> Result<std::thread::ScopedJoinHandle<'scope, Tally>, Fault> {
    let work = move || {
        let mut worker = Worker::new(book);
        batches.iter().for_each(|batch| worker.work(&batch));
        worker.tally
    };
    let thread = Builder::new().name("replay".into()).stack_size(STACK);
    thread.spawn_scoped(scope, work).map_err(|error| Fault::Broken(error.to_string()))
}

/// The walk through the log, with the directory as of where it stands.
struct Walk<'a> {
    past: Past<'a>,
    /// What actors had done by then, where either side looks at it.
    counted: Option<Recount>,
    since: i64,
    gathered: Vec<Decided>,
    /// From here on, decisions are recorded with their questions; not known yet if far away.
    kept_from: i64,
    /// Whose turn it is.
    turn: usize,
}

impl<'a> Walk<'a> {
    fn begin(read: &'a Reader<'_>, since: i64, looks_back: bool) -> Result<Walk<'a>, Fault> {
        let past = Past::after(since, read.conn()?, read.world())?;
        let counted = looks_back.then(|| Recount::after(read.conn()?, since)).transpose()?;
        let mut kept_from = i64::MAX;
        read::decided(read.conn()?, (since - NEAR).max(0), since, &mut |entry| {
            kept_from = kept_from.min(if keeps(&entry) { entry.seq } else { i64::MAX });
            Ok(())
        })?;
        Ok(Walk { past, counted, since, gathered: Vec::new(), kept_from, turn: 0 })
    }

    fn go(mut self, read: &Reader<'_>, last: i64, queues: &[SyncSender<Batch>]) -> Result<(), Fault> {
        let since = self.since;
        let moving: Vec<&str> = directory().map(|kind| kind.name).collect();
        read::decided(read.conn()?, since, last, &mut |entry| {
            if self.kept_from == i64::MAX && keeps(&entry) {
                self.kept_from = entry.seq;
            }
            let moved = moving.contains(&entry.kind.as_str()).then_some(entry.seq);
            let seq = entry.seq;
            self.gathered.push(entry);
            if moved.is_some() || self.counted.is_some() || self.gathered.len() >= BATCH {
                self.send(queues)?;
            }
            self.counted.iter_mut().try_for_each(|counted| counted.pass(read.conn()?, seq))?;
            moved.map_or(Ok(()), |seq| self.past.pass(seq))
        })?;
        self.send(queues)
    }

    /// Hands what was gathered to the threads in turn.
    fn send(&mut self, queues: &[SyncSender<Batch>]) -> Result<(), Fault> {
        let entries = std::mem::take(&mut self.gathered);
        let (mut world, kept_from) = (self.past.world().clone(), self.kept_from);
        world.histories = self.counted.as_ref().map(|counted| counted.histories().clone());
        let queue = queues.get(self.turn % queues.len().max(1));
        self.turn += 1;
        let sent = queue.and_then(|queue| queue.send(Batch { world, entries, kept_from }).ok());
        sent.ok_or_else(|| Fault::Broken("a thread of the replay has ended".into()))
    }
}

/// Whether an entry holds the question behind it.
fn keeps(entry: &Decided) -> bool {
    let mark = b"\"asked\":";
    entry.payload.as_ref().is_some_and(|payload| payload.windows(mark.len()).any(|part| part == mark))
}
