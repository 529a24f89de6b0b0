//! Which runs can go on now. Fair between those who asked: who has most under way comes last.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Wanted;
use super::{RUN, budgets};
use crate::gate::{Permit, Query, Reader, Route, Spec, Target};
use crate::operations::company::COMPANY;
use crate::store::runs::Run;
use crate::types::id::ActorId;
use crate::types::refusal::Stop;
use crate::types::scope::Reach;

/// Runs of one agent, and for one asker, that are under way at once.
const MOST_OF_AGENT: usize = 16;
const MOST_FOR_ASKER: usize = 32;
/// Runs that one question looks at, a chunk at a time.
const LOOKED_AT: usize = 10_000;
const CHUNK: usize = 500;

/// What is under way, and how much more could be.
#[derive(Deserialize, JsonSchema)]
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

/// Runs that can go on.
pub enum Dispatch {}

impl Query for Dispatch {
    const SPEC: Spec = Spec {
        name: "run.dispatch",
        doc: "Give the runs that can go on now. The server asks itself.",
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
        let mut under_way = UnderWay::of(&input.busy);
        let mut runs = Vec::new();
        for skip in (0..LOOKED_AT).step_by(CHUNK) {
            let chunk = read.runs_due(skip, CHUNK)?;
            let whole = chunk.len() < CHUNK;
            let free = chunk.into_iter().filter(|run| !input.busy.iter().any(|busy| busy.run == run.id));
            let free = free.filter(|run| !read.is_held(run));
            runs.extend(under_way.choose(free.collect(), input.most.saturating_sub(runs.len())));
            if whole || runs.len() >= input.most {
                break;
            }
        }
        let wait_ms = read.next_run_due()?.map(|due| due.0.saturating_sub(permit.now().0));
        let wants = if input.begins { budgets::unasked(read)? } else { Vec::new() };
        Ok(Due { runs, wait_ms, wants })
    }
}

/// How many runs are under way, by agent and by asker.
struct UnderWay {
    agents: BTreeMap<ActorId, usize>,
    askers: BTreeMap<ActorId, usize>,
}

impl UnderWay {
    fn of(busy: &[DueRun]) -> UnderWay {
        let mut counted = UnderWay { agents: BTreeMap::new(), askers: BTreeMap::new() };
        busy.iter().for_each(|run| counted.add(&run.agent, &run.asker));
        counted
    }

    fn add(&mut self, agent: &ActorId, asker: &ActorId) {
        *self.agents.entry(agent.clone()).or_default() += 1;
        *self.askers.entry(asker.clone()).or_default() += 1;
    }

    fn fits(&self, run: &Run) -> bool {
        let below = |counted: &BTreeMap<ActorId, usize>, id, most| counted.get(id).is_none_or(|count| *count < most);
        below(&self.agents, &run.agent, MOST_OF_AGENT) && below(&self.askers, &run.asker, MOST_FOR_ASKER)
    }

    /// The first of each asker, then the second of each, and so on.
    fn choose(&mut self, due: Vec<Run>, most: usize) -> Vec<DueRun> {
        let mut turns: BTreeMap<ActorId, usize> = self.askers.clone();
        let mut in_turn: Vec<(usize, Run)> = Vec::new();
        for run in due {
            let turn = turns.entry(run.asker.clone()).or_default();
            in_turn.push((*turn, run));
            *turn += 1;
        }
        in_turn.sort_by_key(|(turn, _)| *turn);
        let mut chosen = Vec::new();
        for (_, run) in in_turn {
            if chosen.len() < most && self.fits(&run) {
                self.add(&run.agent, &run.asker);
                chosen.push(DueRun { run: run.id, agent: run.agent, asker: run.asker });
            }
        }
        chosen
    }
}
