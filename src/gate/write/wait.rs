//! A call that needs approval, inside the writer's transaction: parked once, carried out if it was approved or a break-glass
//! grant lets it go on; and the request of one that needs none any more is over.

use serde_json::Value;

use crate::approve::approvers::{self, Requesting};
use crate::approve::hold::{self, ParkedCall};
use crate::decide::question;
use crate::declare::operation::Entry;
use crate::declare::target::Target;
use crate::reader::Reader;
use crate::write::decision::{Record, gate_record};
use crate::write::draft::Drafted;
use crate::write::halt::Halt;
use crate::write::idempotency::{self, Keyed};
use crate::write::record::GateRecord;
use crate::write::rehearse::rehearse;
use crate::write::reply::Reply;
use crate::write::steps::Step;
use crate::write::work::act;
use crate::write::writer::Writer;
use log::record::Decision;
use policy::Ruling;
use store::approvals::events::{ApprovalCancelled, ApprovalStale, ApprovalUsed};
use store::approvals::{self, Approval};
use store::break_glass::events::BreakGlassUsed;
use store::event::Event;
use types::approval::ApprovalStatus;
use types::caller::{Caller, Who};
use types::id::{Id, Kind};
use types::refusal::Refusal;
use types::time::Time;

/// A call that needs approval.
pub(crate) struct Wait<'a> {
    pub caller: &'a Caller,
    pub entry: &'static Entry,
    pub input: &'a Value,
    pub target: &'a Target,
    pub ruling: &'a Ruling,
    /// Whether a part of the call takes more than the call itself.
    pub within: bool,
    pub idem: Option<Keyed>,
    pub now: Time,
}

/// A call that goes on without the approvals that it needs.
struct Broken {
    caller: Caller,
    ruling: Ruling,
    gate: GateRecord,
    used: BreakGlassUsed,
}

impl Writer {
    /// A call that needs approval: carried out if exactly this call was approved, parked if it was not asked for yet.
    pub(crate) fn wait(&mut self, wait: Wait<'_>) -> Result<Reply, Halt> {
        let Wait { caller, entry, input, target, ruling, within, idem, now } = wait;
        let spec = &entry.spec;
        let call = question::Call { operation: spec.name, target, input: Some(input) };
        let (asked, expires_at) = {
            let read = Reader::held(&self.conn, (&self.world, &*self.resources), caller, now);
            (ParkedCall::of(&read, caller, entry, (target, input))?, now.plus_ms(read.approval_life(ruling)?))
        };
        let kinds = ruling.kinds();
        let broken = self.without_approval(caller, entry, call, kinds, now);
        let open = asked.open(&self.conn, now)?;
        let pending = open.iter().find(|open| open.status == ApprovalStatus::Pending);
        if let Some(open) = pending.filter(|_| broken.is_none()) {
            return Err(hold::waits(&open.id, spec.name, &open.kinds, &open.reason).into());
        }
        let approved = open.iter().filter(|open| open.status == ApprovalStatus::Approved);
        // It was approved some time ago: by whom that does not count any more, it is not.
        let (approved, lapsed): (Vec<_>, Vec<_>) = {
            let read = Reader::held(&self.conn, (&self.world, &*self.resources), caller, now);
            approved.partition(|open| open.kinds.iter().all(|kind| read.is_met(open, kind)))
        };
        if let Some(open) = approved.first() {
            let granted = question::Asker::of(&self.world, caller, call, now).ask(spec.name, &open.kinds);
            if granted.is_allowed() {
                let used = ApprovalUsed { id: Id::stored(&open.id), requester: caller.actor() };
                let gate = gate_record(&self.world, entry, caller, (target, input), &open.kinds, &granted);
                let record = Record::allowed(caller, gate, idem, now);
                let act = act(entry, input)?;
                return self.effect(&record, (spec, target), act, (&granted, &open.kinds), vec![used.into()]);
            }
        }
        if broken.is_none() {
            hold::has_room(&self.conn, caller)?;
        }
        let read = Reader::held(&self.conn, (&self.world, &*self.resources), caller, now);
        if let Some(all) = rehearse(&read, entry, &*self.entropy, input, ruling)? {
            let (ruling, within) = (&all, true);
            return self.wait(Wait { caller, entry, input, target, ruling, within, idem, now });
        }
        if let Some(Broken { caller, ruling, gate, used }) = broken {
            // What goes on now need not wait any longer.
            let uses = [Event::from(used)].into_iter().chain(cancelled(&open, &caller)).collect();
            let (record, act) = (Record::allowed(&caller, gate, idem, now), act(entry, input)?);
            return self.effect(&record, (spec, target), act, (&ruling, kinds), uses);
        }
        let id = Id::new(Kind::Approval, now.0, self.entropy.bits128());
        let approvers =
            approvers::of_kinds(&self.world, kinds, Requesting::by(caller, &caller.actor(), &asked.behalf), now);
        let mut events = hold::park(id.clone(), &asked, ruling, expires_at, approvers)?;
        events.extend(lapsed.iter().map(|open| {
            let reason = "somebody who approved it has left, is stopped or may no longer approve it".to_owned();
            Event::from(ApprovalStale { id: Id::stored(&open.id), requester: caller.actor(), reason })
        }));
        events.extend(Step { caller, spec, target }.waits(&id));
        let mut gate = gate_record(&self.world, entry, caller, (target, input), &[], ruling);
        // Asked again, the call itself takes less than its parts do.
        gate.asked = gate.asked.filter(|_| !within);
        let record = Record { caller, decision: Decision::NeedsApproval, gate, idem, now };
        let waits = hold::waits(id.as_str(), spec.name, kinds, ruling.reason());
        let kept = idempotency::refused(idem, spec, &waits);
        let events = events.into_iter().map(|event| Drafted { event, behalf: None }).collect();
        let decision = self.record(events, &record, kept)?;
        Err(Refusal { decision, ..waits }.into())
    }

    /// Whether a break-glass grant of the caller lets the call go on without these approvals: then the policies are asked
    /// again, and told so.
    fn without_approval(
        &self,
        caller: &Caller,
        entry: &Entry,
        call: question::Call<'_>,
        kinds: &[String],
        now: Time,
    ) -> Option<Broken> {
        let question::Call { operation, target, input } = call;
        let break_glass = self.world.break_glass_for(caller, operation, now)?;
        let caller = Caller { break_glass: Some(break_glass.id.clone()), ..caller.clone() };
        let ruling = question::Asker::of(&self.world, &caller, call, now).ask(operation, kinds);
        if !ruling.is_allowed() {
            return None;
        }
        let used = BreakGlassUsed {
            id: break_glass.id.clone(),
            holder: caller.actor(),
            operation: operation.to_owned(),
            target: target.id(),
            kinds: kinds.to_vec(),
            skipped: approvers::of_kinds(&self.world, kinds, Requesting::by(&caller, &caller.actor(), &[]), now),
        };
        let gate = gate_record(&self.world, entry, &caller, (target, input.unwrap_or(&Value::Null)), kinds, &ruling);
        Some(Broken { caller, ruling, gate, used })
    }

    /// What is over once a call goes on without approval: the request for it, if the caller asked for one before.
    pub(crate) fn overtaken(
        &self,
        caller: &Caller,
        entry: &Entry,
        (target, input): (&Target, &Value),
        now: Time,
    ) -> Result<Vec<Event>, Halt> {
        let requester = caller.actor();
        if matches!(caller.who, Who::Server) || !approvals::asks(&self.conn, &requester, entry.spec.name)? {
            return Ok(Vec::new());
        }
        let read = Reader::held(&self.conn, (&self.world, &*self.resources), caller, now);
        let asked = ParkedCall::of(&read, caller, entry, (target, input))?;
        Ok(cancelled(&asked.open(&self.conn, now)?, caller).collect())
    }
}

/// What goes on now need not wait any longer.
fn cancelled(open: &[Approval], caller: &Caller) -> impl Iterator<Item = Event> {
    open.iter().map(|open| ApprovalCancelled { id: Id::stored(&open.id), requester: caller.actor() }.into())
}
