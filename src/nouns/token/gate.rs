//! Reads API tokens.

use super::Reader;
use store::company;
use store::tokens::{self, Token};
use types::id::ActorId;
use types::refusal::{Fault, Refusal};
use types::time::Time;
use types::token::TokenHash;

impl Reader<'_> {
    pub fn token(&self, id: &str) -> Result<Option<Token>, Fault> {
        Ok(tokens::get(self.conn()?, id)?)
    }

    /// Returns the token whose value has this hash, even if it has ended.
    pub fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, Fault> {
        match self.world().tokens.get(hash) {
            Some(live) => self.token(live.id().as_str()),
            None => Ok(tokens::ended_with_hash(self.conn()?, hash)?),
        }
    }

    /// Returns when a token was revoked, if it was.
    pub fn revoked_at(&self, id: Option<&str>) -> Result<Option<Time>, Fault> {
        let token = id.map(|id| self.token(id)).transpose()?.flatten();
        Ok(token.and_then(|token| token.revoked_at))
    }

    /// Checks whether a token was revoked; `false` if that cannot be read.
    pub fn is_revoked(&self, id: Option<&str>) -> bool {
        self.revoked_at(id).is_ok_and(|at| at.is_some())
    }

    /// Returns the time before which entries may not name the token: the log names tokens since a file of an earlier version
    /// was migrated.
    pub fn unnamed_before(&self, token: &str) -> Result<Option<Time>, Fault> {
        let Some(since) = company::tokens_named_since(self.conn()?)? else { return Ok(None) };
        let token = self.token(token)?;
        Ok(token.filter(|token| token.created_at < since).map(|_| since))
    }

    /// Checks whether somebody may have one more token.
    pub fn room_for_token(&self, holder: &ActorId) -> Result<(), Refusal> {
        self.world().tokens.have_room(holder)
    }

    pub fn live_tokens_of(&self, holder: &ActorId) -> Result<Vec<(String, ActorId)>, Fault> {
        Ok(tokens::live_of(self.conn()?, holder)?)
    }

    /// Returns the live tokens that somebody issued for others, with their holders.
    pub fn live_tokens_by(&self, issuer: &ActorId, limit: usize) -> Result<Vec<(String, ActorId)>, Fault> {
        Ok(tokens::live_issued_by(self.conn()?, issuer, limit)?)
    }

    pub fn overdue_tokens(&self, now: Time, limit: usize) -> Result<Vec<Token>, Fault> {
        Ok(tokens::overdue(self.conn()?, now, limit)?)
    }
}
