//! The clock of the demo.

use std::sync::Arc;

use ok::demo::time::StoryClock;
use ok::types::time::{Clock, Time};

struct Stands(Time);

impl Clock for Stands {
    fn now(&self) -> Time {
        self.0
    }
}

#[test]
fn the_story_goes_forward_and_ends_now() {
    let now: Time = "2026-03-02T10:30:00Z".parse().unwrap();
    let clock = StoryClock::before(Arc::new(Stands(now)));
    let time_at = |at: &str| {
        clock.set(at).unwrap();
        clock.now().to_string()
    };
    assert_eq!(time_at("23d 09:12"), "2026-02-07T09:12:00Z");
    assert_eq!(time_at("24d 09:12"), "2026-02-07T09:12:00.009Z", "never back");
    assert_eq!(time_at("+1h30m"), "2026-02-07T10:42:00.018Z");
    assert_eq!(time_at("90m"), "2026-03-02T09:00:00Z");
    assert_eq!(time_at("+2d"), now.to_string(), "never ahead of the machine");
    assert!(clock.set("soon").is_err() && clock.set("3d noon").is_err());
}
