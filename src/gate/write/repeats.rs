//! Equal refusals share entries. The first is recorded before it is answered, as always. Equal ones within a second of
//! it get the same answer and are counted, and one more entry records how many they were.
//!
//! Always true: what is counted has its own entry earlier in the log; an entry with a count precedes any entry that
//! changes what decisions read, so its question can be asked again unchanged. Only the count of one second exists in
//! memory alone: a server that dies loses that.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::write::record::Entry;
use store::decisions::events::Denied;
use types::caller::{Caller, Who};
use types::refusal::{Fault, Refusal};
use types::time::{SECOND, Time};

/// How long equal refusals are one.
const WINDOW: i64 = SECOND;
/// Refusals that are remembered at once; each further one has an entry of its own.
const MOST: usize = 1_024;

/// What makes two refusals equal: who asked with which token, what was asked, the answer and its reason.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key([u8; 32]);

impl Key {
    pub fn of(caller: &Caller, refused: &Entry) -> Result<Key, Fault> {
        let token = match &caller.who {
            Who::Token { hash, .. } => hash.0,
            Who::Visitor | Who::Server | Who::Holder(_) => [0; 32],
        };
        let Entry { actor, event, gate, policy, .. } = refused;
        let asked = serde_json::to_vec(&(actor, event, gate, policy))?;
        Ok(Key(Sha256::new().chain_update(token).chain_update(asked).finalize().into()))
    }
}

/// A refusal that was recorded, and the equal ones since.
struct Repeated {
    entry: Entry,
    seq: i64,
    begun: Time,
    count: u32,
    first: Time,
    last: Time,
}

#[derive(Default)]
pub(crate) struct Repeats {
    known: BTreeMap<Key, Repeated>,
    /// What the open transaction has changed, as it was.
    former: Vec<(Key, Former)>,
}

enum Former {
    Unknown,
    Counted { count: u32, first: Time, last: Time },
    Known(Box<Repeated>),
}

impl Repeats {
    /// Remembers a refusal that was recorded as `seq`.
    pub fn begin(&mut self, key: Key, entry: Entry, seq: i64, now: Time) {
        if self.known.len() < MOST {
            let former = self.known.insert(key, Repeated { entry, seq, begun: now, count: 0, first: now, last: now });
            self.former.push((key, former.map_or(Former::Unknown, |known| Former::Known(Box::new(known)))));
        }
    }

    /// Counts another refusal if an equal one was recorded within the second, and returns the number of that one's
    /// entry; none if there is none. The first repetition will cause one more entry, which counts towards the actor's
    /// limit: `count` checks whether the limit allows it.
    pub fn again(
        &mut self,
        key: &Key,
        count: impl Fn() -> Result<(), Refusal>,
        now: Time,
    ) -> Result<Option<i64>, Refusal> {
        let Some(repeated) = self.known.get_mut(key).filter(|repeated| !repeated.is_over(now)) else { return Ok(None) };
        let former = Former::Counted { count: repeated.count, first: repeated.first, last: repeated.last };
        if repeated.count == 0 {
            count()?;
            repeated.first = now;
        }
        self.former.push((*key, former));
        repeated.count = repeated.count.saturating_add(1);
        repeated.last = now;
        Ok(Some(repeated.seq))
    }

    /// Whether there is something to be told at this time.
    pub fn are_due(&self, now: Time) -> bool {
        self.known.values().any(|repeated| repeated.count > 0 && repeated.is_over(now))
    }

    /// The entries for what is over at this time.
    pub fn over(&mut self, now: Time) -> Vec<Entry> {
        let over = |repeated: &Repeated| repeated.is_over(now);
        let over: Vec<Key> = self.known.iter().filter(|(_, repeated)| over(repeated)).map(|(key, _)| *key).collect();
        let mut over: Vec<(Key, Repeated)> = over.iter().filter_map(|key| self.known.remove_entry(key)).collect();
        over.sort_by_key(|(_, repeated)| repeated.seq);
        let entries = over.iter().filter_map(|(_, repeated)| repeated.count_entry()).collect();
        self.former.extend(over.into_iter().map(|(key, repeated)| (key, Former::Known(Box::new(repeated)))));
        entries
    }

    /// The entries for everything that was counted.
    pub fn all(&mut self) -> Vec<Entry> {
        self.over(Time(i64::MAX))
    }

    /// The open transaction is committed.
    pub fn settle(&mut self) {
        self.former.clear();
    }

    /// The open transaction is rolled back.
    pub fn undo(&mut self) {
        while let Some((key, former)) = self.former.pop() {
            match (former, self.known.get_mut(&key)) {
                (Former::Known(repeated), _) => drop(self.known.insert(key, *repeated)),
                (Former::Counted { count, first, last }, Some(repeated)) => {
                    (repeated.count, repeated.first, repeated.last) = (count, first, last);
                }
                (Former::Counted { .. } | Former::Unknown, _) => drop(self.known.remove(&key)),
            }
        }
    }

    /// After a transaction that failed: as before it, without those whose own entry is not in the log after all.
    pub fn keep(&mut self, size: u64) {
        self.undo();
        self.known.retain(|_, repeated| u64::try_from(repeated.seq).is_ok_and(|seq| seq <= size));
    }
}

impl Repeated {
    fn is_over(&self, now: Time) -> bool {
        now >= self.begun.plus_ms(WINDOW)
    }

    /// The entry that tells how often, if there was anything to count.
    fn count_entry(&self) -> Option<Entry> {
        let (mut entry, counted, first, last) = (self.entry.clone(), self.count, self.first, self.last);
        if let Some(denied) = entry.event.get::<Denied>() {
            let (count, first_at, last_at) = (Some(counted), Some(first), Some(last));
            entry.event = Denied { count, first_at, last_at, ..denied.clone() }.into();
        }
        (counted > 0).then_some(Entry { idem: None, ..entry })
    }
}
