//! What an operation wants to become true. Nothing in a draft has happened: the gate folds and logs it after `run`, in
//! one transaction, or drops it.

use super::operation::Spec;
use super::reader::Reader;
use crate::types::entropy::Entropy;
use crate::types::event::Event;
use crate::types::id::{Id, Kind};
use crate::types::refusal::Fault;
use crate::types::time::Time;
use crate::types::token::{Plain, TokenKind};

pub struct Draft<'a> {
    read: &'a Reader<'a>,
    spec: &'a Spec,
    entropy: &'a dyn Entropy,
    events: Vec<Event>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(read: &'a Reader<'a>, spec: &'a Spec, entropy: &'a dyn Entropy) -> Draft<'a> {
        Draft { read, spec, entropy, events: Vec::new() }
    }

    /// The state before this operation.
    pub fn read(&self) -> &Reader<'a> {
        self.read
    }

    pub fn now(&self) -> Time {
        self.read.now()
    }

    /// Adds an event. One that the operation does not declare is a fault: the reference would be wrong.
    pub fn record(&mut self, event: Event) -> Result<(), Fault> {
        if !self.spec.events.contains(&event.kind()) {
            let message = format!("{} does not declare the event {}", self.spec.name, event.kind().name());
            return Err(Fault::Broken(message));
        }
        self.events.push(event);
        Ok(())
    }

    pub fn new_id(&self, kind: Kind) -> Id {
        Id::new(kind, self.now().0, self.entropy.bits128())
    }

    pub fn new_token(&self) -> Plain {
        Plain::new(TokenKind::Api, self.entropy)
    }

    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }
}
