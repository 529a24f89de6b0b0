//! `Gate::perform`: the only way to anything. Queries are answered here, from a snapshot; changes and everything that
//! must be recorded go through the writer and are answered only when they are durable.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::Value;
use tokio::sync::watch;

use crate::admit::admission;
use crate::admit::lanes::{Lanes, Purpose};
use crate::admit::limiter::Limiter;
use crate::admit::rate::{self, Weight};
use crate::admit::shares::{Place, Shares};
use crate::decide::question;
use crate::decide::world::World;
use crate::declare::named::absent;
use crate::declare::operation::{Act, Ask, Call, Done, Entry, Prepared, Spec};
use crate::declare::resource::Resources;
use crate::declare::route::{Answer, Lane};
use crate::declare::target::Target;
use crate::reader::live::Live;
use crate::reader::{Reader, Readers};
use crate::write::permit::Grant;
use crate::write::queue::Queue;
use crate::write::reply::Reply;
use crate::write::work::{AnsweredQuery, Changing, Idem, Refused, Work};
use policy::Ruling;
use store::company::{self, VECTOR_SEARCH};
use store::runs;
use types::caller::{Caller, Presented};
use types::egress::Egress;
use types::refusal::{Code, Fault, Refusal, Stands, Stop};
use types::run::RunFacts;
use types::time::{Clock, Monotone, Time};

/// One call, ready to be decided.
pub struct Request {
    pub caller: Caller,
    pub call: Prepared,
    /// The `Idempotency-Key`, with the address it was used on.
    pub idem: Option<Idem>,
}

pub struct Gate {
    pub(crate) entries: &'static [Entry],
    pub(crate) world: Arc<ArcSwap<World>>,
    pub(crate) resources: Arc<Resources>,
    pub(crate) readers: Readers,
    pub(crate) queue: Queue,
    pub(crate) limiter: Limiter,
    pub(crate) clock: Arc<Monotone>,
    pub(crate) grown: watch::Receiver<i64>,
    pub(crate) lanes: Lanes,
    pub(crate) streams: Shares,
    pub(crate) live: Live,
}

/// Streams that are open at once, and how many of them one actor may have.
pub(crate) const STREAMS: u32 = 1_000;
pub(crate) const OWN_STREAMS: u32 = 50;

impl Gate {
    pub fn entries(&self) -> &'static [Entry] {
        self.entries
    }

    pub fn entry(&self, name: &str) -> Option<&'static Entry> {
        self.entries.iter().find(|entry| entry.spec.name == name)
    }

    /// The newest event number, as it grows.
    pub fn grown(&self) -> watch::Receiver<i64> {
        self.grown.clone()
    }

    /// What models say at this moment.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Where what is sent outside may go.
    pub fn egress(&self) -> Egress {
        (*self.world.load().outside.egress).clone()
    }

    /// The machine's own time, for what others compare with theirs.
    pub fn wall(&self) -> Time {
        self.clock.wall()
    }

    /// Where what is decided now stands. The version never goes back.
    pub fn stands(&self) -> Stands {
        self.world.load().stands()
    }

    /// A place for one more stream of an actor, who has so many at the most.
    pub async fn stream(&self, caller: &Caller) -> Result<Place, Refusal> {
        let place = self.streams.take(caller.actor().as_str(), 1, Duration::ZERO).await;
        let message = format!("this actor already has {OWN_STREAMS} open streams, or all actors {STREAMS}; close one");
        place.ok_or_else(|| Refusal { retry_after: Some(1), ..Refusal::new(Code::RateLimited, message) })
    }

    /// Ends comparisons and other long work, because the server is stopping. Their callers are asked to try again.
    pub fn end_long_work(&self) {
        self.lanes.close_long();
    }

    /// Whether there is anywhere outside that something may have to be sent to.
    pub fn sends(&self) -> bool {
        !self.world.load().webhooks.is_empty()
    }

    /// Whether vectors are to be made of what is known.
    pub fn embeds(&self) -> Result<bool, Fault> {
        let settings = company::get(&*self.readers.get()?)?.settings;
        Ok(self.world.load().outside.embedder.is_some() && settings.get(VECTOR_SEARCH).is_some_and(|on| on == true))
    }

    /// Whether any run goes on by itself, now or later; for a server that begins, also whether one is held until somebody raises
    /// its budget.
    pub fn works(&self, begins: bool) -> Result<bool, Fault> {
        let conn = self.readers.get()?;
        Ok(runs::any_due(&conn)? || begins && runs::any_held_by_budget(&conn)?)
    }

    /// A run's next step, with the token and the delegation that the run was begun with.
    pub fn begun_with(&self, facts: RunFacts) -> Result<RunFacts, Fault> {
        Ok(runs::begun::with(&*self.readers.get()?, facts)?)
    }

    /// Who is calling, and whether the credential reaches the operation at all.
    pub fn admit(&self, presented: &Presented, spec: &Spec) -> Result<Caller, Refusal> {
        admission::admit(&self.world.load(), &self.limiter, presented, spec, self.clock.now())
    }

    /// Checks whether the policies could allow a caller this operation on any target, before a long request is read. A
    /// refusal is recorded like any other.
    pub async fn consider(&self, caller: &Caller, entry: &'static Entry) -> Result<(), Stop> {
        let target = Target::Company;
        let ruling = {
            let (world, now) = (self.world.load(), self.clock.now());
            let Err(ruling) = question::Asker::new(&world, caller, &target, now).could(entry.spec.name) else {
                return Ok(());
            };
            rate::count(&world, caller, (&entry.spec, Weight::ONE), now)?;
            ruling
        };
        let refused = Refused { caller: caller.clone(), entry, target, input: None, ruling };
        self.queue.submit(Work::Refused(refused)).await.map(drop)
    }

    /// Decides a call and, if it is allowed, carries it out.
    pub async fn perform(self: &Arc<Self>, request: Request) -> Result<Reply, Stop> {
        let counted = (&request.call.entry.spec, Weight::of(&request.call));
        rate::count(&self.world.load(), &request.caller, counted, self.clock.now())?;
        self.go_on(request).await
    }

    /// Decides a call and carries it out like `perform`, but does not count it: it was counted when it began, such as a
    /// stream that asks again.
    pub async fn go_on(self: &Arc<Self>, request: Request) -> Result<Reply, Stop> {
        let Request { caller, call, idem } = request;
        let Prepared { entry, value, is_small, bytes, call } = call;
        let query = match call {
            Call::Change(act) => {
                let (caller, act, value) = match entry.spec.route.slow {
                    Some(lane) => self.prepared((lane, bytes), caller, entry, act, value).await?,
                    None => (caller, act, value),
                };
                // Held until it is done: the writer has few of them to do at any time.
                let _place = self.lanes.heavy(entry.spec.route.slow, &caller).await?;
                let changing = Changing { caller, entry, value, act: Some(act), idem };
                return self.queue.submit(Work::Change(changing)).await;
            }
            Call::Query(query) => query,
        };
        // Only what may be partial or take long is asked of other systems: a decision is not held up by looking.
        let may_reach = entry.spec.route.answer == Answer::Partial || entry.spec.route.slow.is_some();
        let lane = match may_reach && self.is_elsewhere(&*query, &caller) {
            true => {
                let before = self.before(&*query, &caller)?;
                self.announce(before, &caller).await?;
                Some(Lane::Elsewhere)
            }
            false => entry.spec.route.slow.filter(|_| !is_small || query.is_long()),
        };
        let answered = match lane {
            Some(lane) => {
                let asker = caller.clone();
                let gate = Arc::clone(self);
                let work = move || gate.ask(caller, entry, query, value, lane == Lane::Elsewhere);
                self.lanes.apart((lane, Purpose::Question), bytes, &asker, work).await?
            }
            None => self.ask(caller, entry, query, value, false)?,
        };
        match answered {
            QueryOutcome::Done(reply) => Ok(reply),
            QueryOutcome::Recorded(answer) => self.queue.submit(Work::Answered(answer)).await,
            // A refusal is a record too; if it cannot be recorded, it is not given.
            QueryOutcome::Refused(refused) => self.queue.submit(Work::Refused(refused)).await,
        }
    }

    /// Lets a change prepare itself, unless it will be refused anyhow: a refusal is the writer's to record.
    async fn prepared(
        self: &Arc<Self>,
        (lane, bytes): (Lane, usize),
        caller: Caller,
        entry: &'static Entry,
        act: Box<dyn Act>,
        value: Value,
    ) -> Result<(Caller, Box<dyn Act>, Value), Stop> {
        let (asker, gate) = (caller.clone(), Arc::clone(self));
        let prepared = self.lanes.apart((lane, Purpose::Change), bytes, &asker, move || {
            let world = gate.world.load();
            let now = gate.clock.now();
            let read = gate.reader(&world, &caller, now);
            let naming = |refusal| naming_absent(refusal, entry, &value);
            let target =
                found(act.target(&read), &world, &caller, (entry, &value), now).map_err(|stop| stop.map(naming))?;
            let call = question::Call { operation: entry.spec.name, target: &target, input: Some(&value) };
            let ruling = question::decide_seen(&world, &caller, call, now).map_err(naming)?;
            if !matches!(ruling, Ruling::Deny { .. }) {
                act.prepare(&read)?;
            }
            drop(read);
            Ok((caller, act, value))
        });
        prepared.await.map_err(|stop: Stop| stop.under(self.stands()))
    }

    fn is_elsewhere(&self, query: &dyn Ask, caller: &Caller) -> bool {
        let world = self.world.load();
        query.is_elsewhere(&self.reader(&world, caller, self.clock.now()))
    }

    fn before(&self, query: &dyn Ask, caller: &Caller) -> Result<Option<(&'static str, Value)>, Stop> {
        let world = self.world.load();
        query.before(&self.reader(&world, caller, self.clock.now()))
    }

    /// Has recorded what leaves for another system before it does. It is no step of its run: the question is one.
    async fn announce(&self, before: Option<(&str, Value)>, caller: &Caller) -> Result<(), Stop> {
        let Some((operation, input)) = before else { return Ok(()) };
        let entry = self.entry(operation).ok_or_else(Refusal::not_found)?;
        let prepared = entry.prepare(input).map_err(|bad| Refusal::bad_request(bad.to_string()))?;
        let counted = (&entry.spec, Weight::of(&prepared));
        rate::count(&self.world.load(), caller, counted, self.clock.now())?;
        let caller = Caller { run: None, ..caller.clone() };
        let changing = Changing { caller, entry, value: prepared.value, act: None, idem: None };
        self.queue.submit(Work::Change(changing)).await.map(drop)
    }

    fn reader<'a>(&'a self, world: &'a World, caller: &'a Caller, now: Time) -> Reader<'a> {
        Reader::pooled(&self.readers, (world, &*self.resources), caller, now)
    }

    /// `reaches`: whether other systems may be asked.
    fn ask(
        &self,
        caller: Caller,
        entry: &'static Entry,
        query: Box<dyn Ask>,
        value: Value,
        reaches: bool,
    ) -> Result<QueryOutcome, Stop> {
        let world = self.world.load();
        self.ask_in((&world, reaches), caller, entry, query, value).map_err(|stop| stop.under(world.stands()))
    }

    fn ask_in(
        &self,
        (world, reaches): (&World, bool),
        caller: Caller,
        entry: &'static Entry,
        query: Box<dyn Ask>,
        input: Value,
    ) -> Result<QueryOutcome, Stop> {
        let (spec, now) = (&entry.spec, self.clock.now());
        let read = self.reader(world, &caller, now);
        let read = if reaches { read.reaching() } else { read };
        let naming = |refusal| naming_absent(refusal, entry, &input);
        let target =
            found(query.target(&read), world, &caller, (entry, &input), now).map_err(|stop| stop.map(naming))?;
        let call = question::Call { operation: spec.name, target: &target, input: Some(&input) };
        let decide = || match spec.route.is_served() {
            // What the server asks itself is no traffic that a candidate is tried on.
            false => question::decide_seen(world, &caller, call, now),
            true => question::decide_watched(world, &caller, call, now),
        };
        // A candidate on trial wants to see every question.
        let ruling = match target == Target::Company && world.trial.is_none() {
            true => world.cache.remembered(&world.policy, (&caller, spec.name), decide),
            false => decide(),
        };
        let ruling = ruling.map_err(naming)?;
        if let Ruling::Allow { because } = ruling {
            let grant = Grant { caller: caller.clone(), now, because: because.clone() };
            let mut done = query.run(grant, &read)?;
            let events = std::mem::take(&mut done.events);
            let partial_from = read.cut_at();
            let reply = reply(world, spec, done);
            let reply = Reply { is_partial: reply.is_partial || partial_from.is_some(), partial_from, ..reply };
            if events.is_empty() && caller.run.is_none() {
                return Ok(QueryOutcome::Done(reply));
            }
            let labels = read.labels();
            drop(read);
            let ruling = Ruling::Allow { because };
            return Ok(QueryOutcome::Recorded(AnsweredQuery {
                caller,
                entry,
                target,
                input,
                ruling,
                events,
                labels,
                reply,
            }));
        }
        // A query is never parked: nothing would resume it. Who would need approval to read is refused.
        drop(read);
        Ok(QueryOutcome::Refused(Refused { caller, entry, target, input: Some(input), ruling }))
    }
}

enum QueryOutcome {
    Done(Reply),
    /// To be recorded before it is told.
    Recorded(AnsweredQuery),
    Refused(Refused),
}

/// Returns the target of a call. A target that was not found is decided like one that the caller may not see: neither
/// the answer nor the time it takes tells the two apart. Callers whom a kill switch stops see nothing: whatever they
/// ask about, they are told of the switch, and the attempt is recorded.
pub(crate) fn found(
    target: Result<Target, Stop>,
    world: &World,
    caller: &Caller,
    (entry, input): (&Entry, &Value),
    now: Time,
) -> Result<Target, Stop> {
    if let Err(Stop::Refused(refusal)) = &target
        && refusal.code == Code::NotFound
    {
        let is_stopped = question::is_stopped(world, caller, now);
        let absent = if is_stopped { entry.absent(input) } else { entry.spec.absent(None) };
        let call = question::Call { operation: entry.spec.name, target: &absent, input: Some(input) };
        let ruling = question::decide_seen(world, caller, call, now);
        if is_stopped && matches!(ruling, Ok(Ruling::Deny { .. })) {
            return Ok(absent);
        }
    }
    target
}

/// Completes the answer that something does not exist, or may not be seen: if an input names several things, the answer
/// lists all of them. Addresses are left alone, because their authors know what they name.
pub(crate) fn naming_absent(mut refusal: Refusal, entry: &Entry, input: &Value) -> Refusal {
    if refusal == Refusal::not_found() && !entry.spec.route.path.contains('{') && input.get("op").is_none() {
        refusal.message.push_str(&absent(&entry.names(input)));
    }
    refusal
}

pub(crate) fn reply(world: &World, spec: &Spec, done: Done) -> Reply {
    Reply {
        status: spec.route.status,
        body: done.body,
        next: done.next,
        is_partial: done.is_partial,
        partial_from: None,
        is_repeated: false,
        audit: Arc::clone(&world.stamped),
        policy: world.stamp.seq,
        decision: None,
    }
}
