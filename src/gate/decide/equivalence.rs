//! When two questions are alike: everything that a policy could look at is the same, except for names that no policy
//! mentions. The answer to one is then the answer to the other, because Cedar distinguishes entities only by their
//! attributes, by identity, and by the names that policies mention.
//!
//! Always true: a key holds everything that [`Asker`](crate::decide::question::Asker) gathers, except the time and what
//! was done before; anything added there must be added here. Callers under a delegation are asked about each time.
//! Names are replaced by the order in which they turn up; types and all other values stay.

use std::collections::{BTreeMap, BTreeSet};

use crate::decide::card::Card;
use crate::decide::world::World;
use crate::declare::fact::Far;
use crate::declare::target::{Fact, Target, Thing, full_name};
use policy::Snapshot;
use types::caller::{Caller, Who};
use types::id::ActorId;

/// The entities that policies name, by their Cedar type.
pub struct Names(BTreeMap<String, BTreeSet<String>>);

impl Names {
    /// The names in any of these policies.
    pub fn of(snapshots: &[&Snapshot]) -> Names {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (kind, id) in snapshots.iter().flat_map(|snapshot| snapshot.literals()) {
            names.entry(kind).or_default().insert(id);
        }
        Names(names)
    }

    fn know(&self, kind: &str, id: &str) -> bool {
        self.0.get(kind).is_some_and(|ids| ids.contains(id))
    }
}

struct Writer<'a> {
    world: &'a World,
    names: &'a Names,
    key: &'a mut Vec<u8>,
    seen: Vec<(ActorId, Far)>,
}

/// Writes what the question is, into `key`.
pub fn write(
    key: &mut Vec<u8>,
    world: &World,
    names: &Names,
    caller: &Caller,
    (operation, target, granted): (&str, &Target, &[String]),
) {
    let mut writer = Writer { world, names, key, seen: Vec::with_capacity(12) };
    writer.text(operation);
    writer.text(caller.channel.name());
    let stopped = world.killed(caller);
    writer.flags(&[stopped.global, stopped.actor, stopped.team, stopped.issuer, caller.break_glass.is_some()]);
    writer.count(granted.len());
    granted.iter().for_each(|kind| writer.text(kind));
    writer.caller(caller);
    writer.maybe(caller.issuer.as_ref(), Far::End);
    writer.run(caller);
    writer.target(target);
    writer.cards();
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.key.extend_from_slice(text.as_bytes());
    }

    fn count(&mut self, number: usize) {
        self.key.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn flags(&mut self, flags: &[bool]) {
        self.key.extend(flags.iter().map(|flag| u8::from(*flag)));
    }

    fn caller(&mut self, caller: &Caller) {
        match &caller.who {
            Who::Visitor => self.key.push(0),
            Who::Server => self.key.push(1),
            Who::Holder(actor) => {
                self.key.push(2);
                self.actor(actor, Far::End);
                self.count(0);
            }
            Who::Token { actor, scopes, .. } => {
                self.key.push(2);
                self.actor(actor, Far::End);
                self.count(scopes.len());
                scopes.iter().for_each(|scope| self.text(scope.name()));
            }
        }
    }

    fn run(&mut self, caller: &Caller) {
        self.key.push(u8::from(caller.run.is_some()));
        if let Some(run) = &caller.run {
            self.actor(&run.asker, Far::End);
            self.all(run.askers.iter(), Far::Beyond);
            [run.depth, run.steps, run.calls]
                .iter()
                .for_each(|number| self.key.extend_from_slice(&number.to_le_bytes()));
            self.key.extend_from_slice(&run.cost_cents.to_le_bytes());
            self.count(run.labels.len());
            run.labels.iter().for_each(|label| self.text(label.name()));
        }
    }

    /// Somebody: by name if a policy names them, otherwise by when they turned up.
    fn actor(&mut self, id: &ActorId, far: Far) {
        let kind = if id.is_team() { "Ok::Team" } else { "Ok::Actor" };
        let place = match self.seen.iter_mut().position(|(seen, _)| seen == id) {
            Some(place) => place,
            None => {
                self.seen.push((id.clone(), far));
                self.seen.len() - 1
            }
        };
        if let Some((_, nearest)) = self.seen.get_mut(place) {
            *nearest = far.min(*nearest);
        }
        self.key.push(if id.is_team() { 1 } else { 0 });
        self.count(place);
        self.thing(kind, id.as_str());
    }

    fn maybe(&mut self, id: Option<&ActorId>, far: Far) {
        self.key.push(u8::from(id.is_some()));
        if let Some(id) = id {
            self.actor(id, far);
        }
    }

    fn all<'b>(&mut self, ids: impl ExactSizeIterator<Item = &'b ActorId>, far: Far) {
        self.count(ids.len());
        ids.for_each(|id| self.actor(id, far));
    }

    /// A name, if a policy names it. What is no actor needs nothing else: nothing refers to it.
    fn thing(&mut self, kind: &str, id: &str) {
        let named = self.names.know(kind, id);
        self.flags(&[named]);
        if named {
            self.text(id);
        }
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::Company => self.key.push(10),
            Target::Actor(id) => {
                self.key.push(11);
                self.actor(id, Far::End);
            }
            Target::Thing(thing) => {
                self.key.push(12);
                self.text(&thing.kind);
                self.thing(&full_name(&thing.kind), &thing.id);
                self.facts(thing);
            }
        }
    }

    /// What a policy can look at.
    fn facts(&mut self, thing: &Thing) {
        let declared = self.world.nouns.facts(thing);
        for spec in declared {
            self.fact(thing.fact(spec.name), spec.far);
        }
        for (name, fact) in thing.facts().filter(|(name, _)| declared.iter().all(|spec| spec.name != *name)) {
            self.text(name);
            self.fact(Some(fact), Far::Link);
        }
    }

    fn fact(&mut self, fact: Option<&Fact>, far: Far) {
        match fact {
            None => self.key.push(0),
            Some(Fact::Actor(id)) => {
                self.key.push(1);
                self.actor(id, far);
            }
            Some(Fact::Actors(ids)) => {
                self.key.push(2);
                self.all(ids.iter(), far);
            }
            Some(Fact::Text(text)) => {
                self.key.push(3);
                self.text(text);
            }
            Some(Fact::Texts(texts)) => {
                self.key.push(6);
                self.count(texts.len());
                texts.iter().for_each(|text| self.text(text));
            }
            Some(Fact::Flag(flag)) => self.key.extend([4, u8::from(*flag)]),
            Some(Fact::Number(number)) => self.number(5, *number),
            Some(Fact::Decimal(number)) => self.number(7, *number),
            Some(Fact::Time(at)) => self.number(8, at.0),
        }
    }

    fn number(&mut self, kind: u8, number: i64) {
        self.key.push(kind);
        self.key.extend_from_slice(&number.to_le_bytes());
    }

    /// Everybody who has turned up, as far as it matters.
    fn cards(&mut self) {
        let world = self.world;
        let mut at = 0;
        while let Some((id, far)) = self.seen.get(at).cloned() {
            at += 1;
            let card = world.card(&id);
            self.key.push(u8::from(card.is_some()));
            if let Some(card) = card.filter(|_| far < Far::Beyond) {
                self.card(world, card, if far == Far::End { Far::Link } else { Far::Beyond });
            }
        }
    }

    fn card(&mut self, world: &World, card: &Card, next: Far) {
        let actor = &card.actor;
        self.key.extend([actor.kind as u8, actor.role as u8, actor.status as u8, actor.trust as u8]);
        self.maybe(actor.team.as_ref(), next);
        self.maybe(actor.lead.as_ref(), next);
        self.maybe(actor.owner.as_ref(), next);
        self.all(world.teams(card).iter(), Far::Beyond);
    }
}
