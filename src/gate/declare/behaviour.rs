//! What an operation does: it reads, it decides, or it changes something. `Entry` declares one of them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::declare::spec::Spec;
use crate::declare::target::Target;
use crate::reader::Reader;
use crate::write::draft::Draft;
use crate::write::permit::Permit;
use store::event::Event;
use types::refusal::Stop;

/// An operation that only reads: it is given no way to record.
pub trait Query: Sized + 'static {
    const SPEC: Spec;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema;
    /// What it is about. `Refusal::not_found` where that does not exist.
    fn target(input: &Self::Input, read: &Reader<'_>) -> Result<Target, Stop>;
    fn run(permit: Permit<Self>, input: Self::Input, read: &Reader<'_>) -> Result<Self::Output, Stop>;
    /// The cursor of the page after this answer, for lists.
    fn next(_output: &Self::Output) -> Option<String> {
        None
    }
    /// Whether this answer was cut short, of an operation whose answers may be.
    fn is_partial(_output: &Self::Output) -> bool {
        false
    }
    /// Whether this very question may take long, where the route says that some do and it is a small one.
    fn is_long(_input: &Self::Input) -> bool {
        Self::SPEC.route.slow.is_some()
    }
    /// Whether this very question is asked of another system.
    fn is_elsewhere(_input: &Self::Input, _read: &Reader<'_>) -> bool {
        false
    }
    /// The change, by name and input, that the caller makes before another system is asked: what leaves is in the log first.
    fn before(_input: &Self::Input, _read: &Reader<'_>) -> Result<Option<(&'static str, Value)>, Stop> {
        Ok(None)
    }
}

/// An operation that changes something: all that it does is the events that it records.
pub trait Change: Sized + 'static {
    const SPEC: Spec;
    /// What a call of it does, for [`sentence`](crate::declare::sentence): `offboards {id}[ and hands on to {successor}]`.
    const SAYS: &'static str;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema;
    /// What it is about. `Refusal::not_found` where that does not exist.
    fn target(input: &Self::Input, read: &Reader<'_>) -> Result<Target, Stop>;
    fn run(permit: Permit<Self>, input: Self::Input, draft: &mut Draft<'_>) -> Result<Self::Output, Stop>;
    /// Makes in the build cache what `run` will need and what takes long, before the change has its turn. Only for callers
    /// whom the policy does not refuse; only where the route is `slow`.
    fn prepare(_input: &Self::Input, _read: &Reader<'_>) -> Result<(), Stop> {
        Ok(())
    }
    /// What the caller may still read of an answer that was kept for a repetition, where policies withhold parts of it. That
    /// the caller sees what it is about, and whom it names, is asked for every operation.
    fn shown_again(answer: Value, _read: &Reader<'_>) -> Result<Value, Stop> {
        Ok(answer)
    }
}

/// An operation that only reads, and whose answer itself may have to be recorded: it is answered as a query is, and the
/// events that come with the answer are durable before it is given.
pub trait Decide: Sized + 'static {
    const SPEC: Spec;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema;
    /// What it is about. `Refusal::not_found` where that does not exist.
    fn target(input: &Self::Input, read: &Reader<'_>) -> Result<Target, Stop>;
    /// The answer and its record, which may be empty.
    fn run(permit: Permit<Self>, input: Self::Input, read: &Reader<'_>) -> Result<(Self::Output, Vec<Event>), Stop>;
    /// Whether this very question may take long, where the route says that some do and it is a small one.
    fn is_long(_input: &Self::Input) -> bool {
        Self::SPEC.route.slow.is_some()
    }
    /// How many decisions it asks for: each is a call of its own to whatever limits calls.
    fn decisions(_input: &Self::Input) -> usize {
        1
    }
}
