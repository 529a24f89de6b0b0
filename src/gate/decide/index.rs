//! The directory's index: who may act, by role and by team, and which actors depend on whom. No query scans the whole
//! directory.
//!
//! Always true: it holds the active people of its directory, each under their role; these and the active agents, under each
//! of their skills; and every actor, active or not, under its team, its lead and its owner.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use crate::decide::card::Card;
use store::actors::Status;
use types::actor::{ActorKind, Role};
use types::id::ActorId;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Role(Role),
    /// The teams that somebody leads.
    Led(ActorId),
    /// Whatever is in the team itself: people, agents and teams, also those that have left.
    Within(ActorId),
    /// The teams in it alone.
    Teams(ActorId),
    /// The agents that somebody answers for.
    Owned(ActorId),
    /// In lower case.
    Skill(String),
}

impl Group {
    pub fn skill(name: &str) -> Group {
        Group::Skill(name.to_ascii_lowercase())
    }
}

/// Ids in order. Most groups are of a few, which take a tenth of the memory side by side.
#[derive(Clone, Debug)]
enum Ids {
    Few(Arc<[ActorId]>),
    Many(RedBlackTreeSetSync<ActorId>),
}

/// The most that stand side by side: a change copies them.
const FEW: usize = 64;

impl Default for Ids {
    fn default() -> Ids {
        Ids::Few(Arc::default())
    }
}

impl Ids {
    /// Of ids in order.
    fn of(mut ids: Vec<ActorId>) -> Ids {
        ids.dedup();
        if ids.len() <= FEW { Ids::Few(ids.into()) } else { Ids::Many(ids.into_iter().collect()) }
    }

    fn len(&self) -> usize {
        match self {
            Ids::Few(ids) => ids.len(),
            Ids::Many(ids) => ids.size(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &ActorId> {
        self.after(None)
    }

    /// Those after an id; all of them after none.
    fn after<'a>(&'a self, id: Option<&ActorId>) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        let (few, many) = match self {
            Ids::Few(ids) => (ids.get(id.map_or(0, |id| ids.partition_point(|one| one <= id))..), None),
            Ids::Many(ids) => {
                let from = id.cloned().map_or(Bound::Unbounded, Bound::Excluded);
                (None, Some(ids.range((from, Bound::Unbounded))))
            }
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    fn with(&self, id: &ActorId) -> Ids {
        match self {
            Ids::Many(ids) => Ids::Many(ids.insert(id.clone())),
            Ids::Few(ids) => match ids.binary_search(id) {
                Ok(_) => self.clone(),
                Err(_) if ids.len() == FEW => Ids::Many(ids.iter().chain([id]).cloned().collect()),
                Err(at) => Ids::Few(ids.iter().take(at).chain([id]).chain(ids.iter().skip(at)).cloned().collect()),
            },
        }
    }

    fn without(&self, id: &ActorId) -> Ids {
        match self {
            Ids::Many(ids) => Ids::Many(ids.remove(id)),
            Ids::Few(ids) => Ids::Few(ids.iter().filter(|one| *one != id).cloned().collect()),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct People(RedBlackTreeMapSync<Group, Ids>);

impl People {
    /// Builds the index from all cards, which must be sorted by id. Each group is built once, not again for each of its
    /// members.
    pub fn of_all<'a>(cards: impl Iterator<Item = &'a Card>) -> People {
        let mut all: BTreeMap<Group, Vec<ActorId>> = BTreeMap::new();
        for card in cards {
            for group in groups(card) {
                all.entry(group).or_default().push(card.actor.id.clone());
            }
        }
        People(all.into_iter().map(|(group, ids)| (group, Ids::of(ids))).collect())
    }

    /// Who is in a group, by id.
    pub fn of<'a>(&'a self, group: &Group) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        self.0.get(group).into_iter().flat_map(Ids::iter)
    }

    /// Every active person: each has one role. Groups stand in order, roles first.
    pub fn all(&self) -> impl Iterator<Item = &ActorId> {
        let roles = self.0.iter().take_while(|(group, _)| matches!(group, Group::Role(_)));
        roles.flat_map(|(_, people)| people.iter())
    }

    /// Who is in any of the groups, once each, by id from after an id on.
    pub fn of_any<'a>(&'a self, groups: &[Group], after: &str) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        let after = after.parse::<ActorId>().ok();
        let sets = groups.iter().filter_map(|group| self.0.get(group));
        let mut sets: Vec<_> = sets.map(|set| set.after(after.as_ref()).peekable()).collect();
        std::iter::from_fn(move || {
            let next = sets.iter_mut().filter_map(|set| set.peek().copied()).min()?;
            for set in &mut sets {
                set.next_if_eq(&next);
            }
            Some(next)
        })
    }

    /// Whatever is in a team, and in those below it. A team in a circle of teams is gone through once.
    pub fn below<'a>(&'a self, team: &ActorId) -> impl Iterator<Item = &'a ActorId> + use<'a> {
        let (mut seen, mut open) = (BTreeSet::from([team.clone()]), vec![self.of(&Group::Within(team.clone()))]);
        std::iter::from_fn(move || {
            loop {
                let Some(next) = open.last_mut()?.next() else {
                    open.pop();
                    continue;
                };
                if !next.is_team() {
                    return Some(next);
                }
                if seen.insert(next.clone()) {
                    open.push(self.of(&Group::Within(next.clone())));
                    return Some(next);
                }
            }
        })
    }

    /// A team and those below it; one in a circle of teams comes once.
    pub fn teams_below(&self, team: &ActorId) -> BTreeSet<ActorId> {
        let (mut seen, mut open) = (BTreeSet::from([team.clone()]), vec![team.clone()]);
        while let Some(team) = open.pop() {
            let new = self.of(&Group::Teams(team)).filter(|id| seen.insert(ActorId::clone(id)));
            open.extend(new.cloned().collect::<Vec<ActorId>>());
        }
        seen
    }

    /// Whoever leads a team. Before them stand only roles.
    pub fn leads(&self) -> impl Iterator<Item = &ActorId> {
        let lead = |group: &Group| matches!(group, Group::Led(_));
        let leads = self.0.keys().skip_while(move |group| !lead(group));
        leads.map_while(|group| if let Group::Led(lead) = group { Some(lead) } else { None })
    }

    pub fn count(&self, role: Role) -> usize {
        self.0.get(&Group::Role(role)).map_or(0, Ids::len)
    }

    /// Takes in a card in place of the one before.
    pub fn put(&mut self, old: Option<&Card>, new: &Card) {
        for group in old.into_iter().flat_map(groups) {
            let left = self.0.get(&group).map(|ids| ids.without(&new.actor.id)).unwrap_or_default();
            match left.len() == 0 {
                true => self.0.remove_mut(&group),
                false => {
                    self.0.insert_mut(group, left);
                    true
                }
            };
        }
        for group in groups(new) {
            let more = self.0.get(&group).cloned().unwrap_or_default().with(&new.actor.id);
            self.0.insert_mut(group, more);
        }
    }
}

fn groups(card: &Card) -> Vec<Group> {
    let actor = &card.actor;
    let within = actor.team.iter().cloned().map(Group::Within);
    let parts = actor.team.iter().filter(|_| actor.kind == ActorKind::Team).cloned().map(Group::Teams);
    let within = within.chain(parts);
    let hangs = within.chain(actor.lead.iter().cloned().map(Group::Led));
    let hangs = hangs.chain(actor.owner.iter().cloned().map(Group::Owned));
    let is_active = actor.status == Status::Active;
    let can = is_active && matches!(actor.kind, ActorKind::Person | ActorKind::Agent);
    let hangs = hangs.chain(actor.skills.iter().filter(|_| can).map(|skill| Group::skill(skill)));
    if actor.kind != ActorKind::Person || !is_active {
        return hangs.collect();
    }
    hangs.chain([Group::Role(actor.role)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::actors::Actor;
    use types::actor::Trust;
    use types::time::Time;

    fn card(number: usize) -> Card {
        let id = |name: String| name.parse::<ActorId>().unwrap();
        let team = id(format!("team:t{}", number % 3));
        let kind = [ActorKind::Person, ActorKind::Agent, ActorKind::OutsideAgent][number % 7 % 3];
        let skills = [vec![], vec!["Tax".into(), "tax".into()], vec!["law".into()]];
        let actor = Actor {
            id: id(format!("a{number:04}")),
            name: String::new(),
            kind,
            role: kind.usual_role(),
            team: (!number.is_multiple_of(5)).then(|| team.clone()),
            lead: None,
            owner: kind.is_agent().then(|| id(format!("a{:04}", number % 4))),
            admin: false,
            skills: skills[number % 3].clone(),
            trust: Trust::Standard,
            status: if number.is_multiple_of(11) { Status::Offboarded } else { Status::Active },
            created_at: Time(0),
        };
        Card { actor }
    }

    #[test]
    fn all_at_once_or_one_by_one_they_are_indexed_alike() {
        let cards: Vec<Card> = (0..400).map(card).collect();
        let mut one_by_one = People::default();
        cards.iter().rev().for_each(|card| one_by_one.put(None, card));
        let listed = |people: &People| -> Vec<(Group, bool, Vec<ActorId>)> {
            let groups = people.0.iter();
            groups
                .map(|(group, ids)| (group.clone(), matches!(ids, Ids::Few(_)), ids.iter().cloned().collect()))
                .collect()
        };
        assert_eq!(listed(&People::of_all(cards.iter())), listed(&one_by_one));
    }
}
