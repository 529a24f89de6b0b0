//! Places that all callers share, of which nobody has more than a part: who fills their own part waits for themselves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Callers that are remembered before those who hold nothing are forgotten.
const MOST: usize = 1_024;

pub struct Shares {
    all: Arc<Semaphore>,
    total: u32,
    part: u32,
    own: Mutex<BTreeMap<String, Weak<Semaphore>>>,
}

/// Some places; given back when dropped.
pub struct Place {
    _own: (OwnedSemaphorePermit, Arc<Semaphore>),
    _of_all: OwnedSemaphorePermit,
}

impl Shares {
    /// `total` places, of which each caller has at most `part`.
    pub fn new(total: u32, part: u32) -> Shares {
        Shares { all: Arc::new(Semaphore::new(total as usize)), total, part, own: Mutex::default() }
    }

    /// Some places, as soon as they are there; nothing where that takes too long.
    pub async fn take(&self, who: &str, count: u32, patience: Duration) -> Option<Place> {
        let own = self.of(who);
        let count = count.min(self.part).min(self.total);
        let taken = async {
            // One's own first: nobody waits among all for what they may not have.
            let mine = Arc::clone(&own).acquire_many_owned(count).await.ok()?;
            let of_all = Arc::clone(&self.all).acquire_many_owned(count).await.ok()?;
            Some((mine, of_all))
        };
        let (mine, of_all) = timeout(patience, taken).await.ok()??;
        Some(Place { _own: (mine, own), _of_all: of_all })
    }

    fn of(&self, who: &str) -> Arc<Semaphore> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = own.get(who).and_then(Weak::upgrade) {
            return known;
        }
        if own.len() >= MOST {
            own.retain(|_, held| held.strong_count() > 0);
        }
        let fresh = Arc::new(Semaphore::new(self.part as usize));
        own.insert(who.to_owned(), Arc::downgrade(&fresh));
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn nobody_has_more_than_their_part_and_all_together_no_more_than_there_is() {
        let shares = Shares::new(3, 2);
        let first = shares.take("a", 2, SOON).await.expect("there are three");
        assert!(shares.take("a", 1, SOON).await.is_none(), "a has its part");
        let second = shares.take("b", 1, SOON).await.expect("one is left");
        assert!(shares.take("c", 1, SOON).await.is_none(), "nothing is left");
        drop(first);
        assert!(shares.take("a", 9, SOON).await.is_some(), "more than a part is a part");
        assert!(shares.take("c", 1, SOON).await.is_some());
        drop(second);
    }

    #[tokio::test]
    async fn whoever_waits_has_their_turn_before_those_who_had_theirs() {
        const LONG: Duration = Duration::from_secs(60);
        let shares = Arc::new(Shares::new(4, 3));
        let (first, second) = (shares.take("a", 2, SOON).await, shares.take("b", 2, SOON).await);
        let turns = Arc::new(Mutex::new(Vec::new()));
        let wait = |who: &'static str| {
            let (shares, turns) = (Arc::clone(&shares), Arc::clone(&turns));
            tokio::spawn(async move {
                let place = shares.take(who, 2, LONG).await;
                turns.lock().unwrap().push(who);
                drop(place);
            })
        };
        let mut waiting = Vec::new();
        for who in ["a", "b", "c"] {
            waiting.push(wait(who));
            tokio::task::yield_now().await;
        }
        // One of those who had their turn ends, and asks again at once.
        drop(first);
        tokio::task::yield_now().await;
        drop(second);
        for waiting in waiting {
            waiting.await.unwrap();
        }
        assert_eq!(turns.lock().unwrap().first(), Some(&"c"));
    }
}
