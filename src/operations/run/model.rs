//! A model is asked. So far its answer stands in the run's plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::RUN;
use super::question::own;
use crate::gate::{Change, Draft, Permit, Reader, Route, Spec, Target};
use crate::store::content::events::ContentKept;
use crate::store::runs::events::{RunHeld, StepCompleted};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::work::StepKind;

#[derive(Deserialize, JsonSchema)]
pub struct Prompt {
    /// The model's name.
    pub model: String,
    /// What it answers.
    #[schemars(extend("x-erasable" = true))]
    pub text: String,
    #[serde(default)]
    pub input_tokens: u32,
    #[serde(default)]
    pub output_tokens: u32,
    /// What it costs.
    #[serde(default)]
    pub cost_cents: u32,
}

#[derive(Serialize, JsonSchema)]
pub struct Spoken {
    /// Whether the run's budget allowed it.
    pub answered: bool,
}

/// Ask a model.
pub enum Call {}

impl Change for Call {
    const SPEC: Spec = Spec {
        name: "model.call",
        doc: "Ask a model. Only for agents at work; a run whose budget does not allow it is held.",
        scope: Reach::Full,
        route: Route::LOCAL.in_run().as_step(StepKind::Model),
        about: &[&RUN],
        events: &[StepCompleted::KIND, ContentKept::KIND, RunHeld::KIND],
    };
    const SAYS: &'static str = "asks the model {model}[ for {cost_cents} cents]";
    type Input = Prompt;
    type Output = Spoken;

    fn target(_: &Prompt, read: &Reader<'_>) -> Result<Target, Stop> {
        let own = own(read)?;
        Ok(read.run_target(&read.run(own.run.as_str())?.ok_or_else(Refusal::not_found)?))
    }

    fn run(permit: Permit<Self>, input: Prompt, draft: &mut Draft<'_>) -> Result<Spoken, Stop> {
        let own = own(draft.read())?;
        let run = draft.read().run(own.run.as_str())?.ok_or_else(Refusal::not_found)?;
        let (id, agent, asker) = (own.run.clone(), permit.actor(), own.asker.clone());
        if run.budget_cents.is_some_and(|budget| run.cost_cents + i64::from(input.cost_cents) > budget) {
            let (budget, spent) = (run.budget_cents.unwrap_or(0), run.cost_cents);
            let reason = format!("{spent} of {budget} cents are spent, and the next step takes {}", input.cost_cents);
            draft.record(RunHeld { id, agent, asker, reason })?;
            return Ok(Spoken { answered: false });
        }
        let step = own.step();
        draft.record(StepCompleted {
            id: id.clone(),
            agent,
            asker,
            step,
            kind: StepKind::Model,
            name: input.model.clone(),
            target: id.to_string(),
            tokens_in: input.input_tokens,
            tokens_out: input.output_tokens,
            cost_cents: input.cost_cents,
        })?;
        let text = Value::from(input.text);
        for (part, field) in [(step.to_string(), "output"), ("output".to_owned(), "text")] {
            let kept = Map::from_iter([(field.to_owned(), text.clone())]);
            draft.record(ContentKept { id: id.clone(), part, kept })?;
        }
        Ok(Spoken { answered: true })
    }
}
