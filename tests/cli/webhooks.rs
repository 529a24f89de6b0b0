//! `ok subscription`.

use serde_json::Value;

use super::{Place, Server, assert_snapshot, session};

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

#[test]
fn another_key_of_the_signing_secrets_is_said_until_they_are_rotated() {
    let place = Place::with_company();
    let key = |letter: &str| letter.repeat(64);
    let ok = |line: &str, with: &str| place.ok_with(&format!("--as ana {line}"), &[("OK_SECRETS_KEY", with)]);
    let said = |with: &str| {
        let mut command = place.command(&["serve", "--bind", "127.0.0.1:0"]);
        command.env("OK_SECRETS_KEY", with);
        Server::start(command).lines.iter().any(|line| line.contains("is not the one that they were made with"))
    };
    let (first, second) = (key("a"), key("b"));
    ok("subscription add https://hooks.example.com/ok --event agent.gate.pending", &first);
    let listed: Value = serde_json::from_str(&place.ana("subscription list --format json").stdout).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!((said(&first), said(&second)), (false, true));
    assert_eq!(ok(&format!("subscription rotate {id}"), &second).code, 0);
    assert_eq!((said(&second), said(&first)), (false, true));
}
