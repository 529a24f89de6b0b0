//! Asks an agent for something: creates a task, and a run that works on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::begin::{Beginning, Begun, begin};
use crate::actor::resource::ACTOR;
use crate::company::COMPANY;
use crate::definition::Written;
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, get, post};
use policy::Ruling;
use store::actors::{self, Status};
use store::content::events::ContentKept;
use store::delegations::events::BudgetReserved;
use store::runs::events::{RunStarted, RunWaiting};
use store::tasks::events::TaskCreated;
use types::actor::{ActorKind, Trust};
use types::id::{ActorId, Kind};
use types::page::{Page, PageQuery};
use types::plan::Plan;
use types::refusal::{Refusal, Stop};
use types::run::StepKind;
use types::scope::Reach;
use types::task::Priority;

/// What is asked of an agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Wish {
    /// The agent.
    pub agent: ActorId,
    /// The question or request: 1 byte to 64 KiB. It can be erased.
    #[schemars(length(max = 65_536), extend("x-erasable" = true))]
    pub text: String,
    /// The agent's steps, used instead of a model: the text of a YAML or JSON file of at most 64 KiB, or the JSON
    /// itself. `GET /schemas` has its schema.
    #[schemars(with = "Option<Value>", extend("x-erasable" = true, "x-presence" = true))]
    pub plan: Option<Written<Plan>>,
    /// The run's budget, in cents: by default and at most `limits.run_cents` of the agent's definition; unlimited if
    /// that is not set.
    #[schemars(range(min = 0))]
    pub budget_cents: Option<i64>,
}

/// Ask an agent.
pub enum Ask {}

impl Change for Ask {
    const SPEC: Spec = Spec {
        name: "agent.ask",
        doc: "Ask an agent to do something: creates a task and starts a run. Asked by a run, the new run is a part of \
              it.",
        scope: Reach::Full,
        route: post("/ask").accepted().as_step(StepKind::Delegate),
        about: &[&ACTOR],
        events: &[TaskCreated::KIND, RunStarted::KIND, RunWaiting::KIND, ContentKept::KIND, BudgetReserved::KIND],
    };
    const SAYS: &'static str = "starts a run of {agent}[ for at most {budget_cents} cents]";
    type Input = Wish;
    type Output = Begun;

    fn target(input: &Wish, read: &Reader<'_>) -> Result<Target, Stop> {
        if input.agent.is_team() {
            return Err(Refusal::field("agent", format!("must be an agent; `{}` is a team", input.agent)).into());
        }
        read.known(&input.agent)?;
        Ok(Target::Actor(input.agent.clone()))
    }

    fn run(permit: Permit<Self>, input: Wish, draft: &mut Draft<'_>) -> Result<Begun, Stop> {
        let Wish { agent, text, plan, budget_cents } = input;
        let plan = plan.map(|plan| plan.into_inner("plan")).transpose()?;
        // A child run belongs to its parent's task.
        let above = draft.read().caller().run.clone();
        let above = above.map(|above| draft.read().run(above.run.as_str())).transpose()?.flatten();
        let task = above.map_or_else(|| draft.new_id(Kind::Task).to_string(), |above| above.task);
        let creator = permit.actor();
        let new = Beginning { agent: agent.clone(), task: task.clone(), text, plan, budget_cents };
        if draft.read().caller().run.is_none() {
            draft.record(TaskCreated {
                id: types::id::Id::stored(&task),
                title: String::new(),
                creator: creator.clone(),
                owner: Some(agent),
                priority: Priority::Normal,
                due_at: None,
                parent: None,
                deadlines: None,
            })?;
        }
        begin(creator, new, draft)
    }
}

/// An agent that the caller may ask.
#[derive(Serialize, JsonSchema)]
pub struct Askable {
    pub id: ActorId,
    #[schemars(extend("x-names" = "text"))]
    pub name: String,
    pub team: Option<ActorId>,
    pub owner: Option<ActorId>,
    pub skills: Vec<String>,
    pub trust: Trust,
    /// Whether asking waits for approval.
    pub needs_approval: bool,
}

/// List the agents that the caller may ask.
pub enum Agents {}

impl Query for Agents {
    const SPEC: Spec = Spec {
        name: "me.agents",
        doc: "List the agents that the caller may ask, also those that need approval, newest first.",
        scope: Reach::READ,
        route: get("/me/agents").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = PageQuery;
    type Output = Page<Askable>;

    fn target(_: &PageQuery, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: PageQuery, read: &Reader<'_>) -> Result<Page<Askable>, Stop> {
        let ruling = |actor: &actors::Actor| read.ruling(read.caller(), "agent.ask", &Target::Actor(actor.id.clone()));
        let shown = |actor: &actors::Actor| {
            actor.kind == ActorKind::Agent
                && actor.status == Status::Active
                && !matches!(ruling(actor), Ruling::Deny { .. })
                && read.may("actor.read", &Target::Actor(actor.id.clone()))
        };
        let what = "me.agents".to_owned();
        let page = read.page(&input, what, |from, limit| read.actors_after(from, limit), shown, actors::position)?;
        let askable = |actor: actors::Actor| Askable {
            needs_approval: !ruling(&actor).is_allowed(),
            id: actor.id,
            name: actor.name,
            team: actor.team,
            owner: actor.owner,
            skills: actor.skills,
            trust: actor.trust,
        };
        Ok(Page { rows: page.rows.into_iter().map(askable).collect(), next: page.next })
    }

    fn next(output: &Page<Askable>) -> Option<String> {
        output.next.clone()
    }
}
