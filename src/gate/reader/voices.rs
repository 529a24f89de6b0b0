//! Whose word still counts: a review or an approval that somebody gave, once they are stopped, have left, or are another.

use super::Reader;
use crate::gate::declare::resource::Directory as _;
use crate::store::actors::Status;
use crate::store::changes::Review;
use crate::store::history;
use crate::types::actor::{KillScope, Role};
use crate::types::id::ActorId;
use crate::types::time::Time;

impl Reader<'_> {
    /// Whether a review still counts: who gave it is there, no kill switch stops them, they have the role that they had then or
    /// are an admin, and so is who issued the token that it was given with. Where that cannot be read it does not.
    pub fn counts(&self, review: &Review) -> bool {
        !self.world().is_stopped(&review.by)
            && self.is_as_then(&review.by, review.at)
            && self.is_vouched(review.issuer.as_ref(), review.at)
    }

    /// Whether a voice is its holder's own, or whoever issued the token that it was given with is there, not stopped by a kill
    /// switch of their own, and what they were then.
    pub fn is_vouched(&self, issuer: Option<&ActorId>, at: Time) -> bool {
        issuer.is_none_or(|issuer| {
            let own = KillScope::Actor(issuer.clone());
            !self.kills().any(|kill| kill.scope == own) && self.is_as_then(issuer, at)
        })
    }

    fn is_as_then(&self, id: &ActorId, at: Time) -> bool {
        let Some(card) = self.card(id) else { return false };
        let then = || self.conn().and_then(|conn| Ok(history::role_at(conn, id, at)?));
        let is_same = || then().is_ok_and(|then| then == Some(card.actor.role));
        card.actor.status == Status::Active && (card.actor.role == Role::Admin || is_same())
    }
}
