//! Who can do something.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::gate::decide::world::Card;
use crate::gate::{Entry, Permit, Query, Reader, Spec, Target, get};
use crate::operations::company::COMPANY;
use crate::store::Position;
use crate::store::actors::{self, Actor, Status};
use crate::types::actor::{ActorKind, Trust};
use crate::types::id::ActorId;
use crate::types::page::{Page, PageQuery};
use crate::types::refusal::Stop;
use crate::types::scope::Reach;

pub const ALL: &[Entry] = &[Entry::query::<Find>(), Entry::query::<Cards>()];

/// Who is sought.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Sought {
    /// Skills, separated by commas; whoever has any of them is found, those with more of them first.
    #[serde(default)]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub skills: Vec<String>,
    /// Only people.
    #[serde(default)]
    #[arg(long)]
    pub humans: bool,
    /// Part of an id or a name, in any case.
    #[arg(long)]
    pub text: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

#[derive(Clone, Serialize, JsonSchema)]
pub struct Found {
    pub actor: ActorId,
    pub name: String,
    pub kind: ActorKind,
    pub team: Option<ActorId>,
    /// The skills asked for that it has.
    pub matched: Vec<String>,
    pub trust: Trust,
    /// Why it was found.
    pub why: String,
}

/// Find actors by what they can do.
pub enum Find {}

impl Query for Find {
    const SPEC: Spec = Spec {
        name: "directory.find",
        doc: "Find people and agents by skill or name, best match first.",
        scope: Reach::READ,
        route: get("/directory/find").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Sought;
    type Output = Page<Found>;

    fn target(_: &Sought, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Sought, read: &Reader<'_>) -> Result<Page<Found>, Stop> {
        let found: BTreeMap<Position, Found> = match input.humans {
            true => input.among(read.active_people()),
            false => input.among(read.cards()),
        };
        let fetch = |from: &Position, limit| {
            let after = found.range((Bound::Excluded(from), Bound::Unbounded));
            Ok(after.take(limit).map(|(_, one)| one.clone()).collect())
        };
        let what = format!("directory.find {} {} {:?}", input.skills.join(","), input.humans, input.text);
        let seen = |one: &Found| read.may("actor.read", &Target::Actor(one.actor.clone()));
        read.page(&input.page, what, fetch, seen, Found::position)
    }

    fn next(output: &Page<Found>) -> Option<String> {
        output.next.clone()
    }
}

impl Found {
    /// The best match first, then by id.
    fn position(&self) -> Position {
        Position { at: self.matched.len() as i64, id: self.actor.to_string() }
    }
}

impl Sought {
    fn among<'a>(&self, cards: impl Iterator<Item = &'a Arc<Card>>) -> BTreeMap<Position, Found> {
        let active = cards.map(|card| &card.actor).filter(|actor| actor.status == Status::Active);
        let found = active.filter_map(|actor| self.matches(actor));
        found.map(|one| (one.position(), one)).collect()
    }

    fn matches(&self, actor: &Actor) -> Option<Found> {
        let kind = actor.kind == ActorKind::Person || (actor.kind == ActorKind::Agent && !self.humans);
        let has = |skill: &&String| actor.skills.iter().any(|own| own.eq_ignore_ascii_case(skill));
        let matched: Vec<String> = self.skills.iter().filter(has).cloned().collect();
        let text = self.text.as_ref().map(|text| text.to_lowercase());
        let named =
            |text: &String| actor.id.as_str().contains(text.as_str()) || actor.name.to_lowercase().contains(text);
        let by_text = text.as_ref().is_none_or(named);
        let by_skill = self.skills.is_empty() || !matched.is_empty();
        (kind && by_text && by_skill).then(|| Found {
            actor: actor.id.clone(),
            name: actor.name.clone(),
            kind: actor.kind,
            team: actor.team.clone(),
            why: why(&matched, text.as_deref()),
            matched,
            trust: actor.trust,
        })
    }
}

fn why(matched: &[String], text: Option<&str>) -> String {
    let skills = (!matched.is_empty()).then(|| format!("can {}", matched.join(", ")));
    let text = text.map(|text| format!("is called like `{text}`"));
    let parts: Vec<String> = skills.into_iter().chain(text).collect();
    if parts.is_empty() { "is active".into() } else { parts.join("; ") }
}

/// Cards of the company's agents.
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

/// An A2A 1.0 AgentCard.
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
