//! One call of an operation from the command line: the same whether the command opens the state file itself or asks the
//! server that holds it.

use std::str::FromStr as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::declare::named::absent;
use crate::gate::declare::operation;
use crate::gate::{Gate, Request};
use crate::nouns;
use crate::types::caller::{Channel, Credential, Presented};
use crate::types::id::{self, ActorId};
use crate::types::refusal::{Code, Refusal, Stop};

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ask {
    pub op: String,
    pub input: Value,
    /// The acting actor. None if no actor exists yet: then only operations without an address are possible.
    #[serde(rename = "as")]
    pub actor: Option<String>,
    /// The delegation to act under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
}

/// What comes back: a body, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub status: u16,
    /// JSON, or a text.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// The cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The adapter of another system, of whose rows some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refused>,
}

/// A refusal, as it travels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refused {
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// What is wrong, a line each, or the evals that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Nothing was done; the number of seconds after which it may succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

impl Refused {
    /// By its code alone.
    pub fn new(code: Code) -> Refused {
        Refused {
            code: code.name().into(),
            message: String::new(),
            approval: None,
            problems: Vec::new(),
            retry_after: None,
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Answer {
        let Refusal { code, message, approval, problems, retry_after, .. } = refusal;
        let approval = approval.map(String::from);
        let error = Refused { code: code.name().to_owned(), message, approval, problems, retry_after };
        Answer { status: code.status(), body: Value::Null, next: None, partial_from: None, error: Some(error) }
    }
}

/// Performs a call. The caller holds the state file, so internal errors are shown in full.
pub async fn perform(gate: &Arc<Gate>, ask: Ask) -> Answer {
    match attempt(gate, ask).await {
        Ok(answer) => answer,
        Err(Stop::Refused(refusal)) => Answer::from(*refusal),
        Err(Stop::Failed(fault)) => Refusal::new(Code::Internal, fault.to_string()).into(),
    }
}

async fn attempt(gate: &Arc<Gate>, ask: Ask) -> Result<Answer, Stop> {
    let unknown = || Refusal::bad_request(format!("there is no operation `{}`", ask.op));
    let entry = gate.entry(&ask.op).ok_or_else(unknown)?;
    let credential = match &ask.actor {
        Some(name) => Credential::Holder(actor(name)?),
        None if !entry.spec.route.is_served() => Credential::Server,
        None => Credential::Nothing,
    };
    let presented = Presented { credential, channel: Channel::Cli, address: None, under: ask.under };
    let caller = gate.admit(&presented, &entry.spec)?;
    let call = entry.prepare(ask.input).map_err(|bad| Refusal::field("input", bad))?;
    let reply = gate.perform(Request { caller, call, idem: None }).await?;
    let body = match entry.spec.route.answer {
        operation::Answer::Text => Value::String(String::from_utf8_lossy(&reply.body).into_owned()),
        _ => serde_json::from_slice(&reply.body)?,
    };
    let partial_from = reply.partial_from.map(str::to_owned);
    Ok(Answer { status: reply.status, body, next: reply.next, partial_from, error: None })
}

/// A name that cannot be an id is nobody's.
fn actor(name: &str) -> Result<ActorId, Refusal> {
    ActorId::from_str(name).map_err(|_| unknown(name))
}

pub fn unknown(name: &str) -> Refusal {
    Refusal::new(Code::Unauthorized, format!("unknown actor {name}"))
}

/// Calls `each` for every abbreviated id of a request: the delegation, and in the input the ids in the path, and the
/// fields or list members that are declared to be ids (`#[schemars(extend("x-id" = true))]`).
pub fn abbreviated(ask: &mut Ask, each: &mut impl FnMut(&mut String)) {
    ask.under.iter_mut().filter(|under| id::beginning(under).is_some()).for_each(&mut *each);
    abbreviated_in(&ask.op, &mut ask.input, each);
}

fn abbreviated_in(operation: &str, input: &mut Value, each: &mut impl FnMut(&mut String)) {
    if let Some((asked, input)) = call_in(input) {
        abbreviated_in(&asked, input, each);
    }
    let fields = input.as_object_mut().into_iter().flatten();
    let short = |text: &&mut String| id::beginning(text).is_some();
    let texts = |(field, value)| texts_of(value).into_iter().filter(short).map(move |text| (field, text));
    let mut found = fields.flat_map(texts).peekable();
    if found.peek().is_none() {
        return;
    }
    let entry = entry(operation);
    let schema = entry.map(|entry| entry.input_schema().to_value()).unwrap_or_default();
    let path = entry.map(|entry| entry.spec.route.address()).unwrap_or_default();
    let is_id = |field: &str| {
        path.contains(&format!("{{{field}}}")) || schema.pointer(&format!("/properties/{field}/x-id")).is_some()
    };
    found.filter(|(field, _)| is_id(field)).for_each(|(_, text)| each(text));
}

/// The call that a question is about: its operation, and what that is given.
fn call_in(input: &mut Value) -> Option<(String, &mut Value)> {
    let operation = input.get("op")?.as_str()?.to_owned();
    Some((operation, input.get_mut("input")?))
}

fn entry(operation: &str) -> Option<&'static operation::Entry> {
    nouns::OPERATIONS.iter().find(|entry| entry.spec.name == operation)
}

/// A text, or those of a list.
fn texts_of(value: &mut Value) -> Vec<&mut String> {
    let values = match value {
        Value::Array(values) => values.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    values.iter_mut().filter_map(|value| if let Value::String(text) = value { Some(text) } else { None }).collect()
}

/// What a refusal says of anything that is not there.
pub const NOT_FOUND: &str = "not found";

/// What an input names, as the end of a sentence about what is not found.
pub fn named_in(operation: &str, mut input: Value) -> String {
    let mut names = names_in(operation, &input);
    if let Some((asked, input)) = call_in(&mut input) {
        names.extend(names_in(&asked, input).into_iter().map(|name| format!("input.{name}")));
    }
    absent(&names)
}

fn names_in(operation: &str, input: &Value) -> Vec<String> {
    entry(operation).map(|entry| entry.names(input)).unwrap_or_default()
}
