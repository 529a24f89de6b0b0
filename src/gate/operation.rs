//! What an operation is. One declaration gives its route, its Cedar action, its scope reach, its schemas, its events and
//! its place in the reference; `Entry` is that declaration as a value that the faces can walk over.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::draft::Draft;
use super::input::{BadInput, parse, straight};
use super::permit::{Grant, Permit};
use super::reader::Reader;
use super::target::{ResourceKind, Target};
use crate::types::event::{Event, EventKind};
use crate::types::refusal::{Code, Fault, Stop};
use crate::types::scope::Reach;

/// The declaration of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// `noun.verb`: also the Cedar action and the OpenAPI operationId.
    pub name: &'static str,
    /// One or two sentences for the reference.
    pub doc: &'static str,
    /// Which scoped tokens reach it.
    pub scope: Reach,
    pub route: Route,
    /// What it can be about: the Cedar resource types.
    pub about: &'static [ResourceKind],
    /// The event kinds that it may record.
    pub events: &'static [EventKind],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What an answer is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Json,
    /// The output is a string, sent as it is.
    Text,
    /// The answer begins a stream of server-sent events.
    Events,
}

/// Where an operation is found, and the shape of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Method,
    /// Below `/api`, unless `root`; `{name}` is a path parameter and a field of the input.
    pub path: &'static str,
    /// Not below `/api`: the path is the whole address.
    pub root: bool,
    /// As a standard has it: what is malformed is 400 in the error shape, and unknown fields are passed over.
    pub standard: bool,
    /// The input's field `host` is the request's `Host`.
    pub host: bool,
    pub status: u16,
    pub media: Media,
    /// Callers without a token are asked about as `Ok::Visitor`.
    pub open: bool,
    /// The server itself may perform it, as `Ok::Server`.
    pub by_server: bool,
    /// Not served over HTTP: for whoever holds the state file.
    pub local: bool,
    /// May take long: a query runs, and a change is prepared, where it delays nobody.
    pub slow: bool,
    /// Its body may hold a whole bundle of policies.
    pub large: bool,
    /// A field of the answer that is shown once and stored nowhere.
    pub secret: Option<&'static str>,
    /// The code of a denial by policy.
    pub denied: Code,
}

const fn route(method: Method, path: &'static str) -> Route {
    Route {
        method,
        path,
        root: false,
        standard: false,
        host: false,
        status: 200,
        media: Media::Json,
        open: false,
        by_server: false,
        local: false,
        slow: false,
        large: false,
        secret: None,
        denied: Code::Denied,
    }
}

pub const fn get(path: &'static str) -> Route {
    route(Method::Get, path)
}
pub const fn post(path: &'static str) -> Route {
    route(Method::Post, path)
}
pub const fn put(path: &'static str) -> Route {
    route(Method::Put, path)
}
pub const fn patch(path: &'static str) -> Route {
    route(Method::Patch, path)
}
pub const fn delete(path: &'static str) -> Route {
    route(Method::Delete, path)
}

impl Route {
    pub const fn created(self) -> Route {
        Route { status: 201, ..self }
    }
    /// At an address that a standard names, from the root.
    pub const fn standard(self) -> Route {
        Route { standard: true, ..self.from_root() }
    }
    pub const fn from_root(self) -> Route {
        Route { root: true, ..self }
    }
    pub const fn with_host(self) -> Route {
        Route { host: true, ..self }
    }
    /// The whole path.
    pub fn address(&self) -> String {
        format!("{}{}", if self.root { "" } else { "/api" }, self.path)
    }
    pub const fn open(self) -> Route {
        Route { open: true, ..self }
    }
    pub const fn by_server(self) -> Route {
        Route { by_server: true, ..self }
    }
    /// No address at all.
    pub const LOCAL: Route = Route { local: true, ..post("") };

    pub const fn slow(self) -> Route {
        Route { slow: true, ..self }
    }
    pub const fn large(self) -> Route {
        Route { large: true, ..self }
    }
    pub const fn text(self) -> Route {
        Route { media: Media::Text, ..self }
    }
    pub const fn stream(self) -> Route {
        Route { media: Media::Events, ..self }
    }
    pub const fn denied_as(self, denied: Code) -> Route {
        Route { denied, ..self }
    }
    pub const fn secret(self, field: &'static str) -> Route {
        Route { secret: Some(field), ..self }
    }
}

impl Method {
    pub const fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

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
}

/// An operation that changes something: all that it does is the events that it records.
pub trait Change: Sized + 'static {
    const SPEC: Spec;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema;
    /// What it is about. `Refusal::not_found` where that does not exist.
    fn target(input: &Self::Input, read: &Reader<'_>) -> Result<Target, Stop>;
    fn run(permit: Permit<Self>, input: Self::Input, draft: &mut Draft<'_>) -> Result<Self::Output, Stop>;
    /// Makes in the workshop what `run` will need and what takes long, before the change has its turn. Only for callers
    /// whom the policy does not refuse; only where the route is `slow`.
    fn prepare(_input: &Self::Input, _read: &Reader<'_>) -> Result<(), Stop> {
        Ok(())
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Query,
    /// A query whose answer may be recorded.
    Decide,
    Change,
}

/// One operation, with its types erased.
#[derive(Clone, Copy)]
pub struct Entry {
    pub spec: Spec,
    pub effect: Effect,
    pub input: fn(&mut SchemaGenerator) -> Schema,
    pub output: fn(&mut SchemaGenerator) -> Schema,
    prepare: fn(&Value) -> Result<Call, BadInput>,
    read: fn(&[u8]) -> Option<Call>,
}

/// A parsed call of one operation.
pub struct Prepared {
    pub entry: &'static Entry,
    /// The input as it came, for an approval to store and a retry to be recognised by. Null for a query that was read
    /// straight into its type: none is ever stored.
    pub value: Value,
    pub(super) call: Call,
}

/// An operation's result, serialised.
#[derive(Clone, Debug)]
pub struct Done {
    pub body: Vec<u8>,
    pub next: Option<String>,
    /// What has to be recorded before it is told.
    pub(super) events: Vec<Event>,
}

/// The generic shell around the non-generic core.
pub(super) enum Call {
    Query(Box<dyn Ask>),
    Change(Box<dyn Act>),
}

pub(super) trait Ask: Send {
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop>;
    fn run(self: Box<Self>, grant: Grant, read: &Reader<'_>) -> Result<Done, Stop>;
}

pub(super) trait Act: Send {
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop>;
    fn prepare(&self, read: &Reader<'_>) -> Result<(), Stop>;
    fn run(self: Box<Self>, grant: Grant, draft: &mut Draft<'_>) -> Result<Done, Stop>;
}

struct Asking<O: Query>(O::Input);
struct Deciding<O: Decide>(O::Input);
struct Acting<O: Change>(O::Input);

fn body(media: Media, output: &impl Serialize) -> Result<Vec<u8>, Stop> {
    if media == Media::Text
        && let Value::String(text) = serde_json::to_value(output)?
    {
        return Ok(text.into_bytes());
    }
    Ok(serde_json::to_vec(output)?)
}

impl<O: Query> Ask for Asking<O> {
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        O::target(&self.0, read)
    }
    fn run(self: Box<Self>, grant: Grant, read: &Reader<'_>) -> Result<Done, Stop> {
        let output = O::run(Permit::mint(grant), self.0, read)?;
        Ok(Done { body: body(O::SPEC.route.media, &output)?, next: O::next(&output), events: Vec::new() })
    }
}

impl<O: Decide> Ask for Deciding<O> {
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        O::target(&self.0, read)
    }
    fn run(self: Box<Self>, grant: Grant, read: &Reader<'_>) -> Result<Done, Stop> {
        let (output, events) = O::run(Permit::mint(grant), self.0, read)?;
        if let Some(event) = events.iter().find(|event| !O::SPEC.events.contains(&event.kind())) {
            let message = format!("{} does not declare the event {}", O::SPEC.name, event.kind().name());
            return Err(Fault::Broken(message).into());
        }
        Ok(Done { body: body(O::SPEC.route.media, &output)?, next: None, events })
    }
}

impl<O: Change> Act for Acting<O> {
    fn prepare(&self, read: &Reader<'_>) -> Result<(), Stop> {
        O::prepare(&self.0, read)
    }
    fn target(&self, read: &Reader<'_>) -> Result<Target, Stop> {
        O::target(&self.0, read)
    }
    fn run(self: Box<Self>, grant: Grant, draft: &mut Draft<'_>) -> Result<Done, Stop> {
        let output = O::run(Permit::mint(grant), self.0, draft)?;
        Ok(Done { body: body(O::SPEC.route.media, &output)?, next: None, events: Vec::new() })
    }
}

impl Entry {
    pub const fn query<O: Query>() -> Entry {
        Entry {
            spec: O::SPEC,
            effect: Effect::Query,
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
            input: |generator| generator.subschema_for::<O::Input>(),
            output: |generator| generator.subschema_for::<O::Output>(),
            prepare: |value| Ok(Call::Change(Box::new(Acting::<O>(parse(value)?)))),
            read: |_| None,
        }
    }

    /// Parses an input.
    pub fn prepare(&'static self, value: Value) -> Result<Prepared, BadInput> {
        let call = (self.prepare)(&value)?;
        Ok(Prepared { entry: self, value, call })
    }

    /// Reads a query's input straight from JSON. What cannot be read so is left to `prepare`, which tells what is wrong.
    pub fn read(&'static self, json: &[u8]) -> Option<Prepared> {
        Some(Prepared { entry: self, value: Value::Null, call: (self.read)(json)? })
    }

    /// The input's schema on its own, for reading parameters by their types.
    pub fn input_schema(&self) -> Schema {
        let mut generator = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        (self.input)(&mut generator)
    }
}

impl Prepared {
    /// Makes in the workshop what carrying it out will need.
    pub fn make_ready(&self, read: &Reader<'_>) -> Result<(), Stop> {
        match &self.call {
            Call::Change(act) if self.entry.spec.route.slow => act.prepare(read),
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
