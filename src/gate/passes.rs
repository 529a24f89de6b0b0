//! The tokens that can be shown, with what admission needs of them, in memory: what a company holds for each token that is
//! live, and so there is a most of them. Everything else about a token is in its table.

use rpds::HashTrieMapSync;

use crate::store::tokens::Token;
use crate::types::id::ActorId;
use crate::types::refusal::Refusal;
use crate::types::scope::Scopes;
use crate::types::time::Time;
use crate::types::token::TokenHash;

/// Live tokens of one holder: some 50 MB.
const OF_ONE: u32 = 250_000;
/// Live tokens altogether: some 200 MB.
const MOST: usize = 1_000_000;

#[derive(Clone)]
pub(super) struct Pass {
    pub holder: ActorId,
    pub scopes: Scopes,
    /// Who issued it, where that is not its holder.
    pub issuer: Option<ActorId>,
    expires_at: Time,
}

impl Pass {
    pub fn is_live(&self, now: Time) -> bool {
        now < self.expires_at
    }
}

#[derive(Clone)]
pub(super) struct Passes {
    by_hash: HashTrieMapSync<TokenHash, Pass>,
    of: HashTrieMapSync<ActorId, u32>,
}

impl Default for Passes {
    fn default() -> Passes {
        Passes { by_hash: HashTrieMapSync::new_sync(), of: HashTrieMapSync::new_sync() }
    }
}

impl Passes {
    pub fn get(&self, hash: &TokenHash) -> Option<&Pass> {
        self.by_hash.get(hash)
    }

    /// Takes in a token as it is now.
    pub fn put(&mut self, hash: TokenHash, token: Token) {
        self.remove(&hash);
        if token.ended {
            return;
        }
        let Token { holder, scopes, issuer, expires_at, .. } = token;
        // All tokens of one holder share one name.
        let (holder, count) = match self.of.get_key_value(&holder) {
            Some((known, count)) => (known.clone(), *count),
            None => (holder, 0),
        };
        self.of.insert_mut(holder.clone(), count + 1);
        self.by_hash.insert_mut(hash, Pass { holder, scopes, issuer, expires_at });
    }

    fn remove(&mut self, hash: &TokenHash) {
        let Some(holder) = self.by_hash.get(hash).map(|pass| pass.holder.clone()) else { return };
        self.by_hash.remove_mut(hash);
        match self.of.get(&holder).copied().unwrap_or_default() {
            0 | 1 => drop(self.of.remove_mut(&holder)),
            count => self.of.insert_mut(holder, count - 1),
        }
    }

    /// Whether somebody may have one more.
    pub fn have_room(&self, holder: &ActorId) -> Result<(), Refusal> {
        let has = self.of.get(holder).copied().unwrap_or_default();
        let message = match (has < OF_ONE, self.by_hash.size() < MOST) {
            (true, true) => return Ok(()),
            (false, _) => format!("{holder} has {OF_ONE} live tokens, the most there may be: revoke some"),
            (true, false) => format!("the company has {MOST} live tokens, the most there may be: revoke some"),
        };
        Err(Refusal::conflict(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u32) -> TokenHash {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_le_bytes());
        TokenHash(hash)
    }

    fn token(holder: &str, ended: bool) -> Token {
        Token {
            id: String::new(),
            holder: holder.parse().unwrap(),
            label: String::new(),
            scopes: Scopes::default(),
            issuer: None,
            created_at: Time(0),
            expires_at: Time(1),
            ended,
        }
    }

    #[test]
    fn live_tokens_are_bounded_and_ended_ones_leave_nothing() {
        let (ana, bob) = ("ana".parse().unwrap(), "bob".parse().unwrap());
        let mut passes = Passes::default();
        for number in 0..OF_ONE {
            passes.put(hash(number), token("ana", false));
        }
        passes.put(hash(0), token("ana", false));
        let told = passes.have_room(&ana).unwrap_err().message;
        assert_eq!(told, "ana has 250000 live tokens, the most there may be: revoke some");
        assert!(passes.have_room(&bob).is_ok(), "others have their own");
        passes.put(hash(7), token("ana", true));
        assert!(passes.have_room(&ana).is_ok() && passes.get(&hash(7)).is_none());
        for number in 0..OF_ONE {
            passes.put(hash(number), token("ana", true));
        }
        assert_eq!((passes.by_hash.size(), passes.of.size()), (0, 0));
    }
}
