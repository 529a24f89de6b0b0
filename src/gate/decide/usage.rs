//! What actors have done, as policies see it: `context.hist`. Each allowed call that left an entry counts once, with
//! its first entry; its cost is counted by the folds of its steps.
//!
//! Always true: it is kept in memory only while policies look at it; the table is always kept.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use rpds::HashTrieMapSync;
use rusqlite::Connection;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::past::recorded::{event_of, newest_by};
use crate::write::record;
use log::read::{self, Decided, Filter, Logged, Order};
use log::record::Decision;
use store::approvals;
use store::done::{self, DONE, Of};
use store::event::{Event, EventKind, Moment};
use types::history::{Counts, month};
use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

/// What everybody has done, by actor.
pub(crate) type Histories = HashTrieMapSync<ActorId, Arc<Of>>;

/// Counts what was done with an entry of the log, into the tables of a fold.
pub fn count(conn: &Connection, logged: &Logged) -> Result<(), Fault> {
    let (Some(operation), Some(kind)) = (&logged.decided, EventKind::named(&logged.kind)) else { return Ok(()) };
    let actor = logged.actor.parse().map_err(|_| Fault::Broken(format!("event {} has no actor", logged.seq)))?;
    add(conn, (&actor, logged.decision, kind), operation, logged.at)
}

/// The same, of an entry that is about to be recorded.
pub(crate) fn count_entry(conn: &Connection, entry: &record::Entry, at: Time) -> Result<(), Fault> {
    match &entry.gate.asked {
        Some(_) => add(conn, (&entry.actor, entry.decision, entry.event.kind()), &entry.gate.operation, at),
        None => Ok(()),
    }
}

/// Counts what was done, one log entry after another. It collects counts in memory, one row for each active actor, and
/// writes them before anybody reads them.
pub(crate) struct Tally<'a> {
    tables: &'a Connection,
    counted: BTreeMap<(ActorId, String), Counts>,
}

#[derive(Deserialize)]
struct Recorded {
    #[serde(default)]
    gate: Gate,
}

#[derive(Default, Deserialize)]
struct Gate {
    #[serde(default)]
    operation: String,
    asked: Option<IgnoredAny>,
}

impl<'a> Tally<'a> {
    pub fn into(tables: &'a Connection) -> Tally<'a> {
        Tally { tables, counted: BTreeMap::new() }
    }

    /// Counts an entry that is not erased.
    pub fn count(&mut self, entry: &Decided, actor: &ActorId, kind: &EventKind, payload: &[u8]) -> Result<(), Fault> {
        if !counts(actor, entry.decision, kind) {
            return Ok(());
        }
        let gate = serde_json::from_slice::<Recorded>(payload)?.gate;
        if gate.asked.is_some() {
            let known = match self.counted.entry((actor.clone(), gate.operation)) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => {
                    let (actor, operation) = slot.key();
                    let stored = done::get(self.tables, actor, operation)?;
                    slot.insert(stored.unwrap_or_default())
                }
            };
            *known = known.plus(entry.at, 1, 0);
        }
        Ok(())
    }

    /// Writes what was counted.
    pub fn write(&mut self) -> Result<(), Fault> {
        for ((actor, operation), counts) in std::mem::take(&mut self.counted) {
            done::put(self.tables, &actor, &operation, counts)?;
        }
        Ok(())
    }
}

/// What can be erased counts nothing: what is gone cannot be counted again. Nor does a call that a budget held: it was not made.
fn add(
    conn: &Connection,
    (actor, decision, kind): (&ActorId, Decision, EventKind),
    operation: &str,
    at: Time,
) -> Result<(), Fault> {
    if counts(actor, decision, &kind) {
        done::add(conn, actor, operation, at, (1, 0))?;
    }
    Ok(())
}

fn counts(actor: &ActorId, decision: Decision, kind: &EventKind) -> bool {
    decision == Decision::Allow && *actor != ActorId::system() && !kind.content.erasable && kind.is_done
}

/// Whether costs cannot be counted again without the fold of an event.
pub(crate) fn is_counted(kind: &EventKind) -> bool {
    kind.tables().any(|table| table == DONE)
}

/// Takes out one call that was counted at a time, with these cents.
pub(crate) fn uncount(histories: &mut Histories, (actor, operation): (&ActorId, &str), at: Time, cents: i64) {
    let Some(done) = histories.get(actor) else { return };
    let mut done = Of::clone(done);
    if let Some(counts) = done.get_mut(operation) {
        *counts = counts.plus(at, -1, -cents);
    }
    histories.insert_mut(actor.clone(), Arc::new(done));
}

/// What everybody had done by an earlier moment: the log counted again, in separate tables.
pub struct Recount {
    tables: Connection,
    histories: Histories,
}

impl Recount {
    /// Of approvals, the folds of costs read when they were used: that is taken over.
    fn before(log: &Connection, seq: i64, of: Option<&ActorId>) -> Result<Recount, Fault> {
        let tables = Connection::open_in_memory()?;
        tables.execute_batch(&store::schema())?;
        let by = if seq == 0 { Time(0) } else { read::one(log, seq)?.at };
        approvals::copy_used((log, &tables), done::MODEL_CALL, of, by)?;
        Ok(Recount { tables, histories: Histories::default() })
    }

    /// Recounts up to the entry `seq`. From months that were over by then, nothing is counted; only the owners of runs
    /// are read.
    pub fn after(log: &Connection, seq: i64) -> Result<Recount, Fault> {
        let (mut recount, begun) = (Recount::before(log, seq, None)?, month_before(log, seq)?);
        each(log, (0, begun), &costs(None), &mut |logged| recount.fold(logged).map(drop))?;
        (begun + 1..=seq).try_for_each(|seq| recount.pass(log, seq))?;
        Ok(recount)
    }

    /// Recounts what one actor had done up to the entry `seq`. Of the log, what the actor did in that month is read and, of an
    /// agent, what has ever been about it: only agents cost something.
    pub fn of(log: &Connection, seq: i64, actor: &ActorId, is_agent: bool) -> Result<Of, Fault> {
        let (mut recount, begun) = (Recount::before(log, seq, Some(actor))?, month_before(log, seq)?);
        let mut entries = BTreeSet::new();
        let done = Filter { actor: Some(actor.to_string()), ..Filter::default() };
        each(log, (begun, seq), &done, &mut |logged| {
            let counts = logged.decided.is_some() && logged.decision == Decision::Allow;
            entries.extend(counts.then_some(logged.seq));
            Ok(())
        })?;
        if is_agent {
            each(log, (0, begun), &costs(Some(actor)), &mut |logged| recount.fold(logged).map(drop))?;
            each(log, (begun, seq), &costs(Some(actor)), &mut |logged| {
                entries.insert(logged.seq);
                Ok(())
            })?;
        }
        entries.into_iter().try_for_each(|seq| recount.pass(log, seq))?;
        Ok(done::of(&recount.tables, actor)?)
    }

    /// Counts one more entry.
    pub fn pass(&mut self, log: &Connection, seq: i64) -> Result<(), Fault> {
        let logged = read::one(log, seq)?;
        count(&self.tables, &logged)?;
        let mut actors: Vec<ActorId> = logged.decided.iter().filter_map(|_| logged.actor.parse().ok()).collect();
        if EventKind::named(&logged.kind).as_ref().is_some_and(is_counted) {
            actors.extend(self.fold(logged)?.iter().flat_map(counted));
        }
        actors.into_iter().try_for_each(|actor| renew(&mut self.histories, &self.tables, actor))
    }

    fn fold(&self, logged: Logged) -> Result<Option<Event>, Fault> {
        let (seq, at) = (logged.seq, logged.at);
        let Some((by, event)) = event_of(logged)? else { return Ok(None) };
        event.fold(&Moment { conn: &self.tables, seq, at, by: &by })?;
        Ok(Some(event))
    }

    pub fn histories(&self) -> &Histories {
        &self.histories
    }
}

/// What costs are counted by.
fn costs(of: Option<&ActorId>) -> Filter {
    let kinds = EventKind::all().filter(is_counted).map(|kind| kind.name).collect();
    Filter { kinds, refs: of.iter().map(ToString::to_string).collect(), ..Filter::default() }
}

/// The last entry of the months that were over by the entry `seq`.
fn month_before(log: &Connection, seq: i64) -> Result<i64, Fault> {
    if seq == 0 { Ok(0) } else { newest_by(log, Time(month(read::one(log, seq)?.at) - 1)) }
}

/// The entries after one, up to another.
fn each(
    log: &Connection,
    (after, to): (i64, i64),
    filter: &Filter,
    what: &mut dyn FnMut(Logged) -> Result<(), Fault>,
) -> Result<(), Fault> {
    read::scan(log, Order::Between(after, to), filter, &mut |logged| what(logged).map(ControlFlow::Continue))
}

/// Those whose costs an event may count.
pub(crate) fn counted(event: &Event) -> Vec<ActorId> {
    let of_event = is_counted(&event.kind()).then(|| event.subjects()).into_iter().flatten();
    of_event.filter_map(|id| id.parse().ok()).collect()
}

/// Reads again what an actor has done.
pub(crate) fn renew(histories: &mut Histories, conn: &Connection, actor: ActorId) -> Result<(), Fault> {
    let counts = done::of(conn, &actor)?;
    if !counts.is_empty() {
        histories.insert_mut(actor, Arc::new(counts));
    }
    Ok(())
}

/// What everybody has done, for policies of a time.
pub(crate) fn load(conn: &Connection, at: Time) -> Result<Histories, Fault> {
    Ok(done::all(conn, month(at))?.into_iter().map(|(actor, of)| (actor, Arc::new(of))).collect())
}
