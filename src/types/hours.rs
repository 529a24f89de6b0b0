//! The hours in which a company works: Monday to Friday, in its own time zone.

use jiff::Timestamp;
use jiff::civil::{Date, Time as Clock, Weekday};
use jiff::tz::TimeZone;

use super::time::{HOUR, Time};

/// The time zone, and from when to when on a day. Where it ends no later than it begins, it ends on the next day.
#[derive(Clone, Debug)]
pub struct Working {
    pub zone: TimeZone,
    pub from: Clock,
    pub to: Clock,
}

/// No deadline is further ahead.
pub const FURTHEST_YEARS: usize = 10;
const MOST_DAYS: usize = FURTHEST_YEARS * 365;

impl Working {
    /// When so many hours of work have gone by since a time; none where that is years ahead.
    pub fn after(&self, since: Time, hours: u32) -> Option<Time> {
        let mut left = i64::from(hours) * HOUR;
        let first = Timestamp::from_millisecond(since.0).ok()?.to_zoned(self.zone.clone()).date();
        // Work that began the day before may go on.
        for day in first.yesterday().ok()?.series(jiff::Span::new().days(1)).take(MOST_DAYS) {
            let Some((open, close)) = self.day(day) else { continue };
            let begin = open.max(since.0);
            let span = (close - begin).max(0);
            if span >= left && span > 0 {
                return Some(Time(begin + left));
            }
            left -= span;
        }
        None
    }

    fn day(&self, day: Date) -> Option<(i64, i64)> {
        if matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
            return None;
        }
        let last = if self.to > self.from { day } else { day.tomorrow().ok()? };
        let at = |day: Date, time: Clock| Some(day.to_datetime(time).to_zoned(self.zone.clone()).ok()?.timestamp());
        Some((at(day, self.from)?.as_millisecond(), at(last, self.to)?.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(since: &str, hours: u32) -> String {
        let working = Working {
            zone: TimeZone::get("Europe/Berlin").unwrap(),
            from: "09:00".parse().unwrap(),
            to: "17:00".parse().unwrap(),
        };
        working.after(since.parse().unwrap(), hours).unwrap().to_string()
    }

    #[test]
    fn hours_of_work_pass_over_nights_weekends_and_a_change_of_the_clock() {
        // A Friday in winter, an hour before the end.
        assert_eq!(after("2026-11-20T15:00:00Z", 1), "2026-11-20T16:00:00Z");
        assert_eq!(after("2026-11-20T15:00:00Z", 2), "2026-11-23T09:00:00Z");
        assert_eq!(after("2026-11-21T03:00:00Z", 8), "2026-11-23T16:00:00Z");
        // Summer begins on Sunday.
        assert_eq!(after("2026-03-27T15:00:00Z", 9), "2026-03-30T15:00:00Z");
    }
}
