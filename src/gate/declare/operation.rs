//! What an operation is. One declaration gives its route, its Cedar action, its scope reach, its schemas, its events and
//! its place in the reference; `Entry` is that declaration as a value that the faces can walk over.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

pub use crate::declare::behaviour::{Change, Decide, Query};
use crate::declare::input::{BadInput, parse, straight};
use crate::declare::resource::Resources;
pub use crate::declare::route::{Answer, Auth, Body, Method, Route, Surface};
use crate::declare::sentence;
pub use crate::declare::spec::{Effect, Spec};
use crate::declare::target::Target;
use crate::reader::Reader;
use crate::reader::veil::{self, Veil};
use crate::write::draft::Draft;
use crate::write::permit::{Grant, Permit};
use store::event::Event;
use types::json::{MAX_DEPTH, nests_beyond};
use types::refusal::{Code, Fault, Refusal, Stop};
use types::run::ToolEffect;

/// One operation, with its types erased.
#[derive(Clone, Copy)]
pub struct Entry {
    pub spec: Spec,
    pub effect: Effect,
    says: &'static str,
    pub input: fn(&mut SchemaGenerator) -> Schema,
    pub output: fn(&mut SchemaGenerator) -> Schema,
    prepare: fn(&Value) -> Result<Call, BadInput>,
    read: fn(&[u8]) -> Option<Call>,
}

/// The most bytes of a question that can be short whatever it asks.
const SMALL: usize = 16 << 10;

/// A parsed call of one operation.
pub struct Prepared {
    pub entry: &'static Entry,
    /// The input as it came, for an approval to store and a retry to be recognised by. Of a query, which is never stored,
    /// what policies see of it.
    pub value: Value,
    /// It was read straight from few bytes.
    pub(crate) is_small: bool,
    /// The bytes that it was read from, as far as that counts.
    pub(crate) bytes: usize,
    pub(crate) call: Call,
}

/// An operation's result, serialised.
#[derive(Clone, Debug)]
pub struct Done {
    pub body: Vec<u8>,
    pub next: Option<String>,
    /// It was cut short.
    pub is_partial: bool,
    /// Events that must be recorded before the answer is given.
    pub(crate) events: Vec<Event>,
}

/// The generic shell around the non-generic core.
pub(crate) enum Call {
    Query(Box<dyn Ask>),
    Change(Box<dyn Act>),
}

pub(crate) trait Ask: Send {
    fn is_long(&self) -> bool;
    fn decisions(&self) -> usize {
        1
    }
    fn is_elsewhere(&self, _read: &Reader<'_>) -> bool {
        false
    }
    fn before(&self, _read: &Reader<'_>) -> Result<Option<(&'static str, Value)>, Stop> {
        Ok(None)
    }
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop>;
    fn run(self: Box<Self>, grant: Grant, read: &Reader<'_>) -> Result<Done, Stop>;
}

pub(crate) trait Act: Send {
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop>;
    fn prepare(&self, read: &Reader<'_>) -> Result<(), Stop>;
    /// An answer that was kept, as the caller may read it now.
    fn shown_again(&self, kept: Vec<u8>, read: &Reader<'_>) -> Result<Vec<u8>, Stop>;
    fn run(self: Box<Self>, grant: Grant, draft: &mut Draft<'_>) -> Result<Done, Stop>;
}

struct Asking<O: Query>(O::Input);
struct Deciding<O: Decide>(O::Input);
struct Acting<O: Change> {
    input: O::Input,
    /// The version that the change was made from, where it has to be the current one.
    made_from: Option<i64>,
}

impl<O: Change> Acting<O> {
    fn parse(value: &Value) -> Result<Acting<O>, BadInput> {
        Ok(Acting { input: parse(value)?, made_from: O::SPEC.route.current_version(value) })
    }

    /// Whether somebody else has changed it meanwhile.
    fn is_current(&self, read: &Reader<'_>) -> Result<(), Stop> {
        let Some(made_from) = self.made_from else { return Ok(()) };
        match read.version_of(&O::target(&self.input, read)?)? {
            None => Err(Fault::Broken(format!("what {} changes has no version", O::SPEC.name)).into()),
            Some(current) if current == made_from => Ok(()),
            Some(0) => Err(Refusal::conflict("version: it does not exist yet").into()),
            Some(current) => Err(Refusal::conflict(format!("version: the current version is {current}")).into()),
        }
    }
}

/// An answer as its reader may see it.
fn body<T: Serialize + JsonSchema>(spec: &Spec, output: &T, read: &Reader<'_>) -> Result<Vec<u8>, Stop> {
    if spec.route.answer == Answer::Text
        && let Value::String(text) = serde_json::to_value(output)?
    {
        return Ok(text.into_bytes());
    }
    let veil = veil::of_answer(spec.name, |generator| generator.subschema_for::<T>());
    if !veil.is_needed() {
        return Ok(serde_json::to_vec(output)?);
    }
    let mut shown = serde_json::to_value(output)?;
    veil.apply(&mut shown, read);
    Ok(serde_json::to_vec(&shown)?)
}

impl<O: Query> Ask for Asking<O> {
    fn is_long(&self) -> bool {
        O::is_long(&self.0)
    }
    fn is_elsewhere(&self, read: &Reader<'_>) -> bool {
        O::is_elsewhere(&self.0, read)
    }
    fn before(&self, read: &Reader<'_>) -> Result<Option<(&'static str, Value)>, Stop> {
        O::before(&self.0, read)
    }
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        O::target(&self.0, read)
    }
    fn run(self: Box<Self>, grant: Grant, read: &Reader<'_>) -> Result<Done, Stop> {
        let output = O::run(Permit::mint(grant), self.0, read)?;
        let (next, is_partial) = (O::next(&output), O::is_partial(&output));
        Ok(Done { body: body(&O::SPEC, &output, read)?, next, is_partial, events: Vec::new() })
    }
}

impl<O: Decide> Ask for Deciding<O> {
    fn is_long(&self) -> bool {
        O::is_long(&self.0)
    }
    fn decisions(&self) -> usize {
        O::decisions(&self.0)
    }
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        O::target(&self.0, read)
    }
    fn run(self: Box<Self>, grant: Grant, read: &Reader<'_>) -> Result<Done, Stop> {
        let (output, events) = O::run(Permit::mint(grant), self.0, read)?;
        if let Some(event) = events.iter().find(|event| !O::SPEC.events.contains(&event.kind())) {
            let message = format!("{} does not declare the event {}", O::SPEC.name, event.kind().name);
            return Err(Fault::Broken(message).into());
        }
        Ok(Done { body: body(&O::SPEC, &output, read)?, next: None, is_partial: false, events })
    }
}

impl<O: Change> Act for Acting<O> {
    fn prepare(&self, read: &Reader<'_>) -> Result<(), Stop> {
        O::prepare(&self.input, read)
    }
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        O::target(&self.input, read)
    }
    fn shown_again(&self, kept: Vec<u8>, read: &Reader<'_>) -> Result<Vec<u8>, Stop> {
        if O::SPEC.route.answer == Answer::Text {
            return Ok(kept);
        }
        let answer: Value = serde_json::from_slice(&kept)?;
        if answer.get("error").is_some_and(|error| error == Code::NeedsApproval.name()) {
            return Ok(kept);
        }
        let about = answer.get("id").and_then(Value::as_str).map(|id| read.named(id)).transpose()?;
        // What is no longer there hides nothing: the answer tells of its end.
        let target = match self.target(read) {
            Ok(target) => Some(target),
            Err(Stop::Refused(_)) => None,
            Err(failed) => return Err(failed),
        };
        let about = about.into_iter().flatten().chain(target);
        if about.into_iter().any(|target| !read.sees(&target)) {
            let message = "this request was carried out before, and its answer is no longer for you to read";
            return Err(Refusal::new(Code::Denied, message).into());
        }
        let mut answer = O::shown_again(answer, read)?;
        veil::of_answer(O::SPEC.name, |generator| generator.subschema_for::<O::Output>()).apply(&mut answer, read);
        Ok(serde_json::to_vec(&answer)?)
    }
    fn run(self: Box<Self>, grant: Grant, draft: &mut Draft<'_>) -> Result<Done, Stop> {
        self.is_current(draft.read())?;
        let output = O::run(Permit::mint(grant), self.input, draft)?;
        Ok(Done { body: body(&O::SPEC, &output, draft.read())?, next: None, is_partial: false, events: Vec::new() })
    }
}

impl Entry {
    pub const fn query<O: Query>() -> Entry {
        Entry {
            spec: O::SPEC,
            effect: Effect::Query,
            says: O::SPEC.name,
            input: |generator| generator.subschema_for::<O::Input>(),
            output: |generator| generator.subschema_for::<O::Output>(),
            prepare: |value| Ok(Call::Query(Box::new(Asking::<O>(parse(value)?)))),
            read: |json| Some(Call::Query(Box::new(Asking::<O>(straight(json)?)))),
        }
    }

    pub const fn decide<O: Decide>() -> Entry {
        Entry {
            spec: O::SPEC,
            effect: Effect::Decide,
            says: O::SPEC.name,
            input: |generator| generator.subschema_for::<O::Input>(),
            output: |generator| generator.subschema_for::<O::Output>(),
            prepare: |value| Ok(Call::Query(Box::new(Deciding::<O>(parse(value)?)))),
            read: |json| Some(Call::Query(Box::new(Deciding::<O>(straight(json)?)))),
        }
    }

    pub const fn change<O: Change>() -> Entry {
        Entry {
            spec: O::SPEC,
            effect: Effect::Change,
            says: O::SAYS,
            input: |generator| generator.subschema_for::<O::Input>(),
            output: |generator| generator.subschema_for::<O::Output>(),
            prepare: |value| Ok(Call::Change(Box::new(Acting::<O>::parse(value)?))),
            read: |_| None,
        }
    }

    /// What a call of it with this input would do, as a sentence without its subject.
    pub fn summary(&self, input: &Value) -> String {
        sentence::describe(self.says, input)
    }

    /// Parses an input.
    pub fn prepare(&'static self, value: Value) -> Result<Prepared, BadInput> {
        // What the server tells itself holds what others said, which was looked at.
        if self.spec.route.auth != Auth::Server {
            self.check_depth(&value)?;
        }
        self.check_fields(&value)?;
        if self.spec.route.is_served() {
            self.check_bounds(&value)?;
        }
        let call = (self.prepare)(&value)?;
        let value = if matches!(call, Call::Query(_)) { self.arguments().only(value) } else { value };
        Ok(Prepared { entry: self, value, is_small: false, bytes: 0, call })
    }

    /// Reads a query's input straight from JSON. What cannot be read so is left to `prepare`, which tells what is wrong.
    pub fn read(&'static self, json: &[u8]) -> Option<Prepared> {
        if nests_beyond(MAX_DEPTH, json) {
            return None;
        }
        Some(Prepared {
            entry: self,
            value: Value::Null,
            is_small: json.len() <= SMALL,
            bytes: json.len(),
            call: (self.read)(json)?,
        })
    }

    /// Takes out of an answer of it whom the reader may not see.
    pub fn veil(&self, answer: &mut Value, read: &Reader<'_>) {
        veil::of_answer(self.spec.name, self.output).apply(answer, read);
    }

    /// What the reader may not see of an input of it, where others are shown that.
    pub fn veil_of_input(&self) -> &'static Veil {
        veil::of_input(self.spec.name, || self.input_schema().to_value())
    }

    /// What kind of effect it has as a tool, if agents may be offered it.
    pub fn tool(&self) -> Option<ToolEffect> {
        let own = if self.effect == Effect::Change { ToolEffect::Idempotent } else { ToolEffect::Read };
        self.spec.is_tool().then_some(self.spec.route.external.map_or(own, |tool| tool.effect))
    }

    /// Whether the log knows how often it was done: a change, or a read that is a step of a run.
    pub fn is_counted(&self) -> bool {
        self.effect == Effect::Change || self.spec.is_tool()
    }
}

/// The nouns that operations are about.
pub(crate) fn resources(entries: &[Entry]) -> Resources {
    Resources::of(entries.iter().flat_map(|entry| entry.spec.about).copied())
}

impl Prepared {
    #[must_use]
    pub fn from_bytes(self, bytes: usize) -> Prepared {
        Prepared { bytes, ..self }
    }

    /// Makes in the build cache what carrying it out will need.
    pub fn make_ready(&self, read: &Reader<'_>) -> Result<(), Stop> {
        match &self.call {
            Call::Change(act) if self.entry.spec.route.slow.is_some() => act.prepare(read),
            Call::Change(_) | Call::Query(_) => Ok(()),
        }
    }

    /// What this call would be about.
    pub fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        match &self.call {
            Call::Query(query) => query.target(read),
            Call::Change(act) => act.target(read),
        }
    }
}
