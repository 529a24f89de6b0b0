//! External tools: their effect takes place outside, after it was decided and recorded here. Each is an operation of an agent
//! in a run like any other, under its own name; `tool.settle` records its result. Their implementations are passed to the
//! server at start (`background::tools`).
//!
//! Always true: a call is recorded as begun before it is made, so one whose effect must happen once is made once, whatever
//! fails; if nobody knows whether it happened, people decide.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::moves::Move;
use super::next::next;
use super::question::own;
use super::under_way::UnderWay;
use super::why;
use super::{RUN, find};
use gate::{Change, Draft, External, Impact, Permit, Reader, Route, Spec, Target};
use store::actors::Status;
use store::content::events::ContentKept;
use store::runs::events::{RunWaiting, StepCompleted, StepDecided, StepDispatched, StepFailed};
use store::runs::{PATIENCE, Run};
use types::actor::{ActorKind, Role};
use types::field::Label;
use types::id::{ActorId, Id};
use types::json;
use types::knowledge::Origin;
use types::refusal::{Refusal, Stop};
use types::run::{StepKind, StepStatus, ToolEffect, Wait};
use types::scope::Reach;

/// The maximum bytes of an answer that a run keeps. Of a longer or too deeply nested one, it keeps the length only.
const MOST_KEPT: usize = 64 << 10;
/// The maximum characters of an argument shown to people who are asked for a call's outcome.
const MOST_SHOWN: usize = 200;
/// The maximum characters of the reason for a failed call.
const REASON: usize = 1_000;
/// The maximum number of people asked whether something has happened.
const MOST_ASKED: usize = 20;

/// A tool that is not one of the company's own operations.
pub trait Tool: 'static {
    /// Its name, which is its Cedar action.
    const NAME: &'static str;
    const DOC: &'static str;
    const EFFECT: ToolEffect;
    const IMPACT: Impact = Impact::Usual;
    /// The origin of its answers: untrusted, unless nothing in them comes from outside.
    const ANSWERS: Origin = Origin::Untrusted;
    /// What a call does, for its approvers.
    const SAYS: &'static str;
    /// Its input, for the schema and `context.input`.
    type Input: DeserializeOwned + JsonSchema + Send;
}

/// The operation that calls a tool.
pub struct Outside<T>(PhantomData<T>);

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    /// Whether the server makes it now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dispatched: bool,
    /// Where it waited for approval: what comes next.
    #[schemars(extend("x-names" = "text"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl<T: Tool> Change for Outside<T> {
    const SPEC: Spec = Spec {
        name: T::NAME,
        doc: T::DOC,
        scope: Reach::Full,
        route: Route {
            impact: T::IMPACT,
            external: Some(External { effect: T::EFFECT, answers: T::ANSWERS }),
            ..Route::LOCAL.in_run()
        },
        about: &[&RUN],
        events: &[StepDecided::KIND, StepDispatched::KIND],
    };
    const SAYS: &'static str = T::SAYS;
    type Input = T::Input;
    type Output = Begun;

    fn target(_: &T::Input, read: &Reader<'_>) -> Result<Target, Stop> {
        let own = own(read)?;
        Ok(read.run_target(&read.run(own.run.as_str())?.ok_or_else(Refusal::not_found)?))
    }

    fn run(_: Permit<Self>, _: T::Input, draft: &mut Draft<'_>) -> Result<Begun, Stop> {
        let own = own(draft.read())?;
        let run = find(own.run.as_str(), draft.read())?;
        if !draft.read().has_tool(T::NAME) {
            return Err(Refusal::conflict(format!("there is no tool `{}`", T::NAME)).into());
        }
        let call = UnderWay {
            kind: StepKind::Tool,
            step: own.step(),
            provider: String::new(),
            name: T::NAME.to_owned(),
            tokens_in: 0,
            tokens_out: 0,
            cost_cents: 0,
        };
        // An approver decides this; the server then takes the step itself.
        let waited = draft.read().step(&run.id, call.step)?.is_some_and(|step| step.status == StepStatus::Waiting);
        if !waited {
            draft.record(call.dispatched(&run))?;
            return Ok(Begun { dispatched: true, next: None });
        }
        draft.record(call.decided(&run))?;
        let next = format!("the server makes the call as the next step of {}, which shows its outcome", run.id);
        Ok(Begun { dispatched: false, next: Some(next) })
    }
}

/// The result of a call. Any text in it, even why it did nothing, may be the other side's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// It answered.
    Done(Value),
    /// It did nothing.
    Failed(String),
    /// Whether it did anything is unknown.
    Unknown(String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    pub id: String,
    /// The step at which it was called.
    pub step: u32,
    #[schemars(with = "Value", extend("x-erasable" = true))]
    pub came: Came,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// Whether people are asked what came of it.
    pub asks: bool,
}

/// Record what came of a call.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "tool.settle",
        doc: "Record the outcome of an external tool call. Called by the server itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&RUN],
        events: &[StepCompleted::KIND, StepFailed::KIND, RunWaiting::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "records the outcome of step {step} of {id}";
    type Input = Outcome;
    type Output = Settled;

    fn target(input: &Outcome, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Outcome, draft: &mut Draft<'_>) -> Result<Settled, Stop> {
        let run = find(&input.id, draft.read())?;
        let call = under_way(&run, input.step, draft.read())?;
        let (id, agent, asker) = (Id::stored(&run.id), run.agent.clone(), run.asker.clone());
        let UnderWay { kind, step, name, .. } = call;
        let cut = |why: String| why.chars().take(REASON).collect::<String>();
        let labels = if is_vouched(&name) { BTreeSet::new() } else { BTreeSet::from([Label::Untrusted]) };
        match input.came {
            Came::Done(answer) => {
                draft.record(StepCompleted {
                    id: id.clone(),
                    agent,
                    asker,
                    step,
                    kind,
                    name,
                    target: String::new(),
                    tokens_in: 0,
                    tokens_out: 0,
                    cost_cents: 0,
                    labels,
                    calls: None,
                })?;
                let kept = kept(answer);
                draft.read().count_kept(&run, kept.get("output").map_or(0, |output| output.to_string().len()));
                draft.record(ContentKept { id, part: step.to_string(), kept })?;
            }
            Came::Failed(why) => {
                draft.record(StepFailed { id: id.clone(), agent, asker, step, kind, name, reason: None, labels })?;
                why::keep(&id, step, cut(why), draft)?;
            }
            Came::Unknown(why) => {
                let (to, until) = (who_may_know(&run, draft.read())?, draft.now().plus_ms(PATIENCE));
                let call = called(&run, step, draft.read())?;
                let kept = Map::from_iter([("text".to_owned(), outcome_question(&name, &cut(why), &call).into())]);
                draft.record(ContentKept { id: id.clone(), part: format!("{step}/question"), kept })?;
                let (target, wait) = (String::new(), Wait::Outcome { to, until });
                draft.record(RunWaiting { id, agent, asker, step, kind, name, target, wait })?;
                return Ok(Settled { asks: true });
            }
        }
        Ok(Settled { asks: false })
    }
}

/// Checks whether a tool's answers are trusted: those from outside never are.
fn is_vouched(tool: &str) -> bool {
    crate::OPERATIONS.iter().any(|entry| {
        let external = entry.spec.route.external.filter(|_| entry.spec.name == tool);
        external.is_some_and(|tool| tool.answers == Origin::Trusted)
    })
}

/// Returns the question to people.
fn outcome_question(tool: &str, why: &str, call: &str) -> String {
    format!("Did {tool} take effect? It is not known: {why}. {call}Answer yes, no, or retry to call it again.")
}

/// Describes the arguments of a call in progress, so that people recognise it; empty if they are erased.
fn called(run: &Run, step: u32, read: &Reader<'_>) -> Result<String, Stop> {
    let Move::Calls(calls) = next(run, read)? else { return Ok(String::new()) };
    let input = calls.into_iter().find(|call| call.number == step).and_then(|call| call.input.ok());
    let given = |(name, value): (&String, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let cut: String = text.chars().take(MOST_SHOWN).collect();
        format!("{name} `{cut}{}`", if cut.len() < text.len() { "…" } else { "" })
    };
    let arguments: Vec<String> = input.iter().filter_map(Value::as_object).flatten().map(given).collect();
    Ok(if arguments.is_empty() { String::new() } else { format!("It was called with {}. ", arguments.join(", ")) })
}

fn kept(answer: Value) -> Map<String, Value> {
    let bytes = answer.to_string().len();
    match bytes > MOST_KEPT || json::is_deep(&answer) {
        true => Map::from_iter([("bytes".to_owned(), bytes.into())]),
        false => Map::from_iter([("output".to_owned(), answer)]),
    }
}

/// Returns the call at a step, if it was begun and its result is unknown.
fn under_way(run: &Run, step: u32, read: &Reader<'_>) -> Result<UnderWay, Stop> {
    let begun = read.step(&run.id, step)?.filter(|found| {
        !run.status.is_over() && found.kind == StepKind::Tool && found.status == StepStatus::Dispatched
    });
    let begun = begun.ok_or_else(|| Refusal::conflict(format!("{} waits for nothing at step {step}", run.id)))?;
    Ok(UnderWay::of(&begun))
}

/// Returns whom to ask whether something has happened: the person who asked for the run, or else the agent's owner, the lead of
/// its team, or the admins.
pub(super) fn who_may_know(run: &Run, read: &Reader<'_>) -> Result<Vec<ActorId>, Stop> {
    let is_there = |id: &ActorId| {
        read.card(id).is_some_and(|card| card.actor.kind == ActorKind::Person && card.actor.status == Status::Active)
    };
    let card = read.card(&run.agent);
    let owner = card.and_then(|card| card.actor.owner.clone());
    let leads =
        card.into_iter().flat_map(|card| read.teams(card)).filter_map(|team| read.card(team)?.actor.lead.clone());
    let near = run.askers.iter().cloned().chain(owner).chain(leads).find(is_there);
    if let Some(one) = near {
        return Ok(vec![one]);
    }
    let admins: Vec<ActorId> = read.people(Role::Admin).take(MOST_ASKED).cloned().collect();
    match admins.is_empty() {
        true => Err(Refusal::conflict("there is nobody to say whether it took effect").into()),
        false => Ok(admins),
    }
}

/// The tools enabled by `--dev-echo-tools`.
pub const ECHOES: [&str; 4] = [EchoRead::NAME, EchoIdempotent::NAME, EchoReconcilable::NAME, EchoOnce::NAME];

/// What is to be echoed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Echo {
    /// What it answers: at most 1024 characters.
    #[schemars(length(max = 1_024))]
    pub text: String,
    /// How long that takes: 0 to 3600; at once unless given.
    #[schemars(range(max = 3_600))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
}

macro_rules! echo {
    ($type:ident, $name:literal, $effect:ident, $doc:literal) => {
        pub enum $type {}

        impl Tool for $type {
            const NAME: &'static str = $name;
            const DOC: &'static str = $doc;
            const EFFECT: ToolEffect = ToolEffect::$effect;
            const SAYS: &'static str = "echoes {text}";
            type Input = Echo;
        }
    };
}

echo!(EchoRead, "echo.read", Read, "Return the input, as a tool that only reads. For development.");
echo!(EchoIdempotent, "echo.idempotent", Idempotent, "Return the input, as an idempotent tool. For development.");
echo!(
    EchoReconcilable,
    "echo.reconcilable",
    Reconcilable,
    "Return the input, as a tool whose effects can be looked up. For development."
);
echo!(
    EchoOnce,
    "echo.once",
    Once,
    "Return the input, as a tool that has an effect each time it is called. For development."
);
