//! What the caller may see. Actors that it may not see do not exist for it: neither the content nor the timing of an
//! answer tells the two apart.

use std::sync::Arc;

use super::{Reader, Source};
use crate::decide::card::Card;
use crate::declare::target::Target;
use crate::reader::veil;
use store::tasks::is_of_ask;
use types::caller::Who;
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};

impl<'a> Reader<'a> {
    /// Whether the target exists as far as the caller can tell.
    pub fn sees(&self, target: &Target) -> bool {
        self.world.nouns.sight(target).is_none_or(|operation| self.asker(target).sees(operation))
    }

    /// What a generated id names, if it is there.
    pub fn named(&self, id: &str) -> Result<Option<Target>, Stop> {
        if !Id::is_generated(id) {
            return Ok(None);
        }
        self.things.find(id, self)
    }

    /// Whether an actor or a team is there, as far as the caller can tell: what is absent is asked about as what is hidden.
    pub fn knows(&self, id: &ActorId) -> bool {
        let seen = self.may_see(id);
        seen && self.card(id).is_some()
    }

    /// An actor or a team that is there as far as the caller can tell, or 404.
    pub fn known(&self, id: &ActorId) -> Result<&'a Arc<Card>, Refusal> {
        let seen = self.may_see(id);
        self.card(id).filter(|_| seen).ok_or_else(Refusal::not_found)
    }

    /// Whether a text is the id or the kill switch of somebody whom the caller may not see.
    pub fn hides(&self, text: &str) -> bool {
        veil::named(text).is_some_and(|id| self.card(&id).is_some() && !self.may_see(&id))
    }

    /// A sentence of ours, as the caller may read it.
    pub fn veiled(&self, sentence: &str) -> String {
        veil::text(sentence, self)
    }

    /// What a task is called: by its people's words, or by ours, which name the agent that was asked.
    pub fn title(&self, title: String) -> String {
        if is_of_ask(&title) { self.veiled(&title) } else { title }
    }

    /// Returns whether the caller may see an actor. Everyone may see themselves; the server may name anybody; a caller
    /// without a token sees nobody.
    pub(super) fn may_see(&self, id: &ActorId) -> bool {
        match &self.caller.who {
            Who::Server => return true,
            Who::Visitor => return false,
            Who::Token { .. } | Who::Holder(_) if *id == self.caller.actor() => return true,
            Who::Token { .. } | Who::Holder(_) => {}
        }
        if let Some(seen) = self.sights.borrow().get(id) {
            return *seen;
        }
        // What is absent is asked about as what is hidden is.
        let about = self.card(id).map(|card| card.actor.id.clone());
        let target = Target::Actor(about.clone().unwrap_or_else(ActorId::system));
        let look = || self.sees(&target);
        let seen = match (about, self.world.nouns.sight(&target)) {
            (Some(about), Some(sight)) if self.is_of_published() => {
                self.world.cache.sees(&self.world.policy, (self.caller, &about, sight), look)
            }
            _ => look(),
        };
        self.sights.borrow_mut().insert(id.clone(), seen);
        seen
    }

    /// Whether its world never changes. The writer's own does, with each job.
    fn is_of_published(&self) -> bool {
        matches!(self.source, Source::Pool(..))
    }
}
