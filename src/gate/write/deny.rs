//! What a refusal leaves in the log, and what the refused caller is told.

use serde_json::Value;

use crate::admit::rate;
use crate::decide::question;
use crate::declare::operation::Entry;
use crate::declare::target::Target;
use crate::write::decision::{Record, gate_record};
use crate::write::draft::Drafted;
use crate::write::halt::Halt;
use crate::write::idempotency::{self, Keyed};
use crate::write::record;
use crate::write::repeats::Key;
use crate::write::reply::{Reply, denial};
use crate::write::steps::{self, Step};
use crate::write::work::Refused;
use crate::write::writer::Writer;
use log::idem::KeptAnswer;
use log::record::Decision;
use policy::Ruling;
use store::decisions::events::Denied;
use store::event::Event;
use store::kills::Kill;
use types::caller::Caller;
use types::refusal::{Code, Fault, Refusal, Stop};
use types::time::Time;

impl Writer {
    pub(crate) fn refused(&mut self, refused: &Refused, now: Time) -> Result<Reply, Halt> {
        let Refused { caller, entry, target, input, ruling } = refused;
        Err(self.deny(caller, entry, (target, input.as_ref()), ruling, None, now)?)
    }

    /// Records a refusal, or counts it with an equal one, and returns the answer to the caller.
    pub(crate) fn deny(
        &mut self,
        caller: &Caller,
        entry: &Entry,
        (target, input): (&Target, Option<&Value>),
        ruling: &Ruling,
        idem: Option<Keyed>,
        now: Time,
    ) -> Result<Halt, Halt> {
        self.room.suffices()?;
        let spec = &entry.spec;
        let fault = match ruling {
            Ruling::Deny { fault, .. } => fault.clone(),
            _ => None,
        };
        let (operation, reason) = (spec.name.to_owned(), ruling.reason().to_owned());
        let (count, first_at, last_at) = (None, None, None);
        let event = Denied { operation, target: target.id(), reason, fault, count, first_at, last_at };
        let mut gate = gate_record(&self.world, entry, caller, (target, input.unwrap_or(&Value::Null)), &[], ruling);
        if input.is_none() {
            // A question that cannot be asked again.
            gate.asked = None;
        }
        // Once a kill switch is released, whoever repeats the call is decided on anew, not told that it stops them.
        let is_switched = || self.world.killed(caller).global || question::is_stopped(&self.world, caller, now);
        let idem = idem.filter(|_| !is_switched());
        let record = Record { caller, decision: Decision::Deny, gate, idem, now };
        let denial = denial(spec, ruling);
        let refusal = self.with_reason(denial.clone(), caller);
        let kept = idempotency::refused(idem, spec, &refusal);
        let decision = match (Step { caller, spec, target }).denied(&denial.message) {
            None => self.record_once(event.into(), &record, kept)?,
            // Each refusal of a run is a step of its own.
            Some(step) => {
                steps::is_at(&self.conn, &self.world, caller)?;
                let events = [event.into(), step].map(|event| Drafted { event, behalf: None });
                self.record(events.into(), &record, kept)?
            }
        };
        Ok(Refusal { decision, ..refusal }.into())
    }

    /// Whom a kill switch stops is told why, and by whom: they may not read it anywhere else. The log has it with the switch.
    fn with_reason(&self, refusal: Refusal, caller: &Caller) -> Refusal {
        match self.world.stopped_by(caller) {
            Some(Kill { by, reason, .. }) => {
                let told = refusal.message.contains("kill switch");
                let switch = if told { "" } else { "; and a kill switch stops this actor" };
                let why = if reason.is_empty() { by.to_owned() } else { format!("{by}: {reason}") };
                let message = format!("{}{switch} ({why})", refusal.message);
                Refusal { message, ..refusal }
            }
            None => refusal,
        }
    }

    /// Records that the policies refused a part of an allowed call while it ran, because of something that the call
    /// would have created.
    pub(crate) fn denied_within(
        &mut self,
        (caller, entry, target): (&Caller, &Entry, &Target),
        halt: Halt,
        idem: Option<Keyed>,
        now: Time,
    ) -> Result<Halt, Halt> {
        let refusal = match halt {
            Halt::Job(Stop::Refused(refusal)) if refusal.code == Code::Denied && refusal.decision.is_none() => refusal,
            other => return Ok(other),
        };
        let own = format!("policy denied {}: ", entry.spec.name);
        let why = refusal.message.strip_prefix(&own).unwrap_or(&refusal.message).to_owned();
        let ruling = Ruling::Deny { because: Vec::new(), fault: None, why: Some(why) };
        match self.deny(caller, entry, (target, None), &ruling, idem, now)? {
            Halt::Job(Stop::Refused(recorded)) => Ok(Refusal { decision: recorded.decision, ..*refusal }.into()),
            other => Ok(other),
        }
    }

    /// The number of the entry that holds the refusal.
    fn record_once(
        &mut self,
        event: Event,
        record: &Record<'_>,
        kept: Option<KeptAnswer>,
    ) -> Result<Option<i64>, Halt> {
        let (caller, now) = (record.caller, record.now);
        let entry = self.entry(Drafted { event, behalf: None }, record);
        let key = Key::of(caller, &entry)?;
        let count = || if self.again { Ok(()) } else { rate::refused(&self.world, caller, now) };
        if let Some(seq) = self.repeats.again(&key, count, now)? {
            return Ok(Some(seq));
        }
        count()?;
        let seq = self.record(vec![Drafted { event: entry.event.clone(), behalf: None }], record, kept)?;
        if let Some(seq) = seq {
            self.repeats.begin(key, entry, seq, now);
        }
        Ok(seq)
    }

    /// Records how often what is over was refused again.
    pub(crate) fn tell_repeats(&mut self, now: Time) -> Result<(), Fault> {
        let over = self.repeats.over(now);
        self.tell(&over, now)
    }

    /// The same of all refusals, over or not: before what they hang on changes, and at the end.
    pub(crate) fn tell_all_repeats(&mut self, now: Time) -> Result<(), Fault> {
        let all = self.repeats.all();
        self.tell(&all, now)
    }

    /// A refusal changes no table and is told to nobody outside: it only has to be appended.
    fn tell(&mut self, entries: &[record::Entry], now: Time) -> Result<(), Fault> {
        entries.iter().try_for_each(|entry| self.append((entry, &entry.for_log()?), now))
    }
}
