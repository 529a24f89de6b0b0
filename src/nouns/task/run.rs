//! Starts an agent's run on a task that it owns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TASK, find, open};
use crate::definition::Written;
use crate::run::{Beginning, Begun, begin};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::content::events::ContentKept;
use store::delegations::events::BudgetReserved;
use store::runs::events::{RunStarted, RunWaiting};
use types::actor::ActorKind;
use types::plan::Plan;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The task.
    pub id: String,
    /// The agent's steps, used instead of a model: the text of a YAML or JSON file of at most 64 KiB, or the JSON
    /// itself.
    #[schemars(with = "Option<serde_json::Value>", extend("x-erasable" = true, "x-presence" = true))]
    pub plan: Option<Written<Plan>>,
    /// The run's budget, in cents: by default and at most `limits.run_cents` of the agent's definition; unlimited if
    /// that is not set.
    #[schemars(range(min = 0))]
    pub budget_cents: Option<i64>,
}

/// Start a run on a task.
pub enum Run {}

impl Change for Run {
    const SPEC: Spec = Spec {
        name: "task.run",
        doc: "Start a run of the agent that owns a task.",
        scope: Reach::Full,
        route: post("/tasks/{id}/run").accepted(),
        about: &[&TASK],
        events: &[RunStarted::KIND, RunWaiting::KIND, ContentKept::KIND, BudgetReserved::KIND],
    };
    const SAYS: &'static str = "starts the agent of {id} on it[ for at most {budget_cents} cents]";
    type Input = Work;
    type Output = Begun;

    fn target(input: &Work, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.task_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Work, draft: &mut Draft<'_>) -> Result<Begun, Stop> {
        let task = open(&input.id, draft.read())?;
        let agent = task
            .owner
            .clone()
            .filter(|owner| draft.read().card(owner).is_some_and(|card| card.actor.kind == ActorKind::Agent));
        let agent = agent.ok_or_else(|| Refusal::conflict(format!("no agent has {}; assign it to one", task.id)))?;
        if draft.read().runs_of_task(&task.id)?.iter().any(|run| !run.status.is_over()) {
            return Err(Refusal::conflict(format!("{} is already running", task.id)).into());
        }
        let text = draft.read().kept(&task.id, "goal")?;
        let goal = text.and_then(|kept| Some(kept.get("goal")?.as_str()?.to_owned()));
        let plan = input.plan.map(|plan| plan.into_inner("plan")).transpose()?;
        let new = Beginning {
            agent,
            text: goal.unwrap_or_else(|| task.title.clone()),
            plan,
            budget_cents: input.budget_cents,
            task: task.id,
        };
        begin(permit.actor(), new, draft)
    }
}
