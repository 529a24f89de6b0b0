//! Reads the definitions of agents, and the tools and models that they may use.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Reader;
use crate::decide::question;
use crate::declare::target::Target;
use policy::Ruling;
use store::actors;
use types::actor::ActorKind;
use types::caller::Caller;
use types::definition::{AgentDefinition, AgentSpec, RunLimits};
use types::id::{ActorId, Id};
use types::models::{Catalog, Model};
use types::refusal::Fault;
use types::run::RunFacts;

impl Reader<'_> {
    /// Returns the spec of an agent's definition; `None` if it was not hired from one.
    pub fn agent_spec(&self, agent: &ActorId) -> Result<Option<AgentSpec>, Fault> {
        Ok(self.definition_of(agent)?.map(|definition| definition.spec))
    }

    /// Returns the run limits of an agent's definition; `None` if it was not hired from one.
    pub fn agent_limits(&self, agent: &ActorId) -> Result<Option<RunLimits>, Fault> {
        Ok(self.definition_of(agent)?.and_then(|definition| definition.spec.limits))
    }

    /// Returns the tools that an agent requests.
    pub fn tools_of(&self, agent: &ActorId) -> Result<ToolsOf, Fault> {
        Ok(ToolsOf(self.definition_of(agent)?.map(|definition| definition.spec.tools)))
    }

    /// Returns the models available to an agent, those that its definition prefers first.
    pub fn models_of(&self, agent: &ActorId) -> Result<Vec<(&str, &Model)>, Fault> {
        Ok(self.models().chosen(&self.preferred_by(agent)?))
    }

    /// Returns the providers of further models for this agent that lack an API key.
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

    /// Returns the model catalog.
    pub fn models(&self) -> &Catalog {
        &self.world.outside.models
    }

    /// Checks whether this server has an external tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.world.tools.contains(name)
    }

    /// Returns what the policies could allow the caller.
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
                token_id: None,
                under: None,
            };
            of(&Caller { run: Some(Arc::new(run)), ..self.caller.clone() })
        });
        Prospects { now: of(self.caller), at_work }
    }
}

/// The tools that an agent requests. An agent hired from a definition requests what that names: operations, and groups such as
/// `task.*`.
pub struct ToolsOf(Option<Vec<String>>);

impl ToolsOf {
    pub fn asks_for(&self, tool: &str) -> bool {
        let names =
            |asked: &String| asked == tool || asked.strip_suffix('*').is_some_and(|noun| tool.starts_with(noun));
        self.0.as_ref().is_none_or(|tools| tools.iter().any(names))
    }
}

/// What the policies could allow one caller, for asking about many operations at once.
pub struct Prospects<'a> {
    now: question::Asker<'a>,
    /// As if in a run of the caller's own, for an agent that is not in one.
    at_work: Option<question::Asker<'a>>,
}

impl Prospects<'_> {
    /// Checks whether an operation could be allowed on any target, if only with approval.
    pub fn could(&self, operation: &str) -> bool {
        self.now.could(operation).is_ok()
    }

    /// Same as [`Prospects::could`], for operations that only runs perform.
    pub fn could_at_work(&self, operation: &str) -> bool {
        self.at_work.as_ref().unwrap_or(&self.now).could(operation).is_ok()
    }

    /// Returns the gate's ruling on an operation whose target is the company.
    pub fn ruling(&self, operation: &str) -> Ruling {
        self.now.ask(operation, &[])
    }
}
