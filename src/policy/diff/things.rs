//! Things of the made-up company: everybody's own and others', as they can stand, and as policies look for them.

use std::collections::BTreeSet;

use super::people::{self, Fill};
use crate::brain::collection_of;
use crate::engine::{Goal, Named};
use crate::testing::{Fixture, Row, Stage};
use types::change::ChangeState;
use types::id::ActorId;
use types::knowledge::KnowledgeStatus;

/// In the ids of what is as policies look for it.
pub(super) const AIMED: &str = "_aim";

/// As many of the actors, of the teams and of the texts that policies name are added.
pub(super) const MOST: usize = 8;

/// Tokens, events and approvals: one's own, another's, and for each text that a policy could compare them with.
pub(super) fn furnish(fixture: &mut Fixture, named: &Named) {
    let everybody: Vec<ActorId> =
        fixture.actors.iter().filter(|row| !row.offboarded).map(|row| row.id.clone()).collect();
    let token = |holder: &ActorId| Row::new("tokens", format!("tok_{holder}")).with("holder", holder);
    fixture.rows.extend(everybody.iter().map(token));
    propose(fixture, &everybody);
    break_glass(fixture, &everybody);
    work(fixture, &everybody);
    know(fixture, &everybody);
    let hosts = named.texts.iter().map(String::as_str).filter(|text| text.contains('.'));
    let hosts: Vec<&str> = ["hooks.example.com"].into_iter().chain(hosts).take(1 + MOST).collect();
    for owner in &everybody {
        let all = hosts.iter().take(if ["ana", "max"].contains(&owner.as_str()) { 1 + MOST } else { 1 }).enumerate();
        let row = |(number, host): (usize, &&str)| {
            Row::new("webhooks", format!("whk_{owner}{number}")).with("owner", owner).with("host", *host)
        };
        fixture.rows.extend(all.map(row));
    }
    let texts = || named.texts.iter().filter(|text| !text.is_empty()).take(MOST).map(String::as_str);
    for (number, kind) in ["token_issued"].into_iter().chain(texts()).enumerate() {
        for (count, (actor, subjects)) in
            [("max", ["max"].as_slice()), ("ana", &["pia"]), ("bot", &["bot"]), ("lea", &["max"]), ("", &[])]
                .into_iter()
                .enumerate()
        {
            let row = Row::new("events", format!("event:{}", number * 5 + count + 1)).with("kind", kind);
            let row = if actor.is_empty() { row } else { row.with("actor", actor) };
            fixture.rows.push(row.with("subjects", subjects));
        }
    }
    for (number, operation) in ["actor.add"].into_iter().chain(texts()).enumerate() {
        everybody.iter().for_each(|who| ask(fixture, number, operation, who));
    }
}

/// Requests that somebody could decide; of the first operation also their own, and some that others asked for.
fn ask(fixture: &mut Fixture, number: usize, operation: &str, who: &ActorId) {
    let other = if who.as_str() == "max" { "mia" } else { "max" };
    let mut row = |what: &str, requester: &str, approvers: &[&str]| {
        let row = Row::new("approvals", format!("apr_{what}{number}.{who}"));
        let row = row.with("requester", requester).with("operation", operation).with("approvers", approvers);
        let issued = what == "issued" && who.as_str() != "ana";
        fixture.rows.push(if issued { row.with("issuer", "ana") } else { row });
    };
    row("for", other, &[who.as_str()]);
    if number == 0 {
        row("of", who.as_str(), &["ana"]);
        row("issued", who.as_str(), &["ana"]);
        row("self", who.as_str(), &[who.as_str()]);
        row("other", other, &[]);
    }
}

/// Grants of everybody, opened with their own token and with one that another issued.
fn break_glass(fixture: &mut Fixture, everybody: &[ActorId]) {
    for holder in everybody {
        let grant = |what: &str, peers: u32| {
            Row::new("break_glass", format!("bgl_{what}.{holder}")).with("holder", holder).with("peers", peers)
        };
        fixture.rows.push(grant("own", 2));
        if holder.as_str() != "ana" {
            fixture
                .rows
                .extend([("issued", 2), ("alone", 1)].map(|(what, peers)| grant(what, peers).with("issuer", "ana")));
        }
    }
}

/// Tasks and runs: of everybody, wanted by another, and what waits for somebody's answer.
fn work(fixture: &mut Fixture, everybody: &[ActorId]) {
    let agents: Vec<ActorId> =
        fixture.actors.iter().filter(|row| row.kind.is_agent()).map(|row| row.id.clone()).collect();
    for who in everybody {
        let other = if who.as_str() == "max" { "mia" } else { "max" };
        let task = |what: &str, creator: &str| Row::new("tasks", format!("tsk_{what}.{who}")).with("creator", creator);
        fixture.rows.push(task("wanted", who.as_str()));
        fixture.rows.push(task("given", other).with("owner", who));
        for (number, agent) in agents.iter().enumerate() {
            fixture.rows.push(task(&format!("for{number}"), who.as_str()).with("owner", agent));
            let run = |what: &str, asker: &str| {
                let row = Row::new("runs", format!("run_{what}{number}.{who}")).with("agent", agent);
                row.with("asker", asker).with("askers", [asker])
            };
            fixture.rows.push(run("of", who.as_str()));
            fixture.rows.push(run("to", other).with("asked", [who]).with("status", "waiting_input"));
        }
        fixture.rows.push(Row::new("runs", format!("run_by.{who}")).with("agent", who).with("asker", other));
        // A part of what somebody asked for, which asks them and another.
        if let [agent, asker, ..] = agents.as_slice() {
            let part = Row::new("runs", format!("run_part.{who}")).with("agent", agent).with("asker", asker);
            let part = part.with("askers", [asker.as_str(), who.as_str()]).with("asked", [who.as_str(), other]);
            fixture.rows.push(part.with("status", "waiting_input"));
        }
    }
}

/// Knowledge of everybody, for all and for some, as it can stand.
fn know(fixture: &mut Fixture, everybody: &[ActorId]) {
    use KnowledgeStatus::{Accepted, Proposed, Quarantined};
    for who in everybody {
        for (number, status) in [Proposed, Quarantined, Accepted].into_iter().enumerate() {
            let entry = |what: &str| {
                let row = Row::new("knowledge", format!("kno_{what}{number}.{who}")).with("proposer", who);
                row.with("status", status.name())
            };
            fixture.rows.push(entry("all"));
            fixture.rows.push(entry("team").with("team", "team:ops").with("origin", "untrusted"));
            fixture.rows.push(entry("person").with("person", "mia").with("kind", "preference"));
        }
    }
}

/// Changes of everybody, as they can stand; and one that each could decide a request about.
fn propose(fixture: &mut Fixture, everybody: &[ActorId]) {
    use ChangeState::{Approved, Canary, Promoted, Proposed};
    let change = |id: String, author: &str, state: ChangeState, reviewed: bool, peers: u32| {
        let row = Row::new("changes", id).with("author", author).with("state", state);
        row.with("reviewed", reviewed).with("peers", peers).with("admins", peers.max(1))
    };
    for who in everybody {
        let author = if who.as_str() == "max" { "ana" } else { "max" };
        let row = change(format!("chg_for.{who}"), author, Proposed, false, 2);
        fixture.rows.push(row.with("approvers", [who]));
    }
    let stands = [(Proposed, false), (Proposed, true), (Approved, true), (Canary, true), (Promoted, true)];
    for author in everybody {
        for (number, (state, reviewed)) in stands.into_iter().enumerate() {
            let row = |peers| change(format!("chg_{number}_{peers}.{author}"), author.as_str(), state, reviewed, peers);
            fixture.rows.extend([0, 2].map(row));
        }
        let view = change(format!("chg_view.{author}"), author.as_str(), Proposed, false, 2);
        fixture.rows.push(view.with("target", "view"));
        let row = change(format!("chg_issued.{author}"), author.as_str(), Proposed, false, 2);
        fixture.rows.push(if author.as_str() == "ana" { row } else { row.with("issuer", "ana") });
    }
}

/// Things of two actors, events, and what policies name, as policies look for them. Records were made so.
pub(super) fn aim(fixture: &mut Fixture, goals: &[Goal], named: &BTreeSet<String>, stage: &dyn Stage) {
    let ends = [".max", ".bot", "tok_max", "whk_max0", "scp_max", "view-of-max"];
    let of_two = |row: &&Row| row.list != "brain" && ends.iter().any(|of| row.id.ends_with(of));
    let made: Vec<Row> = fixture.rows.iter().filter(of_two).cloned().collect();
    let events: Vec<Row> = fixture.rows.iter().filter(|row| row.list == "events").take(5).cloned().collect();
    let mut seen = BTreeSet::new();
    for goal in goals {
        let fills = people::fills(fixture, goal);
        if fills.is_empty() || !seen.insert(format!("{fills:?}")) {
            continue;
        }
        let number = seen.len();
        let copy = |row: &Row| {
            let (what, of) = row.id.split_once('.').unwrap_or((&row.id, "max"));
            Row { id: format!("{what}{AIMED}{number}.{of}"), ..row.clone() }
        };
        let event = |(count, row): (usize, &Row)| Row { id: format!("event:{}", number * 1000 + count), ..row.clone() };
        let rows = made.iter().map(copy).chain(events.iter().enumerate().map(event));
        let rows: Vec<Row> = rows.map(|row| filled(row, &fills, stage)).collect();
        let named_rows = fixture.rows.iter_mut().filter(|row| row.list != "brain" && named.contains(&row.id));
        named_rows.for_each(|row| *row = filled(row.clone(), &fills, stage));
        fixture.rows.extend(rows);
    }
}

/// A thing as a goal wants it.
fn filled(row: Row, fills: &[(String, Fill)], stage: &dyn Stage) -> Row {
    let kind = stage.kind(&row.list).unwrap_or_default();
    fills.iter().fold(row, |row, (field, fill)| match fill.value(&row, (&kind, field), field == "team", stage) {
        Some(value) => row.with(field, value),
        None => row,
    })
}

/// Adds the things that policies name by their ids, as one of max's is; all their ids.
pub(super) fn name(fixture: &mut Fixture, named: &Named, stage: &dyn Stage) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for (kind, id) in &named.entities {
        let Some(list) = stage.list(kind) else { continue };
        let is_alike = |row: &&Row| {
            row.list == list
                && collection_of(kind).is_none_or(|name| row.fields.get("collection").is_some_and(|of| of == name))
        };
        let is_there = fixture.rows.iter().any(|row| row.list == list && row.id == *id);
        let like = fixture.rows.iter().filter(is_alike).find(|row| row.id.contains("max"));
        let like = like.or_else(|| fixture.rows.iter().find(is_alike)).filter(|_| !is_there && ids.len() < MOST);
        let row = like.map(|like| Row { id: id.clone(), ..like.clone() });
        fixture.rows.extend(row);
        ids.insert(id.clone());
    }
    ids
}
