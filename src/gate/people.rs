//! The people who may act, by role and by team: whoever may decide is found without a look at everybody else.
//!
//! Always true: it holds exactly the active people of the directory beside it, each under their role and under every team
//! that they are in.

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::world::Card;
use crate::store::actors::Status;
use crate::types::actor::{ActorKind, Role};
use crate::types::id::ActorId;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Role(Role),
    /// In the team, or in one below it.
    Team(ActorId),
}

#[derive(Clone, Debug, Default)]
pub(super) struct People(RedBlackTreeMapSync<Group, RedBlackTreeSetSync<ActorId>>);

impl People {
    /// Who is in a group, by id.
    pub fn of<'a>(&'a self, group: &Group) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        self.0.get(group).into_iter().flat_map(RedBlackTreeSetSync::iter)
    }

    /// Everybody: each person has one role.
    pub fn all(&self) -> impl Iterator<Item = &ActorId> {
        let roles = self.0.iter().filter(|(group, _)| matches!(group, Group::Role(_)));
        roles.flat_map(|(_, people)| people.iter())
    }

    pub fn count(&self, role: Role) -> usize {
        self.0.get(&Group::Role(role)).map_or(0, RedBlackTreeSetSync::size)
    }

    /// Takes in a card in place of the one before.
    pub fn put(&mut self, old: Option<&Card>, new: &Card) {
        for group in old.into_iter().flat_map(groups) {
            let left = self.0.get(&group).map(|people| people.remove(&new.actor.id)).unwrap_or_default();
            match left.is_empty() {
                true => self.0.remove_mut(&group),
                false => {
                    self.0.insert_mut(group, left);
                    true
                }
            };
        }
        for group in groups(new) {
            let more = self.0.get(&group).cloned().unwrap_or_default().insert(new.actor.id.clone());
            self.0.insert_mut(group, more);
        }
    }
}

fn groups(card: &Card) -> Vec<Group> {
    if card.actor.kind != ActorKind::Person || card.actor.status != Status::Active {
        return Vec::new();
    }
    let teams = card.teams().iter().cloned().map(Group::Team);
    teams.chain([Group::Role(card.actor.role)]).collect()
}
