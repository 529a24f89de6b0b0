//! Hires an agent from its definition, which is stored. The definition grants nothing of what it asks for; the agent's initial
//! trust is set by those who may set trust.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::joining::{Known, NewActor, joined, joining};
use super::resource::TEAM;
use crate::company::COMPANY;
use crate::definition::Written;
use crate::run::tools;
use gate::{Change, Draft, Entry, Permit, Reader, Spec, Target, post};
use policy::Ruling;
use store::actors::Actor;
use store::actors::events::{ActorAdded, ActorHired};
use store::event::Event;
use types::actor::{ActorKind, Trust};
use types::caller::Who;
use types::definition::AgentDefinition;
use types::id::ActorId;
use types::problems::Problems;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

pub const ALL: &[Entry] = &[Entry::change::<Hire>()];

/// An agent to be hired.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Hiring {
    /// Its definition, of the kind `Agent`: the text of a YAML or JSON file of at most 64 KiB, or the JSON itself.
    #[schemars(with = "Value")]
    pub definition: Written<AgentDefinition>,
}

/// A hired agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Hired {
    #[serde(flatten)]
    pub actor: Actor,
    pub definition: AgentDefinition,
    /// The trust tier that the definition asks for, if the person hiring it may not set trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_asked: Option<Trust>,
    /// Requested tools that no run can call here: the server lacks them, or they are for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_missing: Vec<String>,
    /// Preferred models and model classes that this server lacks: its runs use others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models_missing: Vec<String>,
}

/// Hire an agent.
pub enum Hire {}

impl Change for Hire {
    const SPEC: Spec = Spec {
        name: "actor.hire",
        doc: "Hire an agent by its definition.",
        scope: Reach::Full,
        route: post("/actors/hire").created(),
        about: &[&COMPANY, &TEAM],
        events: &[ActorAdded::KIND, ActorHired::KIND],
    };
    const SAYS: &'static str = "hires[ {definition.metadata.name} as] an agent from its definition";
    type Input = Hiring;
    type Output = Hired;

    /// The team that the agent joins, or the company.
    fn target(input: &Hiring, read: &Reader<'_>) -> Result<Target, Stop> {
        let team = input.definition.get("definition")?.team().and_then(|team| team.parse::<ActorId>().ok());
        Ok(joining(team.as_ref(), read))
    }

    fn run(permit: Permit<Self>, input: Hiring, draft: &mut Draft<'_>) -> Result<Hired, Stop> {
        let definition = input.definition.into_inner("definition")?;
        let known = Known::of(draft.read());
        let candidate = Candidate::new(definition, &permit.actor(), &known).map_err(Refusal::invalid)?;
        if draft.is_taken(&candidate.actor.id) {
            return Err(Refusal::conflict(format!("metadata.name: {} is taken", candidate.actor.id)).into());
        }
        let hired = candidate.hired(&known);
        hired.events()?.into_iter().try_for_each(|event| draft.record(event))?;
        Ok(hired)
    }
}

/// A validated agent, ready to be hired.
pub struct Candidate {
    pub definition: AgentDefinition,
    pub actor: Actor,
}

impl Candidate {
    /// Validates a definition, or returns everything that is wrong with it. `by` becomes the owner if it names none.
    pub fn new(definition: AgentDefinition, by: &ActorId, known: &Known<'_>) -> Result<Candidate, Vec<String>> {
        let mut problems = Problems::default();
        definition.problems(&mut problems);
        let mut id = |key: &str, text: &str| {
            let parsed = text.parse::<ActorId>();
            parsed.map_err(|bad| problems.check(false, format!("{key}: {bad}"))).ok()
        };
        let name = id("metadata.name", &definition.metadata.name);
        let team = definition.team().and_then(|team| id("metadata.labels.team", &team));
        let Some(name) = name else { return Err(problems.0) };
        let new = NewActor {
            id: name,
            kind: ActorKind::Agent,
            name: definition.metadata.title.clone(),
            role: None,
            team,
            lead: None,
            owner: Some(definition.spec.owner.clone().unwrap_or_else(|| by.clone())),
            skills: definition.spec.skills.clone(),
            trust: None,
        };
        problems.0.extend(new.problems(known).iter().map(|problem| in_definition(problem)));
        if !problems.0.is_empty() {
            return Err(problems.0);
        }
        Ok(Candidate { actor: new.actor(by, known.read), definition })
    }

    /// Returns the agent as hired: with the trust tier it requests if the caller may set that, otherwise the lowest.
    pub fn hired(self, known: &Known<'_>) -> Hired {
        let Candidate { definition, mut actor } = self;
        let tools_missing = tools::missing(&definition.spec.tools, known.read);
        let prefer = definition.spec.model.as_ref().map(|model| model.prefer.as_slice()).unwrap_or_default();
        let models_missing = known.read.models().missing(prefer);
        let mut trust_asked = definition.spec.trust.filter(|tier| *tier > actor.trust);
        if let Some(tier) = trust_asked.take_if(|tier| may_trust(&actor, *tier, known)) {
            actor.trust = tier;
        }
        Hired { actor, definition, trust_asked, tools_missing, models_missing }
    }
}

/// Checks whether the caller may set this agent's trust tier once it is hired. In a company being created nobody may.
fn may_trust(agent: &Actor, tier: Trust, known: &Known<'_>) -> bool {
    let somebody = !matches!(known.read.caller().who, Who::Server);
    somebody && ruling_of_trust(agent, tier, known).is_allowed()
}

/// Returns the gate's ruling on the caller setting this agent's trust tier, as if it were already hired.
pub(super) fn ruling_of_trust(agent: &Actor, tier: Trust, known: &Known<'_>) -> Ruling {
    let company = known.read.supposing(known.more.values().chain([agent]));
    let input = json!({ "id": agent.id, "tier": tier, "reason": "hired" });
    let read = known.read.in_past(&company);
    read.ruling_on(read.caller(), "actor.trust", &Target::Actor(agent.id.clone()), &input)
}

impl Hired {
    /// Returns the events that record the hire.
    pub fn events(&self) -> Result<[Event; 2], Stop> {
        let definition = serde_json::to_value(&self.definition)?;
        Ok([joined(&self.actor).into(), ActorHired { id: self.actor.id.clone(), definition }.into()])
    }
}

/// Renames the field in a problem of an actor to the definition's key for it.
fn in_definition(problem: &str) -> String {
    let keys = [
        ("id:", "metadata.name:"),
        ("name:", "metadata.title:"),
        ("team:", "metadata.labels.team:"),
        ("owner:", "spec.owner:"),
        ("skills:", "spec.skills:"),
    ];
    let key = keys.iter().find(|(key, _)| problem.starts_with(key));
    key.map_or_else(|| problem.to_owned(), |(from, to)| problem.replacen(from, to, 1))
}
