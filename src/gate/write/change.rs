//! One change, inside the writer's transaction: caller, repetition, target, policy, effect, record. Either all events of
//! an operation are folded and logged, or none.

use serde_json::Value;

use crate::admit::{admission, rate};
use crate::approve::ends;
use crate::decide::{question, usage};
use crate::declare::operation::{Act, Entry};
use crate::declare::spec::Spec;
use crate::declare::target::Target;
use crate::perform::{self, reply};
use crate::reader::Reader;
use crate::write::decision::{Record, ask_once, gate_record};
use crate::write::draft::{Draft, Drafted};
use crate::write::halt::Halt;
use crate::write::idempotency::{self, Keyed};
use crate::write::permit::Grant;
use crate::write::record;
use crate::write::reply::Reply;
use crate::write::steps::{self, Step};
use crate::write::wait::Wait;
use crate::write::work::{AnsweredQuery, Changing, Work};
use crate::write::writer::Writer;
use crate::write::{outbox, settled};
use log::idem::{self, KeptAnswer};
use log::record::Entry as ToLog;
use policy::Ruling;
use store::context::events::ContextForgotten;
use store::event::{Event, Moment};
use store::memory::Memory;
use store::settles::End;
use types::caller::Caller;
use types::refusal::{Fault, Refusal, Stop};
use types::time::Time;

impl Writer {
    /// Does one job. `Err` ends the transaction; a refusal or a failure of this job alone is an outcome.
    pub(crate) fn carry_out(&mut self, work: &mut Work, now: Time) -> Result<Result<Reply, Stop>, Fault> {
        let outcome = match work {
            Work::Change(changing) => self.change(changing, now),
            Work::Refused(refused) => self.refused(refused, now),
            Work::Answered(answered) => self.answered(answered, now),
            Work::Stop => Err(Fault::Broken("stopping".into()).into()),
        };
        match outcome {
            Ok(reply) => Ok(Ok(reply)),
            Err(Halt::Job(stop) | Halt::Lacks(_, stop)) => Ok(Err(stop.under(self.world.stands()))),
            Err(Halt::Transaction(fault)) => Err(fault),
        }
    }

    /// Records an answer. It was given by the policies of its own moment, whatever is in force by now: its events say so. Only
    /// where they count what an agent does is it decided again.
    fn answered(&mut self, answered: &AnsweredQuery, now: Time) -> Result<Reply, Halt> {
        let AnsweredQuery { caller, entry, target, input, ruling, events, labels, reply } = answered;
        self.room.suffices()?;
        let caller = admission::still(&self.world, caller.clone(), &entry.spec, now)?;
        steps::is_at(&self.conn, &self.world, &caller)?;
        let counted = self.counted(&caller, entry, (target, input), now)?;
        let ruling = counted.as_ref().unwrap_or(ruling);
        if !ruling.is_allowed() {
            return Err(self.deny(&caller, entry, (target, Some(input)), ruling, None, now)?);
        }
        let step = Step { caller: &caller, spec: &entry.spec, target };
        let taken = step.completed(events.iter(), &reply.body, labels.clone(), (&self.world, now));
        let gate = gate_record(&self.world, entry, &caller, (target, input), &[], ruling);
        let drafted = events.iter().cloned().chain(taken).map(|event| Drafted { event, behalf: None }).collect();
        let decision = self.record(drafted, &Record::allowed(&caller, gate, None, now), None)?;
        Ok(Reply { decision, ..reply.clone() })
    }

    /// An agent reads several things at once, and each read was allowed before the others were counted. Where policies look at
    /// what was done, it is decided again here, one after the other; nothing is told that would be one too many.
    fn counted(
        &self,
        caller: &Caller,
        entry: &Entry,
        (target, input): (&Target, &Value),
        now: Time,
    ) -> Result<Option<Ruling>, Refusal> {
        if caller.run.is_none() || self.world.histories.is_none() {
            return Ok(None);
        }
        let call = question::Call { operation: entry.spec.name, target, input: Some(input) };
        question::decide_seen(&self.world, caller, call, now).map(Some)
    }

    fn change(&mut self, changing: &mut Changing, now: Time) -> Result<Reply, Halt> {
        let entry = changing.entry;
        let spec = &entry.spec;
        let caller = admission::still(&self.world, changing.caller.clone(), spec, now)?;
        steps::is_at(&self.conn, &self.world, &caller)?;
        let idem = changing.idem.as_ref();
        let key = idem.and_then(|idem| idempotency::key(&self.world.instance.sealing, &caller, spec, idem));
        let asked = idempotency::fingerprint(&self.world.instance.sealing, &changing.value)?;
        let keyed = key.map(|key| Keyed { key, asked });
        if let Some(key) = &key
            && let Some(kept) = idem::get(&self.conn, key, now)?
        {
            let act = changing.act()?;
            self.still_stopped((&caller, entry), &changing.value, act.as_ref(), now)?;
            let read = Reader::held(&self.conn, (&self.world, &*self.resources), &caller, now);
            return Ok(idempotency::answer(&read, act.as_ref(), kept, &asked)?);
        }
        if key.is_some() && !spec.route.is_stop() && !self.again {
            rate::keyed(&self.world, &caller, now)?;
        }
        if !spec.route.is_stop() {
            self.room.suffices()?;
        }
        let act = changing.act()?;
        self.decide(&caller, entry, &changing.value, act, keyed, now)
    }

    /// Whom a kill switch stops is refused, and that is recorded, whatever they were answered before.
    fn still_stopped(
        &mut self,
        (caller, entry): (&Caller, &'static Entry),
        input: &Value,
        act: &dyn Act,
        now: Time,
    ) -> Result<(), Halt> {
        if !question::is_stopped(&self.world, caller, now) {
            return Ok(());
        }
        let (target, ruling) = self.judged((caller, entry), input, act, now)?;
        match ruling {
            Ruling::Deny { .. } => Err(self.deny(caller, entry, (&target, Some(input)), &ruling, None, now)?),
            _ => Ok(()),
        }
    }

    /// What a call is about, and what the gate answers to it.
    fn judged(
        &self,
        (caller, entry): (&Caller, &'static Entry),
        input: &Value,
        act: &dyn Act,
        now: Time,
    ) -> Result<(Target, Ruling), Halt> {
        let naming = |refusal| perform::naming_absent(refusal, entry, input);
        let target = act.target(&Reader::held(&self.conn, (&self.world, &*self.resources), caller, now));
        let target =
            perform::found(target, &self.world, caller, (entry, input), now).map_err(|stop| stop.map(naming))?;
        let call = question::Call { operation: entry.spec.name, target: &target, input: Some(input) };
        let ruling = question::decide_watched(&self.world, caller, call, now).map_err(naming)?;
        Ok((target, ruling))
    }

    fn decide(
        &mut self,
        caller: &Caller,
        entry: &'static Entry,
        input: &Value,
        act: Box<dyn Act>,
        idem: Option<Keyed>,
        now: Time,
    ) -> Result<Reply, Halt> {
        let (target, ruling) = self.judged((caller, entry), input, act.as_ref(), now)?;
        match &ruling {
            Ruling::Allow { .. } => {
                let overtaken = self.overtaken(caller, entry, (&target, input), now)?;
                let gate = gate_record(&self.world, entry, caller, (&target, input), &[], &ruling);
                let record = Record::allowed(caller, gate, idem, now);
                match self.effect(&record, (&entry.spec, &target), act, (&ruling, &[]), overtaken) {
                    Err(Halt::Lacks(more, _)) => {
                        let wait =
                            Wait { caller, entry, input, target: &target, ruling: &more, within: true, idem, now };
                        self.wait(wait)
                    }
                    done => done.or_else(|halt| Err(self.denied_within((caller, entry, &target), halt, idem, now)?)),
                }
            }
            Ruling::NeedsApproval { .. } => {
                let (ruling, within) = (&ruling, false);
                self.wait(Wait { caller, entry, input, target: &target, ruling, within, idem, now })
            }
            Ruling::Deny { .. } => Err(self.deny(caller, entry, (&target, Some(input)), &ruling, idem, now)?),
        }
    }

    /// Runs an allowed operation, and records its draft and what it uses up.
    pub(crate) fn effect(
        &mut self,
        record: &Record<'_>,
        (spec, target): (&'static Spec, &Target),
        act: Box<dyn Act>,
        (ruling, granted): (&Ruling, &[String]),
        uses: Vec<Event>,
    ) -> Result<Reply, Halt> {
        let (caller, now) = (record.caller, record.now);
        let (done, mut drafted, labels) = {
            let read = Reader::held(&self.conn, (&self.world, &*self.resources), caller, now);
            let mut draft = Draft::new(&read, spec, &*self.entropy, granted);
            let grant = Grant { caller: caller.clone(), now, because: ruling.because().to_vec() };
            match act.run(grant, &mut draft) {
                Ok(done) => (done, draft.into_outcome(), read.labels()),
                Err(stop) => return Err(draft.halted(stop)),
            }
        };
        let step = Step { caller, spec, target };
        let events = drafted.events.iter().map(|drafted| &drafted.event);
        let taken = step.completed(events, &done.body, labels, (&self.world, now));
        let held = steps::is_held(caller, drafted.events.iter().map(|drafted| &drafted.event));
        let uses = uses.into_iter().filter(|_| !held).chain(taken);
        drafted.events.extend(uses.map(|event| Drafted { event, behalf: None }));
        let kept = idempotency::done(record.idem, spec, &done.body)?;
        let decision = self.record(drafted.events, record, kept)?;
        Ok(Reply { decision, ..reply(&self.world, spec, done) })
    }

    /// Folds all events, then logs them, and returns the number of the first entry, if any. An event that does not fold
    /// ends the job and leaves nothing; a log that cannot be appended to ends the transaction. An answer is kept with
    /// its first entry, which records the answer's digest; one without an entry, such as that a call already waits, is
    /// computed again each time.
    pub(crate) fn record(
        &mut self,
        events: Vec<Drafted>,
        record: &Record<'_>,
        kept: Option<KeptAnswer>,
    ) -> Result<Option<i64>, Halt> {
        let mut entries: Vec<record::Entry> = events.into_iter().map(|drafted| self.entry(drafted, record)).collect();
        let at = record.now.max(self.tail.ts());
        let ends = ends::of(&self.conn, &entries)?;
        let mut follow = ends::requests(&self.conn, &ends, &entries, at)?;
        follow.extend(settled::budgets(&self.conn, &ends)?);
        let ends: Vec<End> = ends.into_iter().map(|(end, _)| end).collect();
        entries.extend(follow);
        entries.extend(steps::go_on(&self.conn, &ends, &entries, at)?);
        entries.extend(outbox::intents(&self.world, &entries, &*self.entropy, at)?);
        ask_once(&mut entries);
        if let (Some(first), Some(kept)) = (entries.first_mut(), &kept) {
            first.gate.answer = Some(hex::encode(kept.digest()));
        }
        let logged = record::all_for_log(&entries)?;
        // What was refused before comes before what may change the answer.
        let moves = |entry: &record::Entry| entry.event.kind().memory != Memory::Nothing;
        if self.world.histories.is_some() || entries.iter().any(moves) {
            self.tell_all_repeats(record.now).map_err(Halt::Transaction)?;
        }
        let before = self.world.clone();
        self.conn.prepare_cached("SAVEPOINT job")?.execute([])?;
        if let Err(fault) = self.fold_all(&entries, record.now) {
            self.conn.execute_batch("ROLLBACK TO job; RELEASE job")?;
            self.world = before;
            return Err(fault.into());
        }
        self.conn.prepare_cached("RELEASE job")?.execute([])?;
        if let Some(kept) = kept.filter(|_| !entries.is_empty()) {
            self.tail.keep(&self.conn, &kept, at).map_err(Halt::Transaction)?;
        }
        let first = (!entries.is_empty()).then(|| self.tail.next());
        let appended = entries.iter().zip(&logged).try_for_each(|entry| self.append(entry, record.now));
        appended.map_err(Halt::Transaction)?;
        Ok(first)
    }

    pub(crate) fn entry(&self, drafted: Drafted, record: &Record<'_>) -> record::Entry {
        let (caller, gate) = match &drafted.behalf {
            Some(behalf) => (&behalf.caller, &behalf.gate),
            None => (record.caller, &record.gate),
        };
        record::Entry {
            actor: caller.actor(),
            event: drafted.event,
            decision: record.decision,
            policy: self.world.stamp.clone(),
            idem: record.idem.map(|keyed| keyed.key),
            gate: gate.clone(),
        }
    }

    fn fold_all(&mut self, entries: &[record::Entry], now: Time) -> Result<(), Fault> {
        let at = now.max(self.tail.ts());
        for (entry, seq) in entries.iter().zip(self.tail.next()..) {
            let touched = entry.event.fold(&Moment { conn: &self.conn, seq, at, by: &entry.actor })?;
            self.world.touch(&self.conn, &touched)?;
            usage::count_entry(&self.conn, entry, at)?;
            self.world.recount(&self.conn, &entry.actor, &entry.event)?;
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, (entry, logged): (&record::Entry, &ToLog), now: Time) -> Result<(), Fault> {
        self.tail.append(&self.conn, logged, now, self.entropy.bytes32())?;
        if let Some(forgotten) = entry.event.get::<ContextForgotten>() {
            self.erased = true;
            forgotten.events.iter().try_for_each(|seq| self.tail.erase(&self.conn, *seq))?;
        }
        Ok(())
    }
}
