//! A run may spend more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownRun, shown};
use super::{RUN, find, open};
use crate::gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use crate::store::runs::Run;
use crate::store::runs::events::RunBudgetRaised;
use crate::types::delegation::MOST_CENTS;
use crate::types::id::Id;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Raised {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
    /// What it may spend in all, in cents: more than it has spent.
    #[schemars(range(min = 0))]
    #[arg(value_name = "CENTS")]
    pub budget_cents: i64,
}

/// Raise a run's budget.
pub enum Raise {}

impl Change for Raise {
    const SPEC: Spec = Spec {
        name: "budget.raise",
        doc: "Let a run spend more; one that is held because of its budget goes on.",
        scope: Reach::Full,
        route: post("/runs/{id}/budget"),
        about: &[&RUN],
        events: &[RunBudgetRaised::KIND],
    };
    const SAYS: &'static str = "lets {id} spend {budget_cents} cents";
    type Input = Raised;
    type Output = ShownRun;

    fn target(input: &Raised, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Raised, draft: &mut Draft<'_>) -> Result<ShownRun, Stop> {
        let run = open(&input.id, draft.read())?;
        let least = run.budget_cents.unwrap_or(0).max(run.cost_cents);
        if !(least..=MOST_CENTS).contains(&input.budget_cents) {
            return Err(Refusal::field("budget_cents", format!("must be {least} to {MOST_CENTS}")).into());
        }
        let (id, agent, asker) = (Id::stored(&run.id), run.agent.clone(), run.asker.clone());
        draft.record(RunBudgetRaised { id, agent, asker, budget_cents: input.budget_cents })?;
        Ok(shown(Run { budget_cents: Some(input.budget_cents), ..run }, draft.read()))
    }
}
