//! What an operation may read: this company's tables, log and directory, as one caller, at one moment. It is bound to
//! its company when it is made, so no query has a company to forget.

mod could;
mod lists;
pub mod live;
mod log;
mod page;
mod sight;
pub mod things;
pub mod veil;
mod voices;

// What operations may read of each noun.
#[path = "../nouns/actor/gate/mod.rs"]
mod actors;
#[path = "../nouns/actor/gate/agents.rs"]
mod agents;
#[path = "../nouns/approval/gate.rs"]
mod approvals;
#[path = "../nouns/brain/gate/mod.rs"]
mod brain;
#[path = "../nouns/break_glass/gate.rs"]
mod break_glass;
#[path = "../nouns/company/gate.rs"]
mod company;
#[path = "../nouns/delegation/gate.rs"]
mod delegations;
#[path = "../nouns/directory/gate.rs"]
mod directory;
#[path = "../nouns/brain/gate/elsewhere.rs"]
mod elsewhere;
#[path = "../nouns/knowledge/gate/embedding.rs"]
mod embedding;
#[path = "../nouns/entity/gate.rs"]
mod entities;
#[path = "../nouns/inbox/gate.rs"]
mod inbox;
#[path = "../nouns/kill/gate.rs"]
mod kills;
#[path = "../nouns/knowledge/gate/mod.rs"]
mod knowledge;
#[path = "../nouns/policy/gate.rs"]
mod policies;
#[path = "../nouns/run/gate.rs"]
mod runs;
#[path = "../nouns/task/gate.rs"]
mod tasks;
#[path = "../nouns/token/gate.rs"]
mod tokens;
#[path = "../nouns/webhook/gate.rs"]
mod webhooks;

pub use agents::Prospects;
pub use could::{Could, HypotheticalCall};
pub use delegations::delegation_thing;
pub use entities::EntitiesThen;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use r2d2::{Pool, PooledConnection};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use serde_json::Value;

use elsewhere::Elsewhere;
use things::Things;

use crate::decide::card::Card;
use crate::decide::done;
use crate::decide::question::{self, Asker};
use crate::decide::reach::Principal;
use crate::decide::world::World;
use crate::declare::noun::{Directory, Noun};
use crate::declare::target::{Target, Thing};
use crate::past::moment::{self, AsOf};
use crate::past::recorded;
use crate::write::build_cache::BuildCache;
use policy::brain::Collections;
use policy::{Ruling, Snapshot};
use types::caller::{Caller, Who};
use types::delegation::Terms;
use types::field::Label;
use types::history::History;
use types::id::{ActorId, Id};
use types::refusal::{Fault, Refusal, Stop};
use types::time::Time;

pub(crate) type Readers = Pool<SqliteConnectionManager>;

enum Source<'a> {
    /// The writer's own connection, in its transaction.
    Held(&'a Connection),
    /// Taken from the pool when first needed: most decisions read memory alone.
    Pool(&'a Readers, OnceCell<Moment>),
}

/// A connection in a transaction: all that is read by it, it reads at one moment.
struct Moment(Box<PooledConnection<SqliteConnectionManager>>);

impl Moment {
    fn begin(pool: &Readers) -> Result<Moment, Fault> {
        let conn = Box::new(pool.get()?);
        if !conn.is_autocommit() {
            conn.execute_batch("ROLLBACK")?;
        }
        conn.execute_batch("BEGIN")?;
        Ok(Moment(conn))
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        // What reads only has nothing to lose; `begin` looks whether it has ended.
        let _ = self.0.execute_batch("COMMIT");
    }
}

/// A company in one state, and what its nouns declare.
pub(crate) type State<'a> = (&'a World, &'a dyn Things);

pub struct Reader<'a> {
    source: Source<'a>,
    world: &'a World,
    things: &'a dyn Things,
    caller: &'a Caller,
    now: Time,
    /// The caller as the policies are asked about it, whatever that is about.
    principal: OnceCell<Arc<Principal>>,
    /// Whom the caller was found to see, or not: each is asked about once, however often an answer names them.
    sights: RefCell<BTreeMap<ActorId, bool>>,
    /// The labels of what was read.
    labels: RefCell<BTreeSet<Label>>,
    elsewhere: Elsewhere,
}

/// The most people who are asked about for one notice.
const ASKED_ABOUT: usize = 1_000;

impl<'a> Reader<'a> {
    fn new(source: Source<'a>, (world, things): State<'a>, caller: &'a Caller, now: Time) -> Reader<'a> {
        let (principal, sights, labels) = (OnceCell::new(), RefCell::default(), RefCell::default());
        Reader { source, world, things, caller, now, principal, sights, labels, elsewhere: Elsewhere::default() }
    }

    pub(crate) fn held(conn: &'a Connection, state: State<'a>, caller: &'a Caller, now: Time) -> Reader<'a> {
        Reader::new(Source::Held(conn), state, caller, now)
    }

    pub(crate) fn pooled(pool: &'a Readers, state: State<'a>, caller: &'a Caller, now: Time) -> Reader<'a> {
        Reader::new(Source::Pool(pool, OnceCell::new()), state, caller, now)
    }

    pub(crate) fn conn(&self) -> Result<&Connection, Fault> {
        match &self.source {
            Source::Held(conn) => Ok(conn),
            Source::Pool(pool, taken) => {
                if taken.get().is_none() {
                    let _ = taken.set(Moment::begin(pool)?);
                }
                taken.get().map(|moment| &**moment.0).ok_or_else(|| Fault::Broken("no reader".into()))
            }
        }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn caller(&self) -> &Caller {
        self.caller
    }

    /// Whether the caller may perform `operation` on `target`: the rows of a list that it may see.
    pub fn may(&self, operation: &str, target: &Target) -> bool {
        self.asker(target).ask(operation, &[]).is_allowed()
    }

    /// The caller about a target: who it is, is gathered once for all of them.
    pub(crate) fn asker(&self, target: &Target) -> Asker<'a> {
        let gathered = || Arc::new(Principal::new(self.world, self.caller, self.now));
        Asker::about(self.world, (self.caller, self.principal.get_or_init(gathered)), target)
    }

    /// Notes that the answer contains, or depends on, something with this label: a run that receives the answer is
    /// marked with it.
    pub fn mark(&self, label: Label) {
        self.labels.borrow_mut().insert(label);
    }

    /// The labels of what the answer hangs on.
    pub(crate) fn labels(&self) -> BTreeSet<Label> {
        self.labels.borrow().clone()
    }

    /// The same company at the same moment, as somebody else.
    pub fn acting_as<'b>(&'b self, caller: &'b Caller) -> Reader<'b> {
        let source = match &self.source {
            Source::Held(conn) => Source::Held(conn),
            Source::Pool(pool, _) => Source::Pool(pool, OnceCell::new()),
        };
        Reader::new(source, (self.world, self.things), caller, self.now)
    }

    /// The same company, asked at another time.
    pub fn at(&self, now: Time) -> Reader<'_> {
        Reader { now, ..self.acting_as(self.caller) }
    }

    pub(crate) fn world(&self) -> &'a World {
        self.world
    }

    /// What was made before a change's turn.
    pub fn build_cache(&self) -> &'a BuildCache {
        &self.world.build_cache
    }

    /// Returns the company as it was after the event `seq`. The time needed depends on the size of the directory then.
    pub fn as_of(&self, seq: i64) -> Result<AsOf, Stop> {
        let at = self.event(seq)?.map(|logged| logged.at);
        let at = at.ok_or_else(|| Refusal::field("at", format!("there is no event {seq}")))?;
        Ok(AsOf { world: moment::at(self.conn()?, self.world, seq)?, at, seq })
    }

    /// Returns that company with what an actor, and everybody on whose behalf they act under this delegation, had done.
    pub fn knowing(&self, mut past: AsOf, actor: &ActorId, under: Option<&Id>) -> Result<AsOf, Fault> {
        past.know(self.conn()?, actor, under.map(Id::as_str))?;
        Ok(past)
    }

    /// The last event that had happened by a time; 0 before the first.
    pub fn newest_by(&self, time: Time) -> Result<i64, Fault> {
        recorded::newest_by(self.conn()?, time)
    }

    /// Returns a reader for the same caller in the company as it was. Only the directory, the kill switches and the
    /// policies are from that time.
    pub fn in_past<'b>(&'b self, past: &'b AsOf) -> Reader<'b> {
        Reader { world: &past.world, now: past.at, ..self.acting_as(self.caller) }
    }

    /// What a caller has done before, where policies look at it.
    pub fn done_by(&self, caller: &Caller) -> History {
        done::said(self.world, caller, self.now)
    }

    /// The gate's answer with approvals.
    pub(crate) fn ruling_with(&self, caller: &Caller, call: question::Call<'_>, granted: &[String]) -> Ruling {
        question::Asker::of(self.world, caller, call, self.now).ask(call.operation, granted)
    }

    /// What a target is one of.
    pub fn noun(&self, target: &Target) -> Option<&'static Noun> {
        self.world.nouns.kind_of(target)
    }

    /// The gate's answer for any caller, without doing or recording anything.
    pub fn ruling(&self, caller: &Caller, operation: &str, target: &Target) -> Ruling {
        question::decide(self.world, caller, question::Call { operation, target, input: None }, self.now)
    }

    /// The active people who may do something about this, but for one, by id. A thousand are asked about: of more, by their
    /// roles, admins first and members last.
    pub fn people_who_may(&self, operation: &str, about: &Target, but: &ActorId) -> Vec<ActorId> {
        let may = |id: &ActorId| {
            let them = Caller::new(Who::Holder(id.clone()), self.caller().channel);
            id != but && self.ruling(&them, operation, about).is_allowed()
        };
        let people = self.world.people.all().take(ASKED_ABOUT);
        let mut ids: Vec<ActorId> = people.filter(|id| may(id)).cloned().collect();
        ids.sort();
        ids
    }

    /// The same for a call with this input.
    pub fn ruling_on(&self, caller: &Caller, operation: &str, target: &Target, input: &Value) -> Ruling {
        question::decide(self.world, caller, question::Call { operation, target, input: Some(input) }, self.now)
    }

    /// Whether the last change could be recorded.
    pub fn writes(&self) -> bool {
        self.world.writes.load(Ordering::Relaxed)
    }

    pub fn dev_auth(&self) -> bool {
        self.world.dev_auth
    }

    pub fn policy_stamp(&self) -> (i64, &str) {
        (self.world.stamp.seq, &self.world.stamp.hash)
    }

    /// A thing with what is worked out from the directory.
    fn complete(&self, thing: Thing) -> Target {
        self.world.nouns.complete(thing, self.world).into()
    }

    /// Lets a candidate under trial answer a question too that another program has asked.
    pub fn watch(
        &self,
        about: impl FnOnce() -> (String, String),
        ruling: &Ruling,
        ask: impl FnOnce(&Snapshot) -> Option<Ruling>,
    ) {
        if let Some(trial) = &self.world.trial {
            trial.watch(self.caller, about, self.now, ruling, ask);
        }
    }

    /// The policies in force, compiled.
    pub fn serving(&self) -> Arc<Snapshot> {
        Arc::clone(&self.world.policy)
    }
}

impl Directory for Reader<'_> {
    fn collections(&self) -> &Collections {
        self.world.policy.collections()
    }

    fn card(&self, id: &ActorId) -> Option<&Card> {
        Directory::card(self.world, id)
    }

    fn teams(&self, card: &Card) -> &[ActorId] {
        self.world.teams(card)
    }

    fn terms(&self, id: &str) -> Option<&Terms> {
        self.world.terms(id)
    }

    fn is_stopped(&self, id: &ActorId) -> bool {
        self.world.is_stopped(id)
    }
}
