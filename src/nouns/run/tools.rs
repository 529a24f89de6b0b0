//! Tools: the operations that an agent may be offered, and external tools.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Nothing;
use crate::company::COMPANY;
use gate::{Entry, Permit, Prospects, Query, Reader, Spec, Target, get};
use policy::Ruling;
use store::runs::{Run, Step};
use types::actor::KillScope;
use types::chat::Offered;
use types::id::ActorId;
use types::near::nearest;
use types::refusal::Stop;
use types::run::{StepStatus, ToolEffect, Wait};
use types::scope::Reach;

/// Checks whether a plan may call a tool of this name. What only runs do has plan steps of its own.
pub fn is_tool(name: &str, read: &Reader<'_>) -> bool {
    crate::OPERATIONS.iter().any(|entry| entry.spec.name == name && may_be(entry) && is_here(entry, read))
}

/// Returns the names of all possible tools, even of those that this server lacks.
pub fn all() -> impl Iterator<Item = &'static str> {
    crate::OPERATIONS.iter().filter(|entry| may_be(entry)).map(|entry| entry.spec.name)
}

/// Explains why a name, quoted after this word, is no tool, and suggests a similar one.
pub fn unknown(name: &str, word: &str) -> Option<String> {
    if all().any(|tool| tool == name) {
        return None;
    }
    let near = nearest(name, all()).map(|near| format!("; did you mean `{word}{near}`?")).unwrap_or_default();
    Some(format!("there is no tool `{name}`{near}"))
}

fn may_be(entry: &Entry) -> bool {
    (entry.spec.route.is_served() || entry.spec.route.is_external()) && entry.tool().is_some()
}

/// Checks whether a tool is available: all operations are; external tools if this server has them.
pub(super) fn is_there(name: &str, read: &Reader<'_>) -> bool {
    crate::OPERATIONS.iter().filter(|entry| entry.spec.name == name).all(|entry| is_here(entry, read))
}

fn is_here(entry: &Entry, read: &Reader<'_>) -> bool {
    !entry.spec.route.is_external() || read.has_tool(entry.spec.name)
}

/// Returns those of these tools that no run could call, since they do not exist.
pub fn missing(asked: &[String], read: &Reader<'_>) -> Vec<String> {
    asked.iter().filter(|name| *name != QUESTION && !is_tool(name, read)).cloned().collect()
}

/// Resolves the tool name that a model wrote. Providers allow no dots in names, and models do not always copy a name exactly.
pub(super) fn meant(written: &str, read: &Reader<'_>) -> Option<&'static Entry> {
    let plain = |name: &str| name.replace(['.', '-'], "_");
    let wanted = plain(written);
    crate::OPERATIONS.iter().find(|entry| is_offered(entry, read) && plain(entry.spec.name) == wanted)
}

/// Checks whether a model may be offered an operation: a tool, or a question to a person.
fn is_offered(entry: &Entry, read: &Reader<'_>) -> bool {
    entry.spec.name == QUESTION || may_be(entry) && is_here(entry, read)
}

/// The operation for asking a person, which no definition has to request.
pub(super) const QUESTION: &str = "run.ask";

/// Returns the tools offered to a model for the calling agent in its run: those requested by its definition, not stopped by a
/// kill switch, that the policies could allow.
pub(super) fn offered(agent: &ActorId, read: &Reader<'_>) -> Result<Vec<Offered>, Stop> {
    let (mut offered, asked, prospects) = (Vec::new(), read.tools_of(agent)?, read.prospects());
    for entry in crate::OPERATIONS.iter().filter(|entry| is_offered(entry, read)) {
        let name = entry.spec.name;
        let is_stopped = read.kill(&KillScope::Tool(name.to_owned())).is_some();
        if is_stopped || !(name == QUESTION || asked.asks_for(name)) || hint(entry, &prospects).is_none() {
            continue;
        }
        offered.push(Offered {
            name: name.replace('.', "_"),
            description: entry.spec.doc.to_owned(),
            schema: schema_of(entry),
        });
    }
    Ok(offered)
}

/// Returns the schema of a tool's input, cached: an agent with many tools would otherwise spend most of a step on them.
fn schema_of(entry: &'static Entry) -> Value {
    static MADE: LazyLock<Mutex<BTreeMap<&'static str, Value>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(entry.spec.name).or_insert_with(|| plain_schema(entry.input_schema().to_value())).clone()
}

/// Returns a schema as providers accept it: an object, without this program's extensions.
fn plain_schema(mut schema: Value) -> Value {
    strip(&mut schema);
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|name, _| !matches!(name.as_str(), "$schema" | "title" | "description"));
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Removes keywords that start with `x-`.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.starts_with("x-"));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// An operation as an agent may be offered it.
#[derive(Serialize, JsonSchema)]
pub struct Tool {
    pub name: String,
    #[schemars(extend("x-names" = "text"))]
    pub description: String,
    /// What kind of effect it has.
    pub effect: ToolEffect,
    /// The JSON Schema of its input.
    #[schemars(extend("x-names" = "json"))]
    pub input_schema: Value,
    pub gate: Hint,
}

/// What the gate would say to a call, as far as that can be told before it is made.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    Allow,
    /// It would wait for people.
    Approval,
    /// That depends on what it is about.
    Depends,
}

fn hint(entry: &Entry, prospects: &Prospects<'_>) -> Option<Hint> {
    let could = if entry.spec.route.is_external() {
        prospects.could_at_work(entry.spec.name)
    } else {
        prospects.could(entry.spec.name)
    };
    if !could {
        return None;
    }
    if entry.spec.about != [&COMPANY] {
        return Some(Hint::Depends);
    }
    match prospects.ruling(entry.spec.name) {
        Ruling::Allow { .. } => Some(Hint::Allow),
        Ruling::NeedsApproval { .. } => Some(Hint::Approval),
        Ruling::Deny { .. } => None,
    }
}

/// List tools.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "tool.list",
        doc: "List the tools that the policies may let the caller use: name, input, kind of effect.",
        scope: Reach::READ,
        route: get("/tools").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Vec<Tool>;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Vec<Tool>, Stop> {
        let offered = crate::OPERATIONS.iter().filter(|entry| is_tool(entry.spec.name, read));
        let prospects = read.prospects();
        let tool = |entry: &Entry| {
            Some(Tool {
                gate: hint(entry, &prospects)?,
                effect: entry.tool()?,
                name: entry.spec.name.to_owned(),
                description: entry.spec.doc.to_owned(),
                input_schema: entry.input_schema().to_value(),
            })
        };
        Ok(offered.filter_map(tool).collect())
    }
}

/// Explains why a run's agent cannot call a tool, whatever the policies say; `None` if it can.
pub(super) fn unable(
    run: &Run,
    (step, tool): (Option<&Step>, &str),
    read: &Reader<'_>,
) -> Result<Option<String>, Stop> {
    if tool != QUESTION && !read.tools_of(&run.agent)?.asks_for(tool) {
        return Ok(Some(format!("the definition of {} does not ask for {tool}", run.agent)));
    }
    if !is_there(tool, read) {
        return Ok(Some(format!("there is no tool `{tool}`")));
    }
    if read.kill(&KillScope::Tool(tool.to_owned())).is_some() {
        return Ok(Some("a kill switch stops this tool".to_owned()));
    }
    step.map_or(Ok(None), |step| no_longer_allowed(run, step, read))
}

/// Explains why an approved call that has not begun may not begin any more: policies may have changed meanwhile.
pub(super) fn no_longer_allowed(run: &Run, step: &Step, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let Some(Wait::Approval { approval }) = step.wait.as_ref().filter(|_| step.status == StepStatus::Decided) else {
        return Ok(None);
    };
    let Some(approval) = read.approval(approval.as_str())? else { return Ok(None) };
    // The same policies have allowed it.
    if approval.ended_at.is_some_and(|decided| read.applied().is_ok_and(|applied| applied.at < decided)) {
        return Ok(None);
    }
    let ruling = read.ruling_of_approved(&approval, &read.run_target(run), step.cost_cents);
    Ok((!ruling.is_allowed()).then(|| format!("the policy now says: {}", ruling.reason())))
}
