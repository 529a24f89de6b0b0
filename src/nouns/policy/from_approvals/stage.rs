//! Generates the test of a drafted policy: the calls it was made from are allowed, and somebody else's are not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::call::Call;
use gate::{Reader, Target, Thing};
use policy::diff::{Answer, named_by, test_file};
use policy::testing::{Around, Case, Delegation, Fixture, Member, Step, Team, Way};
use policy::{Answered, Ruling, Snapshot};
use store::actors::{Actor, Status};
use types::actor::ActorKind;
use types::caller::{Caller, Channel, Who};
use types::id::ActorId;
use types::impact::Decision;
use types::target::Fact;

/// Returns the path and text of a test file.
pub fn test(calls: &[Call], candidate: &Snapshot, read: &Reader<'_>) -> (String, String) {
    let mut asked: Vec<(Case, Answer)> = Vec::new();
    let mut seen = BTreeSet::new();
    for call in calls {
        let others = others(call, candidate, read);
        let these = [(call.caller.clone(), answer(call, &call.caller, candidate, read))].into_iter().chain(others);
        for (caller, answer) in these {
            if seen.insert((caller.actor(), call.operation(), call.target.id(), call.input.to_string())) {
                asked.push((case(call, &caller, answer.decision, read), answer));
            }
        }
    }
    let cases: Vec<(&Case, &Answer)> = asked.iter().map(|(case, answer)| (case, answer)).collect();
    let first = calls.first().map(|call| call.approval.to_ascii_lowercase()).unwrap_or_default();
    (format!("tests/from-{}.yaml", first.replace('_', "-")), test_file(&fixture(calls, &cases, read), &cases))
}

/// Finds somebody for whom nothing changes, as similar to the requester as possible.
fn others(call: &Call, candidate: &Snapshot, read: &Reader<'_>) -> Option<(Caller, Answer)> {
    let requester = &read.card(&call.caller.actor())?.actor;
    let alike = |actor: &Actor| {
        (actor.kind == requester.kind, actor.role == requester.role, actor.team == requester.team, actor.id.clone())
    };
    let mut people = near(requester, read);
    people.sort_by_key(|actor| std::cmp::Reverse(alike(actor)));
    people.into_iter().take(100).find_map(|actor| {
        let caller = Caller::new(Who::Holder(actor.id.clone()), call.caller.channel);
        let answer = answer(call, &caller, candidate, read);
        (answer.decision != Decision::Allow && !answer.not_found).then_some((caller, answer))
    })
}

/// The maximum number of members of a team, of a role, and of everybody that are examined.
const LOOKED_AT: usize = 200;

/// Returns other active actors that the proposer may know: of somebody's team, of their role, and any.
fn near<'a>(requester: &Actor, read: &'a Reader<'_>) -> Vec<&'a Actor> {
    let team = requester.team.iter().flat_map(|team| read.within(team).take(LOOKED_AT));
    let role = read.people(requester.role).take(LOOKED_AT).filter_map(|id| read.card(id));
    let all = team.chain(role).chain(read.cards().take(LOOKED_AT));
    let all: BTreeMap<&ActorId, &Actor> = all.map(|card| (&card.actor.id, &card.actor)).collect();
    let acts = |actor: &&Actor| actor.kind != ActorKind::Team && actor.status == Status::Active;
    let others = all.into_values().filter(|actor| actor.id != requester.id).filter(acts);
    others.filter(|actor| is_known(actor, read)).collect()
}

fn is_known(actor: &Actor, read: &Reader<'_>) -> bool {
    read.sees(&Target::Actor(actor.id.clone()))
}

fn answer(call: &Call, caller: &Caller, candidate: &Snapshot, read: &Reader<'_>) -> Answer {
    let ruling: Ruling = call.answer(candidate, caller, &call.input, read);
    let hidden = !read.acting_as(caller).sees(&call.target);
    Answer::of(&Answered { ruling, hidden })
}

fn case(call: &Call, caller: &Caller, expect: Decision, read: &Reader<'_>) -> Case {
    let channel = (caller.channel == Channel::Cli).then_some(Way::Cli);
    Case {
        line: 0,
        actor: caller.actor().to_string(),
        op: call.operation().to_owned(),
        target: (call.target != Target::Company).then(|| call.target.id()),
        around: Arc::new(Around {
            channel,
            release: releases(&call.target),
            input: given(call),
            run: caller.run.as_deref().map(Step::from),
            hist: read.done_by(caller),
            ..Around::default()
        }),
        expect,
        because: None,
        approvals: None,
    }
}

/// Returns the call's input as far as policies see it.
fn given(call: &Call) -> Option<Value> {
    let mut given = call.entry.arguments().kept(&call.input)?;
    if let Some(fields) = given.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    Some(given)
}

fn releases(target: &Target) -> bool {
    target.thing("KillSwitch").is_some_and(|switch| switch.fact("engage") == Some(&Fact::Flag(false)))
}

/// Returns the company as the test sees it, with only the actors concerned.
fn fixture(calls: &[Call], cases: &[(&Case, &Answer)], read: &Reader<'_>) -> Fixture {
    let mut fixture =
        Fixture { now: read.now(), teams: Vec::new(), actors: Vec::new(), delegations: Vec::new(), rows: Vec::new() };
    calls.iter().for_each(|call| add(&call.target, &mut fixture, read));
    for actor in concerned(&fixture, cases, read).into_values() {
        match actor.kind {
            ActorKind::Team => fixture.teams.push(team(actor)),
            _ => fixture.actors.push(member(actor)),
        }
    }
    fixture
}

/// Returns the actors that the cases name, and those they depend on, as far as the proposer may know them, by id.
fn concerned<'a>(fixture: &Fixture, cases: &[(&Case, &Answer)], read: &'a Reader<'_>) -> BTreeMap<ActorId, &'a Actor> {
    let mut next: Vec<ActorId> = cases.iter().flat_map(|(case, _)| named_by(fixture, case)).collect();
    let mut found = BTreeMap::new();
    while let Some(id) = next.pop() {
        let actor = read.card(&id).map(|card| &card.actor).filter(|actor| is_known(actor, read));
        let Some(actor) = actor.filter(|_| !found.contains_key(&id)) else { continue };
        next.extend([&actor.team, &actor.owner, &actor.lead].into_iter().flatten().cloned());
        found.insert(id, actor);
    }
    found
}

fn team(actor: &Actor) -> Team {
    Team { id: actor.id.clone(), lead: actor.lead.clone(), team: actor.team.clone() }
}

fn member(actor: &Actor) -> Member {
    Member {
        id: actor.id.clone(),
        kind: actor.kind,
        role: (actor.kind == ActorKind::Person).then_some(actor.role),
        team: actor.team.clone(),
        owner: actor.owner.clone(),
        trust: actor.kind.is_agent().then_some(actor.trust),
        offboarded: actor.status != Status::Active,
    }
}

/// Adds a target that is neither a person nor a team.
fn add(target: &Target, fixture: &mut Fixture, read: &Reader<'_>) {
    let Target::Thing(thing) = target else { return };
    match read.noun(target).and_then(|noun| noun.row(thing)) {
        Some(row) => fixture.rows.push(row),
        None => fixture.delegations.extend(delegations(thing)),
    }
}

/// Returns each link of a delegation's chain as a row, before the delegation itself.
fn delegations(thing: &Thing) -> Vec<Delegation> {
    let (Some(Fact::Actor(giver)), Some(Fact::Actor(taker)), Some(Fact::Actors(chain))) =
        (thing.fact("giver"), thing.fact("taker"), thing.fact("chain"))
    else {
        return Vec::new();
    };
    let above: Vec<ActorId> = chain.iter().skip(1).cloned().collect();
    let name = |depth: usize| if depth == 0 { thing.id.clone() } else { format!("{}.{depth}", thing.id) };
    let givers = std::iter::once(giver.clone()).chain(above.iter().cloned());
    let takers = std::iter::once(taker.clone()).chain(givers.clone());
    let row = |(depth, (from, to)): (usize, (ActorId, ActorId))| Delegation {
        parent: (depth < above.len()).then(|| name(depth + 1)),
        ..Delegation::whole(name(depth), from, to)
    };
    let mut rows: Vec<Delegation> = givers.zip(takers).enumerate().map(row).collect();
    rows.reverse();
    rows
}
