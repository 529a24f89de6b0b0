//! Tasks and runs, as an operation may read them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Reader;
use crate::admit::rate::{self, Rest};
use crate::decide::question;
use crate::declare::target::{Target, Thing};
use crate::write::steps;
use policy::Ruling;
use store::approvals::Approval;
use store::done::{self, MODEL_CALL, PLANNED};
use store::runs::{self, Run, Step};
use store::search::{self, Words};
use store::tasks::{self, Task, TaskRef};
use store::{Position, actors, content, inbox};
use types::actor::ActorKind;
use types::caller::Caller;
use types::definition::{AgentDefinition, AgentSpec, RunLimits};
use types::history::Done;
use types::id::{ActorId, Id};
use types::models::{Catalog, Model};
use types::refusal::Fault;
use types::time::Time;
use types::work::{RunFacts, StepStatus};

impl Reader<'_> {
    pub fn task(&self, id: &str) -> Result<Option<Task>, Fault> {
        Ok(tasks::get(self.conn()?, id)?)
    }

    /// What was not seen to by a time, and not told yet.
    pub fn late_tasks(&self, now: Time, limit: usize) -> Result<Vec<Task>, Fault> {
        Ok(tasks::late(self.conn()?, now, limit)?)
    }

    /// What closed before a time and is not archived.
    pub fn tasks_to_archive(&self, before: Time, limit: usize) -> Result<Vec<Task>, Fault> {
        Ok(tasks::to_archive(self.conn()?, before, limit)?)
    }

    /// What ended before a time and is not archived.
    pub fn runs_to_archive(&self, before: Time, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::archive::due(self.conn()?, before, limit)?)
    }

    /// What somebody has not finished.
    pub fn open_tasks_of(&self, owner: &ActorId) -> Result<Vec<Task>, Fault> {
        Ok(tasks::open_of(self.conn()?, owner)?)
    }

    pub fn task_refs(&self, task: &str) -> Result<Vec<TaskRef>, Fault> {
        Ok(tasks::refs(self.conn()?, task)?)
    }

    /// The tasks that are about something, newest first.
    pub fn tasks_about(&self, place: &str, thing: &str, limit: usize) -> Result<Vec<Task>, Fault> {
        Ok(tasks::about(self.conn()?, place, thing, limit)?)
    }

    /// The ids of tasks whose titles hold the words, those first that fit best.
    pub fn tasks_with(&self, words: &Words, limit: usize) -> Result<Vec<String>, Fault> {
        Ok(search::ids(self.conn()?, search::TASKS, words, limit)?)
    }

    /// A task as the gate sees it.
    pub fn task_target(&self, task: &Task) -> Target {
        let thing = Thing::new("Task", &task.id).actor("creator", &task.creator).maybe("owner", task.owner.as_ref());
        self.complete(thing.text("status", task.status.name()))
    }

    pub fn run(&self, id: &str) -> Result<Option<Run>, Fault> {
        Ok(runs::get(self.conn()?, id)?)
    }

    pub fn runs_of_task_after(&self, task: &str, from: &Position, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::of_task_after(self.conn()?, task, from, limit)?)
    }

    /// Runs whose waiting ends by itself by a time, after one of them.
    pub fn overdue_runs(&self, now: Time, after: Option<&Run>, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::overdue(self.conn()?, now, after, limit)?)
    }

    pub fn runs_of_task(&self, task: &str) -> Result<Vec<Run>, Fault> {
        Ok(runs::of_task(self.conn()?, task)?)
    }

    /// The parts of a run that have not ended.
    pub fn open_parts(&self, run: &str) -> Result<Vec<Run>, Fault> {
        Ok(runs::open_parts(self.conn()?, run)?)
    }

    /// The runs of an agent that have not ended, as many as `limit`.
    pub fn open_runs_of(&self, agent: &ActorId, limit: usize) -> Result<Vec<Run>, Fault> {
        Ok(runs::open_of(self.conn()?, agent, limit)?)
    }

    /// The agents that have runs which have not ended, with how many.
    pub fn open_runs_by_agent(&self) -> Result<Vec<(ActorId, u64)>, Fault> {
        Ok(runs::count_open(self.conn()?)?)
    }

    /// Runs for somebody that can go on now, of other agents than these, after one of them; those first that could before the
    /// others.
    pub fn runs_due(
        &self,
        origin: &ActorId,
        but: &[ActorId],
        after: Option<&Run>,
        limit: usize,
    ) -> Result<Vec<Run>, Fault> {
        Ok(runs::due(self.conn()?, (origin, but), self.now, (after, limit))?)
    }

    /// Those whose runs go on by themselves, now or later.
    pub fn origins_due(&self) -> Result<Vec<ActorId>, Fault> {
        Ok(runs::origins_due(self.conn()?)?)
    }

    /// Whether a run takes no step for a while, because a limit of the policies holds whoever it is for in the end, or its agent.
    pub fn rests(&self, run: &Run) -> Option<Rest> {
        rate::rests(self.world, (&run.agent, run.origin()), self.now)
    }

    /// Whether any limit holds what a run's agent does for whoever it is for in the end.
    pub fn any_limit_holds(&self, run: &Run) -> bool {
        rate::any_holds(self.world, (&run.agent, run.origin()), self.now)
    }

    /// Whether a limit of this operation holds a run's agent.
    pub fn rests_before(&self, run: &Run, operation: &str) -> Option<Rest> {
        rate::rests_before(self.world, (&run.agent, run.origin()), operation, self.now)
    }

    /// Counts steps of a run, which are about to be taken, for whoever it is for in the end.
    pub fn count_steps(&self, run: &Run, steps: u32) {
        rate::took(self.world, run.origin(), steps, self.now);
    }

    /// Counts what a run keeps of an answer that was given outside, for whoever it is for in the end.
    pub fn count_kept(&self, run: &Run, bytes: usize) {
        rate::kept(self.world, run.origin(), bytes, self.now);
    }

    /// Runs that wait for somebody to raise a budget; at most 10,000.
    pub fn runs_held_by_budgets(&self) -> Result<Vec<Run>, Fault> {
        let mut held = runs::held_by_budgets(self.conn()?)?;
        held.retain(|run| !self.is_held(run));
        Ok(held)
    }

    pub fn next_run_due(&self) -> Result<Option<Time>, Fault> {
        Ok(runs::next_due(self.conn()?, self.now)?)
    }

    /// The steps of a run, in order.
    pub fn steps(&self, run: &str) -> Result<Vec<Step>, Fault> {
        self.steps_after(run, 0)
    }

    /// Those after one.
    pub fn steps_after(&self, run: &str, since: u32) -> Result<Vec<Step>, Fault> {
        Ok(runs::steps_after(self.conn()?, run, since)?)
    }

    /// One step of a run.
    pub fn step(&self, run: &str, number: u32) -> Result<Option<Step>, Fault> {
        Ok(runs::step(self.conn()?, run, number)?)
    }

    /// How the last step of a run came out, and what it waited for.
    pub fn last_step(&self, run: &str) -> Result<Option<(StepStatus, bool)>, Fault> {
        Ok(runs::last_step(self.conn()?, run)?)
    }

    /// What was written with a task, a run or a part of one, unless it is erased.
    pub fn kept(&self, id: &str, part: &str) -> Result<Option<Map<String, Value>>, Fault> {
        Ok(content::get(self.conn()?, id, part)?)
    }

    /// The steps of a run that are under way or over and come after those that are all over.
    pub fn begun_steps(&self, run: &Run) -> Result<Vec<Step>, Fault> {
        self.steps_after(&run.id, run.steps)
    }

    /// The steps at which a run waits.
    pub fn waiting_steps(&self, run: &Run) -> Result<Vec<Step>, Fault> {
        Ok(runs::waits(self.conn()?, run)?)
    }

    /// The run that waits for this approval, and at which step.
    pub fn run_waiting_for(&self, approval: &Approval) -> Result<Option<(Run, Step)>, Fault> {
        steps::waiting_for(self.conn()?, approval)
    }

    /// Whether a kill switch stops a run.
    pub fn is_held(&self, run: &Run) -> bool {
        self.world.is_held(&run.agent, &run.askers)
    }

    /// The runs that wait for somebody's answer.
    pub fn runs_asking(&self, actor: &ActorId) -> Result<Vec<Run>, Fault> {
        let asking = inbox::questions(self.conn()?, actor)?;
        let found = asking.iter().map(|run| self.run(run)).collect::<Result<Vec<_>, Fault>>()?;
        Ok(found.into_iter().flatten().filter(|run| run.asked.contains(actor)).collect())
    }

    /// What an agent is made of; none where it was not hired by a definition.
    pub fn agent_spec(&self, agent: &ActorId) -> Result<Option<AgentSpec>, Fault> {
        Ok(self.definition_of(agent)?.map(|definition| definition.spec))
    }

    /// What an agent's definition lets it use up; none where it was not hired by one.
    pub fn agent_limits(&self, agent: &ActorId) -> Result<Option<RunLimits>, Fault> {
        Ok(self.definition_of(agent)?.and_then(|definition| definition.spec.limits))
    }

    /// What has been spent on asking models by an agent, by all in a team and below it, or, under the system's id, by everybody,
    /// with what is set aside. What plans cost is made up: it counts beside the rest for plans alone.
    pub fn spent_by(&self, payer: &ActorId, planned: bool) -> Result<Done, Fault> {
        let mut spent = Done::default();
        for operation in [MODEL_CALL].into_iter().chain(planned.then_some(PLANNED)) {
            let counts = done::get(self.conn()?, payer, operation)?.unwrap_or_default();
            spent = spent.plus_cents(&counts.at(self.now()));
        }
        Ok(spent)
    }

    /// How much of what has been spent by a payer is only set aside, for calls under way.
    pub fn set_aside_by(&self, payer: &ActorId, planned: bool) -> Result<i64, Fault> {
        let pays = |agent: &ActorId| {
            *payer == ActorId::system()
                || payer == agent
                || self.card(agent).is_some_and(|card| card.teams().contains(payer))
        };
        let under_way = runs::set_aside(self.conn()?)?.into_iter();
        Ok(under_way.filter(|(agent, plans, _)| (planned || !plans) && pays(agent)).map(|(.., cents)| cents).sum())
    }

    /// How long a run has been at work: what it waited for is not counted.
    pub fn active_ms(&self, run: &str) -> Result<i64, Fault> {
        let most = self.models().limits.longest_ms();
        Ok(runs::active_ms(self.conn()?, run, most)?)
    }

    /// What an agent asks for.
    pub fn tools_of(&self, agent: &ActorId) -> Result<ToolsOf, Fault> {
        Ok(ToolsOf(self.definition_of(agent)?.map(|definition| definition.spec.tools)))
    }

    /// The models that an agent works with, those first that its definition prefers.
    pub fn models_of(&self, agent: &ActorId) -> Result<Vec<(&str, &Model)>, Fault> {
        Ok(self.models().chosen(&self.preferred_by(agent)?))
    }

    /// Who provides models that an agent would work with, too, and cannot be asked.
    pub fn keyless_of(&self, agent: &ActorId) -> Result<BTreeSet<&str>, Fault> {
        Ok(self.models().keyless(&self.preferred_by(agent)?))
    }

    fn preferred_by(&self, agent: &ActorId) -> Result<Vec<String>, Fault> {
        let prefer = self.agent_spec(agent)?.and_then(|spec| spec.model).map(|model| model.prefer);
        Ok(prefer.unwrap_or_default())
    }

    fn definition_of(&self, agent: &ActorId) -> Result<Option<AgentDefinition>, Fault> {
        let stored = actors::definition(self.conn()?, agent)?;
        Ok(stored.map(serde_json::from_value).transpose()?)
    }

    /// The models that agents may ask.
    pub fn models(&self) -> &Catalog {
        &self.world.outside.models
    }

    /// Whether this server was given a tool from elsewhere.
    pub fn has_tool(&self, name: &str) -> bool {
        self.world.tools.contains(name)
    }

    /// What the policies could let the caller do.
    pub fn prospects(&self) -> Prospects<'_> {
        let of = |caller: &Caller| question::Asker::new(self.world, caller, &Target::Company, self.now);
        let id = self.caller.actor();
        let is_agent = self.card(&id).is_some_and(|card| card.actor.kind == ActorKind::Agent);
        let at_work = (self.caller.run.is_none() && is_agent).then(|| {
            let run = RunFacts {
                run: Id::stored(""),
                asker: id.clone(),
                askers: vec![id],
                depth: 0,
                steps: 0,
                calls: 0,
                cost_cents: 0,
                labels: BTreeSet::new(),
                planned: false,
            };
            of(&Caller { run: Some(Arc::new(run)), ..self.caller.clone() })
        });
        Prospects { now: of(self.caller), at_work }
    }

    /// A run as the gate sees it.
    pub fn run_target(&self, run: &Run) -> Target {
        let thing = Thing::new("Run", &run.id).actor("agent", &run.agent).actor("asker", &run.asker);
        let thing = thing.actors("askers", run.askers.iter().cloned()).actors("asked", run.asked.iter().cloned());
        self.complete(thing.text("status", run.status.name()))
    }

    /// A thing with what is worked out from the directory.
    fn complete(&self, thing: Thing) -> Target {
        self.world.nouns.complete(thing, self.world).into()
    }
}

/// The tools that an agent asks for. One that was hired by a definition asks for what that names: operations, and groups such
/// as `task.*`.
pub struct ToolsOf(Option<Vec<String>>);

impl ToolsOf {
    pub fn asks_for(&self, tool: &str) -> bool {
        let names =
            |asked: &String| asked == tool || asked.strip_suffix('*').is_some_and(|noun| tool.starts_with(noun));
        self.0.as_ref().is_none_or(|tools| tools.iter().any(names))
    }
}

/// What the policies could let one caller do: many operations are asked about at once.
pub struct Prospects<'a> {
    now: question::Asker<'a>,
    /// In a run of the caller's own, where it is an agent that has none now.
    at_work: Option<question::Asker<'a>>,
}

impl Prospects<'_> {
    /// Whether an operation could be allowed, if only with approval, whatever it would be about.
    pub fn could(&self, operation: &str) -> bool {
        self.now.could(operation).is_ok()
    }

    /// The same for what only runs do.
    pub fn could_at_work(&self, operation: &str) -> bool {
        self.at_work.as_ref().unwrap_or(&self.now).could(operation).is_ok()
    }

    /// The gate's answer to an operation about the company.
    pub fn ruling(&self, operation: &str) -> Ruling {
        self.now.ask(operation, &[])
    }
}
