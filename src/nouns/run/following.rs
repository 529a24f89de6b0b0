//! Tells the server what a run does next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model;
use super::moves::{Move, Own, Stage, Todo};
use super::next::next;
use super::prompt::asking;
use super::rest::rests;
use super::{OneRun, RUN, find};
use gate::{Permit, Query, Reader, Route, Spec, Target};
use store::runs::Run;
use types::chat::Prompt;
use types::id::ActorId;
use types::refusal::Stop;
use types::run::RunFacts;
use types::scope::Reach;

/// What is to be done with a run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Its agent performs operations, side by side.
    Calls { calls: Vec<OneCall>, agent: ActorId },
    /// Its agent asks a model, if the gate lets it.
    Think { call: Box<model::Prompt>, prompt: Box<Prompt>, agent: ActorId, facts: RunFacts },
    /// A model is asked, as was decided before: the step is dispatched, then it is asked.
    Send { step: u32, prompt: Prompt },
    /// Its step is recorded, or its end: the server does that itself. Whoever is at a step that is under way need not.
    Settle { step: u32, under_way: bool },
    /// It waits, is held, or has ended; or whoever asked for it has had as many steps as they may for now.
    Nothing,
}

/// An operation that a run's agent performs.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct OneCall {
    pub operation: String,
    /// None where it cannot be performed: that is recorded.
    pub input: Option<Value>,
    pub facts: RunFacts,
    pub stage: Stage,
}

/// Show what a run does next.
pub enum Following {}

impl Query for Following {
    const SPEC: Spec = Spec {
        name: "run.next",
        doc: "Answer what a run does next. Called by the server itself.",
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
        if rests(&run, read)?.is_some() {
            return Ok(Next::Nothing);
        }
        let facts = run.facts();
        let next = next(&run, read)?;
        read.count_steps(&run, next.steps());
        Ok(match next {
            Move::Calls(todo) => Next::Calls { calls: calls(&run, todo, read)?, agent: run.agent },
            Move::Think(thought) => match asking(&run, &thought, read)? {
                Ok((_, prompt)) if thought.decided.is_some() => Next::Send { step: facts.step(), prompt },
                Ok((call, prompt)) => {
                    let (call, prompt) = (Box::new(call), Box::new(prompt));
                    Next::Think { call, prompt, agent: run.agent, facts }
                }
                Err(_) => Next::Settle { step: facts.step(), under_way: false },
            },
            Move::Own(own) => Next::Settle { step: facts.step(), under_way: matches!(own, Own::Lost(..)) },
            Move::NoModel | Move::Nothing => Next::Nothing,
        })
    }
}

/// Builds the calls of these steps. Each counts the steps before it in order, whichever ends first.
fn calls(run: &Run, todo: Vec<Todo>, read: &Reader<'_>) -> Result<Vec<OneCall>, Stop> {
    let over = match run.under_way() {
        Some(answer) => {
            let begun = read.begun_steps(run)?;
            let later = begun.iter().filter(|step| step.status.is_over()).count();
            (run.steps - answer).saturating_add(u32::try_from(later).unwrap_or(u32::MAX))
        }
        None => 0,
    };
    let first = run.under_way().unwrap_or(run.steps);
    let call = |Todo { number, operation, input, stage }: Todo| {
        let steps = number.saturating_sub(1);
        let calls = run.calls.saturating_sub(over).saturating_add(steps.saturating_sub(first));
        OneCall { operation, input: input.ok(), stage, facts: RunFacts { steps, calls, ..run.facts() } }
    };
    Ok(todo.into_iter().map(call).collect())
}
