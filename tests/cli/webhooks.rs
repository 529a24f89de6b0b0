//! `ok subscription`.

use serde_json::Value;

use super::{Place, assert_snapshot, session};

#[test]
fn a_webhook_is_added_looked_at_changed_and_removed() {
    let place = Place::with_company();
    let add = "subscription add https://hooks.example.com/ok --event agent.gate.pending --description 'the pager'";
    let added = place.ana(add);
    let listed: Value = serde_json::from_str(&place.ana("subscription list --format json").stdout).unwrap();
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    let runs = [
        added,
        place.ana("subscription list"),
        place.ana(&format!("subscription test {id}")),
        place.ana(&format!("subscription deliveries {id}")),
        place.ana(&format!("subscription update {id} --event agent.run.failed --disable")),
        place.ana(&format!("subscription deliveries {id}")),
        place.ana(&format!("subscription test {id}")),
        place.ana(&format!("subscription update {id}")),
        place.ana(&format!("subscription redeliver {id} msg_none")),
        place.ana(&format!("subscription rotate {id}")),
        place.ana(&format!("subscription remove {id}")),
        place.ana(&format!("subscription show {id}")),
        place.ana("subscription add https://10.0.0.1/ --event agent.gate.pending"),
        place.ok_with(&format!("--as ana {add}"), &[("OK_EGRESS_PORTS", "https")]),
    ];
    assert_snapshot("a_webhook_is_added_looked_at_changed_and_removed", session(runs));
}
