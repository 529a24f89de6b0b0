//! The company of a policy test, made into the world that the gate decides in, by the very code that serves.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::decide::entities::Entities;
use crate::decide::ground::{Ground, Outside};
use crate::decide::world::World;
use crate::declare::noun::{Noun, Nouns};
use crate::declare::operation::{Entry, resources};
use crate::declare::schema::schema;
use crate::declare::target::uid;
use crate::state::vault::Vault;
use crate::write::build_cache::BuildCache;
use log::head::Head;
use policy::Snapshot;
use policy::testing::{Delegation, Fixture, Member, Team};
use store::actors::{Actor, Status};
use store::company::Instance;
use types::actor::{ActorKind, Role, Trust};
use types::delegation::{Authority, DelegationStatus, Terms};
use types::history::{Counts, History};
use types::id::ActorId;
use types::operations::Operations;
use types::time::Time;

/// The operations that a test can ask about, and what every company that is made of one shares.
pub struct Known<'a> {
    pub(super) entries: &'a [Entry],
    build_cache: Arc<BuildCache>,
    pub(super) nouns: Nouns,
    entities: Arc<Entities>,
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

    /// What a case says that its actor has done before.
    pub(super) fn remember(
        &self,
        world: &mut World,
        (actor, done): (&ActorId, &History),
        now: Time,
    ) -> Result<(), String> {
        let is_known = |name: &String| self.entries.iter().any(|entry| entry.spec.name == *name && entry.is_counted());
        if let Some(unknown) = done.keys().find(|name| !is_known(name)) {
            return Err(format!("hist: there is no operation `{unknown}` that leaves entries in the log"));
        }
        let seen = done.iter().map(|(operation, done)| (operation.clone(), Counts::seen(*done, now)));
        world.histories = Some([(actor.clone(), Arc::new(seen.collect()))].into_iter().collect());
        Ok(())
    }

    /// What an operation can be about. An action that the company's own schema adds can be about anything.
    pub(super) fn about(&self, world: &World, op: &str) -> Result<Vec<&'static Noun>, String> {
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
