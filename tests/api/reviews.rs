//! Whose review of a change counts.

use serde_json::json;

use super::changes::{propose, step, stricter};
use crate::harness::Test;

#[tokio::test]
async fn a_review_counts_while_who_gave_it_is_there_and_as_they_were() {
    let test = Test::new().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let eve = test.add("eve", "person", json!({ "role": "admin" })).await;
    let change = propose(&test, &ben, &stricter("closed")).await;
    step(&test, &ben, &change, "evals", json!({})).await;
    let path = format!("/changes/{}/diff", change["id"].as_str().unwrap());
    let stands = async || {
        let shown = test.get(&path, &test.admin).await.json()["change"].clone();
        (shown["state"].clone(), shown["reviews"][0]["counts"].clone())
    };
    let reviewed = step(&test, &eve, &change, "review", json!({ "verdict": "approve" })).await.json();
    assert_eq!((&reviewed["state"], &reviewed["reviews"][0]["counts"]), (&json!("approved"), &json!(true)));
    let role = async |role: &str| {
        let changed = test.call("PATCH", "/actors/eve", &test.admin, Some(json!({ "role": role }))).await;
        if changed.status == 202 {
            let approval = changed.json()["approval"].as_str().unwrap().to_owned();
            let decided = test.post(&format!("/approvals/{approval}"), &ben, json!({ "decision": "approve" })).await;
            assert_eq!(decided.json()["status"], "used", "{}", decided.text());
        }
        test.clock.advance(1);
    };
    let kill = async |engaged: bool| {
        let switch = json!({ "scope": "actor:eve", "off": !engaged, "reason": "stolen" });
        let switched = test.post("/kill", &test.admin, switch).await;
        assert_eq!(switched.status, 200, "{}", switched.text());
    };
    test.clock.advance(1);
    kill(true).await;
    assert_eq!(stands().await, (json!("in_review"), json!(false)));
    let waits = step(&test, &ben, &change, "promote", json!({})).await;
    assert_eq!(waits.json()["error"], "needs_approval", "{}", waits.text());
    kill(false).await;
    assert_eq!(stands().await, (json!("approved"), json!(true)));
    role("member").await;
    assert_eq!(stands().await, (json!("in_review"), json!(false)));
    role("admin").await;
    assert_eq!(stands().await, (json!("approved"), json!(true)));
    role("member").await;
    let left = test.post("/actors/eve/offboard", &test.admin, json!({ "reason": "left" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
    let waits = step(&test, &ben, &change, "promote", json!({})).await;
    assert_eq!(waits.json()["error"], "needs_approval", "{}", waits.text());
    // Another one's still does.
    step(&test, &test.admin, &change, "review", json!({ "verdict": "approve" })).await;
    let promoted = step(&test, &ben, &change, "promote", json!({})).await;
    assert_eq!(promoted.status, 200, "{}", promoted.text());
}
