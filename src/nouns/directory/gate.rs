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

    /// Returns an existing actor, or 404.
    pub fn actor(&self, id: &ActorId) -> Result<&'a Arc<Card>, Refusal> {
        self.card(id).ok_or_else(Refusal::not_found)
    }

    pub fn cards(&self) -> impl Iterator<Item = &'a Arc<Card>> {
        self.world.actors.values()
    }

    /// Returns the cards of the named actors.
    fn cards_of<'b>(&self, ids: impl Iterator<Item = &'b ActorId>) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        ids.filter_map(|id| world.card(id))
    }

    /// Returns all active people.
    pub fn active_people(&self) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.all())
    }

    /// Returns active people and agents with any of these skills, by id, after a given id.
    pub fn with_any(&self, skills: &[String], after: &str) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        let groups: Vec<Group> = skills.iter().map(|skill| Group::skill(skill)).collect();
        world.people.of_any(&groups, after)
    }

    /// Returns active people with these roles, by id, after a given id.
    pub fn people_of(&self, roles: &[Role], after: &str) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        let groups: Vec<Group> = roles.iter().copied().map(Group::Role).collect();
        world.people.of_any(&groups, after)
    }

    /// Returns ids in the directory with a prefix, after a given id.
    pub fn ids_after(&self, after: &str, beginning: &str, limit: usize) -> Result<Vec<ActorId>, Fault> {
        Ok(actors::ids_after(self.conn()?, after, beginning, limit)?)
    }

    /// The teams that somebody is in, nearest first.
    pub fn teams(&self, card: &Card) -> &'a [ActorId] {
        let world: &'a World = self.world;
        world.teams(card)
    }

    /// Returns direct members of a team by id: people, agents and teams, including those that have left.
    pub fn within(&self, team: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.of(&Group::Within(team.clone())))
    }

    /// Same, including members of the teams below it.
    pub fn below(&self, team: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.below(team))
    }

    /// Returns all team leads by id.
    pub fn leads(&self) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        world.people.leads()
    }

    /// Returns the teams that somebody leads, by id.
    pub fn led_by(&self, lead: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.of(&Group::Led(lead.clone())))
    }

    /// Returns the agents that somebody owns, by id, including those that have left.
    pub fn owned_by(&self, owner: &ActorId) -> impl Iterator<Item = &'a Arc<Card>> {
        let world: &'a World = self.world;
        self.cards_of(world.people.of(&Group::Owned(owner.clone())))
    }

    /// Returns the active people with a role, by id.
    pub fn people(&self, role: Role) -> impl Iterator<Item = &'a ActorId> {
        let world: &'a World = self.world;
        world.people.of(&Group::Role(role))
    }

    pub fn admins(&self) -> usize {
        self.world.admins()
    }

    /// Returns the admins whom no kill switch stops.
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
