//! Counts in fixed windows: failed credentials by address, and calls by actor and limit. Around the end of a window,
//! twice the limit can pass in a short time; over hours the limit is exact.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use types::id::ActorId;
use types::time::{SECOND, Time};

/// Failed credentials of one address in a minute. From the next one on it is answered 429 for the rest of the minute; valid
/// tokens and requests without one are never held up.
const FAILURES: u32 = 60;
const MINUTE: i64 = 60 * SECOND;
/// Keys remembered at once; past that, those of past windows are dropped, then the oldest.
const MOST: usize = 100_000;

#[derive(Clone, Copy)]
struct Window {
    start: Time,
    /// In milliseconds.
    length: i64,
    count: u32,
}

impl Window {
    fn is_over(&self, now: Time) -> bool {
        now.0 >= self.start.0 + self.length
    }
}

/// Counts by key.
pub struct Windows<K>(Mutex<BTreeMap<K, Window>>);

impl<K> Default for Windows<K> {
    fn default() -> Self {
        Windows(Mutex::default())
    }
}

/// What is counted of an actor's calls.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// Calls that fall under a limit of this name.
    Limit(String),
    /// Steps of runs, by the limit of this name.
    Steps(String),
    /// Entries that refusals lead to.
    Refusals,
    /// Whatever stops or revokes.
    Stops,
    /// Answers that may be kept to be given again.
    Answers,
}

/// Whose calls are counted. Within runs, the asker is part of the key, so that nobody uses up what an agent may do for
/// others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub what: Counted,
    pub by: ActorId,
    pub run_for: Option<ActorId>,
}

pub type Rates = Windows<Key>;

/// Failed credentials by address.
pub type Limiter = Windows<IpAddr>;

impl Limiter {
    /// Counts a failed credential. `Err` holds the number of seconds for which further ones are refused.
    pub fn failed(&self, from: IpAddr, now: Time) -> Result<(), u64> {
        self.count(from, FAILURES, MINUTE, now)
    }
}

impl<K: Ord + Clone> Windows<K> {
    /// Counts one more. `Err` holds the number of seconds until there is room again.
    pub fn count(&self, key: K, most: u32, length: i64, now: Time) -> Result<(), u64> {
        self.add((key, 1), most, length, now)
    }

    /// Counts `amount` more, and succeeds if there was room for at least one. `Err` holds the number of seconds until
    /// there is room again.
    pub fn add(&self, (key, amount): (K, u32), most: u32, length: i64, now: Time) -> Result<(), u64> {
        let mut windows = self.windows();
        if windows.len() >= MOST && !windows.contains_key(&key) {
            make_room(&mut windows, now);
        }
        let fresh = Window { start: now, length, count: 0 };
        let window = windows.entry(key).or_insert(fresh);
        if window.is_over(now) || window.length != length {
            *window = fresh;
        }
        let has_room = window.count < most;
        window.count = window.count.saturating_add(amount);
        if has_room {
            return Ok(());
        }
        let left = window.start.0 + length - now.0;
        Err(u64::try_from((left + SECOND - 1) / SECOND).unwrap_or(1).max(1))
    }

    /// Returns the count of the current window.
    pub fn counted(&self, key: &K, now: Time) -> u32 {
        self.windows().get(key).filter(|window| !window.is_over(now)).map_or(0, |window| window.count)
    }

    /// Returns for how many milliseconds there is no room. None if there is room.
    pub fn rests(&self, key: &K, most: u32, now: Time) -> Option<i64> {
        let windows = self.windows();
        let full = windows.get(key).filter(|window| !window.is_over(now) && window.count >= most)?;
        Some(full.start.0 + full.length - now.0)
    }

    fn windows(&self) -> MutexGuard<'_, BTreeMap<K, Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_room<K: Ord + Clone>(windows: &mut BTreeMap<K, Window>, now: Time) {
    windows.retain(|_, window| !window.is_over(now));
    while windows.len() >= MOST {
        let oldest = windows.iter().min_by_key(|(_, window)| window.start).map(|(key, _)| key.clone());
        match oldest {
            Some(key) => windows.remove(&key),
            None => break,
        };
    }
}
