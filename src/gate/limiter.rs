//! Failed credentials by address, in fixed windows of a minute. From the 61st failure on, a further failed credential is
//! answered 429 for the rest of the minute; valid tokens and requests without one are never held up.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;

use crate::types::time::{SECOND, Time};

const ALLOWED: u32 = 60;
const WINDOW: i64 = 60 * SECOND;
/// Addresses remembered at once; past that, those of past windows are dropped, then the oldest.
const MOST: usize = 100_000;

#[derive(Clone, Copy)]
struct Window {
    start: Time,
    failures: u32,
}

#[derive(Default)]
pub struct Limiter(Mutex<BTreeMap<IpAddr, Window>>);

impl Limiter {
    /// Counts a failed credential. `Err` holds the seconds for which further ones are refused.
    pub fn failed(&self, from: IpAddr, now: Time) -> Result<(), u64> {
        let mut windows = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if windows.len() >= MOST && !windows.contains_key(&from) {
            make_room(&mut windows, now);
        }
        let window = windows.entry(from).or_insert(Window { start: now, failures: 0 });
        if now.0 >= window.start.0 + WINDOW {
            *window = Window { start: now, failures: 0 };
        }
        window.failures = window.failures.saturating_add(1);
        if window.failures <= ALLOWED {
            return Ok(());
        }
        let left = window.start.0 + WINDOW - now.0;
        Err(u64::try_from((left + SECOND - 1) / SECOND).unwrap_or(1).max(1))
    }
}

fn make_room(windows: &mut BTreeMap<IpAddr, Window>, now: Time) {
    windows.retain(|_, window| now.0 < window.start.0 + WINDOW);
    while windows.len() >= MOST {
        let oldest = windows.iter().min_by_key(|(_, window)| window.start).map(|(from, _)| *from);
        match oldest {
            Some(from) => windows.remove(&from),
            None => break,
        };
    }
}
