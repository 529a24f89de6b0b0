//! The directory: who can do what.

mod find;

use serde_json::{Value, json};

pub use find::{Find, Found, Sought};

use crate::company::COMPANY;
use gate::{Entry, Permit, Query, Reader, Spec, Target, get};
use store::actors::{self, Actor, Status};
use types::actor::ActorKind;
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::scope::Reach;

pub const ALL: &[Entry] = &[Entry::query::<Find>(), Entry::query::<Cards>()];

/// List the cards of the company's agents.
pub enum Cards {}

impl Query for Cards {
    const SPEC: Spec = Spec {
        name: "directory.cards",
        doc: "List the company's agents as A2A agent cards, newest first.",
        scope: Reach::READ,
        route: get("/directory/cards").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = PageQuery;
    type Output = Page<Value>;

    fn target(_: &PageQuery, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: PageQuery, read: &Reader<'_>) -> Result<Page<Value>, Stop> {
        let shown = |actor: &Actor| {
            actor.kind == ActorKind::Agent
                && actor.status == Status::Active
                && read.may("actor.read", &Target::Actor(actor.id.clone()))
        };
        let what = "directory.cards".to_owned();
        let page = read.list(&actors::LIST, &input, what, shown)?;
        Ok(Page { rows: page.rows.iter().map(card).collect(), next: page.next })
    }

    fn next(output: &Page<Value>) -> Option<String> {
        output.next.clone()
    }
}

/// Builds an A2A 1.0 AgentCard.
fn card(actor: &Actor) -> Value {
    let skill = |skill: &String| json!({ "id": skill, "name": skill, "description": skill, "tags": [skill] });
    json!({
        "name": actor.id,
        "description": actor.name,
        "version": "1",
        "supportedInterfaces": [],
        "capabilities": { "streaming": false, "pushNotifications": false },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": actor.skills.iter().map(skill).collect::<Vec<_>>(),
    })
}
