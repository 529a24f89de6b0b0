//! Reads runs for operations.

use serde_json::{Map, Value};

use super::Reader;
use crate::admit::chain;
use crate::admit::rate::{self, Rest};
use crate::declare::target::{Target, Thing};
use crate::write::steps;
use store::approvals::Approval;
use store::done::{self, MODEL_CALL, PLANNED};
use store::runs::{self, Run, Step};
use store::{Position, content, inbox};
use types::caller::Caller;
use types::history::Done;
use types::id::{ActorId, Id};
use types::refusal::Fault;
use types::run::StepStatus;
use types::time::Time;

impl Reader<'_> {
    /// Returns runs that ended before a time and are not archived.
    pub fn runs_to_archive(&self, before: Time, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::archive::due(self.conn()?, before, limit)?)
    }

    pub fn run(&self, id: &str) -> Result<Option<Run>, Fault> {
        Ok(runs::get(self.conn()?, id)?)
    }

    /// Returns the open runs started with these tokens, as far as the caller sees them.
    pub fn seen_runs_with(&self, tokens: &[(String, ActorId)]) -> Result<Vec<String>, Fault> {
        let mut seen = Vec::new();
        for (token, _) in tokens {
            for id in runs::begun::live_with(self.conn()?, token)? {
                let run = self.run(&id)?.filter(|run| self.sees(&self.run_target(run)));
                seen.extend(run.map(|run| run.id));
            }
        }
        Ok(seen)
    }

    pub fn runs_of_task_after(&self, task: &str, from: &Position, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::of_task_after(self.conn()?, task, from, limit)?)
    }

    /// Returns runs whose wait times out by a time, after one of them.
    pub fn overdue_runs(&self, now: Time, after: Option<&Run>, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::overdue(self.conn()?, now, after, limit)?)
    }

    pub fn runs_of_task(&self, task: &str) -> Result<Vec<Run>, Fault> {
        Ok(runs::of_task(self.conn()?, task)?)
    }

    /// Returns a run's open child runs.
    pub fn open_parts(&self, run: &str) -> Result<Vec<Run>, Fault> {
        Ok(runs::open_parts(self.conn()?, run)?)
    }

    /// Returns up to `limit` open runs of an agent.
    pub fn open_runs_of(&self, agent: &ActorId, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::open_of(self.conn()?, agent, limit)?)
    }

    /// Counts open runs by agent and those for whom they are done.
    pub fn count_open_runs(&self) -> Result<Vec<(ActorId, Vec<ActorId>, u64)>, Fault> {
        Ok(runs::count_open(self.conn()?)?)
    }

    /// Returns the runs for somebody that can proceed now, except those of some agents, after one of them; those due longest
    /// first.
    pub fn runs_due(
        &self,
        origin: &ActorId,
        but: &[ActorId],
        after: Option<&Run>,
        limit: usize,
    ) -> Result<Vec<Run>, Fault> {
        Ok(runs::due(self.conn()?, (origin, but), self.now, (after, limit))?)
    }

    /// Returns those whose runs proceed by themselves, now or later.
    pub fn origins_due(&self) -> Result<Vec<ActorId>, Fault> {
        Ok(runs::origins_due(self.conn()?)?)
    }

    /// Returns whether a run rests because of a rate limit on its origin or its agent.
    pub fn rests(&self, run: &Run) -> Option<Rest> {
        rate::rests(self.world, (&run.agent, run.origin()), self.now)
    }

    /// Checks whether any rate limit applies to what a run's agent does for its origin.
    pub fn any_limit_holds(&self, run: &Run) -> bool {
        rate::any_holds(self.world, (&run.agent, run.origin()), self.now)
    }

    /// Returns whether a rate limit on this operation applies to a run's agent.
    pub fn rests_before(&self, run: &Run, operation: &str) -> Option<Rest> {
        rate::rests_before(self.world, (&run.agent, run.origin()), operation, self.now)
    }

    /// Counts steps that a run is about to take against its origin.
    pub fn count_steps(&self, run: &Run, steps: u32) {
        rate::took(self.world, run.origin(), steps, self.now);
    }

    /// Counts the bytes that a run keeps of an external answer against its origin.
    pub fn count_kept(&self, run: &Run, bytes: usize) {
        rate::kept(self.world, run.origin(), bytes, self.now);
    }

    /// Returns runs that wait for a budget to be raised; at most 10,000.
    pub fn runs_held_by_budgets(&self) -> Result<Vec<Run>, Fault> {
        let mut held = runs::held_by_budgets(self.conn()?)?;
        held.retain(|run| !self.is_held(run));
        Ok(held)
    }

    pub fn next_run_due(&self) -> Result<Option<Time>, Fault> {
        Ok(runs::next_due(self.conn()?, self.now)?)
    }

    /// Returns a run's steps in order.
    pub fn steps(&self, run: &str) -> Result<Vec<Step>, Fault> {
        self.steps_after(run, 0)
    }

    /// Returns the steps after one.
    pub fn steps_after(&self, run: &str, since: u32) -> Result<Vec<Step>, Fault> {
        Ok(runs::steps_after(self.conn()?, run, since)?)
    }

    /// Returns one step of a run.
    pub fn step(&self, run: &str, number: u32) -> Result<Option<Step>, Fault> {
        Ok(runs::step(self.conn()?, run, number)?)
    }

    /// Returns the status of a run's last step, and whether it waited for approval.
    pub fn last_step(&self, run: &str) -> Result<Option<(StepStatus, bool)>, Fault> {
        Ok(runs::last_step(self.conn()?, run)?)
    }

    /// Returns content of a task, a run or a part of one, unless erased.
    pub fn kept(&self, id: &str, part: &str) -> Result<Option<Map<String, Value>>, Fault> {
        Ok(content::get(self.conn()?, id, part)?)
    }

    /// Returns the steps after a run's completed prefix that are in progress or over.
    pub fn begun_steps(&self, run: &Run) -> Result<Vec<Step>, Fault> {
        self.steps_after(&run.id, run.steps)
    }

    /// Returns the steps at which a run waits.
    pub fn waiting_steps(&self, run: &Run) -> Result<Vec<Step>, Fault> {
        Ok(runs::waits(self.conn()?, run)?)
    }

    /// Returns the run that waits for this approval, and at which step.
    pub fn run_waiting_for(&self, approval: &Approval) -> Result<Option<(Run, Step)>, Fault> {
        steps::waiting_for(self.conn()?, approval)
    }

    /// Checks whether a kill switch stops a run: its agent, or somebody for whom it is done.
    pub fn is_held(&self, run: &Run) -> bool {
        self.world.is_held(&run.agent, &run.askers)
    }

    /// Returns the delegation that a run was started under, if it is no longer usable.
    pub fn ended_delegation_of(&self, run: &Run) -> Result<Option<Id>, Fault> {
        let caller = self.caller_of(run)?;
        Ok(caller.under.clone().filter(|_| chain::links(self.world, &caller, self.now).is_none()))
    }

    /// Returns a run's agent as the caller of its next step.
    pub fn caller_of(&self, run: &Run) -> Result<Caller, Fault> {
        Ok(runs::begun::caller(self.conn()?, run)?)
    }

    /// Returns up to `limit` waiting runs started under a delegation.
    pub fn waiting_runs_under(&self, delegation: &str, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::begun::waiting_under(self.conn()?, delegation, limit)?)
    }

    /// Returns up to `limit` runs that wait although their delegation has ended.
    pub fn stranded_runs(&self, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::begun::stranded(self.conn()?, limit)?)
    }

    /// Returns the runs that wait for somebody's answer.
    pub fn runs_asking(&self, actor: &ActorId) -> Result<Vec<Run>, Fault> {
        let asking = inbox::questions(self.conn()?, actor)?;
        let found = asking.iter().map(|run| self.run(run)).collect::<Result<Vec<_>, Fault>>()?;
        Ok(found.into_iter().flatten().filter(|run| run.asked.contains(actor)).collect())
    }

    /// Returns the spending on model calls of an agent, of all in a team and below it, or, for the system's id, of everybody,
    /// including what is reserved. The costs of plans are made up: they count for plans only.
    pub fn spent_by(&self, payer: &ActorId, planned: bool) -> Result<Done, Fault> {
        let mut spent = Done::default();
        for operation in [MODEL_CALL].into_iter().chain(planned.then_some(PLANNED)) {
            let counts = done::get(self.conn()?, payer, operation)?.unwrap_or_default();
            spent = spent.plus_cents(&counts.at(self.now()));
        }
        Ok(spent)
    }

    /// Returns how much of a payer's spending is only reserved for calls in progress.
    pub fn set_aside_by(&self, payer: &ActorId, planned: bool) -> Result<i64, Fault> {
        let pays = |agent: &ActorId| {
            *payer == ActorId::system()
                || payer == agent
                || self.card(agent).is_some_and(|card| self.teams(card).contains(payer))
        };
        let under_way = runs::set_aside(self.conn()?)?.into_iter();
        Ok(under_way.filter(|(agent, plans, _)| (planned || !plans) && pays(agent)).map(|(.., cents)| cents).sum())
    }

    /// Returns a run's active time, without waiting.
    pub fn active_ms(&self, run: &str) -> Result<i64, Fault> {
        let most = self.models().limits.longest_ms();
        Ok(runs::active_ms(self.conn()?, run, most)?)
    }

    /// Returns a run as a target of the gate.
    pub fn run_target(&self, run: &Run) -> Target {
        let thing = Thing::new("Run", &run.id).actor("agent", &run.agent).actor("asker", &run.asker);
        let thing = thing.actors("askers", run.askers.iter().cloned()).actors("asked", run.asked.iter().cloned());
        self.complete(thing.text("status", run.status.name()))
    }
}
