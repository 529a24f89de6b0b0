//! `--dev-echo-tools`: at a step of a run a tool answers with what it was asked, and does nothing. Everything else is as usual: it is
//! decided, waits for approval, and is recorded with what it would have been about.

use serde_json::Value;

use super::draft::Draft;
use super::operation::{Act, Ask, Done, Spec};
use super::permit::Grant;
use super::reader::Reader;
use super::target::Target;
use super::world::World;
use crate::types::caller::Caller;
use crate::types::refusal::Stop;
use crate::types::work::StepKind;

struct Echo<T> {
    of: T,
    input: Value,
}

impl<T> Echo<T> {
    fn said(self) -> Result<Done, Stop> {
        Ok(Done { body: serde_json::to_vec(&self.input)?, next: None, events: Vec::new() })
    }
}

impl World {
    fn echoes(&self, caller: &Caller, spec: &Spec) -> bool {
        self.dev_echo && caller.run.is_some() && spec.route.step == StepKind::Tool
    }

    /// What a change does, or the echo of what it was asked.
    pub(super) fn act(&self, caller: &Caller, spec: &Spec, act: Box<dyn Act>, input: &Value) -> Box<dyn Act> {
        if self.echoes(caller, spec) { Box::new(Echo { of: act, input: input.clone() }) } else { act }
    }

    /// What a query answers, or the echo of what it was asked.
    pub(super) fn ask(&self, caller: &Caller, spec: &Spec, query: Box<dyn Ask>, input: &Value) -> Box<dyn Ask> {
        if self.echoes(caller, spec) { Box::new(Echo { of: query, input: input.clone() }) } else { query }
    }
}

impl Act for Echo<Box<dyn Act>> {
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        self.of.target(read)
    }
    fn prepare(&self, read: &Reader<'_>) -> Result<(), Stop> {
        self.of.prepare(read)
    }
    fn run(self: Box<Self>, _: Grant, _: &mut Draft<'_>) -> Result<Done, Stop> {
        self.said()
    }
}

impl Ask for Echo<Box<dyn Ask>> {
    fn is_long(&self) -> bool {
        self.of.is_long()
    }
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        self.of.target(read)
    }
    fn run(self: Box<Self>, _: Grant, _: &Reader<'_>) -> Result<Done, Stop> {
        self.said()
    }
}
