//! Calls a model. The call is decided and recorded here before a byte leaves; `model.settle` records the result. If the answer
//! is part of the run's plan, nothing else happens.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answers::is_answer;
use super::budget::Wanted;
use super::budgets;
use super::next::most_steps;
use super::question::own;
use super::under_way::UnderWay;
use super::why;
use super::{RUN, find};
use gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use store::content::events::ContentKept;
use store::runs::Run;
use store::runs::events::{RunHeld, StepCompleted, StepDecided, StepDispatched, StepFailed, StepUnknown};
use types::chat::{Answer, Failed};
use types::id::Id;
use types::models::whole_cents;
use types::refusal::{Refusal, Stop};
use types::run::{StepKind, StepStatus};
use types::scope::Reach;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// Who provides it; `plan` where its answer stands in the run's plan.
    pub provider: String,
    /// The model's id.
    pub model: String,
    /// What it answers, where that stands in the run's plan.
    #[schemars(extend("x-erasable" = true))]
    pub text: Option<String>,
    /// Tokens that it reads, at most.
    pub input_tokens: u32,
    /// Tokens that it writes, at most.
    pub output_tokens: u32,
    /// What it costs, at most.
    pub cost_cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Spoken {
    /// Whether the run's budget allowed it.
    pub answered: bool,
    /// Whether it is to be asked now.
    pub dispatched: bool,
    /// What is to be asked of people, so that the run, which is held, may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Wanted>,
}

/// Call a model.
pub enum Call {}

impl Change for Call {
    const SPEC: Spec = Spec {
        name: "model.call",
        doc: "Ask a model. Only for agents at work; a run whose budget does not allow it is held.",
        scope: Reach::Full,
        route: Route::LOCAL.in_run().as_step(StepKind::Model),
        about: &[&RUN],
        events: &[StepCompleted::KIND, StepDecided::KIND, StepDispatched::KIND, ContentKept::KIND, RunHeld::KIND],
    };
    const SAYS: &'static str = "asks the model {model} of {provider}[ for at most {cost_cents} cents]";
    type Input = Prompt;
    type Output = Spoken;

    fn target(_: &Prompt, read: &Reader<'_>) -> Result<Target, Stop> {
        let own = own(read)?;
        Ok(read.run_target(&read.run(own.run.as_str())?.ok_or_else(Refusal::not_found)?))
    }

    fn run(_: Permit<Self>, input: Prompt, draft: &mut Draft<'_>) -> Result<Spoken, Stop> {
        let own = own(draft.read())?;
        let run = draft.read().run(own.run.as_str())?.ok_or_else(Refusal::not_found)?;
        let id = own.run.clone();
        if let Some(held) = budgets::hold(&run, input.cost_cents, draft)? {
            return Ok(Spoken { answered: false, dispatched: false, wants: held.wants });
        }
        let Prompt { provider, model, text, input_tokens: tokens_in, output_tokens: tokens_out, cost_cents } = input;
        let under_way = UnderWay {
            kind: StepKind::Model,
            step: own.step(),
            provider,
            name: model,
            tokens_in,
            tokens_out,
            cost_cents,
        };
        if let Some(text) = text {
            let step = under_way.step;
            draft.record(under_way.completed(&run, 0))?;
            keep(&id, step, text, None, draft)?;
            return Ok(Spoken { answered: true, dispatched: false, wants: None });
        }
        // An approver decides this; the server then takes the step itself and makes the call.
        if draft.read().step(&run.id, under_way.step)?.is_some_and(|step| step.status == StepStatus::Waiting) {
            draft.record(under_way.decided(&run))?;
            return Ok(Spoken { answered: true, dispatched: false, wants: None });
        }
        draft.record(under_way.dispatched(&run))?;
        Ok(Spoken { answered: true, dispatched: true, wants: None })
    }
}

/// Keeps a model's answer and the calls that it requests. An answer without calls is the run's output.
fn keep(id: &Id, step: u32, text: String, calls: Option<Value>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let text = Value::from(text);
    let is_last = calls.as_ref().and_then(Value::as_array).is_none_or(Vec::is_empty);
    let mut kept = Map::from_iter([("output".to_owned(), text.clone())]);
    kept.extend(calls.map(|calls| ("calls".to_owned(), calls)));
    draft.record(ContentKept { id: id.clone(), part: step.to_string(), kept })?;
    if is_last {
        let kept = Map::from_iter([("text".to_owned(), text)]);
        draft.record(ContentKept { id: id.clone(), part: "output".into(), kept })?;
    }
    Ok(())
}

/// The result of a model call.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heard {
    Answer(Answer),
    Failed(Failed),
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    pub id: String,
    /// The step at which it was asked.
    pub step: u32,
    #[schemars(with = "Value", extend("x-erasable" = true))]
    pub heard: Heard,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// What it cost.
    pub cost_cents: u32,
}

/// Record what a model answered.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "model.settle",
        doc: "Record the outcome of a model call. Called by the server itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&RUN],
        events: &[StepCompleted::KIND, StepFailed::KIND, StepUnknown::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "records what a model answered at step {step} of {id}";
    type Input = Outcome;
    type Output = Settled;

    fn target(input: &Outcome, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Outcome, draft: &mut Draft<'_>) -> Result<Settled, Stop> {
        let run = find(&input.id, draft.read())?;
        let under_way = dispatched(&run, input.step, draft.read())?;
        let cost_cents = match input.heard {
            Heard::Answer(Answer { text, calls, input_tokens, output_tokens }) => {
                let cost_cents = cost(&run, &under_way, (input_tokens, output_tokens), draft.read())?;
                let (tokens_in, tokens_out) = (input_tokens, output_tokens);
                // Calls beyond the run's last step are never made; if none is left, the next move reports that.
                let left = most_steps(&run, draft.read())?.saturating_sub(input.step).max(1);
                let made = calls.len().min(left as usize);
                draft.record(UnderWay { tokens_in, tokens_out, cost_cents, ..under_way }.completed(&run, made))?;
                let calls = json!(calls);
                draft.read().count_kept(&run, text.len() + calls.to_string().len());
                keep(&Id::stored(&run.id), input.step, text, Some(calls), draft)?;
                cost_cents
            }
            Heard::Failed(Failed::Refused(reason)) => {
                draft.record(StepFailed {
                    id: Id::stored(&run.id),
                    agent: run.agent.clone(),
                    asker: run.asker.clone(),
                    step: input.step,
                    kind: StepKind::Model,
                    name: under_way.name,
                    reason: None,
                    labels: BTreeSet::new(),
                })?;
                why::keep(&Id::stored(&run.id), input.step, reason, draft)?;
                0
            }
            Heard::Failed(Failed::Unknown(reason)) => {
                let cost_cents = under_way.cost_cents;
                under_way.lose(&run, reason, draft)?;
                cost_cents
            }
            Heard::Failed(Failed::Useless { why, input_tokens, output_tokens }) => {
                let price = draft.read().models().models.get(&under_way.name).map(|model| model.price);
                let cost_cents = price.map_or(under_way.cost_cents, |price| price.cents(input_tokens, output_tokens));
                let (tokens_in, tokens_out) = (input_tokens, output_tokens);
                UnderWay { tokens_in, tokens_out, cost_cents, ..under_way }.lose(&run, why, draft)?;
                cost_cents
            }
        };
        Ok(Settled { cost_cents })
    }
}

/// Returns an answer's cost: the total of the run's answers is rounded up to whole cents, so that many small ones are not made
/// expensive by rounding each.
fn cost(run: &Run, asked: &UnderWay, tokens: (u32, u32), read: &Reader<'_>) -> Result<u32, Stop> {
    let models = &read.models().models;
    let millionths = |name: &str, (input, output)| Some(models.get(name)?.price.millionths(input, output));
    let Some(more) = millionths(&asked.name, tokens) else { return Ok(asked.cost_cents) };
    let steps = read.steps(&run.id)?;
    let answers = steps.iter().filter(|step| is_answer(step)).map(UnderWay::of);
    let before: u64 = answers.filter_map(|call| millionths(&call.name, (call.tokens_in, call.tokens_out))).sum();
    Ok(whole_cents(before + more) - whole_cents(before))
}

/// Returns the run's dispatched call, if it is at that step.
fn dispatched(run: &Run, step: u32, read: &Reader<'_>) -> Result<UnderWay, Stop> {
    let found = read
        .step(&run.id, step)?
        .filter(|found| !run.status.is_over() && run.facts().step() == step && found.status == StepStatus::Dispatched);
    let found = found.ok_or_else(|| Refusal::conflict(format!("{} is not at step {step}", run.id)))?;
    Ok(UnderWay::of(&found))
}
