//! The few entities that a decision reaches, starting from the asker and from the target. Everything comes from memory.

use std::collections::BTreeSet;

use cedar_policy::EntityUid;

use crate::admit::chain::{self, Links};
use crate::decide::card::nobody;
use crate::decide::context;
use crate::decide::world::World;
use crate::declare::fact::Far;
use crate::declare::target::{Fact, Target, Thing, actor_uid, uid, uid_of};
use policy::{Closed, Giver, Record};
use types::caller::{Caller, Who};
use types::id::ActorId;
use types::time::Time;

/// The asker's part of a question: the same for every target, and gathered once for all of them.
pub(crate) struct Principal {
    pub(super) uid: EntityUid,
    /// Of the caller, of those on whose behalf it asks, and of what each of them refers to.
    pub(super) entities: Vec<Closed>,
    pub(super) facts: Record,
    /// On whose behalf it is asked, nearest first.
    pub(super) givers: Vec<Giver>,
    /// The actors and teams among the entities.
    pub(super) reached: BTreeSet<ActorId>,
}

impl Principal {
    pub(crate) fn new(world: &World, caller: &Caller, now: Time) -> Principal {
        let mut entities = Entities { world, seen: BTreeSet::new(), found: Vec::new() };
        entities.add_caller(caller);
        let links: Option<Links> = chain::links(world, caller, now);
        let given = links.as_deref().unwrap_or_default();
        given.iter().for_each(|link| entities.add_with_links(&link.from));
        let facts = context::of(world, caller, given, now);
        let mut givers =
            if caller.under.is_some() { chain::givers(world, caller, links.as_deref(), now) } else { Vec::new() };
        let above = chain::agents_above(world, caller);
        above.iter().for_each(|agent| entities.add_with_links(agent));
        givers.extend(above.iter().map(|agent| chain::above(world, caller, agent, now)));
        let Entities { seen: reached, found, .. } = entities;
        let entities = found.into_iter().map(|(_, entity)| entity).collect();
        Principal { uid: uid_of_caller(caller), entities, facts, givers, reached }
    }
}

/// The target's part of a question: the same for every asker, apart from the entities that an asker reaches anyway.
pub(crate) struct About {
    pub(super) uid: EntityUid,
    /// The target, and whom it refers to by their ids.
    entities: Vec<(Option<ActorId>, Closed)>,
}

impl About {
    pub(crate) fn new(world: &World, target: &Target) -> About {
        let uid = uid_of(target);
        let mut entities = Entities { world, seen: BTreeSet::new(), found: Vec::new() };
        entities.add_target(target, &uid);
        About { uid, entities: entities.found }
    }

    /// What it adds to what the principal reaches.
    pub(super) fn beside<'b>(&'b self, principal: &'b Principal) -> impl Iterator<Item = &'b Closed> {
        let is_new = |id: &Option<ActorId>| id.as_ref().is_none_or(|id| !principal.reached.contains(id));
        self.entities.iter().filter(move |(id, _)| is_new(id)).map(|(_, entity)| entity)
    }

    /// The actors and teams among them.
    pub(super) fn reached(&self) -> impl Iterator<Item = &ActorId> {
        self.entities.iter().filter_map(|(id, _)| id.as_ref())
    }
}

fn uid_of_caller(caller: &Caller) -> EntityUid {
    match &caller.who {
        Who::Visitor => uid("Visitor", "anyone"),
        Who::Server => uid("Server", "ok"),
        Who::Token { actor, .. } | Who::Holder(actor) => actor_uid(actor),
    }
}

/// The few entities that a decision can reach: caller and target, and what each of them refers to.
struct Entities<'a> {
    world: &'a World,
    seen: BTreeSet<ActorId>,
    found: Vec<(Option<ActorId>, Closed)>,
}

impl Entities<'_> {
    fn add_caller(&mut self, caller: &Caller) {
        match &caller.who {
            Who::Token { actor, .. } | Who::Holder(actor) => {
                self.add_with_links(actor);
                caller.issuer.iter().for_each(|issuer| self.add_with_links(issuer));
                caller.run.iter().for_each(|run| self.add_with_links(&run.asker));
            }
            Who::Visitor | Who::Server => {
                self.found.push((None, Closed::new(&uid_of_caller(caller), [], &Record::new())));
            }
        }
    }

    fn add_target(&mut self, target: &Target, uid: &EntityUid) {
        match target {
            Target::Actor(id) if self.world.card(id).is_none() => self.found.push((Some(id.clone()), nobody(id))),
            Target::Actor(id) => self.add_with_links(id),
            Target::Company => self.found.push((None, Closed::new(uid, [], &Record::new()))),
            Target::Thing(thing) => {
                let facts = self.facts(thing);
                self.found.push((None, Closed::new(uid, [], &facts)));
            }
        }
    }

    /// What its kind declares of a thing, and what its collection does, with whom it names.
    fn facts(&mut self, thing: &Thing) -> Record {
        let world = self.world;
        debug_assert!(world.nouns.named(&thing.kind).is_some_and(|noun| noun.fits(thing)), "{thing:?}");
        let declared = world.nouns.facts(thing);
        let more = thing.facts().filter(|(name, _)| declared.iter().all(|spec| spec.name != *name));
        let more = more.map(|(name, fact)| (name, Some(fact), Far::Link, true));
        let declared = declared.iter().map(|spec| (spec.name, thing.fact(spec.name), spec.far, spec.is_optional()));
        declared.chain(more).fold(Record::new(), |facts, (name, fact, far, is_optional)| match fact {
            None => facts,
            Some(Fact::Text(text)) => facts.string(name, text),
            Some(Fact::Texts(texts)) => facts.strings(name, texts.iter().map(String::as_str)),
            Some(Fact::Flag(flag)) => facts.bool(name, *flag),
            Some(Fact::Number(number)) => facts.long(name, *number),
            Some(Fact::Decimal(number)) => facts.decimal(name, *number),
            Some(Fact::Time(at)) => facts.datetime(name, at.0),
            Some(Fact::Actor(id)) if is_optional && world.card(id).is_none() && *id != ActorId::system() => facts,
            Some(Fact::Actor(id)) => {
                self.add_named(id, far);
                facts.entity(name, &actor_uid(id))
            }
            Some(Fact::Actors(ids)) => {
                let is_there = |id: &&ActorId| far == Far::Beyond || world.card(id).is_some();
                let ids: Vec<&ActorId> = ids.iter().filter(is_there).collect();
                ids.iter().for_each(|id| self.add_named(id, far));
                facts.entities(name, &ids.into_iter().map(actor_uid).collect::<Vec<_>>())
            }
        })
    }

    fn add_named(&mut self, id: &ActorId, far: Far) {
        match far {
            Far::End => self.add_with_links(id),
            Far::Link => self.add(id),
            Far::Beyond => {}
        }
    }

    fn add_with_links(&mut self, id: &ActorId) {
        self.add(id);
        if let Some(card) = self.world.card(id) {
            let actor = &card.actor;
            [&actor.team, &actor.lead, &actor.owner].into_iter().flatten().for_each(|link| self.add(link));
        }
    }

    fn add(&mut self, id: &ActorId) {
        let entity = match self.world.card(id) {
            Some(card) => self.world.entities.of(card, self.world.line(card)),
            None if *id == ActorId::system() => nobody(id),
            None => return,
        };
        if self.seen.insert(id.clone()) {
            self.found.push((Some(id.clone()), entity));
        }
    }
}
