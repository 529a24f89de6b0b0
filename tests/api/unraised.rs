//! Runs that a budget holds, and whose request for more is refused.

use ok::types::time::DAY;
use serde_json::json;

use super::budgets::{requests, status};
use super::runs::{accounted_for, company, go_on, run};
use crate::harness::{Cast, Test};

/// A run for `mia` that may spend less than its first step takes.
async fn held_run(test: &Test, cast: &Cast) -> String {
    let thinks = json!({ "model": { "text": "so", "cost_cents": 11 } });
    let wish = json!({ "agent": "bot", "text": "think", "plan": { "steps": [thinks] }, "budget_cents": 10 });
    let id = test.post("/ask", &cast.mia, wish).await.json()["run"].as_str().unwrap().to_owned();
    go_on(test).await;
    id
}

#[tokio::test]
async fn whoever_asked_is_told_that_nobody_let_their_run_spend_more() {
    let (test, cast) = company().await;
    let id = held_run(&test, &cast).await;
    let asked = requests(&test).await;
    let path = format!("/approvals/{}", asked[0].1);
    let rejected = test.post(&path, &test.admin, json!({ "decision": "reject", "note": "not this month" })).await;
    assert_eq!(rejected.status, 200, "{}", rejected.text());
    let held = run(&test, &id).await;
    let why = "0 of 10 cents are spent, and the next step takes 11; more was not approved: an approver rejected it: not this month";
    assert_eq!((&held["status"], &held["waiting"]["reason"]), (&json!("held"), &json!(why)), "{held}");
    let inbox = test.get("/inbox", &cast.mia).await.json();
    let titles: Vec<&str> = inbox.as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&format!("a run of bot is held: {why}").as_str()), "{titles:?}");
    go_on(&test).await;
    assert_eq!(requests(&test).await, [], "nobody is asked again");
    let other = held_run(&test, &cast).await;
    let request = requests(&test).await[0].1.clone();
    let withdrawn = test.call("DELETE", &format!("/approvals/{request}"), &cast.bot, None).await;
    assert_eq!(withdrawn.status, 200, "{}", withdrawn.text());
    let why = run(&test, &other).await["waiting"]["reason"].as_str().unwrap().to_owned();
    assert!(why.ends_with("more was not approved: the request was taken back"), "{why}");
    let raised = test.post(&format!("/runs/{id}/budget"), &test.admin, json!({ "budget_cents": 12 })).await;
    assert_eq!(raised.status, 200, "{}", raised.text());
    go_on(&test).await;
    assert_eq!(status(&test, &id).await, "completed");
    let last = held_run(&test, &cast).await;
    assert_eq!(requests(&test).await.len(), 1);
    let left = test.post("/actors/bot/offboard", &test.admin, json!({ "reason": "replaced" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
    go_on(&test).await;
    for ended in [other, last] {
        assert_eq!(status(&test, &ended).await, "failed", "an agent that leaves is held no more");
    }
    accounted_for(&test);
}

#[tokio::test]
async fn of_two_requests_that_expire_at_once_one_tells_whoever_asked() {
    let (test, cast) = company().await;
    let id = held_run(&test, &cast).await;
    let more = test.post(&format!("/runs/{id}/budget"), &cast.bot, json!({ "budget_cents": 35 })).await;
    assert_eq!((more.status.as_u16(), requests(&test).await.len()), (202, 2), "{}", more.text());
    let since = test.last_seq().await;
    test.clock.advance(4 * DAY);
    test.post("/tick", &test.admin, json!({})).await;
    let holds = test.get(&format!("/events?type=run_held&run={id}&since={since}"), &test.admin).await.json();
    let reasons: Vec<&str> =
        holds["events"].as_array().unwrap().iter().map(|held| held["event"]["reason"].as_str().unwrap()).collect();
    let why = "0 of 10 cents are spent, and the next step takes 11; more was not approved: no decision in time";
    assert_eq!(reasons, [why]);
    accounted_for(&test);
}

#[tokio::test]
async fn a_raise_that_waits_for_others_tells_nothing_yet() {
    let (test, cast) = company().await;
    let id = held_run(&test, &cast).await;
    let first = requests(&test).await[0].1.clone();
    test.post(&format!("/runs/{id}/budget"), &cast.bot, json!({ "budget_cents": 35 })).await;
    let path = format!("/approvals/{first}");
    assert_eq!(test.post(&path, &test.admin, json!({ "decision": "reject" })).await.status, 200);
    assert_eq!(
        run(&test, &id).await["waiting"]["reason"],
        "0 of 10 cents are spent, and the next step takes 11",
        "somebody is still asked"
    );
}
