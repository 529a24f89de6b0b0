//! Instants.

use cedar_policy_core::ast::Value;
use ok::policy::record::{call, duration, remembered};

#[test]
fn instants_are_those_of_cedar() {
    let ends = [i64::MIN, -62_135_596_800_000, 253_402_300_799_999, i64::MAX];
    for millis in [0, 1, -1, 1_023, 1_024, -1_024, 1_800_000_000_123].into_iter().chain(ends) {
        let epoch = call("datetime", &[Value::from("1970-01-01")]).unwrap();
        let plain = duration(millis).and_then(|since| call("offset", &[epoch, since]));
        assert_eq!(remembered(millis), plain, "{millis}");
    }
}
