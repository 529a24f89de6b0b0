//! The company as it was: the directory folded forward from the log, and the policies that were in force. Decisions read
//! nothing else, so what was asked then can be asked again.

use std::ops::ControlFlow;

use rusqlite::Connection;

use super::world::World;
use crate::log::read::{self, Filter, Logged, Order};
use crate::policy::Bundle;
use crate::store::event::{Event, EventKind, Moment};
use crate::store::policies::events::PolicyApplied;
use crate::types::id::ActorId;
use crate::types::refusal::{Fault, Refusal, Stop};
use crate::types::time::Time;

/// The events that change what a decision reads, beside the policies.
pub(super) fn directory() -> impl Iterator<Item = EventKind> {
    EventKind::all().filter(|kind| kind.memory.is_directory())
}

/// The company at one moment that has gone by.
pub struct AsOf {
    pub(super) world: World,
    pub(super) at: Time,
}

impl AsOf {
    /// The same company at a later time at which it had not changed.
    #[must_use]
    pub fn at(self, at: Time) -> AsOf {
        AsOf { at, ..self }
    }
}

/// A directory that moves forward through the log.
pub struct Past {
    tables: Connection,
    world: World,
}

impl Past {
    /// Before the first event, with the policies of `now`.
    pub(super) fn begin(now: &World) -> Result<Past, Fault> {
        let tables = Connection::open_in_memory()?;
        tables.execute_batch(crate::store::SCHEMA)?;
        Ok(Past { tables, world: World::empty(now.ground(), (*now.head).clone()) })
    }

    /// The directory after the events so far. A clone costs a few pointers.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Goes on by one event; one that no decision reads changes nothing.
    pub(super) fn pass(&mut self, at: Time, actor: &ActorId, event: &Event) -> Result<(), Fault> {
        if event.kind().memory.is_directory() {
            let touched = event.fold(&Moment { conn: &self.tables, at, by: actor })?;
            self.world.touch(&self.tables, &touched)?;
        }
        Ok(())
    }
}

/// The company after the event `seq`, with the policies that were in force. Takes time for the directory's events up to
/// there, not for all.
pub(super) fn at(conn: &Connection, now: &World, seq: i64) -> Result<World, Stop> {
    let mut past = Past::begin(now)?;
    let mut applied = None;
    let kinds = directory().chain([PolicyApplied::KIND]).map(|kind| kind.name).collect();
    read::scan(conn, Order::After(0), &Filter { kinds, ..Filter::default() }, &mut |logged| {
        if logged.seq > seq {
            return Ok(ControlFlow::Break(()));
        }
        let (at, Some((actor, event))) = (logged.at, event_of(logged)?) else { return Ok(ControlFlow::Continue(())) };
        match event.get::<PolicyApplied>() {
            Some(PolicyApplied { version, files, .. }) => applied = Some((*version, files.clone())),
            None => past.pass(at, &actor, &event)?,
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let (version, files) = applied.ok_or_else(|| Refusal::field("at", "no policy was in force then"))?;
    let mut world = past.world;
    if version != now.stamp.seq {
        let compiled = now.workshop.snapshot(&Bundle { files }).map_err(|_| {
            let message = format!("the policies of version {version} do not load in this version of ok");
            Refusal::field("at", message)
        })?;
        world.govern(compiled, version);
    }
    Ok(world)
}

/// The event behind an entry, and who did it; none once it is erased.
pub(super) fn event_of(logged: Logged) -> Result<Option<(ActorId, Event)>, Fault> {
    let Some(event) = logged.event else { return Ok(None) };
    let actor = logged.actor.parse().map_err(|_| Fault::Broken(format!("event {} has no actor", logged.seq)))?;
    Ok(Some((actor, Event::read(event)?)))
}

/// The last event that had happened by a time; 0 before the first. Times in the log never run back.
pub(super) fn newest_by(conn: &Connection, time: Time) -> Result<i64, Fault> {
    let (mut low, mut high) = (0, read::last_seq(conn)?);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if read::one(conn, middle)?.at <= time { low = middle } else { high = middle - 1 }
    }
    Ok(low)
}
