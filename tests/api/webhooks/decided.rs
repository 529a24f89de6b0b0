//! Who decides what is sent: policies, kill switches, approvals, and the owner's own rights.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::{URL, accounted_for, ask, create, deliveries, due, hooked, new, settle, shown};
use crate::harness::{Answer, Test};

#[tokio::test]
async fn a_kill_switch_holds_what_would_be_sent_and_its_release_lets_it_go() {
    let (test, ..) = hooked().await;
    let bens = test.token("ben", json!({})).await;
    let issue = async |who: &str| test.post("/tokens", &bens, json!({ "for": who })).await.json()["token"].clone();
    let (ben, bot) = (issue("ben").await, issue("bot").await);
    let (ben, bot) = (ben.as_str().unwrap(), bot.as_str().unwrap());
    for scope in ["actor:ana", "global"] {
        if scope == "global" {
            ask(&test, bot, "one").await;
        }
        assert_eq!(test.post("/kill", ben, json!({ "scope": scope })).await.status, 200);
        if scope == "actor:ana" {
            ask(&test, bot, "two").await;
        }
        let seq = test.file().query_row("SELECT max(seq) FROM log_entry", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(due(&test).await.len(), 0, "{scope}");
        let after = test.file().query_row("SELECT max(seq) FROM log_entry", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(seq, after, "what is held is told to nobody, again and again");
        assert_eq!(test.post("/kill", ben, json!({ "scope": scope, "off": true })).await.status, 200);
        let [message] = due(&test).await.try_into().unwrap();
        // What was under way is recorded although everything stands still.
        test.post("/kill", ben, json!({ "scope": "global" })).await;
        assert_eq!(settle(&test, &message, Some(200)).await["outcome"], "delivered");
        test.post("/kill", ben, json!({ "scope": "global", "off": true })).await;
    }
}

/// The default policies and these.
fn policies(more: &str) -> Bundle {
    let mut policies = Bundle::built_in();
    policies.files.insert("more.cedar".into(), more.into());
    policies
}

async fn approve(test: &Test, token: &str, asked: &Answer) -> Value {
    assert_eq!(asked.status, 202, "{}", asked.text());
    let path = format!("/approvals/{}", asked.json()["approval"].as_str().unwrap());
    test.post(&path, token, json!({ "decision": "approve" })).await.json()
}

#[tokio::test]
async fn what_needs_approval_is_sent_once_and_only_when_it_was_used() {
    let more = r#"
        @id("egress") @reason("another admin looks at it")
        forbid (principal is Ok::Actor, action in [Ok::Action::"webhook.create", Ok::Action::"webhook.test"], resource)
        unless { context.approvals.contains(Ok::ApprovalKind::"admin") };
    "#;
    let test = Test::with_policies(policies(more)).await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let asked = test.post("/v1/webhooks", &test.admin, new()).await;
    assert_eq!(approve(&test, &ben, &asked).await["status"], "approved", "its secret is for who asked alone");
    assert_eq!(test.get("/v1/webhooks", &test.admin).await.json()["data"], json!([]));
    let (id, _) = create(&test, &test.admin, new()).await;
    assert_eq!(test.post("/v1/webhooks", &test.admin, new()).await.status, 202, "an approval is for one call");

    let path = format!("/v1/webhooks/{id}/test");
    let asked = test.post(&path, &test.admin, json!({})).await;
    assert_eq!(due(&test).await.len(), 0, "it waits, and nothing is sent");
    assert_eq!(approve(&test, &ben, &asked).await["status"], "used");
    let [message] = due(&test).await.try_into().unwrap();
    let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["type"], "webhook.test");
    settle(&test, &message, Some(200)).await;
    let test = test.reopened().await;
    assert_eq!(due(&test).await.len(), 0, "once");
    assert_eq!(deliveries(&test, &id).await.len(), 1);
    accounted_for(&test);
}

#[tokio::test]
async fn what_is_refused_or_repeated_tells_nothing() {
    let (test, cast, id, _) = hooked().await;
    let bad = json!({ "id": "BAD ID", "kind": "person", "team": "team:ops" });
    assert_eq!(test.post("/actors", &cast.lea, bad).await.status, 422);
    assert_eq!(test.post("/actors", &cast.mia, json!({ "id": "x", "kind": "person" })).await.status, 403);
    assert_eq!(test.post(&format!("/v1/webhooks/{id}/test"), &cast.lea, json!({})).await.status, 404);
    ask(&test, &cast.bot, "one").await;
    ask(&test, &cast.bot, "one").await;
    for _ in 0..2 {
        let tested = test.once(&format!("/v1/webhooks/{id}/test"), "a-key", json!({})).await;
        assert_eq!(tested.status, 200);
    }
    assert_eq!(deliveries(&test, &id).await.len(), 2, "one for the call that waits, one for the test");
}

#[tokio::test]
async fn what_somebody_leaves_behind_has_another_owner_or_sends_nothing() {
    let (test, cast, id, _) = hooked().await;
    let ben = test.token("ben", json!({})).await;
    let (of_ben, _) = create(&test, &ben, new()).await;
    ask(&test, &cast.bot, "one").await;
    assert_eq!(due(&test).await.len(), 2);
    let left = test.post("/actors/ben/offboard", &test.admin, json!({ "reason": "left" })).await.json();
    assert_eq!((&left["webhooks_disabled"], &left["webhooks_handed_on"]), (&json!([of_ben]), &json!([])));
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(message["webhook"], id);
    settle(&test, &message, Some(200)).await;
    assert_eq!(deliveries(&test, &of_ben).await[0]["state"], "cancelled");
    // Whoever takes over is told only what they may see themselves.
    test.add("eve", "person", json!({ "role": "admin" })).await;
    let eve = test.token("eve", json!({})).await;
    let (of_eve, _) = create(&test, &eve, new()).await;
    let leaving = json!({ "reason": "left", "successor": "max" });
    let left = test.post("/actors/eve/offboard", &test.admin, leaving).await.json();
    assert_eq!(left["webhooks_handed_on"], json!([of_eve]));
    assert_eq!(test.get(&format!("/v1/webhooks/{of_eve}"), &cast.max).await.json()["owner"], "max");
    ask(&test, &cast.bot, "two").await;
    let told: Vec<Value> = due(&test).await.into_iter().map(|message| message["webhook"].clone()).collect();
    assert_eq!(told, [json!(id)]);
    accounted_for(&test);
}

#[tokio::test]
async fn a_policy_says_which_hosts_are_fine_at_every_step() {
    let more = r#"
        @id("hosts") @reason("only example.com is told anything")
        forbid (principal, action in [Ok::Action::"webhook.create", Ok::Action::"webhook.update", Ok::Action::"webhook.dispatch"], resource is Ok::Webhook)
        unless { resource.host like "*.example.com" };
        @id("held-back") @reason("not this one for now")
        forbid (principal is Ok::Server, action == Ok::Action::"webhook.dispatch", resource is Ok::Webhook)
        when { resource.host == "later.example.com" };
    "#;
    let test = Test::with_policies(policies(more)).await;
    let (id, _) = create(&test, &test.admin, new()).await;
    let elsewhere = json!({ "url": "https://hooks.example.net/", "events": ["agent.gate.pending"] });
    let refused = test.post("/v1/webhooks", &test.admin, elsewhere).await;
    assert_eq!(refused.error(), "403 denied policy denied webhook.create: only example.com is told anything");
    let path = format!("/v1/webhooks/{id}");
    for moved in ["https://hooks.example.net/", "https://example.com/", "https://x.example.com.evil.net/"] {
        let refused = test.call("PATCH", &path, &test.admin, Some(json!({ "url": moved }))).await;
        assert_eq!(
            refused.error(),
            "403 denied policy denied webhook.update: only example.com is told anything",
            "{moved}"
        );
    }
    assert_eq!(shown(&test, &id).await["url"], URL);
    let later = json!({ "url": "https://later.example.com./" });
    assert_eq!(test.call("PATCH", &path, &test.admin, Some(later)).await.status, 200);
    assert_eq!(test.post(&format!("{path}/test"), &test.admin, json!({})).await.status, 200);
    assert_eq!(due(&test).await.len(), 0);
    test.call("PATCH", &path, &test.admin, Some(json!({ "url": URL }))).await;
    assert_eq!(due(&test).await.len(), 1);
}
