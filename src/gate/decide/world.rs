//! The directory in memory: what every decision reads. It mirrors rows of the tables and is read again, row by row, when
//! an event touches them; a copy for readers costs a few pointers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, atomic::AtomicBool};

use rpds::HashTrieMapSync;
use rusqlite::Connection;

use crate::admit::limiter::Rates;
use crate::admit::tokens::Passes;
use crate::decide::cache::Cache;
use crate::decide::card::Card;
use crate::decide::entities::Entities;
use crate::decide::ground::{Ground, Outside};
use crate::decide::index::People;
use crate::decide::kills::{self, Killed};
use crate::decide::teams::Lines;
use crate::decide::usage::{self, Histories};
use crate::declare::noun::{Directory, Nouns};
use crate::past::canary::{self, Trial};
use crate::state::vault::Vault;
use crate::write::build_cache::BuildCache;
use log::head::Head;
use log::record::PolicyStamp;
use policy::brain::Collections;
use policy::{Bundle, Snapshot};
use store::actors::{self, Actor, Status};
use store::break_glass::{self, BreakGlass};
use store::company::{self, Instance};
use store::delegations;
use store::entities;
use store::event::Event;
use store::kills::{self as switches, Kill};
use store::memory::Touched;
use store::policies;
use store::tokens;
use store::webhooks::{self, Webhook};
use types::actor::{KillScope, Role};
use types::caller::{Caller, Channel, Who};
use types::decision::Recording;
use types::delegation::Terms;
use types::id::ActorId;
use types::refusal::{Fault, Stands};

/// The state of one company, as of one log position.
#[derive(Clone)]
pub struct World {
    pub(crate) actors: HashTrieMapSync<ActorId, Arc<Card>>,
    pub(crate) people: People,
    pub(crate) lines: Lines,
    pub(crate) tokens: Passes,
    /// The delegations that can be acted under, by id.
    pub(crate) delegations: HashTrieMapSync<String, Arc<Terms>>,
    pub(crate) kills: Arc<BTreeMap<KillScope, Kill>>,
    pub(crate) policy: Arc<Snapshot>,
    pub(crate) stamp: PolicyStamp,
    pub(crate) head: Arc<Head>,
    /// The head as answers carry it: `<origin> <size> <root prefix>`.
    pub(crate) stamped: Arc<str>,
    pub(crate) instance: Arc<Instance>,
    pub(crate) dev_auth: bool,
    pub(crate) tools: Arc<BTreeSet<String>>,
    pub(crate) build_cache: Arc<BuildCache>,
    pub nouns: Nouns,
    /// Calls by limit and actor.
    pub(crate) rates: Arc<Rates>,
    /// Which decisions for other programs are recorded.
    pub(crate) recording: Recording,
    /// Break-glass grants that nobody has reviewed yet, oldest first.
    pub(crate) break_glass: Arc<Vec<BreakGlass>>,
    /// What everybody has done, while policies look at it.
    pub(crate) histories: Option<Histories>,
    /// A candidate that is tried beside the policies in force.
    pub(crate) trial: Option<Arc<Trial>>,
    /// Webhook subscriptions.
    pub(crate) webhooks: Arc<Vec<Webhook>>,
    /// The types of which the company keeps entities for decisions.
    pub(crate) kept: Arc<BTreeSet<String>>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) outside: Outside,
    /// Whether the last transaction went through.
    pub(crate) writes: Arc<AtomicBool>,
    pub(crate) entities: Arc<Entities>,
    /// Answers to queries that this very world has given.
    pub(crate) cache: Cache,
}

impl World {
    /// Where what is decided now stands.
    pub(crate) fn stands(&self) -> Stands {
        Stands { policy: self.stamp.seq, audit: Arc::clone(&self.stamped) }
    }

    /// Nobody is there yet.
    pub(crate) fn empty(ground: Ground, head: Head) -> World {
        let Ground { policy, version, instance, dev_auth, tools, build_cache, nouns, rates, .. } = ground;
        let Ground { vault, outside, writes, entities, .. } = ground;
        World {
            actors: HashTrieMapSync::new_sync(),
            people: People::default(),
            lines: Lines::default(),
            tokens: Passes::default(),
            delegations: HashTrieMapSync::new_sync(),
            kills: Arc::default(),
            stamp: PolicyStamp { hash: policy.hash().to_owned(), seq: version },
            policy,
            stamped: stamped(&head),
            head: Arc::new(head),
            instance,
            dev_auth,
            tools,
            build_cache,
            nouns,
            rates,
            recording: Recording::default(),
            break_glass: Arc::default(),
            histories: None,
            trial: None,
            webhooks: Arc::default(),
            kept: Arc::default(),
            vault,
            outside,
            writes,
            entities,
            cache: Cache::default(),
        }
    }

    /// Puts policies into force.
    pub(crate) fn govern(&mut self, policy: Arc<Snapshot>, version: i64) {
        self.stamp = PolicyStamp { hash: policy.hash().to_owned(), seq: version };
        self.policy = policy;
    }

    /// Takes in all actors of a company, which may refer to each other.
    pub(crate) fn settle(&mut self, actors: Vec<Actor>) {
        let ids: BTreeSet<ActorId> = actors.iter().map(|actor| actor.id.clone()).collect();
        for mut actor in actors {
            // Each id is kept once, however many name it.
            for named in [&mut actor.team, &mut actor.lead, &mut actor.owner].into_iter().flatten() {
                ids.get(named).inspect(|one| *named = ActorId::clone(one));
            }
            self.actors.insert_mut(actor.id.clone(), Arc::new(Card { actor }));
        }
        let teams: BTreeSet<ActorId> = self.actors.values().filter_map(|card| card.actor.team.clone()).collect();
        teams.iter().for_each(|team| self.draw(team));
        self.people = People::of_all(ids.iter().filter_map(|id| self.actors.get(id)).map(|card| &**card));
    }

    /// Reads the whole directory from the tables.
    pub(crate) fn load(conn: &Connection, ground: Ground, head: Head) -> Result<World, Fault> {
        let mut world = World::empty(ground, head);
        world.settle(actors::all(conn)?);
        // One after the other: there may be very many.
        tokens::all_live(conn, |hash, token| world.tokens.put(hash, token))?;
        delegations::all_live(conn)?.into_iter().for_each(|delegation| world.delegate(delegation.terms));
        use Touched::{BreakGlass, Company, Entities, Kills, Policy, Trial, Webhooks};
        for touched in [Kills, Policy, Trial, BreakGlass, Company, Webhooks, Entities] {
            world.touch(conn, &touched)?;
        }
        Ok(world)
    }

    /// Reads again what an event has touched.
    pub(crate) fn touch(&mut self, conn: &Connection, touched: &Touched) -> Result<(), Fault> {
        match touched {
            Touched::Nothing => {}
            Touched::Policy => {
                self.be_governed(conn)?;
                self.trial = canary::of(conn, &self.build_cache, self.trial.take())?;
                self.look_back(conn)?;
            }
            Touched::Company => self.recording = company::recording(conn)?,
            Touched::BreakGlass => self.break_glass = Arc::new(break_glass::unreviewed(conn)?),
            Touched::Webhooks => self.webhooks = Arc::new(webhooks::enabled(conn)?),
            Touched::Entities => self.kept = Arc::new(entities::kinds(conn)?),
            Touched::Trial => {
                self.trial = canary::of(conn, &self.build_cache, self.trial.take())?;
                self.look_back(conn)?;
            }
            Touched::Actor(id) => {
                if let Some(actor) = actors::get(conn, id)? {
                    self.put(actor);
                }
            }
            Touched::Token(id) => {
                if let Some((hash, token)) = tokens::with_hash(conn, id.as_str())? {
                    self.tokens.put(hash, token);
                }
            }
            Touched::Delegations(ids) => {
                for id in ids {
                    if let Some(delegation) = delegations::get(conn, id)? {
                        self.delegate(delegation.terms);
                    }
                }
            }
            Touched::Kills => {
                let kills = switches::all(conn)?.into_iter().map(|kill| (kill.scope.clone(), kill));
                self.kills = Arc::new(kills.collect());
            }
        }
        Ok(())
    }

    /// Takes in one delegation as it is now.
    pub(crate) fn delegate(&mut self, terms: Terms) {
        if terms.status.is_live() {
            self.delegations.insert_mut(terms.id.clone(), Arc::new(terms));
        } else {
            self.delegations.remove_mut(&terms.id);
        }
    }

    /// Takes in one actor as it is now.
    pub(crate) fn put(&mut self, actor: Actor) {
        let (id, card) = (actor.id.clone(), Arc::new(Card { actor }));
        let old = self.actors.get(&id).cloned();
        self.people.put(old.as_deref(), &card);
        self.actors.insert_mut(id.clone(), Arc::clone(&card));
        if card.actor.team != old.and_then(|old| old.actor.team.clone()) && id.is_team() {
            self.people.teams_below(&id).iter().for_each(|team| self.draw(team));
        }
        if let Some(team) = card.actor.team.as_ref().filter(|team| self.lines.of(team).is_none()) {
            self.draw(team);
        }
    }

    /// Where a team stands.
    fn draw(&mut self, team: &ActorId) {
        let actors = &self.actors;
        self.lines.draw(team, &|id| actors.get(id).and_then(|card| card.actor.team.clone()));
    }

    /// Takes over the policies that the tables say are in force: compiled already, as a rule.
    fn be_governed(&mut self, conn: &Connection) -> Result<(), Fault> {
        let applied = policies::applied(conn)?.ok_or_else(|| Fault::Broken("no policy is in force".into()))?;
        if applied.hash == self.stamp.hash {
            self.stamp.seq = applied.version;
            return Ok(());
        }
        let compiled = match self.build_cache.compiled(&applied.hash) {
            Some(compiled) => compiled,
            None => self.build_cache.snapshot(&Bundle { files: policies::files(conn)? }).map_err(|findings| {
                let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
                Fault::Broken(format!("policies in force do not load: {}", findings.join("; ")))
            })?,
        };
        self.govern(compiled, applied.version);
        Ok(())
    }

    pub(crate) fn set_head(&mut self, head: Head) {
        self.stamped = stamped(&head);
        self.head = Arc::new(head);
    }

    pub fn card(&self, id: &ActorId) -> Option<&Arc<Card>> {
        self.actors.get(id)
    }

    /// The engaged switches that touch a caller.
    pub(crate) fn killed(&self, caller: &Caller) -> Killed {
        if self.kills.is_empty() {
            Killed::default()
        } else {
            kills::killed(&self.kills, caller, self.teams_of(caller))
        }
    }

    /// The same, by name.
    pub(crate) fn touching(&self, caller: &Caller) -> Vec<KillScope> {
        kills::touching(&self.kills, caller, self.teams_of(caller))
    }

    /// The switch that stops a caller in particular.
    pub(crate) fn stopped_by(&self, caller: &Caller) -> Option<&Kill> {
        let theirs = self.touching(caller).into_iter().find(|scope| *scope != KillScope::Global);
        theirs.and_then(|scope| self.kills.get(&scope))
    }

    fn teams_of(&self, caller: &Caller) -> &[ActorId] {
        let actor = kills::stoppable(caller).and_then(|actor| self.actors.get(actor));
        actor.map(|card| self.teams(card)).unwrap_or_default()
    }

    /// The teams that somebody is in, nearest first.
    pub(crate) fn teams<'a>(&'a self, card: &Card) -> &'a [ActorId] {
        self.line(card).map(|line| &**line).unwrap_or_default()
    }

    pub(crate) fn line(&self, card: &Card) -> Option<&Arc<[ActorId]>> {
        self.lines.of(card.actor.team.as_ref()?)
    }

    /// Returns whether a kill switch stops a run: one for its agent, for somebody on whose behalf the run is done, for
    /// any of their teams, or the global one. The run of an agent that has left only ends: no switch but the global
    /// one holds that up.
    pub(crate) fn is_held(&self, agent: &ActorId, askers: &[ActorId]) -> bool {
        let is_there = || self.card(agent).is_some_and(|card| card.actor.status == Status::Active);
        let mut all = askers.iter().chain([agent]);
        !self.kills.is_empty()
            && (self.kills.contains_key(&KillScope::Global) || (all.any(|one| self.is_stopped(one)) && is_there()))
    }

    /// Whether policies in force, or on trial, look at what actors have done.
    fn looks_back(&self) -> bool {
        self.policy.looks_back() || self.trial.as_ref().is_some_and(|trial| trial.looks_back())
    }

    /// Loads what actors have done into memory if the policies look at it, and drops it if none does.
    pub(crate) fn look_back(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.histories = match (self.looks_back(), self.histories.take()) {
            (true, None) => Some(usage::load(conn, self.head.ts)?),
            (true, known) => known,
            (false, _) => None,
        };
        Ok(())
    }

    /// Reads again what those have done whom an event is about.
    pub(crate) fn recount(&mut self, conn: &Connection, actor: &ActorId, event: &Event) -> Result<(), Fault> {
        let Some(histories) = &mut self.histories else { return Ok(()) };
        usage::counted(event)
            .into_iter()
            .chain([actor.clone()])
            .try_for_each(|actor| usage::renew(histories, conn, actor))
    }

    /// What another world of the same company can be begun with.
    pub(crate) fn ground(&self) -> Ground {
        Ground {
            policy: Arc::clone(&self.policy),
            version: self.stamp.seq,
            instance: Arc::clone(&self.instance),
            dev_auth: self.dev_auth,
            tools: Arc::clone(&self.tools),
            build_cache: Arc::clone(&self.build_cache),
            nouns: self.nouns.clone(),
            rates: Arc::clone(&self.rates),
            vault: Arc::clone(&self.vault),
            outside: self.outside.clone(),
            writes: Arc::clone(&self.writes),
            entities: Arc::clone(&self.entities),
        }
    }

    /// How many people with the role admin may act.
    pub fn admins(&self) -> usize {
        self.people.count(Role::Admin)
    }
}

fn stamped(head: &Head) -> Arc<str> {
    let root = hex::encode(head.root);
    format!("{} {} {}", head.origin, head.size, root.get(..16).unwrap_or_default()).into()
}

impl Directory for World {
    fn collections(&self) -> &Collections {
        self.policy.collections()
    }

    fn card(&self, id: &ActorId) -> Option<&Card> {
        self.actors.get(id).map(AsRef::as_ref)
    }

    fn teams(&self, card: &Card) -> &[ActorId] {
        World::teams(self, card)
    }

    fn terms(&self, id: &str) -> Option<&Terms> {
        self.delegations.get(id).map(AsRef::as_ref)
    }

    fn is_stopped(&self, id: &ActorId) -> bool {
        !self.kills.is_empty() && self.killed(&Caller::new(Who::Holder(id.clone()), Channel::Tick)).is_theirs()
    }
}
