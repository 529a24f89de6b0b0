//! Actors and teams that policies look for, behind an attribute of the target or of the asker.

use std::str::FromStr as _;

use serde_json::Value;

use crate::engine::{Goal, Requirement, Requirements, Words};
use crate::testing::{Fixture, Member, Row, Team};
use types::actor::{ActorKind, Role, Trust};
use types::id::ActorId;

/// As many are added to one company.
const MOST: usize = 24;
/// As many steps from one actor to the next are followed.
const STEPS: usize = 4;

/// What one actor or team is to be: where, seen from it, and what stands there.
#[derive(Clone, Debug, Default)]
struct Wanted<'a>(Vec<(&'a [String], &'a Requirement)>);

impl<'a> Wanted<'a> {
    fn all(wants: &'a Requirements) -> Wanted<'a> {
        Wanted(wants.iter().map(|(path, want)| (path.as_slice(), want)).collect())
    }

    fn behind(&self, attribute: &str) -> Wanted<'a> {
        let inside = |(path, want): &(&'a [String], &'a Requirement)| match path.split_first() {
            Some((first, rest)) if first == attribute => Some((rest, *want)),
            _ => None,
        };
        Wanted(self.0.iter().filter_map(inside).collect())
    }

    /// What is wanted of an attribute, or with none of the actor itself.
    fn want(&self, attribute: &[&str]) -> Option<&'a Requirement> {
        self.0
            .iter()
            .find(|(path, _)| path.iter().map(String::as_str).eq(attribute.iter().copied()))
            .map(|(_, want)| *want)
    }

    fn value(&self, attribute: &[&str]) -> Option<&'a Value> {
        self.want(attribute).and_then(Requirement::value)
    }

    fn names(&self, attribute: &str) -> bool {
        self.0.iter().any(|(path, _)| path.first().is_some_and(|first| first == attribute))
    }

    /// Whether it is told by what it is, not which one it is.
    fn is_described(&self) -> bool {
        self.0
            .iter()
            .any(|(path, want)| !path.is_empty() || matches!(want, Requirement::Role(_) | Requirement::Within(_)))
    }
}

/// The ends of a goal that can be an actor or a team.
fn ends<'a>(goal: &'a Goal) -> impl Iterator<Item = Wanted<'a>> {
    let resource = Wanted::all(&goal.resource);
    let fields: Vec<Wanted<'a>> = fields(goal).into_iter().map(|field| resource.behind(field)).collect();
    let context = Wanted::all(&goal.context);
    let around = [["run", "asker"], ["token", "issuer"]].map(|[of, what]| context.behind(of).behind(what));
    [Wanted::all(&goal.principal), resource].into_iter().chain(fields).chain(around)
}

/// Adds the actors and teams that the goals look for and the fixture lacks: as askers, as targets, behind their
/// attributes, and in a question's surroundings.
pub(super) fn populate(fixture: &mut Fixture, goals: &[Goal]) {
    let before = fixture.actors.len() + fixture.teams.len();
    for goal in goals {
        if fixture.actors.len() + fixture.teams.len() > before + MOST {
            return;
        }
        for wanted in ends(goal).filter(Wanted::is_described) {
            found_or_made(fixture, &wanted, STEPS);
        }
    }
}

/// Who a goal wants at a place of the context.
pub(super) fn behind(fixture: &Fixture, goal: &Goal, place: &[&str]) -> Option<ActorId> {
    found(fixture, &place.iter().fold(Wanted::all(&goal.context), |wanted, attribute| wanted.behind(attribute)))
}

/// What a goal wants in a field of a thing.
#[derive(Clone, Debug)]
pub(super) enum Fill {
    Value(Value),
    /// An actor, or a team, whichever the field takes.
    Either(Option<ActorId>, Option<ActorId>),
    /// What another field has.
    Same(String),
    /// Another word than these.
    Not(Vec<Value>),
    Nothing,
}

/// The fields of a thing as a goal wants them.
pub(super) fn fills(fixture: &Fixture, goal: &Goal) -> Vec<(String, Fill)> {
    let resource = Wanted::all(&goal.resource);
    let fill = |field: &str| {
        let wanted = resource.behind(field);
        if let Some(Requirement::Within(team)) = wanted.want(&[]) {
            let mut teams = fixture.teams.iter().map(|row| &row.id);
            let team = teams.find(|id| is_in(fixture, id, team)).cloned();
            return Some(Fill::Either(found(fixture, &wanted), team));
        }
        if wanted.is_described() {
            return found(fixture, &wanted).map(|id| Fill::Value(id.to_string().into()));
        }
        match wanted.want(&[])? {
            Requirement::Is(value) => Some(Fill::Value(value.clone())),
            Requirement::Not(all) => Some(Fill::Not(all.clone())),
            Requirement::Same(path) => path.first().filter(|_| path.len() == 1).cloned().map(Fill::Same),
            Requirement::Absent => Some(Fill::Nothing),
            Requirement::There | Requirement::Role(_) | Requirement::Within(_) => None,
        }
    };
    fields(goal).into_iter().filter_map(|field| Some((field.to_owned(), fill(field)?))).collect()
}

impl Fill {
    /// What a field of a row becomes; none where it stays.
    pub(super) fn value(
        &self,
        row: &Row,
        (kind, field): (&str, &str),
        is_team: bool,
        words: &dyn Words,
    ) -> Option<Value> {
        let text = |id: &ActorId| id.to_string().into();
        match self {
            Fill::Value(value) => Some(value.clone()),
            Fill::Either(somebody, team) => if is_team { team } else { somebody }.as_ref().map(text),
            Fill::Same(other) => row.fields.get(other).cloned(),
            Fill::Not(all) => {
                let mut words = words.words(kind, field).into_iter().map(Value::from);
                words.find(|word| !all.contains(word))
            }
            Fill::Nothing => None,
        }
    }
}

/// The attributes of the resource that a goal is about.
fn fields(goal: &Goal) -> Vec<&str> {
    let mut fields: Vec<&str> = goal.resource.keys().filter_map(|path| path.first().map(String::as_str)).collect();
    fields.dedup();
    fields
}

fn found(fixture: &Fixture, wanted: &Wanted<'_>) -> Option<ActorId> {
    if wanted.0.is_empty() {
        return None;
    }
    let gone = wanted.value(&["active"]).is_some_and(|active| *active == false);
    let there = fixture.actors.iter().filter(|row| row.offboarded == gone).map(|row| &row.id);
    let mut all = there.chain(fixture.teams.iter().map(|row| &row.id));
    all.find(|id| wanted.0.iter().all(|(path, want)| holds(fixture, id, path, want))).cloned()
}

/// Whether it is so of an actor or a team.
fn holds(fixture: &Fixture, id: &ActorId, path: &[String], want: &Requirement) -> bool {
    let behind = |next: Option<&ActorId>, rest: &[String]| next.is_some_and(|next| holds(fixture, next, rest, want));
    let team = fixture.teams.iter().find(|row| row.id == *id);
    let actor = fixture.actors.iter().find(|row| row.id == *id);
    let is = |value: Value| match want {
        Requirement::Is(wanted) => *wanted == value,
        Requirement::Not(all) => !all.contains(&value),
        Requirement::There => true,
        Requirement::Absent => false,
        Requirement::Role(_) | Requirement::Within(_) | Requirement::Same(_) => false,
    };
    match (path.split_first(), team, actor) {
        (None, _, actor) => match want {
            Requirement::Role(wanted) => actor.is_some_and(|row| role(row).name() == wanted),
            Requirement::Within(wanted) => is_in(fixture, id, wanted),
            Requirement::Same(_) | Requirement::Absent => false,
            Requirement::There | Requirement::Is(_) | Requirement::Not(_) => is(id.to_string().into()),
        },
        (Some((first, rest)), Some(row), _) => first == "lead" && behind(row.lead.as_ref(), rest),
        (Some((first, rest)), _, Some(row)) => match first.as_str() {
            "team" if *want == Requirement::Absent && rest.is_empty() => row.team.is_none(),
            "owner" if *want == Requirement::Absent && rest.is_empty() => row.owner.is_none(),
            "team" => behind(row.team.as_ref(), rest),
            "owner" => behind(row.owner.as_ref(), rest),
            "kind" => is(row.kind.name().into()),
            "admin" => is((role(row) == Role::Admin).into()),
            "active" => is((!row.offboarded).into()),
            "trust" => is(row.trust().level().into()),
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
    let id = match wanted.names("lead") {
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
    let is_so = wanted.0.iter().all(|(path, want)| holds(fixture, &id, path, want));
    if !is_so {
        // Nobody can be so.
        fixture.actors.truncate(actors);
        fixture.teams.truncate(teams);
    }
    is_so.then_some(id)
}

/// Somebody who is as wanted, as far as that goes.
fn made(fixture: &mut Fixture, wanted: &Wanted<'_>, number: usize, steps: usize) -> Option<Member> {
    let wanted_role = match wanted.want(&[]) {
        Some(Requirement::Role(name)) => name.parse().ok(),
        _ => None,
    };
    let admin = wanted.value(&["admin"]).is_some_and(|admin| *admin == true).then_some(Role::Admin);
    let kind: Option<ActorKind> = wanted.value(&["kind"]).and_then(Value::as_str).and_then(|kind| kind.parse().ok());
    let is_agent = wanted.names("owner");
    let usual = if is_agent { Role::Agent } else { Role::Member };
    let role: Role = wanted_role.or(admin).or(kind.map(ActorKind::usual_role)).unwrap_or(usual);
    let trust = wanted.value(&["trust"]).and_then(Value::as_i64);
    if trust.is_some() && !role.kind().is_agent() {
        // How far people are trusted is the same for all of them.
        return None;
    }
    let mut behind = |attribute: &str| {
        let wanted = wanted.behind(attribute);
        if wanted.0.is_empty() { None } else { found_or_made(fixture, &wanted, steps) }
    };
    let (team, owner) = (behind("team"), behind("owner"));
    let inside = match wanted.want(&[]) {
        Some(Requirement::Within(team)) => team.parse().ok(),
        _ => None,
    };
    Some(Member {
        id: ActorId::from_str(&format!("made-{number}")).ok()?,
        kind: role.kind(),
        role: Some(role),
        team: team.or(inside),
        owner: owner.or_else(|| role.kind().is_agent().then(|| "max".parse().ok()).flatten()),
        trust: trust.and_then(|level| Trust::ALL.iter().find(|tier| tier.level() == level).copied()),
        offboarded: wanted.value(&["active"]).is_some_and(|active| *active == false),
    })
}
