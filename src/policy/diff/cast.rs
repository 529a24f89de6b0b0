//! The made-up company: everybody that a policy could tell apart, and whom and what the changed policies name.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use serde_json::Value;

use crate::policy::engine::{Looks, Named};
use crate::policy::testing::{
    Approval, Around, BreakGlass, Change, Event, Fixture, Member, Team, Token, Way, Webhook, parse,
};
use crate::types::actor::{KillScope, Role};
use crate::types::change::ChangeState;
use crate::types::id::ActorId;
use crate::types::scope::Scope;
use crate::types::time::Time;

const COMPANY: &str = include_str!("company.yaml");
/// As many of the actors, of the teams and of the texts that policies name are added.
const MOST: usize = 6;

/// One company, and what is asked in it.
pub(super) struct Scene {
    pub fixture: Fixture,
    /// If not empty: only questions by these or about these.
    pub only: BTreeSet<String>,
    /// Kill switches and the like that are no rows of the fixture.
    pub switches: Vec<String>,
}

/// The companies to ask in: one, and one more for each role that the actors whom policies name could have.
pub(super) fn scenes(named: &Named) -> Vec<Scene> {
    let Ok(base) = parse("company.yaml", COMPANY) else { return Vec::new() };
    let mut base = base.fixture;
    let teams: Vec<ActorId> = ids(named, "Ok::Team").filter(ActorId::is_team).take(MOST).collect();
    teams.iter().enumerate().for_each(|(number, team)| add_team(&mut base, number, team));
    let named_actors: Vec<ActorId> =
        ids(named, "Ok::Actor").filter(|id| !id.is_team() && !id.is_reserved()).take(MOST).collect();
    let roles = if named_actors.is_empty() { [].as_slice() } else { Role::ALL };
    let home = teams.first().cloned().or_else(|| "team:ops".parse().ok());
    let others = roles.iter().map(|role| {
        let mut fixture = base.clone();
        named_actors.iter().for_each(|id| put(&mut fixture, id, *role, home.clone()));
        let only = named_actors.iter().map(ToString::to_string).collect();
        (fixture, only)
    });
    let all: Vec<(Fixture, BTreeSet<String>)> =
        std::iter::once((base.clone(), BTreeSet::new())).chain(others).collect();
    let furnish = |(mut fixture, only): (Fixture, BTreeSet<String>)| {
        furnish(&mut fixture, named);
        Scene { switches: switches(&fixture, named), fixture, only }
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

/// A team that policies name, with somebody of every role in it.
fn add_team(fixture: &mut Fixture, number: usize, team: &ActorId) {
    if !fixture.teams.iter().any(|row| row.id == *team) {
        fixture.teams.push(Team { id: team.clone(), lead: "lex".parse().ok(), team: None });
    }
    let somebody = |role: &Role| {
        let id = format!("{}-of-{}", role.name(), number + 1).parse().ok()?;
        Some(member(id, *role, Some(team.clone())))
    };
    fixture.actors.extend(Role::ALL.iter().filter_map(somebody));
}

/// Somebody whom policies name, in this role.
fn put(fixture: &mut Fixture, id: &ActorId, role: Role, team: Option<ActorId>) {
    fixture.actors.retain(|row| row.id != *id);
    fixture.actors.push(member(id.clone(), role, team));
}

/// Tokens, events and approvals: one's own, another's, and for each text that a policy could compare them with.
fn furnish(fixture: &mut Fixture, named: &Named) {
    let everybody: Vec<ActorId> =
        fixture.actors.iter().filter(|row| !row.offboarded).map(|row| row.id.clone()).collect();
    let id = |text: &str| ActorId::from_str(text).ok();
    for holder in &everybody {
        fixture.tokens.push(Token { id: format!("tok_{holder}"), holder: holder.clone() });
    }
    let strange = |kind| named.entities.iter().filter(move |(of, _)| of == kind).take(MOST).map(|(_, id)| id.clone());
    let max = id("max");
    let ana = id("ana");
    fixture
        .tokens
        .extend(strange("Ok::Token").zip(max.iter().cycle()).map(|(id, max)| Token { id, holder: max.clone() }));

    propose(fixture, &everybody);
    for holder in &everybody {
        let issuer = ana.clone().filter(|ana| ana != holder);
        let grant = |what: &str, peers: u32, issuer: Option<ActorId>| BreakGlass {
            id: format!("bgl_{what}.{holder}"),
            holder: holder.clone(),
            peers,
            issuer,
        };
        fixture.break_glass.push(grant("own", 2, None));
        fixture
            .break_glass
            .extend([("issued", 2), ("alone", 1)].map(|(what, peers)| grant(what, peers, issuer.clone())));
    }
    let hosts = || {
        ["hooks.example.com"]
            .into_iter()
            .chain(named.texts.iter().map(String::as_str).filter(|text| text.contains('.')))
    };
    for (owner, (number, host)) in
        ["ana", "max"].into_iter().flat_map(|owner| hosts().take(MOST).enumerate().map(move |host| (owner, host)))
    {
        let row = id(owner).map(|owner| Webhook { id: format!("whk_{owner}{number}"), owner, host: host.to_owned() });
        fixture.webhooks.extend(row);
    }
    let texts = || named.texts.iter().filter(|text| !text.is_empty()).take(MOST).map(String::as_str);
    for kind in ["token_issued"].into_iter().chain(texts()) {
        let rows = [("max", "max"), ("ana", "pia"), ("bot", "bot"), ("lea", "max"), ("", "")];
        for (actor, subject) in rows {
            let number = i64::try_from(fixture.events.len()).unwrap_or(0) + 1;
            let subjects = id(subject).into_iter().collect();
            fixture.events.push(Event { id: number, kind: kind.to_owned(), actor: id(actor), subjects });
        }
    }
    for (number, operation) in ["actor.add"].into_iter().chain(texts()).enumerate() {
        for who in &everybody {
            let other = if who.as_str() == "max" { id("mia") } else { max.clone() };
            let row = |what: &str, requester: Option<ActorId>, approvers: Vec<ActorId>| {
                let id = format!("apr_{what}{number}.{who}");
                let (operation, behalf) = (operation.to_owned(), Vec::new());
                let issuer = ana.clone().filter(|ana| what == "issued" && ana != who);
                requester.map(|requester| Approval { id, requester, operation, approvers, behalf, issuer })
            };
            fixture.approvals.extend(row("for", other.clone(), vec![who.clone()]));
            if number == 0 {
                fixture.approvals.extend(row("of", Some(who.clone()), ana.iter().cloned().collect()));
                fixture.approvals.extend(row("issued", Some(who.clone()), ana.iter().cloned().collect()));
                fixture.approvals.extend(row("self", Some(who.clone()), vec![who.clone()]));
                fixture.approvals.extend(row("other", other, Vec::new()));
            }
        }
    }
}

/// Changes of everybody, as they can stand; and one that each could decide a request about.
fn propose(fixture: &mut Fixture, everybody: &[ActorId]) {
    use ChangeState::{Approved, Canary, Promoted, Proposed};
    for who in everybody {
        let Ok(author) = if who.as_str() == "max" { "ana" } else { "max" }.parse() else { continue };
        let change = Change { approvers: vec![who.clone()], ..change(format!("chg_for.{who}"), author) };
        fixture.changes.push(change);
    }
    let stands = [(Proposed, false), (Proposed, true), (Approved, true), (Canary, true), (Promoted, true)];
    for author in everybody {
        for (number, (state, reviewed)) in stands.into_iter().enumerate() {
            for peers in [0, 2] {
                let id = format!("chg_{number}_{peers}.{author}");
                fixture.changes.push(Change { state: Some(state), reviewed, peers, ..change(id, author.clone()) });
            }
        }
        let issuer = "ana".parse().ok().filter(|ana| ana != author);
        fixture.changes.push(Change { issuer, ..change(format!("chg_issued.{author}"), author.clone()) });
    }
}

fn change(id: String, author: ActorId) -> Change {
    let (state, behalf, approvers) = (Some(ChangeState::Proposed), Vec::new(), Vec::new());
    Change { id, author, target: None, state, reviewed: false, peers: 2, behalf, issuer: None, approvers }
}

fn switches(fixture: &Fixture, named: &Named) -> Vec<String> {
    let fixed = ["global", "actor:max", "actor:pia", "actor:bot", "tool:mail.send"].into_iter().map(str::to_owned);
    let teams = fixture.teams.iter().map(|team| team.id.to_string());
    let strange = named.entities.iter().filter(|(of, _)| of == "Ok::KillSwitch").map(|(_, id)| id.clone());
    fixed.chain(teams).chain(strange.filter(|id| KillScope::from_str(id).is_ok())).collect()
}

impl Scene {
    /// Who asks.
    pub fn askers(&self) -> Vec<String> {
        let active = self.fixture.actors.iter().filter(|row| !row.offboarded).map(|row| row.id.to_string());
        active.chain(["visitor".to_owned(), "server".to_owned()]).collect()
    }

    /// What this one asks about, of a Cedar type.
    pub fn targets(&self, asker: &str, kind: &str) -> Vec<String> {
        let owned = |id: &str| id.split_once('.').is_none_or(|(_, of)| of == asker);
        let few = ["tok_max", "tok_lea", "tok_ana", "tok_pia", "tok_bot", "tok_bot0"];
        let own = format!("tok_{asker}");
        let everyday = |id: &str| few.contains(&id) || id == own || !id.starts_with("tok_");
        match kind {
            "Ok::Company" => vec!["company".to_owned()],
            "Ok::Actor" => self.fixture.actors.iter().map(|row| row.id.to_string()).collect(),
            "Ok::Team" => self.fixture.teams.iter().map(|row| row.id.to_string()).collect(),
            "Ok::Token" => self.fixture.tokens.iter().map(|row| row.id.clone()).filter(|id| everyday(id)).collect(),
            "Ok::Event" => self.fixture.events.iter().map(|row| format!("event:{}", row.id)).collect(),
            "Ok::Approval" => self.fixture.approvals.iter().map(|row| row.id.clone()).filter(|id| owned(id)).collect(),
            "Ok::Change" => {
                let told = |id: &str| owned(id) || [".ana", ".max", ".bot"].iter().any(|author| id.ends_with(author));
                self.fixture.changes.iter().map(|row| row.id.clone()).filter(|id| told(id)).collect()
            }
            "Ok::BreakGlass" => self.fixture.break_glass.iter().map(|row| row.id.clone()).collect(),
            "Ok::Webhook" => self.fixture.webhooks.iter().map(|row| row.id.clone()).collect(),
            "Ok::Delegation" => self.fixture.delegations.iter().map(|row| row.id.clone()).collect(),
            "Ok::KillSwitch" => self.switches.iter().cloned().chain([format!("actor:{asker}")]).collect(),
            _ => Vec::new(),
        }
    }
}

/// What can be the case around a question, as far as the policies look at it; the plainest first.
pub(super) fn arounds(looks: &Looks, named: &Named, inputs: &[Value], switch: bool) -> Vec<Around> {
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
        let under = ["dlg_1", "dlg_2", "dlg_3", "dlg_4"].into_iter();
        all.extend(under.map(|id| Around { under: Some(id.to_owned()), ..plain.clone() }));
    }
    if reads("kill") {
        let scopes =
            ["global", "actor:max", "actor:bot", "team:ops"].into_iter().filter_map(|scope| scope.parse().ok());
        all.extend(scopes.map(|scope| Around { kill: vec![scope], ..plain.clone() }));
    }
    all
}

/// Just before, at and just after the instants that policies name; and by night, on a weekend, on a working day.
fn instants(named: &Named) -> Vec<Time> {
    let read = |text: &String| text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok();
    let around = |time: Time| [-1, 0, 1].map(|ms| time.plus_ms(ms));
    let told = named.texts.iter().filter_map(read).take(MOST).flat_map(around);
    let days = ["2026-01-05T12:00:00Z", "2026-01-05T22:00:00Z", "2026-01-03T12:00:00Z", "2026-01-05T03:00:00Z"];
    told.chain(days.into_iter().filter_map(|day| day.parse().ok())).collect()
}
