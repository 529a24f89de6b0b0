//! What a refusal leaves in the log, and what its caller is told.

use serde_json::Value;

use super::change::{Record, Refused};
use super::draft::Drafted;
use super::halt::Halt;
use super::note::note;
use super::operation::Entry;
use super::perform::{Reply, denial};
use super::rate;
use super::record;
use super::repeats::Key;
use super::replay::{self, Keyed};
use super::steps::{self, Step};
use super::target::Target;
use super::writer::Writer;
use crate::log::record::Decision;
use crate::policy::Ruling;
use crate::store::decisions::events::Denied;
use crate::store::event::Event;
use crate::store::idem::Kept;
use crate::types::caller::Caller;
use crate::types::refusal::{Fault, Refusal};
use crate::types::time::Time;

impl Writer {
    pub(super) fn refused(&mut self, refused: &Refused, now: Time) -> Result<Reply, Halt> {
        let Refused { caller, entry, target, input, ruling } = refused;
        Err(self.deny(caller, entry, (target, input.as_ref()), ruling, None, now)?)
    }

    /// Records a refusal, or counts it with an equal one, and returns what its caller is told.
    pub(super) fn deny(
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
        let mut gate = note(&self.world, entry, caller, (target, input.unwrap_or(&Value::Null)), &[], ruling);
        if input.is_none() {
            // A question that cannot be asked again.
            gate.asked = None;
        }
        let record = Record { caller, decision: Decision::Deny, gate, idem, now };
        let refusal = denial(spec, ruling);
        let kept = replay::refused(idem, spec, &refusal);
        let decision = match (Step { caller, spec, target }).denied(&refusal.message) {
            None => self.record_once(event.into(), &record, kept)?,
            // Each refusal of a run is a step of its own.
            Some(step) => {
                steps::is_at(&self.conn, &self.world, caller)?;
                let events = [event.into(), step].map(|event| Drafted { event, behalf: None });
                self.record(events.into(), &record, kept)?;
                self.newest()
            }
        };
        Ok(Refusal { decision, ..refusal }.into())
    }

    /// The number of the entry that holds the refusal.
    fn record_once(&mut self, event: Event, record: &Record<'_>, kept: Option<Kept>) -> Result<Option<i64>, Halt> {
        let (caller, now) = (record.caller, record.now);
        let entry = self.entry(Drafted { event, behalf: None }, record);
        let key = Key::of(caller, &entry)?;
        if let Some(seq) = self.repeats.again(&key, &self.world, caller, now)? {
            return Ok(Some(seq));
        }
        rate::refused(&self.world, caller, now)?;
        self.record(vec![Drafted { event: entry.event.clone(), behalf: None }], record, kept)?;
        let newest = self.newest();
        if let Some(seq) = newest {
            self.repeats.begin(key, entry, seq, now);
        }
        Ok(newest)
    }

    /// Records how often what is over was refused again.
    pub(super) fn tell_repeats(&mut self, now: Time) -> Result<(), Fault> {
        let over = self.repeats.over(now);
        self.tell(&over, now)
    }

    /// The same of all refusals, over or not: before what they hang on changes, and at the end.
    pub(super) fn tell_all_repeats(&mut self, now: Time) -> Result<(), Fault> {
        let all = self.repeats.all();
        self.tell(&all, now)
    }

    /// A refusal changes no table and is told to nobody outside: it only has to be appended.
    fn tell(&mut self, entries: &[record::Entry], now: Time) -> Result<(), Fault> {
        entries.iter().try_for_each(|entry| self.append(entry, now))
    }
}
