//! What is asked of agents amiss, and what of it can be erased.

use ok::types::time::SECOND;
use serde_json::{Value, json};

use super::runs::{accounted_for, asked as ask_for, company, go_on, run};

#[tokio::test]
async fn what_is_asked_amiss_is_told_with_its_field() {
    let (test, cast) = company().await;
    let say = json!({ "steps": [{ "say": "x" }] });
    for (asked, told) in [
        (json!({ "agent": "bot", "text": "x" }), "422 invalid no model provider is configured"),
        (json!({ "agent": "bot", "text": " ", "plan": say }), "422 invalid text: must have 1 to 65536 bytes"),
        (json!({ "agent": "mia", "text": "x", "plan": say }), "422 invalid agent: mia is no agent of the company"),
        (json!({ "agent": "nobody", "text": "x", "plan": say }), "404 not_found not found"),
        (
            json!({ "agent": "bot", "text": "x", "plan": { "steps": [] } }),
            "422 invalid plan.steps: must have 1 to 1000 steps, not 0",
        ),
        (
            json!({ "agent": "bot", "text": "x", "plan": { "steps": [{ "call": { "tool": "nope" } }, { "wait": { "seconds": 0 } }] } }),
            "422 invalid plan.steps[0].call.tool: there is no tool `nope`; plan.steps[1].wait.seconds: must be 1 to 2592000, not 0",
        ),
        (
            json!({ "agent": "bot", "text": "x", "plan": "steps:\n  - shout: x\n" }),
            "422 invalid plan: line 2: steps[0]: unknown field `shout`, expected one of `say`, `call`, `ask`, `delegate`, `wait`, `model`, `fail`",
        ),
        (
            json!({ "agent": "bot", "text": "x", "plan": say, "budget_cents": -1 }),
            "422 invalid budget_cents: must be 0 to 1000000000000",
        ),
    ] {
        assert_eq!(test.post("/ask", &cast.mia, asked).await.error(), told);
    }
    // A plan whose expectation is not met fails, and says where.
    let id =
        ask_for(&test, &cast.mia, json!([{ "call": { "tool": "me.read", "expect": "deny" } }, { "say": "x" }])).await;
    let failed = run(&test, &id).await;
    assert_eq!(failed["error"]["message"], "step 1 (me.read): the plan expects deny, the gate said allow");
    // Bad arguments are the run's to know.
    let id = ask_for(&test, &cast.mia, json!([{ "call": { "tool": "task.create", "with": { "titel": "t" } } }])).await;
    assert_eq!(run(&test, &id).await["trace"][0]["status"], "failed");
    accounted_for(&test);
}

#[tokio::test]
async fn what_was_asked_and_said_can_be_erased_and_the_log_still_verifies() {
    let (test, cast) = company().await;
    let id = ask_for(&test, &cast.mia, json!([{ "say": "mia's secret" }])).await;
    let events = test.get("/events?limit=20", &test.admin).await.json();
    let kept = events["events"].as_array().unwrap().iter().filter(|event| event["event"]["type"] == "content_kept");
    let seqs: Vec<Value> = kept.map(|event| event["seq"].clone()).collect();
    assert_eq!(seqs.len(), 3);
    let forgotten = test.post("/context/forget", &test.admin, json!({ "events": seqs, "reason": "asked for" })).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    let shown = run(&test, &id).await;
    assert_eq!(
        (&shown["input"], &shown["output"], &shown["trace"][0]["output"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    accounted_for(&test);
    // A run that is not at its end knows no more what to do.
    let id = ask_for(&test, &cast.mia, json!([{ "wait": { "seconds": 1 } }, { "say": "x" }])).await;
    let newest = test.get("/events?limit=3", &test.admin).await.json();
    let kept =
        newest["events"].as_array().unwrap().iter().find(|event| event["event"]["type"] == "content_kept").unwrap();
    test.post("/context/forget", &test.admin, json!({ "events": [kept["seq"]], "reason": "asked for" })).await;
    test.clock.advance(SECOND);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["error"]["message"], "its plan was erased");
}
