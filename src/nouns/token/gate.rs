//! Reading API tokens.

use super::Reader;
use store::tokens::{self, Token};
use types::id::ActorId;
use types::refusal::{Fault, Refusal};
use types::time::Time;

impl Reader<'_> {
    pub fn token(&self, id: &str) -> Result<Option<Token>, Fault> {
        Ok(tokens::get(self.conn()?, id)?)
    }

    /// Whether somebody may have one more token.
    pub fn room_for_token(&self, holder: &ActorId) -> Result<(), Refusal> {
        self.world().tokens.have_room(holder)
    }

    pub fn live_tokens_of(&self, holder: &ActorId) -> Result<Vec<(String, ActorId)>, Fault> {
        Ok(tokens::live_of(self.conn()?, holder)?)
    }

    /// The live tokens that somebody issued for others, with their holders.
    pub fn live_tokens_by(&self, issuer: &ActorId, limit: usize) -> Result<Vec<(String, ActorId)>, Fault> {
        Ok(tokens::live_issued_by(self.conn()?, issuer, limit)?)
    }

    pub fn overdue_tokens(&self, now: Time, limit: usize) -> Result<Vec<Token>, Fault> {
        Ok(tokens::overdue(self.conn()?, now, limit)?)
    }
}
