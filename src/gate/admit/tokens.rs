//! The live tokens, in memory, with what admission needs of each. Because a company keeps something in memory for each
//! live token, their number is limited. Everything else about a token is in its table.

use std::sync::Arc;

use rpds::HashTrieMapSync;

use store::tokens::Token;
use types::id::{ActorId, Id, Kind};
use types::refusal::Refusal;
use types::scope::Scopes;
use types::time::Time;
use types::token::TokenHash;

/// Live tokens of one holder: some 30 MB.
const OF_ONE: u32 = 250_000;
/// Live tokens altogether: some 120 MB.
const MOST: usize = 1_000_000;

#[derive(Clone)]
pub(crate) struct Pass {
    /// The ULID of its id: as text, it would take as much as everything else.
    ulid: [u8; 16],
    pub holder: ActorId,
    pub scopes: Scopes,
    /// Who issued it, where that is not its holder.
    pub issuer: Option<ActorId>,
    expires_at: Time,
}

impl Pass {
    pub fn id(&self) -> Id {
        Id::of_ulid(Kind::Token, self.ulid)
    }

    pub fn is_live(&self, now: Time) -> bool {
        now < self.expires_at
    }
}

/// Tokens whose hashes begin alike, by hash. They lie side by side, because a place of its own in a map takes several times
/// as much as a token; a snapshot that one of them changes in copies them all, so there are only so many.
type Shelf = Arc<Vec<(TokenHash, Pass)>>;

/// The shelf of a hash: one of 4096.
fn shelf(hash: &TokenHash) -> u16 {
    let [first, second, ..] = hash.0;
    u16::from_be_bytes([first, second]) >> 4
}

fn place(shelf: &Shelf, hash: &TokenHash) -> Result<usize, usize> {
    shelf.binary_search_by(|(other, _)| other.0.cmp(&hash.0))
}

#[derive(Clone)]
pub(crate) struct Passes {
    shelves: HashTrieMapSync<u16, Shelf>,
    of: HashTrieMapSync<ActorId, u32>,
    count: usize,
}

impl Default for Passes {
    fn default() -> Passes {
        Passes { shelves: HashTrieMapSync::new_sync(), of: HashTrieMapSync::new_sync(), count: 0 }
    }
}

impl Passes {
    pub fn get(&self, hash: &TokenHash) -> Option<&Pass> {
        let shelf = self.shelves.get(&shelf(hash))?;
        shelf.get(place(shelf, hash).ok()?).map(|(_, pass)| pass)
    }

    /// Takes in a token as it is now.
    pub fn put(&mut self, hash: TokenHash, token: Token) {
        self.remove(&hash);
        // What its calls could not name lets nobody in.
        let Some(ulid) = Id::stored(&token.id).ulid().filter(|_| !token.ended) else { return };
        let Token { holder, scopes, issuer, expires_at, .. } = token;
        // All tokens of one holder share one name.
        let (holder, count) = match self.of.get_key_value(&holder) {
            Some((known, count)) => (known.clone(), *count),
            None => (holder, 0),
        };
        self.of.insert_mut(holder.clone(), count + 1);
        self.add(hash, Pass { ulid, holder, scopes, issuer, expires_at });
    }

    fn add(&mut self, hash: TokenHash, pass: Pass) {
        let number = shelf(&hash);
        if !self.shelves.contains_key(&number) {
            self.shelves.insert_mut(number, Shelf::default());
        }
        let Some(shelf) = self.shelves.get_mut(&number) else { return };
        let Err(at) = place(shelf, &hash) else { return };
        let tokens = Arc::make_mut(shelf);
        // Room for a few, not for as many again.
        if tokens.len() == tokens.capacity() {
            tokens.reserve_exact(4);
        }
        tokens.insert(at, (hash, pass));
        self.count += 1;
    }

    fn remove(&mut self, hash: &TokenHash) {
        let Some(holder) = self.get(hash).map(|pass| pass.holder.clone()) else { return };
        let number = shelf(hash);
        if let Some(shelf) = self.shelves.get_mut(&number)
            && let Ok(at) = place(shelf, hash)
        {
            let tokens = Arc::make_mut(shelf);
            tokens.remove(at);
            self.count -= 1;
            if tokens.is_empty() {
                self.shelves.remove_mut(&number);
            }
        }
        match self.of.get(&holder).copied().unwrap_or_default() {
            0 | 1 => drop(self.of.remove_mut(&holder)),
            count => self.of.insert_mut(holder, count - 1),
        }
    }

    /// Whether somebody may have one more.
    pub fn have_room(&self, holder: &ActorId) -> Result<(), Refusal> {
        let has = self.of.get(holder).copied().unwrap_or_default();
        let message = match (has < OF_ONE, self.count < MOST) {
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
        // Spread, as those of tokens are.
        hash[..4].copy_from_slice(&number.wrapping_mul(2_654_435_761).to_be_bytes());
        TokenHash(hash)
    }

    fn token(holder: &str, ended: bool) -> Token {
        Token {
            id: Id::new(Kind::Token, 0, 0).as_str().to_owned(),
            holder: holder.parse().unwrap(),
            label: String::new(),
            scopes: Scopes::default(),
            issuer: None,
            created_at: Time(0),
            expires_at: Time(1),
            ended,
            revoked_at: None,
        }
    }

    #[test]
    fn each_token_is_found_among_those_whose_hashes_begin_alike_and_a_snapshot_keeps_its_own() {
        let mut passes = Passes::default();
        for number in 0..20_000 {
            passes.put(hash(number), token("ana", false));
        }
        assert!((0..20_000).all(|number| passes.get(&hash(number)).is_some()) && passes.get(&hash(20_000)).is_none());
        let before = passes.clone();
        passes.put(hash(7), token("ana", true));
        passes.put(hash(20_000), token("bob", false));
        assert!(before.get(&hash(7)).is_some() && before.get(&hash(20_000)).is_none() && before.count == 20_000);
        assert!(passes.get(&hash(7)).is_none() && passes.get(&hash(8)).is_some() && passes.count == 20_000);
    }

    #[test]
    fn live_tokens_are_bounded_and_ended_ones_leave_nothing() {
        let (ana, bob) = ("ana".parse().unwrap(), "bob".parse().unwrap());
        let mut passes = Passes::default();
        for number in 0..OF_ONE {
            passes.put(hash(number), token("ana", false));
        }
        passes.put(hash(0), token("ana", false));
        let message = passes.have_room(&ana).unwrap_err().message;
        assert_eq!(message, "ana has 250000 live tokens, the most there may be: revoke some");
        assert!(passes.have_room(&bob).is_ok(), "others have their own");
        passes.put(hash(7), token("ana", true));
        assert!(passes.have_room(&ana).is_ok() && passes.get(&hash(7)).is_none());
        for number in 0..OF_ONE {
            passes.put(hash(number), token("ana", true));
        }
        assert_eq!((passes.count, passes.shelves.size(), passes.of.size()), (0, 0, 0));
    }
}
