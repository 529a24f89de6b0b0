//! Actors and teams as policies look for them: behind an attribute of what is asked about, or of whoever asks.

use std::str::FromStr as _;

use serde_json::Value;

use crate::policy::engine::{Goal, Path, role_of};
use crate::policy::testing::{Fixture, Member, Team};
use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::id::ActorId;

/// As many are added to one company.
const MOST: usize = 24;
/// As many steps from one actor to the next are followed.
const STEPS: usize = 4;

/// What one actor or team is to be: where, seen from it, and what stands there.
#[derive(Clone, Debug, Default)]
struct Wanted<'a>(Vec<(&'a [String], &'a Value)>);

impl<'a> Wanted<'a> {
    /// All wishes below a place.
    fn below(goal: impl IntoIterator<Item = (&'a Path, &'a Value)>, place: &str) -> Wanted<'a> {
        let inside = |(path, value): (&'a Path, &'a Value)| match path.split_first() {
            Some((first, rest)) if first == place => Some((rest, value)),
            _ => None,
        };
        Wanted(goal.into_iter().filter_map(inside).collect())
    }

    fn all(goal: impl IntoIterator<Item = (&'a Path, &'a Value)>) -> Wanted<'a> {
        Wanted(goal.into_iter().map(|(path, value)| (path.as_slice(), value)).collect())
    }

    fn behind(&self, attribute: &str) -> Wanted<'a> {
        let inside = |(path, value): &(&'a [String], &'a Value)| match path.split_first() {
            Some((first, rest)) if first == attribute => Some((rest, *value)),
            _ => None,
        };
        Wanted(self.0.iter().filter_map(inside).collect())
    }

    /// What stands at an attribute, or with none at the actor itself.
    fn at(&self, attribute: &[&str]) -> Option<&'a Value> {
        self.0
            .iter()
            .find(|(path, _)| path.iter().map(String::as_str).eq(attribute.iter().copied()))
            .map(|(_, value)| *value)
    }

    fn text(&self, attribute: &[&str]) -> Option<&'a str> {
        self.at(attribute).and_then(Value::as_str)
    }

    /// Whether it can only be meant of an actor or a team, not of a value.
    fn is_somebody(&self) -> bool {
        let says = |(path, value): &(&[String], &Value)| !path.is_empty() || role_of(value).is_some();
        self.0.iter().any(says) || self.text(&[]).is_some_and(|id| id.starts_with("team:"))
    }
}

/// Adds whoever is looked for and not there: as who asks, as what is asked about, and behind its attributes.
pub(super) fn populate(fixture: &mut Fixture, goals: &[Goal]) {
    let before = fixture.actors.len() + fixture.teams.len();
    for goal in goals {
        if fixture.actors.len() + fixture.teams.len() > before + MOST {
            return;
        }
        let ends = [Wanted::all(&goal.principal), Wanted::all(&goal.resource)];
        let behind = fields(goal).into_iter().map(|field| Wanted::below(&goal.resource, field));
        for wanted in ends.into_iter().chain(behind).filter(Wanted::is_somebody) {
            found_or_made(fixture, &wanted, STEPS);
        }
    }
}

/// The fields of a thing as a goal wants them; where it wants somebody, their id.
pub(super) fn wanted(fixture: &Fixture, goal: &Goal) -> Vec<(String, Value)> {
    let value = |field: &str| {
        let wanted = Wanted::below(&goal.resource, field);
        match wanted.is_somebody() {
            true => found(fixture, &wanted).map(|id| id.to_string().into()),
            false => goal.at(field).cloned(),
        }
    };
    fields(goal).into_iter().filter_map(|field| Some((field.to_owned(), value(field)?))).collect()
}

/// The attributes of the resource that a goal is about.
fn fields(goal: &Goal) -> Vec<&str> {
    let mut fields: Vec<&str> = goal.resource.keys().filter_map(|path| path.first().map(String::as_str)).collect();
    fields.dedup();
    fields
}

fn found(fixture: &Fixture, wanted: &Wanted<'_>) -> Option<ActorId> {
    let active = fixture.actors.iter().filter(|row| !row.offboarded).map(|row| &row.id);
    let mut all = active.chain(fixture.teams.iter().map(|row| &row.id));
    all.find(|id| wanted.0.iter().all(|(path, value)| holds(fixture, id, path, value))).cloned()
}

/// Whether it is so of an actor or a team.
fn holds(fixture: &Fixture, id: &ActorId, path: &[String], value: &Value) -> bool {
    let behind = |next: Option<&ActorId>, rest: &[String]| next.is_some_and(|next| holds(fixture, next, rest, value));
    let team = fixture.teams.iter().find(|row| row.id == *id);
    let actor = fixture.actors.iter().find(|row| row.id == *id);
    let is_there = value.as_object().is_some_and(serde_json::Map::is_empty);
    match (path.split_first(), team, actor) {
        (None, _, Some(row)) if role_of(value).is_some() => role_of(value) == Some(role(row).name()),
        (None, ..) => is_there || value.as_str().is_some_and(|wanted| is_in(fixture, id, wanted)),
        (Some((first, rest)), Some(row), _) => first == "lead" && behind(row.lead.as_ref(), rest),
        (Some((first, rest)), _, Some(row)) => match first.as_str() {
            "team" => behind(row.team.as_ref(), rest),
            "owner" => behind(row.owner.as_ref(), rest),
            "kind" => value == row.kind.name(),
            "admin" => *value == (role(row) == Role::Admin),
            "active" => *value == !row.offboarded,
            "trust" => *value == row.trust.unwrap_or(Trust::Standard).level(),
            _ => false,
        },
        _ => false,
    }
}

fn role(row: &Member) -> Role {
    row.role.unwrap_or(row.kind.usual_role())
}

/// Whether somebody is this one, or in it.
fn is_in(fixture: &Fixture, id: &ActorId, wanted: &str) -> bool {
    let above = |id: &ActorId| {
        let team = fixture.teams.iter().find(|row| row.id == *id).and_then(|row| row.team.clone());
        team.or_else(|| fixture.actors.iter().find(|row| row.id == *id)?.team.clone())
    };
    std::iter::successors(Some(id.clone()), above).take(fixture.teams.len() + 2).any(|id| id.as_str() == wanted)
}

fn found_or_made(fixture: &mut Fixture, wanted: &Wanted<'_>, steps: usize) -> Option<ActorId> {
    if let Some(id) = found(fixture, wanted) {
        return Some(id);
    }
    let steps = steps.checked_sub(1)?;
    let (actors, teams) = (fixture.actors.len(), fixture.teams.len());
    let number = actors + teams;
    let id = match wanted.0.iter().any(|(path, _)| path.first().is_some_and(|first| first == "lead")) {
        true => {
            let lead = found_or_made(fixture, &wanted.behind("lead"), steps);
            let id = ActorId::from_str(&format!("team:made-{number}")).ok()?;
            fixture.teams.push(Team { id: id.clone(), lead, team: None });
            id
        }
        false => {
            let made = made(fixture, wanted, number, steps)?;
            let id = made.id.clone();
            fixture.actors.push(made);
            id
        }
    };
    let is_so = wanted.0.iter().all(|(path, value)| holds(fixture, &id, path, value));
    if !is_so {
        // Nobody can be so.
        fixture.actors.truncate(actors);
        fixture.teams.truncate(teams);
    }
    is_so.then_some(id)
}

/// Somebody who is as wanted, as far as that goes.
fn made(fixture: &mut Fixture, wanted: &Wanted<'_>, number: usize, steps: usize) -> Option<Member> {
    let told = wanted.at(&[]).and_then(role_of).and_then(|name| name.parse().ok());
    let admin = wanted.at(&["admin"]).is_some_and(|admin| *admin == true).then_some(Role::Admin);
    let kind: Option<ActorKind> = wanted.text(&["kind"]).and_then(|kind| kind.parse().ok());
    let is_agent = wanted.0.iter().any(|(path, _)| path.first().is_some_and(|first| first == "owner"));
    let usual = if is_agent { Role::Agent } else { Role::Member };
    let role: Role = told.or(admin).or(kind.map(ActorKind::usual_role)).unwrap_or(usual);
    let trust = wanted.at(&["trust"]).and_then(Value::as_i64);
    if trust.is_some() && !role.kind().is_agent() {
        // Nobody is asked how far a person is trusted.
        return None;
    }
    let mut behind = |attribute: &str| {
        let wanted = wanted.behind(attribute);
        if wanted.0.is_empty() { None } else { found_or_made(fixture, &wanted, steps) }
    };
    let (team, owner) = (behind("team"), behind("owner"));
    let inside = wanted.text(&[]).and_then(|id| id.parse().ok()).filter(ActorId::is_team);
    Some(Member {
        id: ActorId::from_str(&format!("made-{number}")).ok()?,
        kind: role.kind(),
        role: Some(role),
        team: team.or(inside),
        owner: owner.or_else(|| role.kind().is_agent().then(|| "max".parse().ok()).flatten()),
        trust: trust.and_then(|level| Trust::ALL.iter().find(|tier| tier.level() == level).copied()),
        offboarded: false,
    })
}
