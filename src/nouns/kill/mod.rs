//! Kill switches: part of every decision from the moment they are durable.

use std::str::FromStr as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Nothing;
use super::token::MOST_ISSUED;
use crate::company::COMPANY;
use crate::run::tools;
use gate::{
    Card, Change, Directory, Draft, Entry, FactSpec, Noun, Permit, Query, Reader, Resource, Spec, Staged, Target,
    Thing, get, post,
};
use store::actors::Status;
use store::kills;
use store::kills::events::KillSwitch;
use store::runs::Run;
use types::actor::KillScope;
use types::id::ActorId;
use types::refusal::{Code, Fault, Refusal, Stop};
use types::scope::Reach;
use types::time::Time;

pub const ALL: &[Entry] = &[Entry::change::<Kill>(), Entry::query::<List>()];

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// `global`, `actor:<id>`, `tool:<id>` or `team:<id>`.
    pub scope: KillScope,
    /// Release it instead of engaging it.
    #[serde(default)]
    pub off: bool,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Switched {
    pub scope: KillScope,
    pub engaged: bool,
    pub by: ActorId,
    pub at: Time,
    /// How many runs it holds or held: those of the actors it stops and those they requested, of agents that the caller
    /// may see.
    pub runs: u64,
    /// For an actor's switch: how many live tokens that they issued for others, and may have copied, it also stops;
    /// counted up to 1000.
    pub tokens: u64,
    /// Who had already engaged it, since when and why, for those who may list it; absent if nobody had. Engaging it
    /// again replaces these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    /// Whether it stops the caller, so that somebody else has to release it. `false` for `global`, which those who may
    /// release it still can.
    pub stops_caller: bool,
}

/// How a switch was engaged before it was engaged again, or released.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Before {
    pub by: ActorId,
    /// Since when.
    pub at: Time,
    pub reason: String,
}

pub static KILL_SWITCH: Resource = Resource {
    noun: Noun {
        name: "KillSwitch",
        doc: "A switch that stops everybody, an actor, a team or a tool at once.",
        sight: None,
        own: None,
        facts: &[
            FactSpec::text("scope", "global, actor, tool, team").one_of("global", || KillScope::KINDS.to_vec()),
            FactSpec::flag("engage", ""),
            FactSpec::actor("actor", "").optional(),
            FactSpec::team("team", "the team itself, or the actor's").optional(),
        ],
        staged: Staged::Made(made),
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find: |id, read| Ok(id.parse().ok().map(|scope| switch(&scope, true, read).into())),
    state: |target, read| {
        let engaged = KillScope::from_str(&target.id()).is_ok_and(|scope| read.kill(&scope).is_some());
        Ok(json!({ "engaged": engaged }))
    },
};

/// Returns a switch as it would be engaged or released.
fn switch(scope: &KillScope, engage: bool, company: &dyn Directory) -> Thing {
    let (actor, team) = match scope {
        KillScope::Global | KillScope::Tool(_) => (None, None),
        KillScope::Team(team) => (None, Some(team)),
        KillScope::Actor(id) => (Some(id), company.card(id).and_then(|card| card.actor.team.as_ref())),
    };
    let thing = Thing::new("KillSwitch", scope.to_string()).text("scope", scope.kind()).flag("engage", engage);
    thing.maybe("actor", actor).maybe("team", team)
}

/// Returns the release of the global switch.
pub(super) fn release(company: &dyn Directory) -> Target {
    switch(&KillScope::Global, false, company).into()
}

fn made(id: &str, company: &dyn Directory) -> Option<Thing> {
    let scope = KillScope::from_str(id).ok()?;
    let known = scope.actor().is_none_or(|id| company.card(id).is_some());
    known.then(|| switch(&scope, true, company))
}

/// The maximum number of active actors counted per switch.
const MOST_COUNTED: usize = 1_000;
/// The maximum number of actors in its scope that are examined, whether active or left.
const MOST_LOOKED_AT: usize = 10_000;

/// Engage or release a kill switch.
pub enum Kill {}

impl Change for Kill {
    const SPEC: Spec = Spec {
        name: "kill",
        doc: "Engage a kill switch, or release it with `off`.",
        scope: Reach::Full,
        route: post("/kill").stops(),
        about: &[&KILL_SWITCH],
        events: &[KillSwitch::KIND],
    };
    const SAYS: &'static str = "{off?releases|engages} the kill switch {scope}";
    type Input = Switch;
    type Output = Switched;

    fn target(input: &Switch, read: &Reader<'_>) -> Result<Target, Stop> {
        if let KillScope::Actor(id) | KillScope::Team(id) = &input.scope
            // A stopped caller sees nothing more, but knows of themselves and their team.
            && !stops_caller(&input.scope, read)
        {
            read.known(id)?;
        }
        Ok(switch(&input.scope, !input.off, read).into())
    }

    fn run(permit: Permit<Self>, input: Switch, draft: &mut Draft<'_>) -> Result<Switched, Stop> {
        if input.reason.chars().count() > 1000 {
            return Err(Refusal::field("reason", "must have at most 1000 characters").into());
        }
        let told = draft.read().kill(&input.scope).filter(|kill| may_see(&kill.scope, draft.read()));
        let before = told.map(before).transpose()?;
        if !input.off {
            stops_something(&input.scope)?;
            keeps_an_admin(&input.scope, draft.read())?;
        }
        draft.record(KillSwitch { scope: input.scope.clone(), engaged: !input.off, reason: input.reason })?;
        let (runs, stops_caller) = (runs(&input.scope, draft.read())?, stops_caller(&input.scope, draft.read()));
        let (by, at) = (permit.actor(), permit.now());
        let tokens = input.scope.actor().map_or(Ok(0), |id| tokens(id, draft.read()))?;
        Ok(Switched { scope: input.scope, engaged: !input.off, by, at, runs, tokens, before, stops_caller })
    }
}

/// Checks that the tool exists: in an emergency, a switch that stops nothing because of a typo is the worst answer.
fn stops_something(scope: &KillScope) -> Result<(), Refusal> {
    let KillScope::Tool(name) = scope else { return Ok(()) };
    tools::unknown(name, "tool:").map_or(Ok(()), |problem| Err(Refusal::field("scope", problem)))
}

/// Counts the live tokens that somebody issued for others.
fn tokens(issuer: &ActorId, read: &Reader<'_>) -> Result<u64, Fault> {
    Ok(read.live_tokens_by(issuer, MOST_ISSUED)?.len() as u64)
}

/// Counts the open runs of those whom a switch stops.
fn runs(scope: &KillScope, read: &Reader<'_>) -> Result<u64, Stop> {
    let is_stopped = |id: &ActorId| read.card(id).is_some_and(|card| stops(scope, card, read));
    let counted = read.count_open_runs()?.into_iter();
    let stopped =
        counted.filter(|(agent, askers, _)| (is_stopped(agent) || askers.iter().any(is_stopped)) && read.knows(agent));
    Ok(stopped.map(|(.., count)| count).sum())
}

/// A kill switch that is engaged.
#[derive(Serialize, JsonSchema)]
pub struct Engaged {
    pub scope: KillScope,
    pub by: ActorId,
    /// Since when.
    pub at: Time,
    pub reason: String,
    /// How many people and agents it stops, of those whom the caller may see. The first 1000 are looked at.
    pub holds: u64,
}

/// List the engaged kill switches.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "kill.list",
        doc: "List the engaged kill switches that affect the caller: who engaged them, when and why, and how many \
              actors they stop.",
        scope: Reach::READ,
        route: get("/kill").listed(),
        about: &[&COMPANY, &KILL_SWITCH],
        events: &[],
    };
    type Input = Nothing;
    type Output = Vec<Engaged>;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Vec<Engaged>, Stop> {
        read.kills().filter(|kill| may_see(&kill.scope, read)).map(|kill| engaged(kill, read)).collect()
    }
}

fn before(kill: &kills::Kill) -> Result<Before, Stop> {
    Ok(Before { by: who(kill)?, at: kill.at, reason: kill.reason.clone() })
}

fn who(kill: &kills::Kill) -> Result<ActorId, Stop> {
    Ok(kill.by.parse().map_err(|_| Fault::Broken(format!("the kill switch {} belongs to nobody", kill.scope)))?)
}

fn engaged(kill: &kills::Kill, read: &Reader<'_>) -> Result<Engaged, Stop> {
    let holds = match &kill.scope {
        KillScope::Global => held(read.cards(), read),
        KillScope::Team(team) => held(read.below(team), read),
        KillScope::Actor(id) => held(read.card(id).into_iter(), read),
        KillScope::Tool(_) => 0,
    };
    Ok(Engaged { scope: kill.scope.clone(), by: who(kill)?, at: kill.at, reason: kill.reason.clone(), holds })
}

/// Counts the active actors among these that the caller may know of.
fn held<'a>(stopped: impl Iterator<Item = &'a Arc<Card>>, read: &Reader<'_>) -> u64 {
    let active =
        stopped.take(MOST_LOOKED_AT).filter(|card| card.actor.status == Status::Active && !card.actor.id.is_team());
    active.take(MOST_COUNTED).filter(|card| read.knows(&card.actor.id)).count() as u64
}

/// Checks whether the caller may see a switch and know whom it is about.
fn may_see(scope: &KillScope, read: &Reader<'_>) -> bool {
    let known = match scope {
        KillScope::Actor(id) | KillScope::Team(id) => read.knows(id),
        KillScope::Global | KillScope::Tool(_) => true,
    };
    known && read.may("kill.list", &switch(scope, true, read).into())
}

/// Returns the engaged switches that stop an actor and that the caller may see.
pub(super) fn stopping(card: &Card, read: &Reader<'_>) -> Vec<KillScope> {
    let scopes = read.kills().map(|kill| &kill.scope);
    scopes.filter(|scope| stops(scope, card, read) && may_see(scope, read)).cloned().collect()
}

fn stops(scope: &KillScope, card: &Card, read: &Reader<'_>) -> bool {
    match scope {
        KillScope::Global => true,
        KillScope::Actor(id) => *id == card.actor.id,
        KillScope::Team(team) => *team == card.actor.id || read.teams(card).contains(team),
        KillScope::Tool(_) => false,
    }
}

/// Checks whether a switch stops the caller; the global one keeps nobody from releasing it.
fn stops_caller(scope: &KillScope, read: &Reader<'_>) -> bool {
    let caller = read.caller();
    let issued = caller.issuer.as_ref().is_some_and(|issuer| scope.actor() == Some(issuer));
    let stops = read.card(&caller.actor()).is_some_and(|card| stops(scope, card, read));
    *scope != KillScope::Global && (stops || issued)
}

/// Checks whether an engaged switch holds a run: by its agent, or by somebody for whom it runs.
pub(super) fn holds(scope: &KillScope, run: &Run, read: &Reader<'_>) -> bool {
    let mut all = run.askers.iter().chain([&run.agent]);
    *scope == KillScope::Global || all.any(|id| read.card(id).is_some_and(|card| stops(scope, card, read)))
}

/// Checks that an admin is left who can release the switch.
fn keeps_an_admin(scope: &KillScope, read: &Reader<'_>) -> Result<(), Refusal> {
    // The switch for everything stops neither reading nor its own release.
    if read.free_admins().any(|card| *scope == KillScope::Global || !stops(scope, card, read)) {
        return Ok(());
    }
    Err(Refusal::new(Code::LastAdmin, "no admin would be left to release it"))
}
