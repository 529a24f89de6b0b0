//! Days of the calendar, as numbers that can be compared with times: the millisecond at which each begins.

use std::str::FromStr;

use super::time::{DAY, Time};

/// The first day of all times.
const EPOCH: jiff::civil::Date = jiff::civil::date(1970, 1, 1);

/// A day, up to 9999-12-31, as the time at which it begins.
pub(super) fn date(text: &str) -> Option<i64> {
    let plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let day = jiff::civil::Date::from_str(text).ok().filter(|_| plain)?;
    Some(i64::from(EPOCH.until(day).ok()?.get_days()) * DAY)
}

pub(super) fn shown(number: i64) -> String {
    let days = jiff::Span::new().try_days(number.div_euclid(DAY));
    days.and_then(|days| EPOCH.checked_add(days)).map_or_else(|_| Time(number).to_string(), |day| day.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days() {
        assert_eq!(shown(date("2026-02-28").unwrap()), "2026-02-28");
        for day in ["1969-12-31", "0001-01-01", "9999-12-31"] {
            assert_eq!(shown(date(day).unwrap()), day);
        }
        let wrong = ["2026-02-30", "2026-2-1", "2026-02-01T", "20260201xx"];
        assert_eq!(wrong.map(date), [None; 4]);
    }
}
