//! Webhooks through the router: what is told, how it is signed, what follows when it does not arrive. What the courier would be given and what it would tell is asked of the gate, so that the
//! clock stands still; `tests/wire/webhooks.rs` sends.

mod decided;
mod places;
mod runs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, VerifyingKey};
use ok::gate::state::refold;
use ok::policy::Bundle;
use ok::types::caller::Credential;
use ok::types::time::{DAY, HOUR, SECOND};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{Cast, Test};

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
    let mut policies = Bundle::built_in();
    policies.files.insert("agents.cedar".into(), AGENTS_ADD.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let (id, secret) = create(&test, &test.admin, new()).await;
    (test, cast, id, secret)
}

pub(super) const AGENTS_ADD: &str = "@id(\"agents-add\") permit (principal in Ok::Role::\"agent\", action == Ok::Action::\"actor.add\", resource is Ok::Team);\n";

/// What somebody asks for, and an admin has to approve.
async fn ask(test: &Test, who_asks: &str, who: &str) -> String {
    let asked = test.post("/actors", who_asks, json!({ "id": who, "kind": "person", "team": "team:ops" })).await;
    asked.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", asked.text())).to_owned()
}

/// What the courier would be given.
pub async fn due(test: &Test) -> Vec<Value> {
    let stamp = ok::types::time::Clock::now(&*test.clock);
    let free = json!({ "busy": [], "most": 8, "stamp": stamp });
    test.local(Credential::Server, "webhook.dispatch", free).await["messages"].as_array().unwrap().clone()
}

pub async fn settle(test: &Test, message: &Value, status: Option<u16>) -> Value {
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
    let approval = ask(&test, &cast.bot, "new").await;
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
                "approval_id": approval, "run_id": null, "action": "actor.add", "user_id": null, "agent_id": "bot",
                "summary": "bot asks for actor.add of team:ops: adding to a team needs an admin's approval",
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
async fn what_a_person_asks_for_is_told_to_people_alone() {
    let (test, cast, _, _) = hooked().await;
    ask(&test, &cast.lea, "new").await;
    assert_eq!(test.newest(1).await, ["approval_requested"]);
    assert_eq!(due(&test).await, [] as [Value; 0]);
}

#[tokio::test]
async fn what_does_not_arrive_is_tried_ten_times_and_then_by_hand() {
    let (test, cast, id, _) = hooked().await;
    ask(&test, &cast.bot, "new").await;
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
    ask(&test, &cast.bot, "new").await;
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
    ask(&test, &cast.bot, "new").await;
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
async fn what_was_under_way_when_its_webhook_went_is_recorded_and_not_sent_again() {
    let (test, cast, id, _) = hooked().await;
    let path = format!("/v1/webhooks/{id}");
    for (answer, stands) in [(500, "cancelled"), (200, "delivered")] {
        ask(&test, &cast.bot, &format!("new{answer}")).await;
        let [message] = due(&test).await.try_into().unwrap();
        test.call("PATCH", &path, &test.admin, Some(json!({ "status": "disabled" }))).await;
        settle(&test, &message, Some(answer)).await;
        test.call("PATCH", &path, &test.admin, Some(json!({ "status": "active" }))).await;
        let sent = deliveries(&test, &id).await.into_iter().find(|sent| sent["id"] == message["id"]).unwrap();
        assert_eq!((&sent["state"], &sent["http_status"]), (&json!(stands), &json!(answer)));
        test.clock.advance(DAY);
        assert_eq!(due(&test).await.len(), 0);
    }
    ask(&test, &cast.bot, "last").await;
    let [message] = due(&test).await.try_into().unwrap();
    test.call("DELETE", &path, &test.admin, None).await;
    assert_eq!(settle(&test, &message, Some(410)).await["outcome"], "given_up");
    assert_eq!(test.newest(2).await, ["webhook_deleted", "delivery_attempted"]);
    accounted_for(&test);
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_disabled_and_whoever_answers_is_told() {
    let (test, cast, id, _) = hooked().await;
    ask(&test, &cast.bot, "one").await;
    ask(&test, &cast.bot, "two").await;
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
        let title = "deliveries to hooks.example.com stopped: it answered 410: it accepts no more messages";
        assert!(inbox.as_array().unwrap().iter().any(|item| item["title"] == title), "{inbox}");
    }
    // Nothing more is intended, nor sent by hand, until it is switched on; what went before stays unsent.
    ask(&test, &cast.bot, "three").await;
    let tested = test.post(&format!("/v1/webhooks/{id}/test"), &test.admin, json!({})).await;
    assert_eq!(tested.error(), format!("409 conflict {id} is disabled; enable it first"));
    let on = test.call("PATCH", &format!("/v1/webhooks/{id}"), &test.admin, Some(json!({ "status": "active" }))).await;
    assert_eq!(on.json()["status"], "active");
    assert_eq!(due(&test).await.len(), 0);
    let alert = |item: &Value| item["kind"] == "alert";
    assert!(!test.get("/inbox", &ben).await.json().as_array().unwrap().iter().any(alert));
    ask(&test, &cast.bot, "four").await;
    assert_eq!(due(&test).await.len(), 1);
    accounted_for(&test);
}

#[tokio::test]
async fn five_days_of_nothing_are_enough() {
    let (test, cast, id, _) = hooked().await;
    ask(&test, &cast.bot, "one").await;
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
