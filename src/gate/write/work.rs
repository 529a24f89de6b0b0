//! What the writer is asked to do. A job can be done again from the beginning, if it has to be.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::declare::operation::{Act, Call, Entry};
use crate::declare::route::Lane;
use crate::declare::target::Target;
use crate::write::reply::Reply;
use policy::Ruling;
use store::event::Event;
use types::caller::Caller;
use types::field::Label;
use types::refusal::Fault;

/// What the writer is asked to do.
pub(crate) enum Work {
    Change(Changing),
    /// Record that a query was refused.
    Refused(Refused),
    /// Record what a query is answered.
    Answered(AnsweredQuery),
    /// Finish and give the file up.
    Stop,
}

impl Work {
    /// Whether others need not wait for it: what is prepared apart takes long in the writer, too.
    pub(crate) fn is_heavy(&self) -> bool {
        matches!(self, Work::Change(changing) if changing.entry.spec.route.slow.is_some_and(Lane::is_long))
    }
}

/// The `Idempotency-Key` of a call, with the address it was used on.
#[derive(Clone, Debug)]
pub struct Idem {
    pub key: String,
    pub path: String,
}

/// A change that was asked for.
pub(crate) struct Changing {
    pub caller: Caller,
    pub entry: &'static Entry,
    pub value: Value,
    /// Prepared for the first try.
    pub act: Option<Box<dyn Act>>,
    pub idem: Option<Idem>,
}

impl Changing {
    /// The call, prepared again if it was tried before.
    pub(crate) fn act(&mut self) -> Result<Box<dyn Act>, Fault> {
        if let Some(act) = self.act.take() {
            return Ok(act);
        }
        act(self.entry, &self.value)
    }
}

/// The call of a change, prepared once more.
pub(crate) fn act(entry: &'static Entry, input: &Value) -> Result<Box<dyn Act>, Fault> {
    match entry.prepare(input.clone()).map(|prepared| prepared.call) {
        Ok(Call::Change(act)) => Ok(act),
        Ok(Call::Query(_)) | Err(_) => Err(Fault::Broken("a change cannot be prepared again".into())),
    }
}

/// A query that was refused.
pub(crate) struct Refused {
    pub caller: Caller,
    pub entry: &'static Entry,
    pub target: Target,
    /// None where it was refused before all of it was read.
    pub input: Option<Value>,
    pub ruling: Ruling,
}

/// A query whose answer has to be recorded.
pub(crate) struct AnsweredQuery {
    pub caller: Caller,
    pub entry: &'static Entry,
    pub target: Target,
    pub input: Value,
    pub ruling: Ruling,
    pub events: Vec<Event>,
    /// The labels of the data in the answer.
    pub labels: BTreeSet<Label>,
    pub reply: Reply,
}
