//! Whose word counts: of a review, and of an approval.

use serde_json::json;

use super::approvals::two_admins;
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

#[tokio::test]
async fn a_word_given_with_a_token_that_somebody_issued_counts_no_longer_than_they() {
    let test = Test::with_policies(two_admins()).await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    test.add("cleo", "person", json!({ "role": "admin" })).await;
    let mal = test.add("mal", "person", json!({ "role": "admin" })).await;
    let bens = test.post("/tokens", &mal, json!({ "for": "ben" })).await.json()["token"].as_str().unwrap().to_owned();

    let leas = test.post("/tokens", &mal, json!({ "for": "lea" })).await.json()["token"].as_str().unwrap().to_owned();
    let other = json!({ "id": "other", "kind": "person", "team": "team:ops" });
    let other = test.post("/actors", &leas, other).await.json()["approval"].as_str().unwrap().to_owned();
    let asked = json!({ "id": "new", "kind": "person", "team": "team:ops" });
    let asked = test.post("/actors", &lea, asked).await;
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    let approve = json!({ "decision": "approve" });
    let first = test.post(&path, &bens, approve.clone()).await.json();
    assert_eq!(first["approvers"][0]["held"], json!(["ben"]), "{first}");
    let change = propose(&test, &test.admin, &stricter("closed")).await;
    let reviewed = step(&test, &bens, &change, "review", json!({ "verdict": "approve" })).await.json();
    assert_eq!(reviewed["reviews"][0]["counts"], json!(true), "{reviewed}");

    assert_eq!(test.post("/kill", &test.admin, json!({ "scope": "actor:mal", "reason": "stolen" })).await.status, 200);
    let held = test.get(&path, &ben).await.json()["approvers"][0].clone();
    assert_eq!((&held["held"], &held["any_of"]), (&json!([]), &json!(["ana", "ben", "cleo"])));
    assert_eq!(test.post(&path, &test.admin, approve.clone()).await.json()["status"], "pending");
    let compared = test.get(&format!("/changes/{}/diff", change["id"].as_str().unwrap()), &ben).await.json();
    assert_eq!(compared["change"]["reviews"][0]["counts"], json!(false));
    let frozen = test.post(&format!("/approvals/{other}"), &ben, approve.clone()).await;
    assert_eq!(frozen.error(), "409 conflict the kill switch actor:mal freezes it");
    // By a token of his own it is his.
    assert_eq!(test.post(&path, &ben, approve).await.json()["status"], "used");
    let again = step(&test, &ben, &change, "review", json!({ "verdict": "approve" })).await.json();
    assert_eq!(again["state"], "approved", "{again}");
}

#[tokio::test]
async fn what_was_approved_for_the_next_call_is_approved_by_whoever_still_counts_then() {
    let mut policies = ok::policy::Bundle::built_in();
    let forbids = "@id(\"tokens-asked\") @reason(\"an admin looks at tokens\") forbid (principal is Ok::Actor, action == Ok::Action::\"token.issue\", \
                   resource) when { context.input has label && context.input.label == \"ci\" } unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };\n";
    policies.files.insert("tokens.cedar".into(), forbids.into());
    policies.files.retain(|path, _| !path.starts_with("tests/"));
    let test = Test::with_policies(policies).await;
    let max = test.add("max", "person", json!({})).await;
    let mal = test.add("mal", "person", json!({ "role": "admin" })).await;
    let issue = async || test.post("/tokens", &max, json!({ "label": "ci" })).await;
    let first = issue().await.json()["approval"].as_str().unwrap().to_owned();
    let approved = test.post(&format!("/approvals/{first}"), &mal, json!({ "decision": "approve" })).await.json();
    assert_eq!(approved["status"], "approved", "{approved}");
    assert_eq!(test.post("/kill", &test.admin, json!({ "scope": "actor:mal", "reason": "stolen" })).await.status, 200);
    let again = issue().await.json();
    assert_eq!(again["error"], "needs_approval", "{again}");
    let second = again["approval"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    assert_eq!(test.get(&format!("/approvals/{first}"), &test.admin).await.json()["status"], "stale");
    let approved =
        test.post(&format!("/approvals/{second}"), &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(approved["status"], "approved", "{approved}");
    let issued = issue().await;
    assert_eq!(issued.status, 201, "{}", issued.text());
}

#[tokio::test]
async fn a_no_counts_as_long_as_a_yes() {
    let test = Test::new().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let eve = test.add("eve", "person", json!({ "role": "admin" })).await;
    let change = propose(&test, &ben, &stricter("closed")).await;
    let no = json!({ "verdict": "request_changes", "note": "too strict" });
    step(&test, &eve, &change, "review", no).await;
    let yes = json!({ "verdict": "approve" });
    assert_eq!(step(&test, &test.admin, &change, "review", yes.clone()).await.json()["state"], "in_review");
    test.clock.advance(1);
    let demoted = test.call("PATCH", "/actors/eve", &test.admin, Some(json!({ "role": "member" }))).await;
    assert_eq!(demoted.status, 200, "{}", demoted.text());
    let path = format!("/changes/{}/diff", change["id"].as_str().unwrap());
    test.clock.advance(1);
    step(&test, &test.admin, &change, "review", yes).await;
    assert_eq!(test.get(&path, &test.admin).await.json()["change"]["state"], "approved");
}

#[tokio::test]
async fn a_word_given_with_a_token_that_was_kept_when_its_issuer_left_counts() {
    let test = Test::new().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let mal = test.add("mal", "person", json!({ "role": "admin" })).await;
    let kept = test.post("/tokens", &mal, json!({ "for": "ana" })).await.json()["token"].as_str().unwrap().to_owned();
    let change = propose(&test, &ben, &stricter("closed")).await;
    let yes = json!({ "verdict": "approve" });
    assert_eq!(step(&test, &kept, &change, "review", yes.clone()).await.json()["state"], "approved");
    test.clock.advance(1);
    let left = json!({ "reason": "left", "keep_issued": true });
    assert_eq!(test.post("/actors/mal/offboard", &test.admin, left).await.status, 200);
    let path = format!("/changes/{}/diff", change["id"].as_str().unwrap());
    assert_eq!(test.get(&path, &ben).await.json()["change"]["state"], "in_review", "what was said before they left");
    test.clock.advance(1);
    step(&test, &kept, &change, "review", yes).await;
    assert_eq!(test.get(&path, &ben).await.json()["change"]["state"], "approved");
}
