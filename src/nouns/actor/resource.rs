//! The Cedar resource of actors and teams.

use serde_json::Value;

use gate::{Brief, Noun, Reader, Resource, Staged, Target};
use store::actors::Actor;
use types::actor::ActorKind;
use types::id::ActorId;
use types::refusal::{Fault, Stop};

pub static ACTOR: Resource = Resource {
    noun: Noun {
        name: "Actor",
        doc: "A person or an agent.",
        sight: Some("actor.read"),
        own: None,
        facts: &[],
        staged: Staged::Directory,
    },
    title: None,
    version: None,
    brief,
    find: |id, read| find(id, false, read),
    state,
};

pub static TEAM: Resource = Resource {
    noun: Noun {
        name: "Team",
        doc: "A team.",
        sight: Some("actor.read"),
        own: None,
        facts: &[],
        staged: Staged::Directory,
    },
    title: None,
    version: None,
    brief,
    find: |id, read| find(id, true, read),
    state,
};

fn find(id: &str, team: bool, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let id = id.parse().ok().filter(|id: &ActorId| id.is_team() == team && read.card(id).is_some());
    Ok(id.map(Target::Actor))
}

/// The maximum number of owned agents or led teams that an approver is shown.
const NAMED: usize = 20;

/// Summarises an actor and what depends on it, for approvers of a trust change or an offboarding.
fn brief(target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
    let Target::Actor(id) = target else { return Ok(Brief::new()) };
    let Some(Actor { kind, role, trust, team, owner, lead, .. }) = read.card(id).map(|card| &card.actor) else {
        return Ok(Brief::new());
    };
    let is = match kind {
        ActorKind::Person => format!("person, {role}"),
        ActorKind::Team => "team".to_owned(),
        ActorKind::Agent | ActorKind::OutsideAgent => format!("{kind}, {trust}"),
    };
    let agents = named(read.owned_by(id).map(|card| format!("{} ({})", card.actor.id, card.actor.trust)));
    let teams = named(read.led_by(id).map(|card| card.actor.id.to_string()));
    let hangs = [("team", team), ("owner", owner), ("lead", lead)];
    let hangs = hangs.into_iter().filter_map(|(what, id)| Some((what, id.as_ref()?.to_string())));
    let lists = [("answers for", agents), ("leads", teams)].into_iter().filter(|(_, all)| !all.is_empty());
    Ok([("is", is)].into_iter().chain(hangs).chain(lists).collect())
}

fn named(mut all: impl Iterator<Item = String>) -> String {
    let shown: Vec<String> = all.by_ref().take(NAMED).collect();
    let more = all.next().map(|_| ", and others").unwrap_or_default();
    shown.join(", ") + more
}

/// Returns the state recorded in the log with a request; without the name, which must not be kept there.
fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let Target::Actor(id) = target else { return Ok(Value::Null) };
    let mut state = serde_json::to_value(read.card(id).map(|card| &card.actor))?;
    state.as_object_mut().map(|fields| fields.remove("name"));
    Ok(state)
}
