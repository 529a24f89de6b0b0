//! What came of agents' runs, as places outside are told it.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::{URL, accounted_for, create, due, hooked, settle};
use crate::api::runs::asked;
use crate::harness::Test;

const PRIVATE: &str = "@id(\"private\") @reason(\"private\")\n\
    forbid (principal == Ok::Actor::\"ana\", action == Ok::Action::\"run.read\", resource)\n\
    when { resource.asker == Ok::Actor::\"lea\" };";

/// What is to be told now; it arrives.
async fn sent(test: &Test) -> Vec<Value> {
    let messages = due(test).await;
    for message in &messages {
        assert_eq!(settle(test, message, Some(200)).await["outcome"], "delivered");
    }
    messages.iter().map(|message| serde_json::from_str(message["body"].as_str().unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn the_end_of_a_run_is_told_outside_once_to_whom_may_see_it() {
    let mut policies = Bundle::built_in();
    policies.files.insert("private.cedar".into(), PRIVATE.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let topics = json!({ "url": URL, "events": ["agent.run.completed", "agent.run.failed"] });
    create(&test, &test.admin, topics).await;
    let answer = json!([{ "model": { "text": "done", "input_tokens": 12, "output_tokens": 3, "cost_cents": 2 } }]);
    let run = asked(&test, &cast.mia, answer.clone()).await;
    let completed = json!({
        "type": "agent.run.completed", "timestamp": "2026-11-20T09:00:00Z",
        "data": {
            "run_id": run, "agent_id": "bot", "status": "completed", "tokens": { "input": 12, "output": 3 },
            "duration_ms": 0, "channel": "api", "user_id": null,
        },
    });
    assert_eq!(sent(&test).await, [completed]);
    // What came of it, where that is wanted.
    let wanted = json!({ "url": URL, "events": ["agent.run.completed"], "include_output": true });
    let (wanted, _) = create(&test, &test.admin, wanted).await;
    let long = "é".repeat(20_000);
    asked(&test, &cast.mia, json!([{ "model": { "text": long } }])).await;
    let mut outputs: Vec<Value> = sent(&test).await.iter().map(|body| body["data"]["output"].clone()).collect();
    outputs.sort_by_key(Value::is_string);
    assert_eq!(outputs, [Value::Null, json!("é".repeat(8_000))]);
    let deleted = test.call("DELETE", &format!("/v1/webhooks/{wanted}"), &test.admin, None).await;
    assert_eq!(deleted.status, 200, "{}", deleted.text());
    let run = asked(&test, &cast.mia, json!([{ "fail": "no paper" }])).await;
    let [failed] = sent(&test).await.try_into().unwrap();
    assert_eq!((&failed["type"], &failed["data"]["run_id"]), (&json!("agent.run.failed"), &json!(run)));
    assert_eq!((&failed["data"]["status"], &failed["data"]["reason"]), (&json!("failed"), &json!("failed")));
    assert!(!failed.to_string().contains("no paper"), "what a run says is not told outside: {failed}");
    // A run that somebody ended is told of nowhere; and nothing is told twice.
    let run = asked(&test, &cast.mia, json!([{ "ask": { "text": "which one?" } }])).await;
    assert_eq!(test.post(&format!("/runs/{run}/cancel"), &cast.mia, json!({ "reason": "no more" })).await.status, 200);
    assert_eq!(sent(&test).await, [] as [Value; 0]);
    // The policies say whose runs a webhook's owner may see.
    asked(&test, &cast.lea, answer).await;
    assert_eq!(sent(&test).await, [] as [Value; 0]);
    accounted_for(&test);
}

#[tokio::test]
async fn a_call_of_a_run_that_waits_is_told_with_the_run() {
    let (test, cast, _, _) = hooked().await;
    let add = json!({ "id": "new", "kind": "person", "team": "team:ops" });
    let id = asked(&test, &cast.lea, json!([{ "call": { "tool": "actor.add", "with": add } }])).await;
    let [message] = due(&test).await.try_into().unwrap();
    let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
    assert_eq!((&body["type"], &body["data"]["run_id"]), (&json!("agent.gate.pending"), &json!(id)), "{body}");
}
