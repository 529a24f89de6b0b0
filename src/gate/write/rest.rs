//! How the writer's time is shared between long changes and all others.

use std::time::{Duration, Instant};

/// Long changes that may wait while others have their time: if more wait, some of their callers would give up.
const MOST_RESTING: usize = 3;

/// The time after a long change in which no other begins, if other changes have come meanwhile: as long as the change
/// took. So half of the writer's time is left to the others, unless more than [`MOST_RESTING`] long changes wait.
#[derive(Default)]
pub(super) struct Rest {
    until: Option<Instant>,
    others_came: bool,
}

impl Rest {
    /// The rest after a long change.
    pub(super) fn after(began: Instant, ended: Instant) -> Rest {
        Rest { until: ended.checked_add(ended.saturating_duration_since(began)), others_came: false }
    }

    /// Notes how many other changes have come.
    pub(super) fn interrupted_by(&mut self, others: usize) {
        self.others_came |= others > 0;
    }

    /// How long from now the next of so many waiting long changes does not begin.
    pub(super) fn left(&self, now: Instant, waiting: usize) -> Duration {
        let left = self.until.map(|until| until.saturating_duration_since(now));
        left.filter(|_| self.others_came && waiting <= MOST_RESTING).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_get_as_long_as_a_long_change_took_unless_many_of_those_wait() {
        let began = Instant::now();
        let after = |ms: u64| began + Duration::from_millis(ms);
        let mut rest = Rest::after(began, after(200));
        assert_eq!(rest.left(after(200), 1), Duration::ZERO, "nobody else has come");
        rest.interrupted_by(0);
        assert_eq!(rest.left(after(200), 1), Duration::ZERO);
        rest.interrupted_by(2);
        rest.interrupted_by(0);
        assert_eq!(rest.left(after(250), MOST_RESTING), Duration::from_millis(150));
        assert_eq!(rest.left(after(250), MOST_RESTING + 1), Duration::ZERO);
        assert_eq!(rest.left(after(500), 1), Duration::ZERO);
        assert_eq!(Rest::default().left(began, 1), Duration::ZERO);
    }
}
