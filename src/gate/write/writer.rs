//! The writer: one thread with the only connection that writes. It drains its queue into one transaction and answers
//! after the commit. What a failed commit leaves behind is unknown, so memory is thrown away with it and read again from
//! the file. Where others continue the same log and were quicker, the transaction is rolled back, what they did is taken
//! over, and the jobs are done again as if they had come only now.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::watch;

use crate::decide::world::World;
use crate::declare::resource::Resources;
use crate::state::guard::Guard;
use crate::state::room::Room;
use crate::write::queue::Job;
use crate::write::repeats::Repeats;
use crate::write::reply::Reply;
use crate::write::rest::Rest;
use crate::write::work::Work;
use log::append::Tail;
use log::journal::{Journal, NotCommitted};
use log::tree::Hash;
use log::{head, idem};
use store::open::BUSY;
use types::entropy::Entropy;
use types::refusal::{Fault, Refusal};
use types::time::{Clock, Monotone, SECOND, Time};

/// Jobs in one transaction.
const BATCH: usize = 256;
const IDLE: Duration = Duration::from_secs(1);
const SWEEP_MS: i64 = 10 * SECOND;

/// How long the writer waits for those whom it has just answered to come back.
const LINGER: Duration = Duration::from_micros(500);

/// Gathers the jobs for one transaction: those in the queue and, waiting briefly, as many as came last time. A single
/// client never waits; many share one fsync instead of each paying for a few.
pub fn gather<T>(jobs: &Receiver<T>, first: T, expected: &mut usize) -> Vec<T> {
    let mut batch = vec![first];
    batch.extend(jobs.try_iter().take(BATCH - 1));
    let until = Instant::now() + LINGER;
    while batch.len() < *expected {
        match jobs.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(job) => batch.push(job),
            Err(_) => break,
        }
    }
    *expected = batch.len();
    batch
}

pub(crate) struct Writer {
    pub conn: Connection,
    pub resources: Arc<Resources>,
    pub tail: Tail,
    /// Where the log is kept.
    pub journal: Arc<dyn Journal>,
    /// The state with what the open transaction has done.
    pub world: World,
    pub published: Arc<ArcSwap<World>>,
    pub clock: Arc<Monotone>,
    pub entropy: Arc<dyn Entropy>,
    pub grown: watch::Sender<i64>,
    /// Opens the state file anew after a failed commit.
    pub reopen: Box<dyn Fn() -> Result<(Connection, Tail), Fault> + Send>,
    /// Notices what other programs do to the file.
    pub guard: Guard,
    /// Whether the disk has room for more.
    pub room: Room,
    /// Refusals that equal ones are counted with.
    pub repeats: Repeats,
    /// When old answers were last deleted.
    pub swept: Time,
    pub healthy: bool,
    /// Whether the last transaction went through, for those who ask.
    pub writes: Arc<AtomicBool>,
    /// Content was erased that may still stand in the write-ahead log.
    pub erased: bool,
    /// The jobs at hand were tried before, and counted then against the limits of their callers.
    pub again: bool,
}

/// Why a transaction came to nothing, as far as is known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undone {
    #[error(transparent)]
    Nothing(Fault),
    /// It may have been committed.
    #[error(transparent)]
    Unknown(Fault),
}

impl<F> From<F> for Undone
where
    Fault: From<F>,
{
    fn from(fault: F) -> Undone {
        Undone::Nothing(fault.into())
    }
}

/// How often jobs are done again because other writers were quicker.
const TRIES: u32 = 8;
const UNKNOWN: &str = "the outcome is not known; ask again with the same Idempotency-Key";

impl Writer {
    /// Serves jobs until every sender is gone, then publishes the last checkpoint.
    /// Returns the connection, to be closed after all readers.
    pub fn serve(mut self, jobs: &Receiver<Job>) -> Connection {
        let (mut expected, mut heavy, mut ends) = (1, VecDeque::new(), false);
        let mut rest = Rest::default();
        while !ends {
            match jobs.recv_timeout(if heavy.is_empty() { IDLE } else { rest.left(Instant::now(), heavy.len()) }) {
                Ok(first) => {
                    let (stops, batch): (Vec<Job>, Vec<Job>) =
                        gather(jobs, first, &mut expected).into_iter().partition(|job| matches!(job.work, Work::Stop));
                    let (long, short): (Vec<Job>, Vec<Job>) = batch.into_iter().partition(|job| job.work.is_heavy());
                    heavy.extend(long);
                    rest.interrupted_by(short.len());
                    self.batch(short);
                    ends = !stops.is_empty();
                }
                Err(RecvTimeoutError::Timeout) if heavy.is_empty() => self.idle(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => ends = true,
            }
            // One at a time, and between two of them whatever else has come: a stop never waits for more than one.
            let began = Instant::now();
            if rest.left(began, heavy.len()).is_zero()
                && let Some(next) = heavy.pop_front()
            {
                self.batch(vec![next]);
                rest = Rest::after(began, Instant::now());
            }
        }
        heavy.into_iter().for_each(|job| self.batch(vec![job]));
        self.stop()
    }

    fn batch(&mut self, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        // Apart, because whatever stops the transaction, everybody is told.
        let (mut works, answers): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| ((job.turn, job.work), job.answer)).unzip();
        let mut outcomes = Vec::with_capacity(works.len());
        let done = self.transaction(|writer, now| {
            outcomes.clear();
            // Taken only now that the file is ours: who stopped waiting for it meanwhile was told that nothing happened.
            for (turn, work) in &mut works {
                outcomes.push(if turn.take() { Some(writer.carry_out(work, now)?) } else { None });
            }
            Ok(())
        });
        match done {
            Ok(()) => {
                let stamped = Arc::clone(&self.world.stamped);
                for (answer, outcome) in answers.into_iter().zip(outcomes) {
                    let Some(outcome) = outcome else { continue };
                    let outcome = outcome.map(|reply| Reply { audit: Arc::clone(&stamped), ..reply });
                    let outcome = outcome.map_err(|stop| stop.standing_in(&stamped));
                    let _ = answer.send(outcome);
                }
            }
            Err(why) => {
                tracing::error!(%why, "the log cannot be written");
                let message = if matches!(why, Undone::Unknown(_)) { UNKNOWN } else { "nothing was done" };
                for answer in answers {
                    // The cause is in the server's log: it may name places that are no caller's business.
                    let _ = answer.send(Err(Refusal::audit_unavailable(message).into()));
                }
            }
        }
    }

    /// Runs `work` in one transaction that ends with a sealed head, and publishes the result. Runs it again if the
    /// log's head had moved. A panic ends the transaction but not the writer, which starts over from the contents of
    /// the file.
    pub(crate) fn transaction(
        &mut self,
        mut work: impl FnMut(&mut Writer, Time) -> Result<(), Fault>,
    ) -> Result<(), Undone> {
        let done = self.try_on(&mut work);
        self.writes.store(done.is_ok(), Ordering::Relaxed);
        if let Err(Undone::Nothing(fault) | Undone::Unknown(fault)) = &done {
            self.learn(fault);
        }
        done
    }

    fn try_on(&mut self, work: &mut dyn FnMut(&mut Writer, Time) -> Result<(), Fault>) -> Result<(), Undone> {
        for tried in 0..TRIES {
            self.again = tried > 0;
            let Ok(done) = catch_unwind(AssertUnwindSafe(|| self.attempt(work))) else {
                self.healthy = false;
                // It may have panicked after the commit.
                return Err(Undone::Unknown(Fault::Broken("the writer panicked".into())));
            };
            if done? {
                return Ok(());
            }
            // Each waits for another moment, so that one of those who collide is first.
            let random = u64::try_from(self.entropy.bits128() >> 96).unwrap_or(0);
            std::thread::sleep(Duration::from_micros(random % (1_000 << tried)));
        }
        Err(Fault::Broken(format!("other programs have written to the log before, {TRIES} times")).into())
    }

    /// False if the log's head had moved: then nothing was done, and what moved it was taken over.
    fn attempt(&mut self, work: &mut dyn FnMut(&mut Writer, Time) -> Result<(), Fault>) -> Result<bool, Undone> {
        self.guard.same_file()?;
        self.recover()?;
        self.healthy = false;
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        let (now, before) = (self.clock.now(), self.world.clone());
        self.room.look();
        self.guard.untouched(&self.conn)?;
        self.tail.fence(&self.conn).map_err(NotCommitted::into_fault)?;
        self.tell_repeats(now)?;
        work(self, now)?;
        self.sweep(now)?;
        let end = self.tail.end();
        let is_grown = end.0 > before.head.size;
        match self.commit(now) {
            Ok(()) => {}
            Err(NotCommitted::Conflict(_)) if self.journal.is_shared() => {
                self.go_back(before)?;
                return Ok(false);
            }
            Err(NotCommitted::Unknown(fault)) => self.look_for(end, is_grown, fault)?,
            Err(lost) => return Err(lost.into_fault().into()),
        }
        self.healthy = true;
        self.repeats.settle();
        if self.erased {
            self.forget_pages();
        }
        self.publish();
        Ok(true)
    }

    fn commit(&mut self, now: Time) -> Result<(), NotCommitted> {
        if let Some(head) = self.tail.commit(&*self.journal, &self.conn, now)? {
            self.world.set_head(head);
        }
        self.conn.execute_batch("COMMIT").map_err(|error| NotCommitted::Unknown(error.into()))
    }

    /// What a commit that failed has come to: that is unknown until the log is read again.
    fn look_for(&mut self, end: (u64, Hash), is_grown: bool, fault: Fault) -> Result<(), Undone> {
        self.recover().map_err(Undone::Unknown)?;
        if is_grown && self.tail.has(&self.conn, end).map_err(Undone::Unknown)? {
            return Ok(());
        }
        // A log in the file is as it was read; elsewhere it may still arrive.
        Err(if self.journal.is_shared() { Undone::Unknown(fault) } else { Undone::Nothing(fault) })
    }

    /// Rolls the open transaction back, and takes over what others have committed meanwhile.
    fn go_back(&mut self, before: World) -> Result<(), Fault> {
        self.conn.execute_batch("ROLLBACK")?;
        self.world = before;
        self.repeats.undo();
        self.tail.rolled_back(&self.conn)?;
        self.healthy = true;
        self.catch_up()
    }

    pub(crate) fn publish(&self) {
        self.published.store(Arc::new(self.world.clone()));
        self.grown.send_replace(self.tail.size() as i64);
    }

    /// What a fault tells of the disk.
    fn learn(&mut self, fault: &Fault) {
        if let Fault::Sqlite(error) = fault
            && error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        {
            self.room.is_full();
        }
    }

    /// After anything went wrong in a transaction, memory and connection are worthless: both are made again.
    fn recover(&mut self) -> Result<(), Fault> {
        if self.healthy {
            return Ok(());
        }
        let _ = self.conn.execute_batch("ROLLBACK");
        let (conn, tail) = (self.reopen)()?;
        self.guard.reopened(&conn)?;
        if tail.epoch() != self.tail.epoch() {
            return Err(Fault::Broken("another program has taken over the state file".into()));
        }
        let head = head::head(&conn)?.ok_or_else(|| Fault::Broken("the log has no head".into()))?;
        let head_size = head.size;
        self.world = World::load(&conn, self.world.ground(), head)?;
        self.repeats.keep(head_size);
        self.conn = conn;
        self.tail = tail;
        self.healthy = true;
        self.catch_up()
    }

    /// Deletes answers that nobody can ask for any more, some at a time and now and then.
    fn sweep(&mut self, now: Time) -> Result<(), Fault> {
        if now.0 >= self.swept.0 + SWEEP_MS {
            self.swept = now;
            idem::forget_old(&self.conn, self.tail.ts())?;
        }
        Ok(())
    }

    fn idle(&mut self) {
        if self.erased {
            self.forget_pages();
        }
        if self.journal.is_shared()
            && let Err(why) = self.recover().and_then(|()| self.catch_up())
        {
            tracing::error!(%why, "what others have committed to the log could not be taken over");
        }
        let now = self.clock.now();
        if self.healthy && (self.tail.publish_due(now) || self.repeats.are_due(now)) {
            let published = self.transaction(|writer, _| {
                writer.tail.publish_newest();
                Ok(())
            });
            if let Err(why) = published {
                tracing::error!(%why, "a checkpoint could not be published");
            }
        }
    }

    fn stop(mut self) -> Connection {
        let last = self.transaction(|writer, now| {
            writer.tail.publish_newest();
            writer.tell_all_repeats(now)
        });
        if let Err(why) = last {
            tracing::error!(%why, "the last checkpoint could not be published");
        }
        self.forget_pages();
        self.conn
    }

    /// Moves everything from the write-ahead log into the file: what was erased is then gone from both.
    /// Whoever still reads an older state holds that up; nobody waits for it, it is tried again.
    fn forget_pages(&mut self) {
        let _ = self.conn.busy_timeout(Duration::ZERO);
        let held_up = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        let _ = self.conn.busy_timeout(BUSY);
        if let Err(why) = &held_up {
            tracing::warn!(%why, "the write-ahead log could not be emptied");
        }
        self.erased &= held_up.unwrap_or(true);
    }
}
