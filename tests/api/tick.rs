//! What time brings about.

use ok::types::time::DAY;
use serde_json::json;

use crate::harness::Test;

#[tokio::test]
async fn only_admins_tick() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for token in [&cast.lea, &cast.sam, &cast.mia, &cast.bot] {
        let answer = test.post("/tick", token, json!({})).await;
        assert_eq!(answer.error(), "403 denied policy denied tick: admins only");
    }
    assert_eq!(test.newest(1).await, ["denied"]);
}

#[tokio::test]
async fn a_tick_ends_what_is_due_once() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.token("mia", json!({ "ttl": "1m" })).await;
    let parked = test.post("/actors", &cast.lea, json!({ "id": "new", "kind": "agent", "team": "team:ops" })).await;
    assert_eq!(test.post("/tick", &test.admin, json!({})).await.json()["expired"], json!([]));
    test.clock.advance(3 * DAY);
    let ticked = test.post("/tick", &test.admin, json!({})).await.json();
    let expired = ticked["expired"].as_array().unwrap();
    assert_eq!((expired.len(), &expired[1]), (2, &parked.json()["approval"]), "the token, then the approval");
    assert_eq!(test.newest(2).await, ["token_expired", "approval_expired"]);
    let inbox = test.get("/inbox", &cast.lea).await.json();
    let title = inbox[0]["title"].as_str().unwrap();
    assert!(title.starts_with("your request has expired: "), "{inbox}");
    assert_eq!(test.post("/tick", &test.admin, json!({})).await.json()["expired"], json!([]));
}

#[tokio::test]
async fn a_tick_never_goes_back() {
    let test = Test::new().await;
    let answer = test.post("/tick", &test.admin, json!({ "now": "2026-11-20T08:59:59Z" })).await;
    assert_eq!(answer.error(), "422 invalid now: must not be before 2026-11-20T09:00:00Z");
}

#[tokio::test]
async fn an_answer_names_the_event_that_records_it() {
    let test = Test::new().await;
    let max = test.add("max", "person", serde_json::json!({})).await;
    let denied = test.post("/tick", &max, serde_json::json!({})).await;
    let seq: i64 = denied.header("ok-decision").parse().unwrap();
    assert_eq!((seq, test.event().await["event"]["type"].as_str()), (test.last_seq().await, Some("denied")));
    assert!(!denied.header("x-request-id").is_empty());
}

#[tokio::test]
async fn a_mistyped_year_ends_nothing() {
    let test = Test::new().await;
    let far = test.post("/tick", &test.admin, json!({ "now": "2099-01-01T00:00:00Z" })).await;
    let expected =
        "422 invalid now: must not be after 2027-11-21T09:00:00Z: what ends by then, such as tokens, ends for good";
    assert_eq!(far.error(), expected);
    assert_eq!(test.get("/me", &test.admin).await.status, 200);
}
