//! The company of a policy test, made into the world that the gate decides in: entities, facts and targets come from the
//! very code that serves.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::admit::chain;
use crate::decide::entities::Entities;
use crate::decide::ground::{Ground, Outside};
use crate::decide::question::{Asker, Call, sight_for};
use crate::decide::world::World;
use crate::declare::noun::{Noun, Nouns, RECORD};
use crate::declare::operation::{Entry, resources};
use crate::declare::schema::schema;
use crate::declare::target::{Target, uid};
use crate::state::vault::Vault;
use crate::write::build_cache::BuildCache;
use log::head::Head;
use policy::brain::collection_of;
use policy::check::{self, Options, Report};
use policy::diff::{self, Semantic, Sides};
use policy::testing::{
    self, Case, Cast, Delegation, Fixture, Member, OwnedQuestion, Row, Run, Sample, Stage, Team, Way,
};
use policy::{Bundle, Snapshot};
use store::actors::{Actor, Status};
use store::company::Instance;
use store::kills::Kill;
use types::actor::{ActorKind, KillScope, Role, Trust};
use types::caller::{Caller, Channel, Who};
use types::delegation::{Authority, DelegationStatus, Terms};
use types::effort;
use types::history::{Counts, History};
use types::id::{ActorId, Id};
use types::operations::Operations;
use types::run::RunFacts;
use types::time::Time;
use types::token::TokenHash;

/// Checks a bundle against these operations.
pub fn check(entries: &[Entry], bundle: &Bundle, options: &Options<'_>) -> Report {
    check::check(&schema(entries), bundle, &Known::new(entries), options)
}

/// Asks both sides generated questions about these operations, about so many at the most.
pub fn differences(entries: &[Entry], sides: &Sides<'_>, most: usize) -> Semantic {
    diff::search(sides, &Known::new(entries), most)
}

/// Runs a bundle's own tests.
pub fn run(entries: &[Entry], bundle: &Bundle, compiled: &Arc<Snapshot>) -> Run {
    testing::run(bundle, compiled, &Known::new(entries), usize::MAX)
}

/// The operations that a test can ask about, and what every company that is made of one shares.
pub struct Known<'a> {
    pub(super) entries: &'a [Entry],
    build_cache: Arc<BuildCache>,
    pub(super) nouns: Nouns,
    entities: Arc<Entities>,
}

/// The targets of one company that cases name: by operation, id, whether a switch is released, and which are engaged.
type Staged<'f> = BTreeMap<(&'f str, &'f str, bool, &'f [KillScope]), Result<Target, String>>;

impl Stage for Known<'_> {
    fn questions(
        &self,
        snapshot: &Arc<Snapshot>,
        fixture: &Fixture,
        cases: &[Case],
    ) -> Vec<Result<OwnedQuestion, String>> {
        let world = self.world(snapshot, fixture);
        let mut staged = Staged::default();
        // Every case is asked about a company of its own.
        let question = |case| {
            effort::spend(10);
            self.question(&world, (fixture, &mut staged), case)
        };
        cases.iter().map(question).collect()
    }

    fn sight(&self, resource: &str) -> Option<&'static str> {
        self.nouns.named(resource.strip_prefix("Ok::").unwrap_or(resource))?.sight
    }

    fn list(&self, kind: &str) -> Option<&'static str> {
        let name = if collection_of(kind).is_some() { RECORD } else { kind.strip_prefix("Ok::")? };
        self.nouns.named(name)?.list()
    }

    fn kind(&self, list: &str) -> Option<String> {
        let noun = self.nouns.iter().find(|noun| noun.list() == Some(list))?;
        Some(format!("Ok::{}", noun.name))
    }

    fn samples(&self, lists: &BTreeSet<&str>, cast: &Cast<'_>) -> Vec<Sample> {
        let wanted = self.nouns.iter().filter(|noun| noun.list().is_some_and(|list| lists.contains(list)));
        wanted.flat_map(|noun| noun.samples(cast)).collect()
    }

    fn row(&self, row: &Row) -> Result<(), String> {
        match self.nouns.iter().find(|noun| noun.list() == Some(row.list.as_str())) {
            Some(noun) => noun.read(row).map(drop),
            None => {
                let lists: Vec<&str> = self.nouns.iter().filter_map(|noun| noun.list()).collect();
                Err(format!(
                    "there is no list `{}`; there are teams, actors, delegations, {}",
                    row.list,
                    lists.join(", ")
                ))
            }
        }
    }
}

impl<'a> Known<'a> {
    pub fn new(entries: &'a [Entry]) -> Self {
        let build_cache = Arc::new(BuildCache::new(schema(entries)));
        Known { entries, build_cache, nouns: resources(entries).nouns(), entities: Arc::default() }
    }

    /// The company of a fixture, without engaged kill switches.
    pub fn world(&self, snapshot: &Arc<Snapshot>, fixture: &Fixture) -> World {
        let head = Head {
            origin: "test".into(),
            size: 0,
            root: Default::default(),
            ts: fixture.now,
            note: String::new(),
            vkeys: String::new(),
        };
        let ground = Ground {
            policy: Arc::clone(snapshot),
            version: 1,
            instance: Arc::new(Instance { ulid: String::new(), sealing: [0; 32] }),
            dev_auth: false,
            tools: Arc::default(),
            build_cache: Arc::clone(&self.build_cache),
            nouns: self.nouns.clone(),
            rates: Arc::default(),
            vault: Arc::new(Vault::new(Zeroizing::new([0; 32]))),
            outside: Outside::default(),
            writes: Arc::default(),
            entities: Arc::clone(&self.entities),
        };
        let mut world = World::empty(ground, head);
        let teams = fixture.teams.iter().map(|row| team(row, fixture.now));
        world.settle(teams.chain(fixture.actors.iter().map(|row| member(row, fixture.now))).collect());
        for row in &fixture.delegations {
            let terms = delegation(row, &world);
            world.delegate(terms);
        }
        world
    }

    fn question<'f>(
        &self,
        world: &World,
        (fixture, staged): (&Fixture, &mut Staged<'f>),
        case: &'f Case,
    ) -> Result<OwnedQuestion, String> {
        let now = case.around.now.unwrap_or(fixture.now);
        let mut world = Cow::Borrowed(world);
        if !case.around.kill.is_empty() {
            let kills = case.around.kill.iter().map(|scope| (scope.clone(), kill(scope, now))).collect();
            world.to_mut().kills = Arc::new(kills);
        }
        if let Some(unknown) = case.around.granted.iter().find(|kind| !world.policy.kinds().any(|known| known == *kind))
        {
            return Err(format!("granted: there is no approval kind `{unknown}`"));
        }
        let nobody = case.around.kill.iter().filter_map(KillScope::actor).find(|id| world.card(id).is_none());
        if let Some(nobody) = nobody {
            return Err(format!("kill: there is no `{nobody}` to stop"));
        }
        let caller = caller(&world, case)?;
        if !case.around.hist.is_empty() {
            self.remember(world.to_mut(), (&caller.actor(), &case.around.hist), now)?;
        }
        if let Some(under) = caller.under.as_ref().filter(|_| chain::links(&world, &caller, now).is_none()) {
            return Err(format!("under: `{}` does not act under `{under}`: it has ended, or is another's", case.actor));
        }
        let about = self.about(&world, &case.op)?;
        let find = || target(fixture, &world, case, &caller, &about);
        let target = match &case.target {
            // Whoever asks, it is the same.
            Some(id) => {
                staged.entry((&case.op, id, case.around.release, &case.around.kill)).or_insert_with(find).clone()?
            }
            None => find()?,
        };
        let input = case.around.input.as_ref();
        if let (Some(input), Some(entry)) = (input, self.entries.iter().find(|entry| entry.spec.name == case.op)) {
            entry.arguments().check(input).map_err(|what| format!("input: {what}"))?;
        }
        let call = Call { operation: &case.op, target: &target, input };
        Ok(Asker::of(&world, &caller, call, now).asked(
            &case.op,
            sight_for(&world, &target, &caller),
            case.around.granted.clone(),
        ))
    }

    /// What a case says that its actor has done before.
    fn remember(&self, world: &mut World, (actor, done): (&ActorId, &History), now: Time) -> Result<(), String> {
        let is_known = |name: &String| self.entries.iter().any(|entry| entry.spec.name == *name && entry.is_counted());
        if let Some(unknown) = done.keys().find(|name| !is_known(name)) {
            return Err(format!("hist: there is no operation `{unknown}` that leaves entries in the log"));
        }
        let seen = done.iter().map(|(operation, done)| (operation.clone(), Counts::seen(*done, now)));
        world.histories = Some([(actor.clone(), Arc::new(seen.collect()))].into_iter().collect());
        Ok(())
    }

    /// What an operation can be about. An action that the company's own schema adds can be about anything.
    fn about(&self, world: &World, op: &str) -> Result<Vec<&'static Noun>, String> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.spec.name == op) {
            return Ok(entry.spec.about.iter().map(|one| &one.noun).collect());
        }
        let action = uid("Action", op);
        let declared = world.policy.schema().actions().any(|known| *known == action);
        if declared && world.policy.principals_of(op).is_empty() {
            return Err(format!("`{op}` is a group of operations: write the operations that are in it"));
        }
        declared.then(|| world.nouns.iter().collect()).ok_or_else(|| format!("there is no operation `{op}`"))
    }
}

/// A row rests on rows before it.
fn delegation(row: &Delegation, world: &World) -> Terms {
    let parent = row.parent.as_ref().and_then(|parent| world.delegations.get(parent));
    let above = parent.map(|parent| parent.chain.clone()).unwrap_or_default();
    Terms {
        id: row.id.clone(),
        from: row.from.clone(),
        to: row.to.clone(),
        scope: Operations(row.scope.clone().unwrap_or_else(|| [Operations::ALL.to_owned()].into())),
        authority: row.authority.unwrap_or(Authority::Act),
        tools: row.tools.clone(),
        expires_at: row.expires_at.unwrap_or(Time(i64::MAX)),
        parent: row.parent.clone(),
        depth: parent.map_or(1, |parent| parent.depth + 1),
        chain: std::iter::once(row.from.clone()).chain(above).collect(),
        status: if row.exhausted { DelegationStatus::Exhausted } else { DelegationStatus::Active },
    }
}

fn kill(scope: &KillScope, at: Time) -> Kill {
    Kill { scope: scope.clone(), reason: String::new(), by: String::new(), at }
}

fn team(row: &Team, now: Time) -> Actor {
    let Team { id, lead, team } = row.clone();
    let role = Role::Member;
    Actor { lead, team, ..blank(id, ActorKind::Team, role, now) }
}

fn member(row: &Member, now: Time) -> Actor {
    let trust = row.trust();
    let Member { id, kind, role, team, owner, offboarded, trust: _ } = row.clone();
    let blank = blank(id, kind, role.unwrap_or(kind.usual_role()), now);
    let status = if offboarded { Status::Offboarded } else { Status::Active };
    Actor { team, owner, trust, status, ..blank }
}

fn blank(id: ActorId, kind: ActorKind, role: Role, now: Time) -> Actor {
    Actor {
        name: id.to_string(),
        id,
        kind,
        role,
        team: None,
        lead: None,
        owner: None,
        admin: role == Role::Admin,
        skills: Vec::new(),
        trust: Trust::Autonomous,
        status: Status::Active,
        created_at: now,
    }
}

fn caller(world: &World, case: &Case) -> Result<Caller, String> {
    let channel = match case.around.channel {
        _ if case.around.run.is_some() => Channel::Run,
        Some(Way::Cli) => Channel::Cli,
        Some(Way::Http) | None => Channel::Http,
    };
    match case.actor.as_str() {
        "server" => return Ok(Caller::new(Who::Server, Channel::Tick)),
        "visitor" => return Ok(Caller::new(Who::Visitor, channel)),
        _ => {}
    }
    let actor = known(world, &case.actor)?;
    let active = world.card(&actor).is_some_and(|card| card.actor.status == Status::Active);
    if actor.is_team() || !active {
        return Err(format!("`{actor}` cannot act"));
    }
    let scopes = case.around.scopes.clone();
    let who = match scopes.is_empty() {
        true => Who::Holder(actor),
        false => Who::Token { actor, hash: TokenHash([0; 32]), scopes },
    };
    let (under, break_glass) = (case.around.under.as_deref(), case.around.broken.then(|| Id::stored("bgl_1")));
    let issuer = case.around.issuer.as_ref().map(|id| known(world, id.as_str())).transpose()?;
    let run = case.around.run.as_ref().map(|run| facts(world, run)).transpose()?.map(Arc::new);
    Ok(Caller { issuer, under: under.map(Id::stored), break_glass, run, ..Caller::new(who, channel) })
}

/// The run of a case, as policies see it.
fn facts(world: &World, run: &testing::Step) -> Result<RunFacts, String> {
    let asker = known(world, run.asker.as_str())?;
    let askers = if run.askers.is_empty() { vec![asker.clone()] } else { run.askers.clone() };
    let testing::Step { depth, steps, calls, cost_cents, labels, .. } = run.clone();
    Ok(RunFacts {
        run: Id::stored("run_1"),
        asker,
        askers,
        depth,
        steps,
        calls,
        cost_cents: cost_cents.into(),
        labels,
        planned: false,
    })
}

fn known(world: &World, id: &str) -> Result<ActorId, String> {
    let actor = ActorId::from_str(id).ok().filter(|id| world.card(id).is_some());
    actor.ok_or_else(|| format!("`{id}` is not in this file's actors or teams"))
}

/// What a case is about: what it names, or the company, or the caller itself.
fn target(
    fixture: &Fixture,
    world: &World,
    case: &Case,
    caller: &Caller,
    about: &[&'static Noun],
) -> Result<Target, String> {
    let is = |name: &str| about.iter().any(|noun| noun.name == name);
    let id = match case.target.as_deref() {
        None | Some("company") if is("Company") => return Ok(Target::Company),
        None if is("KillSwitch") => "global",
        None => &caller.actor().to_string(),
        Some(id) => id,
    };
    if let Some(thing) = about.iter().find_map(|noun| noun.stage(id, &fixture.rows, world)) {
        let thing = thing?;
        return Ok(if case.around.release { thing.flag("engage", false).into() } else { thing.into() });
    }
    let somebody = known(world, id).ok().map(Target::Actor);
    somebody.filter(|target| about.iter().any(|noun| noun.has(target))).ok_or_else(|| {
        let kinds: Vec<&str> = about.iter().map(|noun| noun.name).collect();
        format!("`{}` is about {}, and this file has no such `{id}`", case.op, kinds.join(" or "))
    })
}
