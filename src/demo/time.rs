//! The story's clock: set to the time of each scene, advancing a little with each reading, and never ahead of the machine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::Value;

use crate::types::time::{Clock, DAY, HOUR, SECOND, Time};

const MINUTE: i64 = 60 * SECOND;
/// The advance per reading, so that no two events have the same time.
const TICK: i64 = 9;
/// How long ago the story begins.
const BEGIN: i64 = 27 * DAY;

pub struct StoryClock {
    wall: Arc<dyn Clock>,
    at: AtomicI64,
    /// The machine's time when the story began to be told: what «ago» refers to.
    end: Time,
}

impl StoryClock {
    pub fn before(wall: Arc<dyn Clock>) -> StoryClock {
        let end = wall.now();
        StoryClock { wall, at: AtomicI64::new(midnight(end) - BEGIN + 8 * HOUR), end }
    }

    /// Advances to a time of the story: `23d 09:12` is that time of day, 23 days ago; `95m` is 95 minutes ago; `+2h30m` is that
    /// much later. Time does not go back.
    pub fn set(&self, text: &str) -> Result<(), String> {
        let wrong = || format!("`{text}` is no time of the story");
        let to = match (text.strip_prefix('+'), text.split_once("d ")) {
            (Some(later), _) => self.at.load(Ordering::Relaxed) + span(later).ok_or_else(wrong)?,
            (None, Some((days, clock))) => {
                let (hours, minutes) = clock.split_once(':').ok_or_else(wrong)?;
                let number = |part: &str| part.parse::<i64>().map_err(|_| wrong());
                midnight(self.end) - number(days)? * DAY + number(hours)? * HOUR + number(minutes)? * MINUTE
            }
            (None, None) => self.end.0 - span(text).ok_or_else(wrong)?,
        };
        self.at.fetch_max(to, Ordering::Relaxed);
        Ok(())
    }

    /// Returns dates that scenes refer to, relative to the end: `$yesterday`, `$tomorrow` and `$next_week` at noon, and the
    /// dates of `$last_month`, `$last_week`, `$this_week` and `$next_month`.
    pub fn days(&self) -> [(String, Value); 7] {
        let noon = |days: i64| Time(midnight(self.end) + days * DAY + 12 * HOUR).to_string();
        let date = |days: i64| noon(days).chars().take(10).collect();
        [
            ("yesterday", noon(-1)),
            ("tomorrow", noon(1)),
            ("next_week", noon(7)),
            ("last_month", date(-30)),
            ("last_week", date(-8)),
            ("this_week", date(3)),
            ("next_month", date(30)),
        ]
        .map(|(name, day)| (name.to_owned(), Value::from(day)))
    }

    /// Returns the current day's number.
    pub fn day(&self) -> i64 {
        self.at.load(Ordering::Relaxed) / DAY
    }
}

fn midnight(at: Time) -> i64 {
    at.0 - at.0.rem_euclid(DAY)
}

/// Parses a duration such as `2h30m`, `45m` or `20s` into milliseconds.
fn span(text: &str) -> Option<i64> {
    let (mut sum, mut digits) = (0_i64, String::new());
    for c in text.chars() {
        let unit = match c {
            '0'..='9' => {
                digits.push(c);
                continue;
            }
            'd' => DAY,
            'h' => HOUR,
            'm' => MINUTE,
            's' => SECOND,
            _ => return None,
        };
        sum += digits.parse::<i64>().ok()? * unit;
        digits.clear();
    }
    digits.is_empty().then_some(sum)
}

impl Clock for StoryClock {
    fn now(&self) -> Time {
        Time(self.at.fetch_add(TICK, Ordering::Relaxed)).min(self.wall.now())
    }
}
