//! Requests for approval as whoever asks meets them: what they may do by now, what is erased, whose token it was.

use serde_json::{Value, json};

use crate::harness::{Answer, Test, refolded};
use ok::policy::Bundle;

/// Agents' tasks need an approval of this kind, which two people give.
fn by_two(kind: &str) -> Bundle {
    let mut bundle = Bundle::built_in();
    let policy = format!(
        "@id(\"agents-ask-two\") @reason(\"two look first\") forbid (principal in Ok::Role::\"agent\", action == \
         Ok::Action::\"task.create\", resource) unless {{ context.approvals.contains(Ok::ApprovalKind::\"{kind}\") }};"
    );
    bundle.files.insert("two.cedar".into(), policy);
    let rules = format!("kinds:\n  {kind}:\n    eligible:\n      - role: admin\n    threshold: 2\n");
    bundle.files.insert("approvals.yaml".into(), rules);
    bundle
}

fn task(goal: &str) -> Value {
    json!({ "title": "Pay", "goal": goal })
}

fn approval(asked: &Answer) -> String {
    assert_eq!(asked.status, 202, "{}", asked.text());
    format!("/approvals/{}", asked.json()["approval"].as_str().unwrap())
}

async fn trusted(test: &Test, tier: &str) {
    let body = json!({ "tier": tier, "reason": "as it does" });
    let answer = test.post("/actors/bot/trust", &test.admin, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn what_its_requester_may_do_by_now_is_done_once() {
    let test = Test::new().await;
    let cast = test.cast().await;
    trusted(&test, "observe").await;
    let waits = approval(&test.post("/tasks", &cast.bot, task("once")).await);
    let other = approval(&test.post("/tasks", &cast.bot, task("another")).await);
    trusted(&test, "standard").await;
    assert_eq!(test.post("/tasks", &cast.bot, task("once")).await.status, 201);
    assert_eq!(test.get(&waits, &cast.lea).await.json()["status"], "cancelled");
    let late = test.post(&waits, &cast.lea, json!({ "decision": "approve" })).await;
    assert_eq!(late.error(), "409 conflict the approval is cancelled already");
    // One that differs still waits, and is none that was done.
    let done = test.post(&other, &cast.lea, json!({ "decision": "approve" })).await.json();
    assert_eq!(done["status"], "used", "{done}");
    assert_eq!(test.post("/tasks", &cast.bot, task("another")).await.status, 201);
    let tasks = test.get("/tasks", &cast.bot).await.json();
    assert_eq!(tasks.as_array().unwrap().len(), 3, "{tasks}");
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
    refolded(&test.file());
}

#[tokio::test]
async fn a_call_that_names_a_version_is_approved_for_that_version() {
    let test = Test::new().await;
    let cast = test.cast().await;
    trusted(&test, "observe").await;
    let made = test.post("/tasks", &cast.mia, json!({ "title": "t", "owner": "bot" })).await.json();
    let path = format!("/tasks/{}/assign", made["id"].as_str().unwrap());
    let (named, unnamed) = (json!({ "to": "mia", "version": 1 }), json!({ "to": "mia" }));
    let waits = approval(&test.post(&path, &cast.bot, named.clone()).await);
    let any = approval(&test.post(&path, &cast.bot, unnamed).await);
    // Another version, in which nothing that the call is about has changed.
    assert_eq!(test.post(&path, &cast.mia, json!({ "to": "bot" })).await.status, 200);
    let explained = test.get(&format!("{waits}/explain"), &cast.lea).await.json();
    let happens = explained["what_happens"]["on_approve"].as_str().unwrap().to_owned();
    assert!(happens.starts_with("nothing is done: its target has changed since the request"), "{explained}");
    assert_eq!(explained["diff"], json!({ "version": { "was": 1, "is": 2 } }));
    let again = test.post(&path, &cast.bot, named).await;
    assert_eq!(again.error(), "409 conflict version: the current version is 2");
    let approve = async |path: &str| test.post(path, &cast.lea, json!({ "decision": "approve" })).await.json();
    assert_eq!(approve(&waits).await["status"], "stale");
    assert_eq!(approve(&any).await["status"], "used", "who names none means any");
}

#[tokio::test]
async fn no_digest_tells_what_was_erased() {
    let test = Test::new().await;
    let cast = test.cast().await;
    trusted(&test, "observe").await;
    let asked = async |goal: &str| approval(&test.post("/tasks", &cast.bot, task(goal)).await);
    let (one, other) = (asked("DE-1233").await, asked("DE-1234").await);
    assert_ne!(one, other, "they are two");
    assert_eq!(asked("DE-1233").await, one, "asked twice, it waits once");
    let digest = async |path: &str| test.get(path, &cast.bot).await.json()["digest"].clone();
    assert_eq!(digest(&one).await, digest(&other).await);
    let done = test.post(&other, &cast.lea, json!({ "decision": "approve" })).await.json();
    assert_eq!(done["status"], "used", "{done}");
    assert_eq!(asked("DE-1233").await, one);
    let id = done["result"]["id"].as_str().unwrap_or_else(|| panic!("{done}"));
    assert_eq!(test.get(&format!("/tasks/{id}"), &cast.bot).await.json()["goal"], "DE-1234");
}

#[tokio::test]
async fn whoever_issued_the_token_is_not_named_where_they_may_not_decide() {
    let test = Test::new().await;
    let cast = test.cast().await;
    trusted(&test, "observe").await;
    // The admin issued the agent's token; its team's lead decides.
    let waits = approval(&test.post("/tasks", &cast.bot, task("x")).await);
    let able = test.get(&waits, &cast.lea).await.json()["approvers"][0]["any_of"].clone();
    assert_eq!(able, json!(["lea"]));
    let mine = test.get("/approvals?mine=true&status=pending", &test.admin).await.json();
    assert_eq!(mine, json!([]));
    let inbox = test.get("/inbox", &test.admin).await.json();
    assert!(!inbox.to_string().contains("waits for you"), "{inbox}");
}

#[tokio::test]
async fn whoever_issued_the_token_decides_where_too_few_others_may() {
    let test = Test::with_policies(by_two("pair")).await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    trusted(&test, "standard").await;
    let decide = async |path: &str, who: &str| test.post(path, who, json!({ "decision": "approve" })).await;
    let able = async |path: &str| test.get(path, &test.admin).await.json()["approvers"][0]["any_of"].clone();
    let waits = approval(&test.post("/tasks", &cast.bot, task("of two admins")).await);
    assert_eq!(able(&waits).await, json!(["ana", "ben"]));
    assert_eq!(decide(&waits, &test.admin).await.json()["status"], "pending");
    assert_eq!(decide(&waits, &ben).await.json()["status"], "used");

    let cem = test.add("cem", "person", json!({ "role": "admin" })).await;
    let waits = approval(&test.post("/tasks", &cast.bot, task("of three")).await);
    assert_eq!(able(&waits).await, json!(["ben", "cem"]));
    assert_eq!(decide(&waits, &test.admin).await.status, 403);
    assert_eq!(decide(&waits, &ben).await.json()["status"], "pending");
    assert_eq!(decide(&waits, &cem).await.json()["status"], "used");
}

#[tokio::test]
async fn whoever_has_to_repeat_an_approved_call_is_told() {
    let mut policies = Bundle::built_in();
    let policy = "@id(\"tokens-are-asked-for\") @reason(\"a lead looks first\") forbid (principal in Ok::Role::\"member\", action == \
                  Ok::Action::\"token.issue\", resource) unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") };";
    policies.files.insert("tokens.cedar".into(), policy.into());
    let test = Test::with_policies(policies).await;
    test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    let lea = test.token("lea", json!({})).await;
    let mia = json!({ "id": "mia", "kind": "person", "team": "team:ops" });
    assert_eq!(test.post("/actors", &test.admin, mia).await.status, 201);
    let issued = test.post("/tokens", &test.admin, json!({ "for": "mia" })).await.json();
    let mia = issued["token"].as_str().unwrap().to_owned();
    let titles = async || {
        let items = test.get("/inbox", &mia).await.json();
        let titles = items.as_array().unwrap().iter().filter(|item| item["kind"] == "decision");
        titles.map(|item| item["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Until it is carried out, whoever has approved it may think better of it.
    let waits = approval(&test.post("/tokens", &mia, json!({ "label": "own" })).await);
    for (verdict, status) in [("approve", "approved"), ("reject", "rejected")] {
        let decided = test.post(&waits, &lea, json!({ "decision": verdict })).await;
        assert_eq!(decided.json()["status"], status, "{}", decided.text());
        let again = test.post(&waits, &lea, json!({ "decision": "approve" })).await;
        assert_eq!(again.error(), format!("409 conflict the approval is {status} already, by lea"));
    }
    assert!(titles().await[0].starts_with("your request was rejected: "));

    let waits = approval(&test.post("/tokens", &mia, json!({ "label": "own" })).await);
    let decided = test.post(&waits, &lea, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "approved", "{decided}");
    let told = titles().await;
    assert!(
        told.len() == 2 && told[0].starts_with("your request was approved; repeat the call to carry it out: "),
        "{told:?}"
    );
    assert_eq!(test.post("/tokens", &mia, json!({ "label": "own" })).await.status, 201);
    let told = titles().await;
    assert!(told.len() == 2 && told[0].starts_with("your request was carried out: "), "{told:?}");
}
