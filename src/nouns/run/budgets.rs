//! The budgets for a run's model calls: of the run itself, of its agent per day, and of the agent's teams and the company per
//! month. What is reserved for calls in progress counts as spent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::budget::{Raise, Raised, Wanted};
use super::reserve::of_run;
use crate::company::Settings;
use gate::{Change as _, Draft, Reader};
use policy::Ruling;
use store::runs::Run;
use store::runs::events::RunHeld;
use types::caller::{Caller, Channel, Who};
use types::delegation::MOST_CENTS;
use types::history;
use types::id::{ActorId, Id};
use types::refusal::Stop;
use types::run::Wait;
use types::time::Time;

/// A budget that a run must keep.
pub(super) struct Budget {
    cents: i64,
    spent: i64,
    /// How [`Budget::reason`] continues after «cents»: ` of the company this month`.
    whose: String,
    /// The owner of a periodic budget: an agent, a team, or, as the system's id, the company.
    of: Option<ActorId>,
    /// When the next period starts; `None` if somebody has to raise it.
    pub until: Option<Time>,
    /// The run whose budget people are asked to raise: for a child run the topmost with one, which raises the child's too.
    payer: Option<Run>,
    /// The most that it can be raised to.
    most: i64,
}

impl Budget {
    /// Checks whether a step of this cost exceeds it.
    pub fn is_exceeded_by(&self, cost: u32) -> bool {
        self.spent.saturating_add(cost.into()) > self.cents
    }

    /// Returns the run whose budget somebody has to raise; `None` for a periodic budget.
    pub fn payer(&self) -> Option<Id> {
        let payer = self.payer.as_ref().filter(|_| self.until.is_none())?;
        Some(Id::stored(&payer.id))
    }

    /// Returns the raise to request when it is exceeded: twice the budget, and enough for the next step.
    pub fn wants(&self, cost: u32) -> Option<Wanted> {
        let Run { id, agent, budget_cents, .. } = self.payer.clone()?;
        let (has, missing) = (budget_cents?, self.spent.saturating_add(cost.into()).saturating_sub(self.cents));
        let budget_cents = has.saturating_add(missing.max(has)).min(self.most);
        (budget_cents > has).then_some(Wanted { agent, raised: Raised { id, budget_cents } })
    }

    /// Returns how much of what is spent is only reserved for calls in progress, and may be released.
    pub fn set_aside(&self, run: &Run, read: &Reader<'_>) -> Result<i64, Stop> {
        let Some(of) = &self.of else { return Ok(0) };
        // What was reserved yesterday is not part of today's spending.
        Ok(read.set_aside_by(of, run.planned)?.min(self.spent))
    }

    /// Returns the owner, if it may allow a step of this cost once reserved amounts are released.
    pub fn may_suffice(&self, cost: u32, set_aside: i64) -> Option<ActorId> {
        let fits = self.spent.saturating_sub(set_aside).saturating_add(cost.into()) <= self.cents;
        self.of.clone().filter(|_| fits)
    }

    /// Explains why it does not allow a step of this cost.
    pub fn reason(&self, cost: u32, set_aside: i64) -> String {
        let Budget { cents, whose, .. } = self;
        let spent = self.spent.saturating_sub(set_aside);
        let aside = match set_aside {
            0 => String::new(),
            more => format!(", {more} more are reserved for calls in progress"),
        };
        let over = match &self.payer {
            Some(_) if self.most < MOST_CENTS && self.wants(cost).is_none() => {
                "; the budget of its delegation is spent"
            }
            _ => "",
        };
        format!("{spent} of {cents} cents{whose} are spent{aside}, and the next step takes {cost}{over}")
    }
}

/// Returns the budgets of a run, the nearest first.
pub(super) fn of(run: &Run, read: &Reader<'_>) -> Result<Vec<Budget>, Stop> {
    let (tomorrow, next_month) = history::next(read.now());
    let whole = |cents: u64| i64::try_from(cents).unwrap_or(i64::MAX);
    let mut budgets = Vec::new();
    if let Some(cents) = run.budget_cents {
        let (payer, most) = payer(run, read)?;
        budgets.push(Budget { cents, spent: run.cost_cents, whose: String::new(), of: None, until: None, payer, most });
    }
    wholes(run, read, &mut budgets)?;
    if let Some(cents) = read.agent_limits(&run.agent)?.and_then(|limits| limits.day_cents) {
        let spent = read.spent_by(&run.agent, run.planned)?.day_cents.into();
        let whose = format!(" of {} today", run.agent);
        let of = Some(run.agent.clone());
        budgets.push(Budget { cents: whole(cents), spent, whose, of, until: Some(tomorrow), payer: None, most: 0 });
    }
    budgets.extend(teams(run, next_month, read)?);
    if let Some(cents) = Settings::stored(&read.company()?)?.budget_cents_month {
        let spent = read.spent_by(&ActorId::system(), run.planned)?.month_cents.into();
        let whose = " of the company this month".to_owned();
        let of = Some(ActorId::system());
        budgets.push(Budget { cents: whole(cents), spent, whose, of, until: Some(next_month), payer: None, most: 0 });
    }
    Ok(budgets)
}

/// A run held by a budget.
pub(super) struct Held {
    /// The raise to request from people, so that it can continue.
    pub wants: Option<Wanted>,
}

/// Holds a run if one of its budgets does not allow a step of this cost.
pub(super) fn hold(run: &Run, cost: u32, draft: &mut Draft<'_>) -> Result<Option<Held>, Stop> {
    let budgets = of(run, draft.read())?;
    let Some(budget) = budgets.iter().find(|budget| budget.is_exceeded_by(cost)) else { return Ok(None) };
    let id = Id::stored(&run.id);
    let set_aside = budget.set_aside(run, draft.read())?;
    draft.record(RunHeld {
        reason: budget.reason(cost, set_aside),
        until: budget.until,
        payer: budget.payer().filter(|payer| *payer != id),
        cost_cents: Some(cost),
        beside: budget.may_suffice(cost, set_aside),
        origin: Some(run.origin()).filter(|origin| **origin != run.asker).cloned(),
        agent: run.agent.clone(),
        asker: run.asker.clone(),
        id,
    })?;
    Ok(Some(Held { wants: budget.wants(cost) }))
}

/// Returns raises not requested yet: a server that dies between holding a run and requesting leaves that to the next one.
/// Nothing is requested again once a raise was requested and not approved, or if the policies deny it.
pub(super) fn unasked(read: &Reader<'_>) -> Result<Vec<Wanted>, Stop> {
    let mut unasked: BTreeMap<String, Wanted> = BTreeMap::new();
    for run in read.runs_held_by_budgets()? {
        let Some(Wait::Budget { cost_cents: Some(cost_cents), until: None, .. }) = run.wait else { continue };
        let exceeded = of(&run, read)?.into_iter().find(|budget| budget.is_exceeded_by(cost_cents));
        let Some(wanted) = exceeded.and_then(|budget| budget.wants(cost_cents)) else { continue };
        let (payer, cents) = (wanted.raised.id.clone(), wanted.raised.budget_cents);
        if unasked.get(&payer).is_none_or(|other| other.raised.budget_cents < cents) && may_be_asked(&wanted, read)? {
            unasked.insert(payer, wanted);
        }
    }
    Ok(unasked.into_values().collect())
}

fn may_be_asked(Wanted { agent, raised }: &Wanted, read: &Reader<'_>) -> Result<bool, Stop> {
    let Some(payer) = read.run(&raised.id)? else { return Ok(false) };
    let has = payer.budget_cents.unwrap_or_default();
    let asks_for = |input: &Value| input.get("budget_cents").and_then(Value::as_i64);
    let asked = read.requests_about(Raise::SPEC.name, &raised.id)?;
    if asked.iter().any(|request| asks_for(&request.input).is_some_and(|cents| cents > has)) {
        return Ok(false);
    }
    let caller = Caller::new(Who::Holder(agent.clone()), Channel::Run);
    let ruling = read.ruling_on(&caller, Raise::SPEC.name, &read.run_target(&payer), &json!(raised));
    Ok(!matches!(ruling, Ruling::Deny { .. }))
}

/// Returns the monthly budgets of the teams that a run's agent is in, each shared by all agents in it or below.
fn teams(run: &Run, next_month: Time, read: &Reader<'_>) -> Result<Vec<Budget>, Stop> {
    let Some(card) = read.card(&run.agent) else { return Ok(Vec::new()) };
    let mut budgets = Vec::new();
    for (team, limits) in &read.serving().limits().teams {
        if read.teams(card).contains(team) {
            let spent = read.spent_by(team, run.planned)?.month_cents.into();
            let (cents, whose) = (limits.month_cents, format!(" of {team} this month"));
            let of = Some(team.clone());
            budgets.push(Budget { cents, spent, whose, of, until: Some(next_month), payer: None, most: 0 });
        }
    }
    Ok(budgets)
}

/// Returns the run that a budget comes from, and what that can be raised to.
fn payer(run: &Run, read: &Reader<'_>) -> Result<(Option<Run>, i64), Stop> {
    let mut payer = run.clone();
    while let Some(whole) = payer.parent.as_deref().map(|id| read.run(id)).transpose()?.flatten() {
        if whole.budget_cents.is_none() {
            break;
        }
        payer = whole;
    }
    let has = payer.budget_cents.unwrap_or_default();
    let most = of_run(&payer.id, read)?.map_or(MOST_CENTS, |(_, left)| has.saturating_add(left).min(MOST_CENTS));
    Ok((Some(payer), most))
}

/// Adds the budgets of ancestor runs, which other child runs spend at the same time.
fn wholes(run: &Run, read: &Reader<'_>, budgets: &mut Vec<Budget>) -> Result<(), Stop> {
    let mut part = run.clone();
    while let Some(whole) = part.parent.as_deref().map(|id| read.run(id)).transpose()?.flatten() {
        if let Some(cents) = whole.budget_cents {
            let spent = spent_with_parts(&whole, read)?;
            let whose = format!(" of {}, of which it is a part,", whole.id);
            let (payer, most) = payer(&whole, read)?;
            budgets.push(Budget { cents, spent, whose, of: None, until: None, payer, most });
        }
        part = whole;
    }
    Ok(())
}

/// Returns what a run and its open child runs have spent, which will count as the run's once they have ended, including what
/// they have reserved.
fn spent_with_parts(run: &Run, read: &Reader<'_>) -> Result<i64, Stop> {
    let parts = read.open_parts(&run.id)?;
    let spent = parts.iter().map(|part| spent_with_parts(part, read)).sum::<Result<i64, Stop>>()?;
    Ok(run.cost_cents.saturating_add(set_aside(run, read)?).saturating_add(spent))
}

/// Returns what is reserved for a run's call in progress.
pub(super) fn set_aside(run: &Run, read: &Reader<'_>) -> Result<i64, Stop> {
    let begun = read.begun_steps(run)?.into_iter();
    Ok(begun.filter(|step| !step.status.is_over()).map(|step| step.cost_cents).sum())
}

/// Returns what a run may still spend; `None` without a limit.
pub(super) fn left(run: &Run, read: &Reader<'_>) -> Result<Option<i64>, Stop> {
    Ok(of(run, read)?.iter().map(|budget| budget.cents.saturating_sub(budget.spent)).min())
}
