//! Schedules runs. Fair between those who asked for the topmost run: whoever has most in progress comes last, and nobody gets
//! more than half of the slots that others leave free.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Wanted;
use super::rest::{lacks_model, rests};
use super::{RUN, budgets};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Route, Spec, Target};
use store::runs::Run;
use types::id::ActorId;
use types::refusal::Stop;
use types::scope::Reach;

/// The maximum number of concurrent runs of one agent.
const MOST_OF_AGENT: usize = 16;
/// The maximum number of runs examined per asker and request; below, read at once.
const LOOKED_AT: usize = 10_000;
const CHUNK: usize = 100;

/// What is under way, and how much more could be.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Free {
    pub busy: Vec<DueRun>,
    pub most: usize,
    /// Whether the server has only begun: then it is told what another one has left undone.
    #[serde(default)]
    pub begins: bool,
}

/// A run that can go on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DueRun {
    pub run: String,
    pub agent: ActorId,
    /// Who asked for the whole that it is a part of.
    pub asker: ActorId,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Due {
    pub runs: Vec<DueRun>,
    /// How long until another one can go on by itself.
    pub wait_ms: Option<i64>,
    /// What is still to be asked of people for runs that are held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<Wanted>,
}

/// List the runs to advance now.
pub enum Dispatch {}

impl Query for Dispatch {
    const SPEC: Spec = Spec {
        name: "run.dispatch",
        doc: "List the runs that can continue now. Called by the server itself.",
        scope: Reach::Full,
        route: Route::LOCAL.by_server(),
        about: &[&COMPANY, &RUN],
        events: &[],
    };
    type Input = Free;
    type Output = Due;

    fn target(_: &Free, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Free, read: &Reader<'_>) -> Result<Due, Stop> {
        let (mut due, mut rests) = (Vec::new(), None);
        let mut under_way = UnderWay::of(&input.busy, input.most);
        let mut modelless = Modelless::default();
        for asker in read.origins_due()? {
            let found = first_of(&asker, &input.busy, (&under_way, &mut modelless), read)?;
            rests = rests.into_iter().chain(found.rests).min();
            due.extend(found.runs);
        }
        let runs = under_way.choose(due);
        let next = read.next_run_due()?.map(|due| due.0.saturating_sub(permit.now().0));
        let wait_ms = next.into_iter().chain(rests).min();
        let wants = if input.begins { budgets::unasked(read)? } else { Vec::new() };
        Ok(Due { runs, wait_ms, wants })
    }
}

/// Runs for one asker.
#[derive(Default)]
struct Found {
    runs: Vec<Run>,
    /// Milliseconds until resting ones can proceed.
    rests: Option<i64>,
}

/// Returns the first runs of an asker that can proceed and have a slot, reading on while all are held, resting or in progress:
/// so nobody's runs are hidden behind others, however many there are.
fn first_of(
    asker: &ActorId,
    busy: &[DueRun],
    (places, modelless): (&UnderWay, &mut Modelless),
    read: &Reader<'_>,
) -> Result<Found, Stop> {
    let (mut found, mut last) = (Found::default(), None);
    if !places.has_any_for(asker) {
        return Ok(found);
    }
    let full = places.full_for(asker);
    for _ in 0..LOOKED_AT / CHUNK {
        let chunk = read.runs_due(asker, &full, last.as_ref(), CHUNK)?;
        for run in chunk.iter().filter(|run| !read.is_held(run)) {
            if modelless.holds(run, read)? {
                continue;
            }
            match rests(run, read)? {
                Some(rest) => found.rests = Some(found.rests.map_or(rest.ms, |other: i64| other.min(rest.ms))),
                None if !busy.iter().any(|busy| busy.run == run.id) => found.runs.push(run.clone()),
                None => {}
            }
        }
        if chunk.len() < CHUNK || !found.runs.is_empty() {
            break;
        }
        last = chunk.into_iter().next_back();
    }
    Ok(found)
}

/// Agents for which this server has no model: their runs are checked one by one.
#[derive(Default)]
struct Modelless(BTreeMap<ActorId, bool>);

impl Modelless {
    /// Checks whether a run rests until there is a model again.
    fn holds(&mut self, run: &Run, read: &Reader<'_>) -> Result<bool, Stop> {
        if run.planned {
            return Ok(false);
        }
        let may_lack = match self.0.get(&run.agent) {
            Some(known) => *known,
            None => read.models_of(&run.agent)?.is_empty(),
        };
        self.0.insert(run.agent.clone(), may_lack);
        Ok(may_lack && lacks_model(run, read)?.is_some())
    }
}

/// Checks whether there is a slot among `most`, with `count` taken, `own` of them by the asker: up to half of those that others
/// leave free, and at least one while any is free. So a latecomer finds free slots, however long others' runs take.
fn is_room(count: usize, own: usize, most: usize) -> bool {
    let left = most.saturating_sub(count.saturating_sub(own));
    count < most && own < (left / 2).max(1)
}

/// Runs in progress: in total, by agent, by asker, and by both.
struct UnderWay {
    count: usize,
    most: usize,
    agents: BTreeMap<ActorId, usize>,
    askers: BTreeMap<ActorId, usize>,
    pairs: BTreeMap<(ActorId, ActorId), usize>,
}

impl UnderWay {
    /// Counts these, with `more` slots beside them.
    fn of(busy: &[DueRun], more: usize) -> UnderWay {
        let (count, most) = (0, busy.len().saturating_add(more));
        let (agents, askers, pairs) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut counted = UnderWay { count, most, agents, askers, pairs };
        busy.iter().for_each(|run| counted.add(run));
        counted
    }

    fn add(&mut self, DueRun { agent, asker, .. }: &DueRun) {
        self.count += 1;
        *self.agents.entry(agent.clone()).or_default() += 1;
        *self.askers.entry(asker.clone()).or_default() += 1;
        *self.pairs.entry((agent.clone(), asker.clone())).or_default() += 1;
    }

    /// Checks whether there is a slot for another run of an asker, whichever the agent.
    fn has_any_for(&self, asker: &ActorId) -> bool {
        let own = self.askers.get(asker).copied().unwrap_or_default();
        is_room(self.count, own, self.most)
    }

    /// Checks whether an agent has a slot for another run of an asker.
    fn has_for(&self, agent: &ActorId, asker: &ActorId) -> bool {
        let own = self.pairs.get(&(agent.clone(), asker.clone())).copied().unwrap_or_default();
        is_room(self.agents.get(agent).copied().unwrap_or_default(), own, MOST_OF_AGENT)
    }

    /// Returns the agents without such a slot.
    fn full_for(&self, asker: &ActorId) -> Vec<ActorId> {
        self.agents.keys().filter(|agent| !self.has_for(agent, asker)).cloned().collect()
    }

    /// Chooses round-robin: the first run of each asker, then the second of each, and so on.
    fn choose(&mut self, due: Vec<Run>) -> Vec<DueRun> {
        let mut turns: BTreeMap<ActorId, usize> = self.askers.clone();
        let mut in_turn: Vec<(usize, Run)> = Vec::new();
        for run in due {
            let turn = turns.entry(run.origin().clone()).or_default();
            in_turn.push((*turn, run));
            *turn += 1;
        }
        in_turn.sort_by_key(|(turn, run)| (*turn, run.due_at));
        let mut chosen = Vec::new();
        for (_, run) in in_turn {
            let due = DueRun { asker: run.origin().clone(), run: run.id, agent: run.agent };
            if self.has_any_for(&due.asker) && self.has_for(&due.agent, &due.asker) {
                self.add(&due);
                chosen.push(due);
            }
        }
        chosen
    }
}
