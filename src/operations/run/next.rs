//! What a run does next. It follows from its plan and from what has happened, and from nothing else: so after a restart it is
//! the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model;
use super::prompt::asking;
use super::think::{Thought, think};
use super::under_way::UnderWay;
use super::{OneRun, RUN, find};
use crate::gate::{Permit, Query, Reader, Route, Spec, Target};
use crate::store::actors::Status;
use crate::store::runs::Run;
use crate::types::actor::KillScope;
use crate::types::chat::Prompt;
use crate::types::id::ActorId;
use crate::types::plan::{self, Expected, Plan};
use crate::types::refusal::Stop;
use crate::types::scope::Reach;
use crate::types::time::Time;
use crate::types::work::{Failure, LONGEST_ACTIVE, MOST_DENIALS, MOST_STEPS, RunFacts, StepKind, StepStatus, Wait};

/// What is to be done with a run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Its agent performs an operation.
    Call { operation: String, input: Value, agent: ActorId, facts: RunFacts },
    /// Its agent asks a model, if the gate lets it.
    Think { call: model::Prompt, prompt: Prompt, agent: ActorId, facts: RunFacts },
    /// A model is asked, as was decided before: the step is dispatched, then it is asked.
    Send { step: u32, prompt: Prompt },
    /// Its step is recorded, or its end: the server does that itself. Whoever is at a step that is under way need not.
    Settle { step: u32, under_way: bool },
    /// It waits, is held, or has ended.
    Nothing,
}

/// What the server itself records of a run.
pub(super) enum Own {
    Say(String),
    Pause(Time),
    /// The time that it waited for has come.
    Awake,
    /// A model is about to be asked, as was decided before.
    Dispatch(UnderWay),
    /// What came of asking a model is not known.
    Lost(UnderWay, String),
    Unable {
        kind: StepKind,
        operation: String,
        reason: String,
    },
    /// There may be a new budget.
    Resume,
    Complete,
    Fail(Failure, String),
}

/// One thing to do.
pub(super) enum Move {
    Call(String, Value),
    Think(Thought),
    Own(Own),
    Nothing,
}

/// What a run does next.
pub enum Step {}

impl Query for Step {
    const SPEC: Spec = Spec {
        name: "run.next",
        doc: "Tell what a run does next. The server asks itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&RUN],
        events: &[],
    };
    type Input = OneRun;
    type Output = Next;

    fn target(input: &OneRun, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneRun, read: &Reader<'_>) -> Result<Next, Stop> {
        let run = find(&input.id, read)?;
        let facts = run.facts();
        Ok(match next(&run, read)? {
            Move::Call(operation, input) => Next::Call { operation, input, agent: run.agent, facts },
            Move::Think(thought) => match asking(&run, &thought, read)? {
                Ok((_, prompt)) if thought.decided.is_some() => Next::Send { step: facts.step(), prompt },
                Ok((call, prompt)) => Next::Think { call, prompt, agent: run.agent, facts },
                Err(_) => Next::Settle { step: facts.step(), under_way: false },
            },
            Move::Own(own) => Next::Settle { step: facts.step(), under_way: matches!(own, Own::Lost(..)) },
            Move::Nothing => Next::Nothing,
        })
    }
}

/// What a run does next, as of the reader's time.
pub(super) fn next(run: &Run, read: &Reader<'_>) -> Result<Move, Stop> {
    next_by(run, read.now(), read)
}

/// What a run does next when that time has come.
pub(super) fn next_by(run: &Run, now: Time, read: &Reader<'_>) -> Result<Move, Stop> {
    if run.status.is_over() || read.is_held(run) {
        return Ok(Move::Nothing);
    }
    let fail = |failure, why: String| Ok(Move::Own(Own::Fail(failure, why)));
    if !read.card(&run.agent).is_some_and(|card| card.actor.status == Status::Active) {
        return fail(Failure::Offboarded, format!("{} has left", run.agent));
    }
    if let Some(wait) = &run.wait {
        return Ok(waited(run, wait, now));
    }
    if run.denials >= MOST_DENIALS {
        return fail(Failure::Denied, format!("it was refused the same thing {MOST_DENIALS} times in a row"));
    }
    let most = read.agent_limits(&run.agent)?.and_then(|limits| limits.steps).unwrap_or(MOST_STEPS).min(MOST_STEPS);
    if run.steps > most {
        return fail(Failure::Steps, format!("it took more than {most} steps"));
    }
    let kept = read.kept(&run.id, "asked")?.and_then(|mut kept| kept.remove("plan"));
    let Some(plan) = kept.and_then(|plan| serde_json::from_value::<Option<Plan>>(plan).ok()) else {
        return fail(Failure::Failed, "its plan was erased".into());
    };
    let Some(plan) = plan else {
        return match think(run, read)? {
            Move::Own(own) => Ok(Move::Own(own)),
            _ if run.steps >= most => fail(Failure::Steps, format!("it took {most} steps, as many as it may")),
            Move::Think(_) if took_too_long(run, read)? => {
                fail(Failure::TimedOut, "it was at work for too long".into())
            }
            step => Ok(step),
        };
    };
    if let Some(why) = unexpected(run, &plan, read)? {
        return fail(Failure::Failed, why);
    }
    match plan.steps.get(run.steps as usize) {
        Some(_) if run.steps >= most => fail(Failure::Steps, format!("it took {most} steps, as many as it may")),
        Some(step) => planned(run, step, read),
        None => Ok(Move::Own(Own::Complete)),
    }
}

/// Whether a run has been at work for as long as it may. Only models take time.
fn took_too_long(run: &Run, read: &Reader<'_>) -> Result<bool, Stop> {
    let most = read.agent_limits(&run.agent)?.and_then(|limits| limits.wall_ms()).unwrap_or(LONGEST_ACTIVE);
    Ok(read.active_ms(&run.id)? >= most)
}

/// A run that waits goes on by itself only when its time has come.
fn waited(run: &Run, wait: &Wait, now: Time) -> Move {
    match (wait, run.due_at) {
        (Wait::Time { until }, _) if *until <= now => Move::Own(Own::Awake),
        (Wait::Budget, Some(due)) if due <= now => Move::Own(Own::Resume),
        (Wait::Question { .. }, Some(due)) if due <= now => {
            Move::Own(Own::Fail(Failure::TimedOut, "nobody answered in time".into()))
        }
        _ => Move::Nothing,
    }
}

fn planned(run: &Run, step: &plan::Step, read: &Reader<'_>) -> Result<Move, Stop> {
    let call = |operation: &str, input: Value| Move::Call(operation.to_owned(), input);
    Ok(match step {
        plan::Step::Say(text) => Move::Own(Own::Say(text.clone())),
        plan::Step::Fail(reason) => Move::Own(Own::Fail(Failure::Failed, reason.clone())),
        plan::Step::Wait(pause) => Move::Own(Own::Pause(read.now().plus_ms(i64::from(pause.seconds) * 1000))),
        plan::Step::Ask(question) => call("run.ask", json!({ "text": question.text, "to": question.to })),
        plan::Step::Delegate(part) => {
            call("agent.ask", json!({ "agent": part.agent, "text": part.text, "plan": part.plan }))
        }
        plan::Step::Model(said) => call(
            "model.call",
            json!({
                "provider": "plan", "model": said.model, "text": said.text, "input_tokens": said.input_tokens,
                "output_tokens": said.output_tokens, "cost_cents": said.cost_cents,
            }),
        ),
        plan::Step::Call(one) if !read.asks_for(&run.agent, &one.tool)? => {
            let reason = format!("the definition of {} does not ask for {}", run.agent, one.tool);
            Move::Own(Own::Unable { kind: StepKind::Tool, operation: one.tool.clone(), reason })
        }
        plan::Step::Call(one) if read.kill(&KillScope::Tool(one.tool.clone())).is_some() => {
            let reason = "a kill switch stops this tool".into();
            Move::Own(Own::Unable { kind: StepKind::Tool, operation: one.tool.clone(), reason })
        }
        plan::Step::Call(one) => Move::Call(one.tool.clone(), Value::Object(one.with.clone())),
    })
}

/// Why the gate's answer to the last step is another than the plan expects, if it is.
fn unexpected(run: &Run, plan: &Plan, read: &Reader<'_>) -> Result<Option<String>, Stop> {
    let before = (run.steps as usize).checked_sub(1).and_then(|index| plan.steps.get(index));
    let Some(plan::Step::Call(plan::Call { tool, expect: Some(expected), .. })) = before else { return Ok(None) };
    let said = match read.last_step(&run.id)? {
        Some((StepStatus::Denied, false)) => Expected::Deny,
        Some((_, true)) => Expected::NeedsApproval,
        _ => Expected::Allow,
    };
    let name = |expected| match expected {
        Expected::Allow => "allow",
        Expected::NeedsApproval => "needs_approval",
        Expected::Deny => "deny",
    };
    let unlike = said != *expected;
    Ok(unlike.then(|| {
        format!("step {} ({tool}): the plan expects {}, the gate said {}", run.steps, name(*expected), name(said))
    }))
}
