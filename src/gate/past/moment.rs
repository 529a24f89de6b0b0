//! The company as it was: the directory from its history, and the policies that were in force. Decisions read nothing else,
//! so what was asked then can be asked again.

use std::ops::ControlFlow;
use std::sync::Arc;

use rusqlite::Connection;

use crate::decide::usage::{Histories, Recount};
use crate::decide::world::World;
use crate::past::recorded::event_of;
use log::read::{self, Filter, Order};
use policy::Bundle;
use store::break_glass::BreakGlass;
use store::event::EventKind;
use store::history::{self, Part};
use store::kills::Kill;
use store::policies::events::PolicyApplied;
use types::actor::ActorKind;
use types::delegation::Terms;
use types::id::ActorId;
use types::refusal::{Fault, Refusal, Stop};
use types::time::Time;

/// The events that change what a decision reads, beside the policies.
pub(crate) fn directory() -> impl Iterator<Item = EventKind> {
    EventKind::all().filter(|kind| kind.memory.is_directory())
}

/// The company at one moment that has gone by.
pub struct AsOf {
    pub(crate) world: World,
    pub(crate) at: Time,
    /// The last entry that had been recorded.
    pub(crate) seq: i64,
}

impl AsOf {
    /// Reads what an actor had done by then, and everybody in this delegation's chain, if the policies look at it. The time
    /// needed depends on how much they did in that month; of agents, on how often they have ever been asked.
    pub(crate) fn know(&mut self, conn: &Connection, actor: &ActorId, under: Option<&str>) -> Result<(), Fault> {
        let Some(mut histories) = self.world.histories.take() else { return Ok(()) };
        let chain = under.and_then(|id| self.world.delegations.get(id)).map(|terms| terms.chain.clone());
        for actor in chain.unwrap_or_default().into_iter().chain([actor.clone()]) {
            let is_agent = self.world.card(&actor).is_none_or(|card| card.actor.kind != ActorKind::Person);
            let of = Recount::of(conn, self.seq, &actor, is_agent)?;
            histories.insert_mut(actor, Arc::new(of));
        }
        self.world.histories = Some(histories);
        Ok(())
    }

    /// The same company at a later time at which it had not changed.
    #[must_use]
    pub fn at(self, at: Time) -> AsOf {
        AsOf { at, ..self }
    }
}

/// A directory that moves forward through the log.
pub struct Past<'a> {
    conn: &'a Connection,
    world: World,
}

impl<'a> Past<'a> {
    /// After the entry `seq`, with the policies of `now`.
    pub(crate) fn after(seq: i64, conn: &'a Connection, now: &World) -> Result<Past<'a>, Fault> {
        let mut world = World::empty(now.ground(), (*now.head).clone());
        world.settle(history::standing(conn, seq)?);
        history::standing(conn, seq)?.into_iter().for_each(|terms| world.delegate(terms));
        let mut past = Past { conn, world };
        past.stop_at(seq)?;
        past.break_at(seq)?;
        Ok(past)
    }

    /// Returns the directory at this moment. A clone costs a few pointers.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Goes on to the entry `seq`: those between must have changed nothing that decisions read.
    pub(crate) fn pass(&mut self, seq: i64) -> Result<(), Fault> {
        for part in history::moved(self.conn, seq)? {
            match part {
                Part::Actors => history::made(self.conn, seq)?.into_iter().for_each(|actor| self.world.put(actor)),
                Part::Delegations => {
                    let ended = history::ended::<Terms>(self.conn, seq)?;
                    for id in &ended {
                        self.world.delegations.remove_mut(id);
                    }
                    history::made(self.conn, seq)?.into_iter().for_each(|terms| self.world.delegate(terms));
                }
                Part::Kills => self.stop_at(seq)?,
                Part::BreakGlass => self.break_at(seq)?,
            }
        }
        Ok(())
    }

    fn stop_at(&mut self, seq: i64) -> Result<(), Fault> {
        let kills: Vec<Kill> = history::standing(self.conn, seq)?;
        self.world.kills = Arc::new(kills.into_iter().map(|kill| (kill.scope.clone(), kill)).collect());
        Ok(())
    }

    fn break_at(&mut self, seq: i64) -> Result<(), Fault> {
        let mut break_glass: Vec<BreakGlass> = history::standing(self.conn, seq)?;
        break_glass.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        self.world.break_glass = Arc::new(break_glass);
        Ok(())
    }
}

/// Returns the company after the event `seq`, with the policies in force then. The time needed depends on the size of
/// the directory at that point, not on the length of the log before it. What actors had done is not known yet: see `AsOf::know`.
pub(crate) fn at(conn: &Connection, now: &World, seq: i64) -> Result<World, Stop> {
    let mut world = Past::after(seq, conn, now)?.world;
    let mut applied = None;
    let filter = Filter { kinds: vec![PolicyApplied::KIND.name], ..Filter::default() };
    read::scan(conn, Order::Newest, &filter, &mut |logged| {
        if logged.seq > seq {
            return Ok(ControlFlow::Continue(()));
        }
        let event = event_of(logged)?;
        applied = event.and_then(|(_, event)| event.get::<PolicyApplied>().map(|it| (it.version, it.files.clone())));
        Ok(ControlFlow::Break(()))
    })?;
    let (version, files) = applied.ok_or_else(|| Refusal::field("at", "no policy was in force then"))?;
    if version != now.stamp.seq {
        let compiled = now.build_cache.snapshot(&Bundle { files }).map_err(|_| {
            let message = format!("the policies of version {version} do not load in this version of ok");
            Refusal::field("at", message)
        })?;
        world.govern(compiled, version);
    }
    if world.policy.looks_back() {
        // Whose is asked about is not known here.
        world.histories = Some(Histories::default());
    }
    Ok(world)
}
