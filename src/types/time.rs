//! Time is an input: everything that needs to know it is handed a `Clock`, so that tests stand still and a clock set
//! back cannot revive what has expired.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, in milliseconds since 1970 UTC; written as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

pub const SECOND: i64 = 1_000;
pub const HOUR: i64 = 60 * 60 * SECOND;
pub const DAY: i64 = 24 * HOUR;

impl Time {
    pub fn plus_ms(self, ms: i64) -> Time {
        Time(self.0.saturating_add(ms))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl FromStr for Time {
    type Err = String;
    fn from_str(text: &str) -> Result<Time, String> {
        let at = jiff::Timestamp::from_str(text).map_err(|_| {
            match jiff::civil::DateTime::from_str(text.trim_end_matches('Z')) {
                Ok(at) if at.year() == 9999 => {
                    format!("`{text}` is later than the last time, {}", jiff::Timestamp::MAX)
                }
                _ => format!("`{text}` is not an RFC 3339 time, such as 2026-11-20T09:00:00Z"),
            }
        })?;
        Ok(Time(at.as_millisecond()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    fn now(&self) -> Time;
    /// Milliseconds since some moment, which setting the clock does not change.
    fn elapsed_ms(&self) -> i64 {
        self.now().0
    }
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Time {
        Time(jiff::Timestamp::now().as_millisecond())
    }

    fn elapsed_ms(&self) -> i64 {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        i64::try_from(BEGUN.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// A clock that never runs back behind what it, or the log, has already said, and continues from there: while the
/// machine's clock is behind, durations remain correct.
pub struct Monotone {
    inner: Arc<dyn Clock>,
    /// How far it is ahead of the time that has passed.
    lead: AtomicI64,
    latest: AtomicI64,
}

impl Monotone {
    pub fn new(inner: Arc<dyn Clock>, floor: Time) -> Monotone {
        let lead = floor.0.saturating_sub(inner.elapsed_ms());
        Monotone { inner, lead: AtomicI64::new(lead), latest: AtomicI64::new(floor.0) }
    }

    /// The machine's own time, for those who compare it with theirs.
    pub fn wall(&self) -> Time {
        self.inner.now()
    }
}

impl Clock for Monotone {
    fn now(&self) -> Time {
        let (seen, passed) = (self.inner.now().0, self.inner.elapsed_ms());
        let ahead = seen.saturating_sub(passed);
        let lead = self.lead.fetch_max(ahead, Ordering::Relaxed).max(ahead);
        let now = passed.saturating_add(lead);
        Time(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine's time, and the time that has passed.
    struct Set(AtomicI64, AtomicI64);

    impl Clock for Set {
        fn now(&self) -> Time {
            Time(self.0.load(Ordering::Relaxed))
        }
        fn elapsed_ms(&self) -> i64 {
            self.1.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn time_goes_on_behind_a_clock_that_was_set_back() {
        let set = Arc::new(Set(AtomicI64::new(5_000), AtomicI64::new(70)));
        let clock = Monotone::new(set.clone(), Time(9_000));
        assert_eq!(clock.now(), Time(9_000), "not before the newest entry");
        set.1.fetch_add(300, Ordering::Relaxed);
        assert_eq!(clock.now(), Time(9_300), "what has passed has passed");
        set.0.store(20_000, Ordering::Relaxed);
        assert_eq!(clock.now(), Time(20_000));
        set.0.store(1_000, Ordering::Relaxed);
        set.1.fetch_add(50, Ordering::Relaxed);
        assert_eq!((clock.now(), clock.wall()), (Time(20_050), Time(1_000)));
    }
}
