//! What an actor has done and spent, counted by the hour, the day and the month of the calendar, in UTC.
//!
//! Always true: a count hangs on the times in the log alone, which never run back; so a restart, another fold of the log and a
//! clock that was set back all come to the same.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time::{DAY, HOUR, Time};

/// How often, and what it cost in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// When the hour, the day or the month began.
    pub since: i64,
    pub times: i64,
    pub cents: i64,
}

/// One operation of one actor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub hour: Count,
    pub day: Count,
    pub month: Count,
}

/// What an actor has done, by operation.
pub type History = BTreeMap<String, Done>;

/// What policies see of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Done {
    #[serde(skip_serializing_if = "is_usual")]
    pub hour: u32,
    #[serde(skip_serializing_if = "is_usual")]
    pub day: u32,
    #[serde(skip_serializing_if = "is_usual")]
    pub month: u32,
    #[serde(skip_serializing_if = "is_usual")]
    pub hour_cents: u32,
    #[serde(skip_serializing_if = "is_usual")]
    pub day_cents: u32,
    #[serde(skip_serializing_if = "is_usual")]
    pub month_cents: u32,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Done {
    /// Each number under the name that policies know it by.
    pub fn named(&self) -> [(&'static str, i64); 6] {
        [
            ("hour", self.hour.into()),
            ("day", self.day.into()),
            ("month", self.month.into()),
            ("hour_cents", self.hour_cents.into()),
            ("day_cents", self.day_cents.into()),
            ("month_cents", self.month_cents.into()),
        ]
    }
}

impl Done {
    /// With what another one cost.
    #[must_use]
    pub fn plus_cents(self, other: &Done) -> Done {
        Done {
            hour_cents: self.hour_cents.saturating_add(other.hour_cents),
            day_cents: self.day_cents.saturating_add(other.day_cents),
            month_cents: self.month_cents.saturating_add(other.month_cents),
            ..self
        }
    }
}

impl Count {
    /// With what was done at a time, if that is within it: `begun` says when the hour, day or month of that time began. What
    /// turns out later about an hour that is over is no matter any more.
    fn add(&mut self, begun: i64, (times, cents): (i64, i64)) {
        if begun > self.since {
            *self = Count { since: begun, times: 0, cents: 0 };
        }
        if begun == self.since {
            self.times = self.times.saturating_add(times);
            self.cents = self.cents.saturating_add(cents).max(0);
        }
    }

    /// How often and how much, if its hour, day or month is still the one that began then.
    fn within(&self, begun: i64) -> (u32, u32) {
        let whole = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
        if self.since == begun { (whole(self.times), whole(self.cents)) } else { (0, 0) }
    }
}

impl Counts {
    /// With so many times and cents more, at a time.
    #[must_use]
    pub fn plus(mut self, at: Time, times: i64, cents: i64) -> Counts {
        self.hour.add(begin(at, HOUR), (times, cents));
        self.day.add(begin(at, DAY), (times, cents));
        self.month.add(month(at), (times, cents));
        self
    }

    /// Such that policies see this of it at a time.
    pub fn seen(done: Done, now: Time) -> Counts {
        let count = |since, times: u32, cents: u32| Count { since, times: times.into(), cents: cents.into() };
        Counts {
            hour: count(begin(now, HOUR), done.hour, done.hour_cents),
            day: count(begin(now, DAY), done.day, done.day_cents),
            month: count(month(now), done.month, done.month_cents),
        }
    }

    /// What of it is within the hour, the day and the month of a time.
    pub fn at(&self, now: Time) -> Done {
        let (hour, hour_cents) = self.hour.within(begin(now, HOUR));
        let (day, day_cents) = self.day.within(begin(now, DAY));
        let (month, month_cents) = self.month.within(month(now));
        Done { hour, day, month, hour_cents, day_cents, month_cents }
    }
}

fn begin(at: Time, length: i64) -> i64 {
    at.0 - at.0.rem_euclid(length)
}

/// When the month of a time began.
pub fn month(at: Time) -> i64 {
    let day = begin(at, DAY);
    let of_month =
        jiff::Timestamp::from_millisecond(day).map_or(1, |day| i64::from(jiff::tz::Offset::UTC.to_datetime(day).day()));
    day - (of_month - 1) * DAY
}

/// When the next day begins, and the next month.
pub fn next(at: Time) -> (Time, Time) {
    // No month has more days than 31, and none fewer than 28.
    (Time(begin(at, DAY) + DAY), Time(month(Time(month(at) + 31 * DAY))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn each_window_begins_anew_and_what_settles_late_does_not_reach_the_next() {
        let counts = Counts::default().plus(at("2026-02-28T09:59:59Z"), 1, 100).plus(at("2026-02-28T10:00:00Z"), 1, 7);
        let done = counts.at(at("2026-02-28T10:30:00Z"));
        assert_eq!((done.hour, done.day, done.month), (1, 2, 2));
        assert_eq!((done.hour_cents, done.day_cents, done.month_cents), (7, 107, 107));
        // Of the hundred that were set aside in the hour before, ten were spent.
        let done = counts.plus(at("2026-02-28T09:59:59Z"), 0, -90).at(at("2026-02-28T10:30:00Z"));
        assert_eq!((done.hour_cents, done.day_cents, done.month_cents), (7, 17, 17));
        assert_eq!(next(at("2026-02-28T09:00:00Z")), (at("2026-03-01T00:00:00Z"), at("2026-03-01T00:00:00Z")));
        let next = counts.at(at("2026-03-01T00:00:00Z"));
        assert_eq!(next, Done::default());
        assert_eq!(counts.plus(at("2026-03-01T00:00:00Z"), 1, 0).at(at("2026-03-31T23:59:59Z")).month, 1);
    }
}
