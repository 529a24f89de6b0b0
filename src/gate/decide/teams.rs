//! Teams, each with those above it. Whoever is in a team is looked up by it, so a team that moves takes along everybody in
//! it, and nobody's card changes.

use std::sync::Arc;

use rpds::HashTrieMapSync;

use types::id::ActorId;

/// A chain of teams longer than this is a mistake in the data.
const DEEPEST: usize = 16;

/// By team, itself and those above it, nearest first. Always true: every team that somebody is in has its line, also one
/// that is not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(HashTrieMapSync<ActorId, Arc<[ActorId]>>);

impl Lines {
    pub fn of(&self, team: &ActorId) -> Option<&Arc<[ActorId]>> {
        self.0.get(team)
    }

    /// Draws the line of a team anew, by what each team is in.
    pub fn draw(&mut self, team: &ActorId, above: &dyn Fn(&ActorId) -> Option<ActorId>) {
        let (mut line, mut next) = (Vec::new(), Some(team.clone()));
        while let Some(team) = next.take_if(|team| !line.contains(team) && line.len() < DEEPEST) {
            next = above(&team);
            line.push(team);
        }
        self.0.insert_mut(team.clone(), line.into());
    }
}
