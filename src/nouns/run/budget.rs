//! Raises a run's budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reserve::{of_run, reserve};
use super::shown::{ShownRun, shown};
use super::{RUN, find, open};
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::delegations::events::BudgetReserved;
use store::runs::Run;
use store::runs::events::RunBudgetRaised;
use types::delegation::MOST_CENTS;
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::run::{RunStatus, Wait};
use types::scope::Reach;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Raised {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
    /// The new total, in cents: more than it has spent.
    #[schemars(range(min = 0))]
    #[arg(value_name = "CENTS")]
    pub budget_cents: i64,
}

/// A higher budget, and whose agent it asks for it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Wanted {
    pub agent: ActorId,
    pub raised: Raised,
}

/// Returns what the parent run may still spend; `None` without a limit.
fn left_above(run: &Run, read: &Reader<'_>) -> Result<Option<i64>, Stop> {
    let above = run.parent.as_deref().map(|parent| read.run(parent)).transpose()?.flatten();
    Ok(above.and_then(|above| above.budget_cents.map(|budget| (budget - above.cost_cents).max(0))))
}

/// Raises a budget, and the budgets of open child runs by as much.
fn raise(run: &Run, budget_cents: i64, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let (id, agent, asker) = (Id::stored(&run.id), run.agent.clone(), run.asker.clone());
    let payer = of_run(&run.id, draft.read())?;
    draft.record(RunBudgetRaised { id: id.clone(), agent, asker, budget_cents })?;
    let more = budget_cents - run.budget_cents.unwrap_or(budget_cents);
    if let Some((delegation, _)) = payer.filter(|_| more > 0) {
        reserve(&id, delegation, more, draft)?;
    }
    for part in draft.read().open_parts(&run.id)? {
        if let Some(budget) = part.budget_cents {
            raise(&part, budget.saturating_add(more).min(MOST_CENTS), draft)?;
        }
    }
    Ok(())
}

/// Raise a run's budget.
pub enum Raise {}

impl Change for Raise {
    const SPEC: Spec = Spec {
        name: "budget.raise",
        doc: "Raise a run's budget. A run that is held because of its budget resumes.",
        scope: Reach::Full,
        route: post("/runs/{id}/budget"),
        about: &[&RUN],
        events: &[RunBudgetRaised::KIND, BudgetReserved::KIND],
    };
    const SAYS: &'static str = "raises the budget of {id} to {budget_cents} cents";
    type Input = Raised;
    type Output = ShownRun;

    fn target(input: &Raised, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Raised, draft: &mut Draft<'_>) -> Result<ShownRun, Stop> {
        let run = open(&input.id, draft.read())?;
        let least = run.budget_cents.unwrap_or(0).max(run.cost_cents);
        let above = left_above(&run, draft.read())?.unwrap_or(MOST_CENTS);
        let delegated = of_run(&run.id, draft.read())?.map_or(MOST_CENTS, |(_, left)| least.saturating_add(left));
        let most = above.min(delegated);
        if !(least..=most).contains(&input.budget_cents) {
            let why = match () {
                () if delegated < above => "; its delegation has ended, or its budget is spent",
                () if above < MOST_CENTS => "; raise its parent first",
                () => "",
            };
            return Err(Refusal::field("budget_cents", format!("must be {least} to {most}{why}")).into());
        }
        raise(&run, input.budget_cents, draft)?;
        let run = Run { budget_cents: Some(input.budget_cents), ..run };
        let goes_on = run.wait.as_ref().is_some_and(Wait::is_for_a_runs_budget);
        let run = if goes_on { Run { status: RunStatus::Running, wait: None, ..run } } else { run };
        shown(run, draft.read())
    }
}
