//! Carrying out what was approved: the stored call is performed again, as its requester, against the policy, the kill
//! switches and the thing as they are now, inside the transaction of the last decision. Anything that is not exactly what
//! was approved makes the approval stale.

use std::sync::Arc;

use serde_json::Value;

use crate::admit::admission;
use crate::approve::hold::ParkedCall;
use crate::decide::question;
use crate::declare::operation::{Call, Entry, Prepared};
use crate::declare::target::Target;
use crate::write::decision::gate_record;
use crate::write::draft::{Behalf, Draft, Drafted, Part};
use crate::write::idempotency;
use crate::write::permit::Grant;
use crate::write::steps::{self, Step};
use crate::write::work::act;
use policy::Ruling;
use store::approvals::Approval;
use store::context::events::ERASED;
use types::caller::Caller;
use types::refusal::{Refusal, Stop};

/// What came of an approval.
pub enum Redeemed {
    /// It was carried out; this is its answer, as far as whoever decided may read it.
    Done(Option<Value>),
    /// It is no longer what was approved.
    Stale(String),
    /// The requester's next identical call carries it out: its answer is a secret for them alone, or a budget holds the run
    /// that it is a step of.
    AtNextCall,
}

impl Draft<'_> {
    /// Performs a parked call of one of these operations with these kinds of approval. Its events become part of this
    /// draft. Returns a refusal only if the call comes too early; it then counts as not yet decided.
    pub fn redeem(
        &mut self,
        entries: &'static [Entry],
        approval: &Approval,
        granted: &[String],
    ) -> Result<Redeemed, Stop> {
        match self.try_redeem(entries, approval, granted) {
            Err(Stop::Refused(refusal)) if refusal.retry_after.is_none() => Ok(Redeemed::Stale(refusal.message)),
            other => other,
        }
    }

    /// Returns why an approval would be pointless, whoever agrees: what was asked for has changed since. None if it has
    /// not.
    pub fn stale(&self, entries: &'static [Entry], approval: &Approval) -> Result<Option<String>, Stop> {
        match self.same(entries, approval) {
            Err(Stop::Refused(refusal)) => Ok(Some(refusal.message)),
            same => Ok(same?.err()),
        }
    }

    fn try_redeem(
        &mut self,
        entries: &'static [Entry],
        approval: &Approval,
        granted: &[String],
    ) -> Result<Redeemed, Stop> {
        let Same { entry, caller, call, target } = match self.same(entries, approval)? {
            Ok(same) => same,
            Err(why) => return Ok(Redeemed::Stale(why)),
        };
        if entry.spec.route.once().is_some() {
            return Ok(Redeemed::AtNextCall);
        }
        let read = self.read().acting_as(&caller);
        let (operation, input) = (entry.spec.name, &approval.whole_input());
        let asked = question::Call { operation, target: &target, input: Some(input) };
        let ruling = read.ruling_with(&caller, asked, granted);
        let Ruling::Allow { because } = &ruling else {
            return Ok(Redeemed::Stale(format!("the policy now says: {}", ruling.reason())));
        };
        let Call::Change(act) = call.call else {
            return Ok(Redeemed::Stale(format!("{operation} changes nothing")));
        };
        let gate = gate_record(read.world(), entry, &caller, (&target, input), granted, &ruling);
        let grant = Grant { caller: caller.clone(), now: read.now(), because: because.clone() };
        let mut nested = self.nested(&read, &entry.spec, granted);
        let done = match act.run(grant, &mut nested) {
            Ok(done) => done,
            Err(stop) => {
                return match nested.stopped_by(&stop) {
                    Some(Part { ruling: ruling @ Ruling::NeedsApproval { .. }, .. }) => {
                        let more = ruling.kinds().join(" and ");
                        Ok(Redeemed::Stale(format!("it now also needs the approval {more}: {}", ruling.reason())))
                    }
                    _ => Err(stop),
                };
            }
        };
        let mut events = nested.into_outcome().events;
        if steps::is_held(&caller, events.iter().map(|drafted| &drafted.event)) {
            // The run makes the call itself, is held, and asks for what it lacks.
            return Ok(Redeemed::AtNextCall);
        }
        let step = Step { caller: &caller, spec: &entry.spec, target: &target };
        let seen = events.iter().map(|drafted| &drafted.event);
        let taken = step.completed(seen, &done.body, read.labels(), (read.world(), read.now()));
        events.extend(taken.into_iter().map(|event| Drafted { event, behalf: None }));
        self.take_over(events, &Arc::new(Behalf { caller: caller.clone(), gate }));
        let answer = idempotency::without(&done.body, entry.spec.route.once())?;
        Ok(Redeemed::Done(self.shown_answer(entry, input, &target, answer)?))
    }

    /// The answer to a call, which was made for its requester, as whoever decides may read it.
    fn shown_answer(
        &self,
        entry: &'static Entry,
        input: &Value,
        target: &Target,
        answer: Vec<u8>,
    ) -> Result<Option<Value>, Stop> {
        // What is new is for everybody to make, and not for everybody to see.
        let sight = self.read().noun(target).and_then(|noun| noun.sight);
        if !sight.is_none_or(|operation| self.read().may(operation, target)) {
            return Ok(None);
        }
        match act(entry, input)?.shown_again(answer, self.read()) {
            Ok(answer) => Ok(Some(serde_json::from_slice(&answer)?)),
            Err(Stop::Refused(_)) => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    /// The call as it would be made now, if it is exactly what was asked for; or why it is not.
    fn same(&self, entries: &'static [Entry], approval: &Approval) -> Result<Result<Same, String>, Stop> {
        let unknown = || Refusal::conflict(format!("the operation {} no longer exists", approval.operation));
        let entry = entries.iter().find(|entry| entry.spec.name == approval.operation).ok_or_else(unknown)?;
        let caller = approval.requester();
        let read = self.read().acting_as(&caller);
        if approval.erasable.is_none() {
            return Ok(Err(ERASED.into()));
        }
        if approval.run.is_some() && self.read().run_waiting_for(approval)?.is_none() {
            return Ok(Err("the run that requested it has moved on without it".into()));
        }
        admission::still(read.world(), caller.clone(), &entry.spec, read.now())?;
        let call = entry.prepare(approval.whole_input()).map_err(|bad| Refusal::conflict(bad.to_string()))?;
        let target = call.target(&read)?;
        let input = approval.whole_input();
        let asked = ParkedCall::of(&read, &caller, entry, (&target, &input))?;
        if asked.digest()? != approval.digest {
            return Ok(Err(format!("{} has changed since the request", target.id())));
        }
        Ok(Ok(Same { entry, caller: caller.clone(), call, target }))
    }
}

/// A parked call that is exactly what was asked for.
struct Same {
    entry: &'static Entry,
    caller: Caller,
    call: Prepared,
    target: Target,
}
