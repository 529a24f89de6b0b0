//! What an operation wants to become true. Nothing in a draft has happened: the gate folds and logs it after `run`, in
//! one transaction, or drops it.

use std::sync::Arc;

use serde_json::Value;

use crate::decide::question;
use crate::declare::spec::Spec;
use crate::declare::target::Target;
use crate::reader::Reader;
use crate::write::halt::Halt;
use crate::write::record::GateRecord;
use crate::write::reply;
use policy::Ruling;
use store::event::Event;
use types::caller::Caller;
use types::entropy::Entropy;
use types::id::{ActorId, Id, Kind};
use types::refusal::{Code, Fault, Refusal, Stop};
use types::time::Time;
use types::token::{Plain, TokenKind};

pub struct Draft<'a> {
    read: &'a Reader<'a>,
    spec: &'a Spec,
    entropy: &'a dyn Entropy,
    events: Vec<Drafted>,
    /// What it comes to is dropped: the call waits for people.
    rehearsed: bool,
    /// The kinds of approval that the call goes on with.
    granted: &'a [String],
    /// What was asked besides and is not allowed.
    part: Option<Part>,
}

/// A part of a call that the gate does not allow as it is: its target and the ruling.
pub(crate) struct Part {
    pub target: Target,
    pub ruling: Ruling,
}

/// What a draft comes to.
pub(crate) struct Outcome {
    pub events: Vec<Drafted>,
}

/// One event of a draft.
pub(crate) struct Drafted {
    pub event: Event,
    /// For whom, where that is not the caller: the requester of an approved call.
    pub behalf: Option<Arc<Behalf>>,
}

/// Whose call is carried out, and how the gate decided it.
pub(crate) struct Behalf {
    pub caller: Caller,
    pub gate: GateRecord,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        read: &'a Reader<'a>,
        spec: &'a Spec,
        entropy: &'a dyn Entropy,
        granted: &'a [String],
    ) -> Draft<'a> {
        Draft { read, spec, entropy, events: Vec::new(), rehearsed: false, granted, part: None }
    }

    /// One whose events are dropped.
    pub(crate) fn rehearsal(self) -> Draft<'a> {
        Draft { rehearsed: true, ..self }
    }

    /// Returns whether the draft is dropped in any case. A rehearsal reveals nothing that the caller may not read.
    pub fn is_rehearsal(&self) -> bool {
        self.rehearsed
    }

    /// Returns whether an id is taken. While the call only waits, actors that its caller may not see count as absent.
    pub fn is_taken(&self, id: &ActorId) -> bool {
        let seen = self.read.knows(id);
        self.read.card(id).is_some() && (seen || !self.rehearsed)
    }

    /// Checks whether another operation is allowed as a part of this call. The whole is approved at once or not at all:
    /// approvals of the call count for the part, and if the part needs more, the call waits for those too.
    pub fn asks(&mut self, operation: &str, target: &Target, input: &Value) -> Result<(), Refusal> {
        let (read, call) = (self.read, question::Call { operation, target, input: Some(input) });
        let ruling = read.ruling_with(read.caller(), call, self.granted);
        let asked = reply::also(operation, &ruling);
        if !ruling.is_allowed() {
            self.part = Some(Part { target: target.clone(), ruling });
        }
        asked
    }

    /// The state before this operation.
    pub fn read(&self) -> &'a Reader<'a> {
        self.read
    }

    pub fn now(&self) -> Time {
        self.read.now()
    }

    /// Adds an event. One that the operation does not declare is a fault: the reference would be wrong.
    pub fn record(&mut self, event: impl Into<Event>) -> Result<(), Fault> {
        self.add(event.into())
    }

    fn add(&mut self, event: Event) -> Result<(), Fault> {
        let kind = event.kind();
        if !self.spec.events.contains(&kind) {
            let message = format!("{} does not declare the event {}", self.spec.name, kind.name);
            return Err(Fault::Broken(message));
        }
        self.events.push(Drafted { event, behalf: None });
        Ok(())
    }

    pub fn new_id(&self, kind: Kind) -> Id {
        Id::new(kind, self.now().0, self.entropy.bits128())
    }

    /// A random number of at least 0 and less than `end`.
    pub fn below(&self, end: i64) -> i64 {
        let random = i64::try_from(self.entropy.bits128() >> 66).unwrap_or(0);
        random.checked_rem(end).unwrap_or(0)
    }

    pub fn new_token(&self, kind: TokenKind) -> Plain {
        Plain::new(kind, self.entropy)
    }

    /// A draft of another operation within this one.
    pub(crate) fn nested<'b>(&self, read: &'b Reader<'b>, spec: &'b Spec, granted: &'b [String]) -> Draft<'b>
    where
        'a: 'b,
    {
        Draft { read, spec, entropy: self.entropy, events: Vec::new(), rehearsed: self.rehearsed, granted, part: None }
    }

    /// Adds the events of a nested draft.
    pub(crate) fn take_over(&mut self, events: Vec<Drafted>, behalf: &Arc<Behalf>) {
        let of = |drafted: Drafted| Drafted { behalf: Some(Arc::clone(behalf)), ..drafted };
        self.events.extend(events.into_iter().map(of));
    }

    /// What stopped an operation that ran on this draft, with what it lacks.
    pub(crate) fn halted(self, stop: Stop) -> Halt {
        match self.stopped_by(&stop) {
            Some(Part { ruling: ruling @ Ruling::NeedsApproval { .. }, .. }) => Halt::Lacks(Box::new(ruling), stop),
            _ => stop.into(),
        }
    }

    /// The part that stopped an operation which ran on this draft, if it was one.
    pub(crate) fn stopped_by(self, stop: &Stop) -> Option<Part> {
        let refused = matches!(stop, Stop::Refused(refusal) if refusal.code == Code::Denied);
        self.part.filter(|_| refused)
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        Outcome { events: self.events }
    }
}
