//! Lists the blueprints that come with the program.

use schemars::JsonSchema;
use serde::Serialize;

use super::source::Source;
use crate::Nothing;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use policy::blueprints;
use types::blueprint::Question;
use types::refusal::Stop;
use types::scope::Reach;

/// One starting company.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    pub id: String,
    pub title: String,
    /// What it is for.
    pub description: String,
    /// The questions to answer when installing it.
    pub ask: Vec<Question>,
    pub teams: Vec<String>,
    pub agents: Vec<String>,
    /// The people it needs, and what for.
    pub needs: Vec<String>,
    /// Its own policy files.
    pub policies: Vec<String>,
}

/// List blueprints.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "blueprint.list",
        doc: "List the blueprints that come with the program.",
        scope: Reach::READ,
        route: get("/blueprints"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Vec<Shown>;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, _: &Reader<'_>) -> Result<Vec<Shown>, Stop> {
        all()
    }
}

/// Returns the built-in blueprints, whatever company there is.
pub fn all() -> Result<Vec<Shown>, Stop> {
    blueprints::ids().into_iter().map(|id| Ok(shown(Source::named(&id)?, id))).collect()
}

fn shown(source: Source, id: String) -> Shown {
    let (metadata, spec) = (source.blueprint.metadata, source.blueprint.spec);
    let policies = source.files.into_keys().filter(|path| path.ends_with(".cedar"));
    Shown {
        title: metadata.title.unwrap_or_else(|| id.clone()),
        id,
        description: spec.description,
        ask: spec.ask,
        teams: spec.teams.iter().map(|team| team.id.to_string()).collect(),
        agents: spec.agents.into_iter().map(|agent| agent.metadata.name).collect(),
        needs: spec.roles.into_iter().map(|needed| needed.why).collect(),
        policies: policies.collect(),
    }
}
