//! The made-up company: everybody that a policy could tell apart, and whom and what the changed policies name.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;

use serde_json::Value;

use super::aim::in_part;
use super::things::MOST;
use super::{people, records, things};
use crate::brain::{Collections, collection_of};
use crate::engine::{Goal, Looks, Named};
use crate::testing::{Around, Delegation, Fixture, Member, Row, Stage, Step, Team, Way, other_than, parse};
use types::actor::{ActorKind, KillScope, Role};
use types::field::Label;
use types::history::{Done, History};
use types::id::ActorId;
use types::scope::Scope;
use types::time::Time;

/// So many of those whom policies name have delegations of their own.
const MOST_DELEGATING: usize = 4;

const COMPANY: &str = include_str!("company.yaml");

/// One company, and what is asked in it.
pub(super) struct Scene {
    pub fixture: Fixture,
    /// Actors whom policies name.
    pub actors: BTreeSet<String>,
    /// Only questions by these actors or about them.
    pub is_apart: bool,
    /// Kill switches and the like that are no rows of the fixture.
    pub switches: Vec<String>,
    /// Things that policies name: everybody is asked about them.
    pub named: BTreeSet<String>,
    /// The ids of rows, by the Cedar type that they are asked about as.
    rows: BTreeMap<String, Vec<String>>,
    /// Of what only one actor is asked about: that actor.
    only: BTreeMap<String, ActorId>,
}

/// The companies to ask in, with what is asked about in them, which is of these Cedar types: one, and one more for each role that
/// the actors whom policies name could have; where policies name teams, for each role in a team and in none.
pub(super) fn scenes(
    named: &Named,
    goals: &[Goal],
    collections: &Collections,
    resources: &BTreeSet<String>,
    stage: &dyn Stage,
) -> Vec<Scene> {
    let Ok(base) = parse("company.yaml", COMPANY, &|_| Ok(())) else { return Vec::new() };
    let mut base = base.fixture;
    let aimed = goals.iter().flat_map(Goal::within).filter_map(|id| ActorId::from_str(id).ok());
    let mut seen = BTreeSet::new();
    let teams = ids(named, "Ok::Team").chain(aimed).filter(|id| id.is_team() && seen.insert(id.clone()));
    let teams: Vec<ActorId> = teams.take(MOST).collect();
    teams.iter().enumerate().for_each(|(number, team)| add_team(&mut base, number, team));
    if !teams.is_empty() {
        base.actors.extend(of_every_role("outside", None));
    }
    let named_actors: Vec<ActorId> =
        ids(named, "Ok::Actor").filter(|id| !id.is_team() && !id.is_reserved()).take(MOST).collect();
    let roles = if named_actors.is_empty() { [].as_slice() } else { Role::ALL };
    let home = teams.first().cloned().or_else(|| "team:ops".parse().ok());
    // Whom policies name beside somebody else is there, too: an admin, who is kept from little.
    let absent = named_actors.iter().filter(|id| !base.actors.iter().any(|row| row.id == **id));
    let absent: Vec<Member> = absent.map(|id| member(id.clone(), Role::Admin, home.clone())).collect();
    base.actors.extend(absent);
    delegate(&mut base, &named_actors);
    people::populate(&mut base, goals);
    let actors: BTreeSet<String> = named_actors.iter().map(ToString::to_string).collect();
    // Where policies name teams, whoever they name is in the first of them, and in none.
    let homes = if teams.is_empty() { vec![home] } else { vec![home, None] };
    let others = homes.iter().flat_map(|home| roles.iter().map(move |role| (role, home))).map(|(role, home)| {
        let mut fixture = base.clone();
        named_actors.iter().for_each(|id| put(&mut fixture, id, *role, home.clone()));
        (fixture, true)
    });
    let all: Vec<(Fixture, bool)> = std::iter::once((base.clone(), false)).chain(others).collect();
    let lists: BTreeSet<&str> = resources.iter().filter_map(|kind| stage.list(kind)).collect();
    let furnish = |(mut fixture, is_apart): (Fixture, bool)| {
        let mut things = things::furnish(&mut fixture, &lists, collections, named, stage);
        if lists.contains("brain") {
            things.only.extend(records::furnish(&mut fixture, collections, named, goals, stage));
        }
        let all_named = things::name(&mut fixture, named, stage);
        things::aim(&mut fixture, &mut things, goals, &all_named, stage);
        let rows =
            resources.iter().filter_map(|kind| Some((kind.clone(), rows(&fixture, kind, stage.list(kind)?)))).collect();
        let (actors, only) = (actors.clone(), things.only);
        Scene { switches: switches(&fixture, named), named: all_named, rows, only, fixture, actors, is_apart }
    };
    all.into_iter().map(furnish).collect()
}

fn ids<'a>(named: &'a Named, kind: &'a str) -> impl Iterator<Item = ActorId> + 'a {
    let of_kind = named.entities.iter().filter(move |(of, _)| of == kind);
    of_kind.filter_map(|(_, id)| ActorId::from_str(id).ok())
}

fn member(id: ActorId, role: Role, team: Option<ActorId>) -> Member {
    let kind = role.kind();
    let owner = if kind.is_agent() { "max".parse().ok() } else { None };
    Member { id, kind, role: Some(role), team, owner, trust: None, offboarded: false }
}

/// A team that policies name, with somebody of every role in it; whoever has that of a lead leads it.
fn add_team(fixture: &mut Fixture, number: usize, team: &ActorId) {
    let place = format!("of-{}", number + 1);
    if !fixture.teams.iter().any(|row| row.id == *team) {
        let lead = format!("{}-{place}", Role::Lead.name()).parse().ok();
        fixture.teams.push(Team { id: team.clone(), lead, team: None });
    }
    fixture.actors.extend(of_every_role(&place, Some(team)));
}

/// Somebody of every role.
fn of_every_role(place: &str, team: Option<&ActorId>) -> impl Iterator<Item = Member> {
    let somebody =
        move |role: &Role| Some(member(format!("{}-{place}", role.name()).parse().ok()?, *role, team.cloned()));
    Role::ALL.iter().filter_map(somebody)
}

/// Somebody whom policies name, in this role.
fn put(fixture: &mut Fixture, id: &ActorId, role: Role, team: Option<ActorId>) {
    fixture.actors.retain(|row| row.id != *id);
    fixture.actors.push(member(id.clone(), role, team));
}

/// What people whom policies name hand on: of their own accord, and in the middle of a chain.
fn delegate(fixture: &mut Fixture, named: &[ActorId]) {
    let is_person = |id: &&ActorId| fixture.actors.iter().any(|row| row.id == **id && row.kind == ActorKind::Person);
    let people: Vec<ActorId> = named.iter().filter(is_person).take(MOST_DELEGATING).cloned().collect();
    for who in people {
        let giver = if who.as_str() == "pia" { "kim" } else { "pia" };
        let (Ok(giver), Ok(taker)) = (giver.parse::<ActorId>(), other_than(&who).parse::<ActorId>()) else { continue };
        let [own, first, then] = ["of", "to", "by"].map(|what| format!("dlg_{what}.{who}"));
        let whole = |id: String, from: &ActorId, to: &ActorId| Delegation::whole(id, from.clone(), to.clone());
        fixture.delegations.push(whole(own, &who, &taker));
        fixture.delegations.push(whole(first.clone(), &giver, &who));
        fixture.delegations.push(Delegation { parent: Some(first), ..whole(then, &who, &taker) });
    }
}

fn switches(fixture: &Fixture, named: &Named) -> Vec<String> {
    let fixed = ["global", "tool:mail.send"].into_iter().map(str::to_owned);
    let actors = fixture.actors.iter().map(|row| format!("actor:{}", row.id));
    let teams = fixture.teams.iter().map(|team| team.id.to_string());
    let strange = named.entities.iter().filter(|(of, _)| of == "Ok::KillSwitch").map(|(_, id)| id.clone());
    fixed.chain(actors).chain(teams).chain(strange.filter(|id| KillScope::from_str(id).is_ok())).collect()
}

impl Scene {
    /// Whether policies name the thing that somebody asks about, or both actors.
    pub fn names(&self, asker: &str, target: &str) -> bool {
        self.named.contains(target) || (self.actors.contains(asker) && self.actors.contains(target))
    }

    /// Who asks.
    pub fn askers(&self) -> Vec<String> {
        let active = self.fixture.actors.iter().filter(|row| !row.offboarded).map(|row| row.id.to_string());
        active.chain(["visitor".to_owned(), "server".to_owned()]).collect()
    }

    /// What this one asks about, of a Cedar type.
    pub fn targets(&self, asker: &str, kind: &str) -> Vec<String> {
        match kind {
            "Ok::Company" => vec!["company".to_owned()],
            "Ok::Actor" => self.fixture.actors.iter().map(|row| row.id.to_string()).collect(),
            "Ok::Team" => self.fixture.teams.iter().map(|row| row.id.to_string()).collect(),
            "Ok::Delegation" => self.fixture.delegations.iter().map(|row| row.id.clone()).collect(),
            "Ok::KillSwitch" => self.switches.clone(),
            _ => {
                let is_asked = |id: &&String| {
                    self.named.contains(*id) || self.only.get(*id).is_none_or(|only| only.as_str() == asker)
                };
                self.rows.get(kind).into_iter().flatten().filter(is_asked).cloned().collect()
            }
        }
    }
}

/// What is of a Cedar type. A record of no collection that is declared stands for what is only to be made.
fn rows(fixture: &Fixture, kind: &str, list: &'static str) -> Vec<String> {
    let collection = if kind == "Ok::Record" { Some("notes") } else { collection_of(kind) };
    let is_of = |row: &&Row| match collection {
        Some(collection) => row.list == "brain" && row.fields.get("collection").is_some_and(|name| name == collection),
        None => row.list == list,
    };
    fixture.rows.iter().filter(is_of).map(|row| row.id.clone()).collect()
}

/// What can be the case around a question, as far as the policies look at it; the plainest first.
pub(super) fn arounds(
    (looks, named): (&Looks, &Named),
    inputs: &[Value],
    switch: bool,
    fixture: &Fixture,
) -> Vec<Around> {
    let plain = Around::default();
    let mut all = vec![plain.clone()];
    if switch {
        all.push(Around { release: true, ..plain.clone() });
    }
    if looks.kinds.len() > 1 {
        all.push(Around { granted: looks.kinds.iter().cloned().collect(), ..plain.clone() });
    }
    all.extend(looks.kinds.iter().map(|kind| Around { granted: vec![kind.clone()], ..plain.clone() }));
    all.extend(inputs.iter().map(|input| Around { input: Some(input.clone()), ..plain.clone() }));
    let reads = |attribute: &str| looks.context.contains(attribute);
    if reads("break_glass") {
        all.push(Around { granted: looks.kinds.iter().cloned().collect(), broken: true, ..plain.clone() });
    }
    if reads("channel") {
        all.push(Around { channel: Some(Way::Cli), ..plain.clone() });
    }
    if reads("token") {
        let scopes = [Scope::Read, Scope::Policy].map(|scope| Around { scopes: [scope].into(), ..plain.clone() });
        all.extend(scopes);
        let issuers = ["ana", "max"].into_iter().filter_map(|id| id.parse().ok());
        all.extend(issuers.map(|issuer| Around { issuer: Some(issuer), ..plain.clone() }));
    }
    if reads("now") {
        all.extend(instants(named).into_iter().map(|now| Around { now: Some(now), ..plain.clone() }));
    }
    if reads("delegation") {
        let under = fixture.delegations.iter().map(|given| given.id.clone());
        all.extend(under.map(|id| Around { under: Some(id), ..plain.clone() }));
    }
    if reads("run") {
        let asked = ["ana", "max", "lea"].into_iter().filter_map(|id| id.parse().ok());
        let none = BTreeSet::new();
        let step = |asker: ActorId, labels: &BTreeSet<Label>| Step {
            asker,
            askers: Vec::new(),
            depth: 0,
            steps: 1,
            calls: 1,
            cost_cents: 0,
            labels: labels.clone(),
        };
        let whole: Vec<Around> = asked.map(|asker| Around { run: Some(step(asker, &none)), ..plain.clone() }).collect();
        let parts: Vec<Around> = whole.iter().filter_map(in_part).collect();
        all.extend(whole.into_iter().chain(parts));
        let marked: Vec<BTreeSet<Label>> =
            Label::ALL.iter().map(|label| [*label].into()).chain([Label::ALL.iter().copied().collect()]).collect();
        let ana = "ana".parse().ok();
        let marked = ana.iter().flat_map(|ana: &ActorId| marked.iter().map(|labels| step(ana.clone(), labels)));
        all.extend(marked.map(|run| Around { run: Some(run), ..plain.clone() }));
    }
    all.extend(
        looks
            .done
            .iter()
            .flat_map(|operation| histories(operation, named))
            .take(MOST)
            .map(|hist| Around { hist, ..plain.clone() }),
    );
    if reads("kill") {
        let scopes =
            ["global", "actor:max", "actor:bot", "team:ops"].into_iter().filter_map(|scope| scope.parse().ok());
        all.extend(scopes.map(|scope| Around { kill: vec![scope], ..plain.clone() }));
    }
    all
}

/// Just below, at and just above the numbers that policies name: done within the hour, and so within the day and the month.
fn histories(operation: &str, named: &Named) -> impl Iterator<Item = History> {
    let around = named.numbers.iter().flat_map(|number| [number.saturating_sub(1), *number, number.saturating_add(1)]);
    around.filter_map(|number| u32::try_from(number).ok()).map(move |number| {
        let done = Done {
            hour: number,
            day: number,
            month: number,
            hour_cents: number,
            day_cents: number,
            month_cents: number,
        };
        History::from([(operation.to_owned(), done)])
    })
}

/// Just before, at and just after the instants that policies name; and by night, on a weekend, on a working day.
fn instants(named: &Named) -> Vec<Time> {
    let read = |text: &String| text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok();
    let around = |time: Time| [-1, 0, 1].map(|ms| time.plus_ms(ms));
    let near = named.texts.iter().filter_map(read).take(MOST).flat_map(around);
    let days = ["2026-01-05T12:00:00Z", "2026-01-05T22:00:00Z", "2026-01-03T12:00:00Z", "2026-01-05T03:00:00Z"];
    near.chain(days.into_iter().filter_map(|day| day.parse().ok())).collect()
}
