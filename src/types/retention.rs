//! How long a collection keeps what it does not need any more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problems::Problems;

/// The most days.
const MOST_DAYS: u32 = 36_500;

/// For how long records and what they were are kept; what is left out is kept for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Days after which an earlier version is removed, counted from its replacement or the deletion of its record; 1 to
    /// 36500, at most `record_days`, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 36_500))]
    pub history_days: Option<u32>,
    /// Days after its last change at which a record is removed, with its history; 1 to 36500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 36_500))]
    pub record_days: Option<u32>,
}

impl Retention {
    /// Everything is kept.
    pub const fn is_empty(&self) -> bool {
        self.history_days.is_none() && self.record_days.is_none()
    }

    /// After how many days earlier versions are removed.
    pub fn history(&self) -> Option<u32> {
        self.history_days.or(self.record_days)
    }

    pub(super) fn problems(&self, is_elsewhere: bool, problems: &mut Problems) {
        let at = "spec.retention";
        problems.check(!is_elsewhere, format!("{at}: has no effect where records are kept elsewhere"));
        let nothing = "must have history_days, record_days or both; leave it out to keep everything";
        problems.check(!self.is_empty(), format!("{at}: {nothing}"));
        for (name, days) in [("history_days", self.history_days), ("record_days", self.record_days)] {
            let fits = days.is_none_or(|days| (1..=MOST_DAYS).contains(&days));
            let what = format!("must be 1 to {MOST_DAYS}; leave it out where nothing is to be removed");
            problems.check(fits, format!("{at}.{name}: {what}"));
        }
        if let (Some(history), Some(record)) = (self.history_days, self.record_days) {
            let what = format!("must be at most record_days, which is {record}: a record goes with its history");
            problems.check(history <= record, format!("{at}.history_days: {what}"));
        }
    }
}
