//! Time is an input: everything that needs to know it is handed a `Clock`, so that tests stand still and a clock set
//! back cannot revive what has expired.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

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
        let at = jiff::Timestamp::from_str(text)
            .map_err(|_| format!("`{text}` is not an RFC 3339 time, such as 2026-11-20T09:00:00Z"))?;
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
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Time {
        Time(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock that never goes back behind what it, or the log, has already said.
pub struct Monotone {
    inner: Arc<dyn Clock>,
    latest: AtomicI64,
}

impl Monotone {
    pub fn new(inner: Arc<dyn Clock>, floor: Time) -> Monotone {
        Monotone { inner, latest: AtomicI64::new(floor.0) }
    }
}

impl Clock for Monotone {
    fn now(&self) -> Time {
        let seen = self.inner.now().0;
        Time(self.latest.fetch_max(seen, Ordering::Relaxed).max(seen))
    }
}
