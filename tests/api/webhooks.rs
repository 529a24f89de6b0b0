//! Webhooks through the router. What the courier would be given and what it would tell is asked of the gate, so that the
//! clock stands still; `tests/wire/webhooks.rs` sends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, VerifyingKey};
use ok::gate::refold;
use ok::policy::Bundle;
use ok::types::caller::Credential;
use ok::types::time::{DAY, HOUR, SECOND};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{Answer, Cast, Test};

const URL: &str = "https://hooks.example.com/ok";

fn new() -> Value {
    json!({ "url": URL, "events": ["agent.gate.pending"] })
}

async fn create(test: &Test, token: &str, new: Value) -> (String, String) {
    let made = test.post("/v1/webhooks", token, new).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let text = |name: &str| made.json()[name].as_str().unwrap().to_owned();
    (text("id"), text("secret"))
}

/// A company with a webhook of ana's; its secret.
async fn hooked() -> (Test, Cast, String, String) {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let (id, secret) = create(&test, &test.admin, new()).await;
    (test, cast, id, secret)
}

/// What a lead asks for, and an admin has to approve.
async fn ask(test: &Test, lea: &str, who: &str) -> String {
    let asked = test.post("/actors", lea, json!({ "id": who, "kind": "person", "team": "team:ops" })).await;
    asked.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", asked.text())).to_owned()
}

/// What the courier would be given.
async fn due(test: &Test) -> Vec<Value> {
    let free = json!({ "busy": [], "most": 8 });
    test.local(Credential::Server, "webhook.dispatch", free).await["messages"].as_array().unwrap().clone()
}

async fn settle(test: &Test, message: &Value, status: Option<u16>) -> Value {
    settle_after(test, message, status, None).await
}

async fn settle_after(test: &Test, message: &Value, status: Option<u16>, retry_after: Option<u32>) -> Value {
    let attempt = json!({
        "id": message["id"], "attempt": message["attempt"], "http_status": status, "retry_after": retry_after,
        "error": status.is_none().then_some("no answer"),
    });
    test.local(Credential::Server, "webhook.settle", attempt).await
}

async fn shown(test: &Test, id: &str) -> Value {
    test.get(&format!("/v1/webhooks/{id}"), &test.admin).await.json()
}

async fn deliveries(test: &Test, id: &str) -> Vec<Value> {
    let listed = test.get(&format!("/v1/webhooks/{id}/deliveries?limit=100"), &test.admin).await.json();
    listed["data"].as_array().unwrap().clone()
}

/// What the tables hold is what the log says.
fn accounted_for(test: &Test) {
    assert_eq!(refold::compare(&test.file()).unwrap(), []);
    assert!(test.verdict().ok);
}

/// HMAC-SHA256 as RFC 2104 has it, for a key of 32 bytes.
pub fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let pad = |with: u8| (0..64).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect::<Vec<u8>>();
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

fn signed_by(secret: &str, message: &Value) -> String {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert_eq!(key.len(), 32);
    let text = |name: &str| message[name].as_str().unwrap();
    let content = format!("{}.{}.{}", text("id"), message["timestamp"], text("body"));
    format!("v1,{}", BASE64.encode(hmac(&key, content.as_bytes())))
}

#[tokio::test]
async fn a_call_that_waits_is_told_thinly_and_signed() {
    let (test, cast, id, secret) = hooked().await;
    let approval = ask(&test, &cast.lea, "new").await;
    assert_eq!(test.newest(2).await, ["approval_requested", "delivery_intended"]);
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!((&message["url"], &message["attempt"], &message["webhook"]), (&json!(URL), &json!(1), &json!(id)));
    assert_eq!(message["signature"], signed_by(&secret, &message));
    let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
    assert_eq!(
        body,
        json!({
            "type": "agent.gate.pending", "timestamp": "2026-11-20T09:00:00Z",
            "data": {
                "approval_id": approval, "run_id": null, "action": "actor.add", "user_id": "lea", "agent_id": null,
                "summary": "lea asks for actor.add of team:ops: adding to a team needs an admin's approval",
                "expires_at": "2026-11-23T09:00:00Z",
            },
        })
    );
    assert_eq!(settle(&test, &message, Some(204)).await, json!({ "outcome": "delivered", "next_at": null }));
    assert_eq!(due(&test).await, [] as [Value; 0]);
    // The signature is of nothing else.
    let other = json!({ "id": message["id"], "timestamp": 1, "body": message["body"] });
    assert_ne!(message["signature"], signed_by(&secret, &other));
    let state: Vec<u8> = ["", "-wal"]
        .iter()
        .flat_map(|end| std::fs::read(format!("{}{end}", test.path().display())).unwrap_or_default())
        .collect();
    let text = secret.strip_prefix("whsec_").unwrap();
    let raw = BASE64.decode(text).unwrap();
    for kept in [text.as_bytes(), &raw, hex::encode(&raw).as_bytes()] {
        assert!(!state.windows(kept.len()).any(|some| some == kept), "the secret is in the state file");
    }
    accounted_for(&test);
}

#[tokio::test]
async fn what_does_not_arrive_is_tried_ten_times_and_then_by_hand() {
    let (test, cast, id, _) = hooked().await;
    ask(&test, &cast.lea, "new").await;
    let waits = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    let mut ids = std::collections::BTreeSet::new();
    for (number, wait) in waits.into_iter().enumerate() {
        let [message] = due(&test).await.try_into().unwrap();
        assert_eq!(message["attempt"], number + 1);
        ids.insert(message["id"].to_string());
        let settled = settle(&test, &message, if number % 2 == 0 { Some(500) } else { None }).await;
        assert_eq!(settled["outcome"], "failed");
        // Nobody waits less, nor more than a tenth longer.
        test.clock.advance(wait * SECOND - 1);
        assert_eq!(due(&test).await.len(), 0, "attempt {}", number + 2);
        test.clock.advance(wait * SECOND / 10 + 1);
    }
    assert_eq!(shown(&test, &id).await["status"], "failing");
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(settle(&test, &message, Some(500)).await, json!({ "outcome": "given_up", "next_at": null }));
    test.clock.advance(2 * DAY);
    assert_eq!(due(&test).await.len(), 0);
    let again = format!("/v1/webhooks/{id}/deliveries/{}/redeliver", message["id"].as_str().unwrap());
    assert_eq!(test.post(&again, &test.admin, json!({})).await.json()["state"], "pending");
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(message["attempt"], 1);
    ids.insert(message["id"].to_string());
    assert_eq!(ids.len(), 1, "it is the same message each time");
    settle(&test, &message, Some(200)).await;
    assert_eq!(shown(&test, &id).await["status"], "active");
    accounted_for(&test);
}

#[tokio::test]
async fn a_receiver_says_how_long_it_wants_nothing() {
    let (test, cast, ..) = hooked().await;
    ask(&test, &cast.lea, "new").await;
    let [message] = due(&test).await.try_into().unwrap();
    settle_after(&test, &message, Some(429), Some(3600)).await;
    test.clock.advance(HOUR - 1);
    assert_eq!(due(&test).await.len(), 0);
    test.clock.advance(1);
    let [message] = due(&test).await.try_into().unwrap();
    // It is not put off for good.
    settle_after(&test, &message, Some(503), Some(u32::MAX)).await;
    test.clock.advance(DAY);
    assert_eq!(due(&test).await.len(), 1);
}

#[tokio::test]
async fn what_was_settled_is_not_settled_again() {
    let (test, cast, ..) = hooked().await;
    ask(&test, &cast.lea, "new").await;
    let [message] = due(&test).await.try_into().unwrap();
    settle(&test, &message, Some(500)).await;
    let gate = &test.company.gate;
    let entry = gate.entry("webhook.settle").unwrap();
    let presented = ok::types::caller::Presented {
        credential: Credential::Server,
        channel: ok::types::caller::Channel::Tick,
        address: None,
        under: None,
    };
    let caller = gate.admit(&presented, &entry.spec).unwrap();
    let call = entry.prepare(json!({ "id": message["id"], "attempt": 1, "http_status": 200 })).unwrap();
    assert!(gate.perform(ok::gate::Request { caller, call, idem: None }).await.is_err());
    assert_eq!(test.newest(1).await, ["delivery_attempted"]);
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_disabled_and_whoever_answers_is_told() {
    let (test, cast, id, _) = hooked().await;
    ask(&test, &cast.lea, "one").await;
    ask(&test, &cast.lea, "two").await;
    let [message] = due(&test).await.try_into().unwrap();
    settle(&test, &message, Some(410)).await;
    assert_eq!(test.newest(2).await, ["delivery_attempted", "webhook_disabled"]);
    assert_eq!(shown(&test, &id).await["status"], "disabled");
    let states: Vec<Value> = deliveries(&test, &id).await.into_iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states.len(), 2);
    assert!(states.contains(&json!("given_up")) && states.contains(&json!("cancelled")), "{states:?}");
    let ben = test.token("ben", json!({})).await;
    for token in [&test.admin, &ben] {
        let inbox = test.get("/inbox", token).await.json();
        let title = "nothing is sent to hooks.example.com any more: it answered 410: it wants nothing any more";
        assert!(inbox.as_array().unwrap().iter().any(|item| item["title"] == title), "{inbox}");
    }
    // Nothing more is intended, nor sent by hand, until it is switched on; what went before stays unsent.
    ask(&test, &cast.lea, "three").await;
    let tested = test.post(&format!("/v1/webhooks/{id}/test"), &test.admin, json!({})).await;
    assert_eq!(tested.error(), format!("409 conflict {id} is disabled; switch it on first"));
    let on = test.call("PATCH", &format!("/v1/webhooks/{id}"), &test.admin, Some(json!({ "status": "active" }))).await;
    assert_eq!(on.json()["status"], "active");
    assert_eq!(due(&test).await.len(), 0);
    let alert = |item: &Value| item["kind"] == "alert";
    assert!(!test.get("/inbox", &ben).await.json().as_array().unwrap().iter().any(alert));
    ask(&test, &cast.lea, "four").await;
    assert_eq!(due(&test).await.len(), 1);
    accounted_for(&test);
}

#[tokio::test]
async fn five_days_of_nothing_are_enough() {
    let (test, cast, id, _) = hooked().await;
    ask(&test, &cast.lea, "one").await;
    let [message] = due(&test).await.try_into().unwrap();
    settle(&test, &message, None).await;
    test.clock.advance(5 * DAY - 1);
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(settle(&test, &message, None).await["outcome"], "failed");
    assert_eq!(shown(&test, &id).await["status"], "failing");
    test.clock.advance(DAY);
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(settle(&test, &message, None).await["outcome"], "given_up");
    assert_eq!(shown(&test, &id).await["status"], "disabled");
    accounted_for(&test);
}

#[tokio::test]
async fn a_kill_switch_holds_what_would_be_sent_and_its_release_lets_it_go() {
    let (test, cast, ..) = hooked().await;
    let ben = test.token("ben", json!({})).await;
    for scope in ["actor:ana", "global"] {
        if scope == "global" {
            ask(&test, &cast.lea, "one").await;
        }
        assert_eq!(test.post("/kill", &ben, json!({ "scope": scope })).await.status, 200);
        if scope == "actor:ana" {
            ask(&test, &cast.lea, "two").await;
        }
        let seq = test.file().query_row("SELECT max(seq) FROM log_entry", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(due(&test).await.len(), 0, "{scope}");
        let after = test.file().query_row("SELECT max(seq) FROM log_entry", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(seq, after, "what is held is told to nobody, again and again");
        assert_eq!(test.post("/kill", &ben, json!({ "scope": scope, "off": true })).await.status, 200);
        let [message] = due(&test).await.try_into().unwrap();
        // What was under way is recorded although everything stands still.
        test.post("/kill", &ben, json!({ "scope": "global" })).await;
        assert_eq!(settle(&test, &message, Some(200)).await["outcome"], "delivered");
        test.post("/kill", &ben, json!({ "scope": "global", "off": true })).await;
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
    // That last request waits, and is news itself.
    let [news] = due(&test).await.try_into().unwrap();
    settle(&test, &news, Some(200)).await;

    let path = format!("/v1/webhooks/{id}/test");
    let asked = test.post(&path, &test.admin, json!({})).await;
    let told = |messages: Vec<Value>| -> Vec<String> {
        let topic = |message: &Value| {
            let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
            body["type"].as_str().unwrap().to_owned()
        };
        messages.iter().map(topic).collect()
    };
    let [news] = due(&test).await.try_into().unwrap();
    assert_eq!(told(vec![news.clone()]), ["agent.gate.pending"], "that it waits is told; nothing else is sent");
    settle(&test, &news, Some(200)).await;
    assert_eq!(due(&test).await.len(), 0);
    assert_eq!(approve(&test, &ben, &asked).await["status"], "used");
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(told(vec![message.clone()]), ["webhook.test"]);
    settle(&test, &message, Some(200)).await;
    let test = test.reopened().await;
    assert_eq!(due(&test).await.len(), 0, "once");
    assert_eq!(deliveries(&test, &id).await.len(), 3);
    accounted_for(&test);
}

#[tokio::test]
async fn what_is_refused_or_repeated_tells_nothing() {
    let (test, cast, id, _) = hooked().await;
    let bad = json!({ "id": "BAD ID", "kind": "person", "team": "team:ops" });
    assert_eq!(test.post("/actors", &cast.lea, bad).await.status, 422);
    assert_eq!(test.post("/actors", &cast.mia, json!({ "id": "x", "kind": "person" })).await.status, 403);
    assert_eq!(test.post(&format!("/v1/webhooks/{id}/test"), &cast.lea, json!({})).await.status, 404);
    ask(&test, &cast.lea, "one").await;
    ask(&test, &cast.lea, "one").await;
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
    ask(&test, &cast.lea, "one").await;
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
    ask(&test, &cast.lea, "two").await;
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
    let later = json!({ "url": "https://LATER.example.com./" });
    assert_eq!(test.call("PATCH", &path, &test.admin, Some(later)).await.status, 200);
    assert_eq!(test.post(&format!("{path}/test"), &test.admin, json!({})).await.status, 200);
    assert_eq!(due(&test).await.len(), 0);
    test.call("PATCH", &path, &test.admin, Some(json!({ "url": URL }))).await;
    assert_eq!(due(&test).await.len(), 1);
}

#[tokio::test]
async fn for_a_day_both_secrets_sign() {
    let (test, _, id, first) = hooked().await;
    let rotated = test.post(&format!("/v1/webhooks/{id}/rotate"), &test.admin, json!({})).await.json();
    let second = rotated["secret"].as_str().unwrap();
    assert_ne!(first, second);
    test.post(&format!("/v1/webhooks/{id}/test"), &test.admin, json!({})).await;
    test.clock.advance(DAY - 1);
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(message["signature"], format!("{} {}", signed_by(second, &message), signed_by(&first, &message)));
    test.clock.advance(1);
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(message["signature"], signed_by(second, &message));
    // The same after a restart: nothing but the key is needed.
    let test = test.reopened().await;
    let [message] = due(&test).await.try_into().unwrap();
    assert_eq!(message["signature"], signed_by(second, &message));
}

#[tokio::test]
async fn a_receiver_can_verify_with_a_public_key_alone() {
    let test = Test::new().await;
    let (id, public) =
        create(&test, &test.admin, json!({ "url": URL, "events": ["knowledge.indexed"], "format": "v1a" })).await;
    test.post(&format!("/v1/webhooks/{id}/test"), &test.admin, json!({})).await;
    let [message] = due(&test).await.try_into().unwrap();
    let key = BASE64.decode(public.strip_prefix("whpk_").unwrap()).unwrap();
    let key = VerifyingKey::from_bytes(&key.try_into().unwrap()).unwrap();
    let signature = message["signature"].as_str().unwrap().strip_prefix("v1a,").unwrap();
    let signature = Signature::from_slice(&BASE64.decode(signature).unwrap()).unwrap();
    let text = |name: &str| message[name].as_str().unwrap();
    let content = format!("{}.{}.{}", text("id"), message["timestamp"], text("body"));
    assert!(key.verify_strict(content.as_bytes(), &signature).is_ok());
}
