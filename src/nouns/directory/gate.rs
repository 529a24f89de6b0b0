//! Reads the directory by its index: actors, members of teams, leads, and what somebody owns.

use std::sync::Arc;

use super::Reader;
use crate::decide::card::Card;
use crate::decide::index::Group;
use crate::decide::world::World;
use store::actors;
use types::actor::{KillScope, Role};
use types::id::ActorId;
use types::refusal::{Fault, Refusal};

impl<'a> Reader<'a> {
    pub fn card(&self, id: &ActorId) -> Option<&'a Arc<Card>> {
        self.world.card(id)
    }

    /// An actor that exists, or 404.
    pub fn actor(&self, id: &ActorId) -> Result<&'a Arc<Card>, Refusal> {
        self.card(id).ok_or_else(Refusal::not_found)
    }

    pub fn cards(&self) -> impl Iterator<Item = &'a Arc<Card>> {
        self.world.actors.values()
    }

    /// The cards of actors that something names.
    fn cards_of<'b>(&self, ids: impl Iterator<Item = &'b ActorId>) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        ids.filter_map(|id| world.card(id))
    }

    /// Everybody who may act, but for agents.
    pub fn active_people(&self) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.all())
    }

    /// Active people and agents with any of these skills, by id from after a place on.
    pub fn with_any(&self, skills: &[String], after: &str) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        let groups: Vec<Group> = skills.iter().map(|skill| Group::skill(skill)).collect();
        world.people.of_any(&groups, after)
    }

    /// Active people of these roles, by id from after a place on.
    pub fn people_of(&self, roles: &[Role], after: &str) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        let groups: Vec<Group> = roles.iter().copied().map(Group::Role).collect();
        world.people.of_any(&groups, after)
    }

    /// The ids in the directory that begin so, from after a place on.
    pub fn ids_after(&self, after: &str, beginning: &str, limit: usize) -> Result<Vec<ActorId>, Fault> {
        Ok(actors::ids_after(self.conn()?, after, beginning, limit)?)
    }

    /// The teams that somebody is in, nearest first.
    pub fn teams(&self, card: &Card) -> &'a [ActorId] {
        let world: &'a World = self.world;
        world.teams(card)
    }

    /// Whatever is in a team itself, by id: people, agents and teams, also those that have left.
    pub fn within(&self, team: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.of(&Group::Within(team.clone())))
    }

    /// The same, and what is in the teams below it.
    pub fn below(&self, team: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.below(team))
    }

    /// Whoever leads a team, by id.
    pub fn leads(&self) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        world.people.leads()
    }

    /// The teams that somebody leads, by id.
    pub fn led_by(&self, lead: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.of(&Group::Led(lead.clone())))
    }

    /// The agents that somebody answers for, by id, also those that have left.
    pub fn owned_by(&self, owner: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.of(&Group::Owned(owner.clone())))
    }

    /// The people of a role who may act, by id.
    pub fn people(&self, role: Role) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        world.people.of(&Group::Role(role))
    }

    pub fn admins(&self) -> usize {
        self.world.admins()
    }

    /// Admins whom no kill switch stops.
    pub fn free_admins(&self) -> impl Iterator<Item = &'a Arc<Card>> {
        let stopped = |card: &Card| {
            self.world.kills.keys().any(|scope| match scope {
                KillScope::Actor(id) => *id == card.actor.id,
                KillScope::Team(team) => self.teams(card).contains(team),
                KillScope::Global | KillScope::Tool(_) => false,
            })
        };
        self.people(Role::Admin).filter_map(|id| self.card(id)).filter(move |card| !stopped(card))
    }
}
