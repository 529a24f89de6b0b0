//! Plans an installation: what it creates, what exists already, what it still needs; or every problem that it has, and then
//! nothing is installed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::files::onto;
use super::source::Source;
use crate::actor::hire::Candidate;
use crate::actor::joining::{Known, NewActor, joined};
use crate::change::compiled;
use crate::company::Settings;
use policy::Bundle;
use store::actors::{Actor, Status};
use store::company::events::CompanyUpdated;
use store::event::Event;
use types::actor::{ActorKind, Role};
use types::blueprint::{Blueprint, NeededRole, NewTeam};
use types::id::ActorId;
use types::problems::Problems;
use types::refusal::{Refusal, Stop};

/// The maximum number of teams, agents or required roles in a blueprint.
const MOST: usize = 100;

/// What will be recorded and reported.
pub struct Plan {
    pub events: Vec<Event>,
    pub created: Vec<String>,
    pub skipped: Vec<String>,
    pub needs: Vec<String>,
    /// The resulting policies and the files that differ, unless they equal those in force.
    pub bundle: Option<(Bundle, Vec<String>)>,
}

/// Plans the installation. `admin` performs it, and may be joining only now.
pub fn plan(
    source: &Source,
    values: &BTreeMap<String, String>,
    admin: &ActorId,
    known: Known<'_>,
) -> Result<Plan, Stop> {
    let blueprint = source.filled(values, admin, &known).map_err(Refusal::invalid)?;
    let mut making = Making::new(admin, known);
    making.whole(&blueprint);
    making.settings(&blueprint)?;
    blueprint.spec.teams.iter().for_each(|team| making.team(team));
    for agent in &blueprint.spec.agents {
        making.agent(agent.clone())?;
    }
    blueprint.spec.roles.iter().for_each(|role| making.role(role));
    making.policies(source)?;
    if making.problems.0.is_empty() { Ok(making.plan) } else { Err(Refusal::invalid(making.problems.0).into()) }
}

struct Making<'a> {
    admin: &'a ActorId,
    known: Known<'a>,
    problems: Problems,
    plan: Plan,
}

impl<'a> Making<'a> {
    fn new(admin: &'a ActorId, known: Known<'a>) -> Making<'a> {
        let (events, created, skipped, needs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let plan = Plan { events, created, skipped, needs, bundle: None };
        Making { admin, known, problems: Problems::default(), plan }
    }

    fn whole(&mut self, blueprint: &Blueprint) {
        blueprint.metadata.problems(&mut self.problems);
        let name = blueprint.metadata.name.parse::<ActorId>().is_ok_and(|id| !id.is_team());
        self.problems.check(name, "metadata.name: use a-z, 0-9, `.`, `_`, `-`, beginning with a letter or digit");
        let spec = &blueprint.spec;
        let few =
            [spec.ask.len(), spec.teams.len(), spec.agents.len(), spec.roles.len()].iter().all(|many| *many <= MOST);
        self.problems.check(few, format!("spec: at most {MOST} of ask, teams, agents and roles each"));
    }

    /// Plans settings that still have their default.
    fn settings(&mut self, blueprint: &Blueprint) -> Result<(), Stop> {
        let company = self.known.read.company()?;
        let now = Settings::stored(&company)?;
        let (mut fields, usual) = (serde_json::to_value(&now)?, serde_json::to_value(Settings::default())?);
        let mut set = Vec::new();
        for (name, value) in &blueprint.spec.settings {
            match (fields.get_mut(name), usual.get(name)) {
                (Some(field), Some(_)) if field == value => self.plan.skipped.push(format!("setting {name}")),
                (Some(field), Some(usual)) if field == usual => {
                    *field = value.clone();
                    set.push(format!("setting {name}"));
                }
                (Some(_), Some(_)) => self.plan.skipped.push(format!("setting {name}")),
                _ => self.problems.check(false, format!("spec.settings.{name}: there is no such setting")),
            }
        }
        if set.is_empty() {
            return Ok(());
        }
        match serde_json::from_value::<Settings>(fields) {
            Err(error) => self.problems.check(false, format!("spec.settings: {error}")),
            Ok(settings) => {
                let problems = settings.problems();
                self.problems.0.extend(problems.iter().map(|problem| format!("spec.settings.{problem}")));
                let settings: Value = serde_json::to_value(&settings)?;
                self.plan.events.push(CompanyUpdated { version: company.version + 1, settings }.into());
                self.plan.created.append(&mut set);
            }
        }
        Ok(())
    }

    fn team(&mut self, team: &NewTeam) {
        if self.exists(&team.id, ActorKind::Team) {
            return;
        }
        let NewTeam { id, name, lead, team } = team.clone();
        let (kind, lead, team) = (ActorKind::Team, lead, team);
        let new = NewActor { id, kind, name, role: None, team, lead, owner: None, skills: Vec::new(), trust: None };
        let problems = new.problems(&self.known);
        if problems.is_empty() {
            let actor = new.actor(self.admin, self.known.read);
            self.joins(actor.clone(), vec![joined(&actor).into()]);
        } else {
            self.problems.0.extend(problems.iter().map(|problem| format!("spec.teams.{}: {problem}", new.id)));
        }
    }

    fn agent(&mut self, definition: types::definition::AgentDefinition) -> Result<(), Stop> {
        let name = definition.metadata.name.clone();
        if name.parse().is_ok_and(|id: ActorId| self.exists(&id, ActorKind::Agent)) {
            return Ok(());
        }
        match Candidate::new(definition, self.admin, &self.known) {
            Err(problems) => {
                self.problems.0.extend(problems.iter().map(|problem| format!("spec.agents.{name}: {problem}")));
            }
            Ok(candidate) => {
                let hired = candidate.hired(&self.known);
                if let Some(tier) = hired.trust_asked {
                    self.plan.needs.push(format!(
                        "{name} asks to be trusted as `{tier}`: somebody other than its owner may say `ok actor trust {name} {tier}`"
                    ));
                }
                for tool in &hired.tools_missing {
                    self.plan.needs.push(format!("{name} asks for the tool `{tool}`, which no run can call here"));
                }
                for model in &hired.models_missing {
                    self.plan
                        .needs
                        .push(format!("{name} prefers the model `{model}`, which this server does not have"));
                }
                let events = hired.events()?.into();
                self.joins(hired.actor, events);
            }
        }
        Ok(())
    }

    /// Checks whether the id is taken; a problem if by an actor of another kind.
    fn exists(&mut self, id: &ActorId, kind: ActorKind) -> bool {
        let Some(actor) = self.known.get(id) else { return false };
        let twice = self.known.more.contains_key(id) && id != self.admin;
        if twice || actor.kind != kind {
            let what = if twice { "appears twice" } else { "is taken by somebody else" };
            self.problems.check(false, format!("spec: {id} {what}"));
        } else {
            self.plan.skipped.push(named(kind, id));
        }
        true
    }

    fn joins(&mut self, actor: Actor, events: Vec<Event>) {
        self.plan.created.push(named(actor.kind, &actor.id));
        self.plan.events.extend(events);
        self.known.more.insert(actor.id.clone(), actor);
    }

    /// Checks whether enough people have a role.
    fn role(&mut self, needed: &NeededRole) {
        let NeededRole { role, team, people, why } = needed;
        let name = team.as_ref().is_none_or(|team| self.known.is(team, ActorKind::Team));
        let team_name = team.as_ref().map(ToString::to_string).unwrap_or_default();
        self.problems.check(name, format!("spec.roles: there is no such team as `{team_name}`"));
        self.problems.check((1..=100).contains(people), "spec.roles: people: must be 1 to 100");
        let fits = |actor: &&Actor| {
            let person = actor.kind == ActorKind::Person && actor.status == Status::Active;
            person
                && role.is_none_or(|role| role == actor.role)
                && team.as_ref().is_none_or(|team| self.within(actor, team))
        };
        let roles = role.map_or_else(|| Role::ALL.to_vec(), |role| vec![role]);
        let read = self.known.read.people_of(&roles, "").filter_map(|id| self.known.get(id));
        let there = read.chain(self.known.more.values()).filter(fits).take(*people as usize).count();
        if there < *people as usize {
            let role = role.map(|role| format!(" with the role {role}")).unwrap_or_default();
            let team = team.as_ref().map(|team| format!(" in {team}")).unwrap_or_default();
            let who = if *people == 1 { "person" } else { "people" };
            self.plan.needs.push(format!("{people} {who}{role}{team}, {there} there: {why}"));
        }
    }

    /// Checks whether a person leads a team, or is in it or one below it.
    fn within(&self, person: &Actor, team: &ActorId) -> bool {
        let leads = self.known.get(team).is_some_and(|row| row.lead.as_ref() == Some(&person.id));
        let card = self.known.read.card(&person.id);
        leads || card.is_some_and(|card| self.known.read.teams(card).contains(team))
    }

    /// Plans the resulting policies. Unless they load, nothing is done.
    fn policies(&mut self, source: &Source) -> Result<(), Stop> {
        let in_force = self.known.read.bundle()?;
        let (bundle, left) = onto(&in_force, &source.files);
        self.plan.skipped.extend(left.iter().map(|path| format!("file {path}")));
        if bundle == in_force {
            return Ok(());
        }
        match compiled(&bundle, self.known.read) {
            Ok(_) => {}
            Err(Stop::Refused(refusal)) => self.problems.0.extend(refusal.problems),
            Err(stop) => return Err(stop),
        }
        let changed = bundle.files.iter().filter(|(path, text)| in_force.files.get(*path) != Some(text));
        let changed = changed.map(|(path, _)| format!("file {path}")).collect();
        self.plan.bundle = Some((bundle, changed));
        Ok(())
    }
}

/// Names an actor in a list; a team's id already says that it is a team.
fn named(kind: ActorKind, id: &ActorId) -> String {
    if kind == ActorKind::Team { id.to_string() } else { format!("{kind} {id}") }
}
