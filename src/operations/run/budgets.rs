//! What a run may spend on asking a model: what the run itself may, what its agent may within a day, what the company may within
//! a month. What is set aside for calls under way counts as spent.

use crate::gate::Reader;
use crate::operations::company::Settings;
use crate::store::runs::Run;
use crate::types::history;
use crate::types::refusal::Stop;
use crate::types::time::Time;

/// One budget that a run keeps to.
pub(super) struct Budget {
    cents: i64,
    spent: i64,
    /// How `told` goes on after «cents»: ` of the company this month`.
    whose: String,
    /// When there is a new one; none where somebody has to raise it.
    pub until: Option<Time>,
}

impl Budget {
    /// Whether it does not allow a step of this cost.
    pub fn is_exceeded_by(&self, cost: u32) -> bool {
        self.spent.saturating_add(cost.into()) > self.cents
    }

    /// Why it does not.
    pub fn told(&self, cost: u32) -> String {
        let Budget { cents, spent, whose, .. } = self;
        format!("{spent} of {cents} cents{whose} are spent, and the next step takes {cost}")
    }
}

/// The budgets of a run, the nearest first.
pub(super) fn of(run: &Run, read: &Reader<'_>) -> Result<Vec<Budget>, Stop> {
    let (tomorrow, next_month) = history::next(read.now());
    let whole = |cents: u64| i64::try_from(cents).unwrap_or(i64::MAX);
    let mut budgets = Vec::new();
    if let Some(cents) = run.budget_cents {
        budgets.push(Budget { cents, spent: run.cost_cents, whose: String::new(), until: None });
    }
    if let Some(cents) = read.agent_limits(&run.agent)?.and_then(|limits| limits.day_cents) {
        let (spent, whose) = (read.spent_today(&run.agent)?, format!(" of {} today", run.agent));
        budgets.push(Budget { cents: whole(cents), spent, whose, until: Some(tomorrow) });
    }
    if let Some(cents) = Settings::stored(&read.company()?)?.budget_cents_month {
        let (spent, whose) = (read.spent_this_month()?, " of the company this month".to_owned());
        budgets.push(Budget { cents: whole(cents), spent, whose, until: Some(next_month) });
    }
    Ok(budgets)
}

/// What a run may still spend; none where nothing limits it.
pub(super) fn left(run: &Run, read: &Reader<'_>) -> Result<Option<i64>, Stop> {
    Ok(of(run, read)?.iter().map(|budget| budget.cents.saturating_sub(budget.spent)).min())
}
