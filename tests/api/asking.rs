//! What is asked of agents amiss, and what of it can be erased.

use ok::policy::Bundle;
use ok::types::time::{Clock as _, DAY, SECOND, Time};
use serde_json::{Value, json};

use super::runs::{accounted_for, asked as ask_for, company, go_on, run, wary};
use crate::harness::Test;
use crate::harness::prove::proves;

#[tokio::test]
async fn what_is_asked_amiss_is_told_with_its_field() {
    let (test, cast) = company().await;
    let say = json!({ "steps": [{ "say": "x" }] });
    for (asked, told) in [
        (json!({ "agent": "bot", "text": "x" }), "422 invalid no model provider is configured"),
        (json!({ "agent": "bot", "text": " ", "plan": say }), "422 invalid text: must have 1 to 65536 bytes"),
        (json!({ "agent": "mia", "text": "x", "plan": say }), "422 invalid agent: mia is no agent of the company"),
        (
            json!({ "agent": "team:ops", "text": "x", "plan": say }),
            "422 invalid agent: must be an agent; `team:ops` is a team",
        ),
        (
            json!({ "agent": "nobody", "text": "x", "plan": say }),
            "404 not_found not found, or not yours to see: agent `nobody`",
        ),
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
    // As many steps as there may be, in JSON, too; the first ends it.
    let call = json!({ "call": { "tool": "me.read", "with": {} } });
    let steps: Vec<Value> = std::iter::once(json!({ "fail": "enough" })).chain(vec![call; 999]).collect();
    let asked = test.post("/ask", &cast.mia, json!({ "agent": "bot", "text": "x", "plan": { "steps": steps } })).await;
    assert!(asked.status.is_success(), "{}", asked.text());
    // A plan whose expectation is not met fails, and says where.
    let id =
        ask_for(&test, &cast.mia, json!([{ "call": { "tool": "me.read", "expect": "deny" } }, { "say": "x" }])).await;
    let failed = run(&test, &id).await;
    assert_eq!(failed["error"]["message"], "step 1 (me.read): the plan expects deny, the gate said allow");
    // A call that came to nothing is no answer of the gate's.
    for expect in ["allow", "deny"] {
        let call = json!({ "tool": "task.create", "with": { "titel": "t" }, "expect": expect });
        let id = ask_for(&test, &cast.mia, json!([{ "call": call }, { "say": "x" }])).await;
        let failed = run(&test, &id).await;
        let told = failed["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(
            told.contains(", and the call failed: ") && told.contains("unknown field `titel`, expected one of "),
            "{failed}"
        );
    }
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

/// Why something came to nothing can repeat what was written: it is erased with it, and stands nowhere else.
#[tokio::test]
async fn what_went_wrong_can_be_erased_too() {
    let (test, cast) = company().await;
    let since = test.last_seq().await;
    let call =
        |expect| json!({ "call": { "tool": "task.create", "with": { "owner": "miss secret" }, "expect": expect } });
    for (expect, last, told) in [
        (Value::Null, json!({ "fail": "a secret" }), "a secret"),
        (json!("allow"), json!({ "say": "x" }), "miss secret"),
    ] {
        let id = ask_for(&test, &cast.mia, json!([call(expect), last])).await;
        let failed = run(&test, &id).await;
        assert!(failed["trace"][0]["reason"].as_str().unwrap().contains("miss secret"), "{failed}");
        assert!(failed["error"]["message"].as_str().unwrap().contains(told), "{failed}");
    }
    let asks = ask_for(&test, &cast.mia, json!([{ "ask": { "text": "?" } }])).await;
    let cancelled = test.post(&format!("/runs/{asks}/cancel"), &cast.mia, json!({ "reason": "my secret" })).await;
    assert_eq!(cancelled.json()["reason"], "my secret", "{}", cancelled.text());
    let telling = || -> Vec<i64> {
        let file = test.file();
        let about = "SELECT seq FROM log_entry WHERE instr(body, CAST('secret' AS BLOB)) > 0 AND seq > ?";
        let mut telling = file.prepare(about).unwrap();
        telling.query_map([since], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let erase = json!({ "events": telling(), "reason": "asked for" });
    let forgotten = test.post("/context/forget", &test.admin, erase).await;
    assert_eq!(forgotten.status, 200, "{}", forgotten.text());
    assert_eq!(telling(), [] as [i64; 0]);
    for path in ["/runs", "/inbox", "/tasks"] {
        assert!(!test.get(path, &cast.mia).await.text().contains("secret"), "{path}");
    }
    let runs = test.get("/runs", &cast.mia).await.json();
    for shown in runs.as_array().unwrap() {
        let whole = run(&test, shown["id"].as_str().unwrap()).await;
        let expected = if whole["id"] == asks.as_str() { ["cancelled", "failed"] } else { ["failed", "failed"] };
        assert_eq!([&whole["status"], &whole["trace"][0]["status"]], expected, "{whole}");
        assert!(!whole.to_string().contains("secret"), "{whole}");
    }
    accounted_for(&test);
}

fn creates() -> Value {
    json!({ "call": { "tool": "task.create", "with": { "title": "t", "owner": "mia" } } })
}

#[tokio::test]
async fn whoever_asks_for_a_run_approves_nothing_of_it() {
    let (test, _) = wary().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let id = ask_for(&test, &ben, json!([creates()])).await;
    let approval = run(&test, &id).await["waiting"]["approval"].as_str().unwrap().to_owned();
    let path = format!("/approvals/{approval}");
    let own = test.post(&path, &ben, json!({ "decision": "approve" })).await;
    assert_eq!(own.status, 403, "{}", own.text());
    // Nor does whoever issued the token that it was asked with: they could be asking.
    let token = test.post("/tokens", &ben, json!({ "for": "bot" })).await.json()["token"].clone();
    let part = json!({ "agent": "aide", "text": "x", "plan": { "steps": [creates()] } });
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let issued = test.post("/ask", token.as_str().unwrap(), part).await;
    assert_eq!(issued.status, 202, "{}", issued.text());
    go_on(&test).await;
    let other = run(&test, issued.json()["run"].as_str().unwrap()).await;
    let other = format!("/approvals/{}", other["waiting"]["approval"].as_str().unwrap());
    assert_eq!(test.post(&other, &ben, json!({ "decision": "approve" })).await.status, 403);
    for path in [path, other] {
        assert_eq!(test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json()["status"], "used");
    }
    accounted_for(&test);
}

#[tokio::test]
async fn a_part_spends_no_more_than_its_whole_has_left() {
    let (test, cast) = company().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let thinks = json!({ "steps": [{ "model": { "text": "x", "cost_cents": 6 } }, { "model": { "text": "y", "cost_cents": 6 } }] });
    let plan = json!({ "steps": [{ "delegate": { "agent": "aide", "text": "x", "plan": thinks } }] });
    let asked = json!({ "agent": "bot", "text": "x", "plan": plan, "budget_cents": 10 });
    let id = test.post("/ask", &cast.lea, asked).await.json()["run"].as_str().unwrap().to_owned();
    go_on(&test).await;
    let part = run(&test, &id).await["waiting"]["run"].as_str().unwrap().to_owned();
    assert_eq!(run(&test, &part).await["status"], "held");
    let raise = async |run: &str, cents| {
        test.post(&format!("/runs/{run}/budget"), &cast.lea, json!({ "budget_cents": cents })).await
    };
    let alone = raise(&part, 12).await.error();
    assert_eq!(alone, "422 invalid budget_cents: must be 10 to 10; raise its parent first");
    assert_eq!(raise(&id, 12).await.status, 200);
    go_on(&test).await;
    let whole = run(&test, &id).await;
    assert_eq!((&whole["status"], &whole["cost_cents"]), (&json!("completed"), &json!(12)), "{whole}");
    accounted_for(&test);
}

#[tokio::test]
async fn policies_that_know_nothing_of_runs_are_asked_about_none() {
    let mut policies = Bundle::built_in();
    policies.files.retain(|file, _| !file.contains("work"));
    let test = Test::with_policies(policies).await;
    let before = test.last_seq().await;
    go_on(&test).await;
    assert_eq!(test.last_seq().await, before, "nothing is refused, and so nothing is recorded");
}

#[tokio::test]
async fn a_tick_to_a_later_time_ends_what_runs_wait_for_until_then() {
    let (test, cast) = company().await;
    let waits = ask_for(&test, &cast.mia, json!([{ "wait": { "seconds": 3600 } }, { "say": "on" }])).await;
    let asks = ask_for(&test, &cast.mia, json!([{ "ask": { "text": "?" } }])).await;
    let later = Time(test.clock.now().0 + 8 * DAY);
    assert_eq!(test.post("/tick", &test.admin, json!({ "now": later })).await.status, 200);
    go_on(&test).await;
    assert_eq!(run(&test, &waits).await["output"], "on");
    assert_eq!(run(&test, &asks).await["error"], json!({ "code": "timed_out", "message": "no answer in time" }));
    accounted_for(&test);
}

#[tokio::test]
async fn a_cancelled_run_takes_its_request_with_it() {
    let (test, cast) = wary().await;
    let id = ask_for(&test, &cast.mia, json!([creates(), { "say": "never" }])).await;
    let approval = run(&test, &id).await["waiting"]["approval"].as_str().unwrap().to_owned();
    assert_eq!(test.post(&format!("/runs/{id}/cancel"), &cast.mia, json!({})).await.status, 200);
    assert_eq!(test.get(&format!("/approvals/{approval}"), &test.admin).await.json()["status"], "stale");
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "cancelled");
    accounted_for(&test);
}

#[tokio::test]
async fn what_waits_for_somebody_who_leaves_waits_no_more() {
    let (test, cast) = company().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let part = json!({ "agent": "aide", "text": "x", "plan": { "steps": [{ "wait": { "seconds": 60 } }] } });
    let held = ask_for(&test, &cast.mia, json!([{ "delegate": part }])).await;
    let asks = ask_for(&test, &cast.mia, json!([{ "ask": { "text": "?", "to": "lea" } }, { "say": "on" }])).await;
    // A switch of the agent that asked holds its part too, and a released one goes on.
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot" })).await;
    let part = run(&test, &held).await["waiting"]["run"].as_str().unwrap().to_owned();
    assert_eq!(run(&test, &part).await["status"], "held");
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot", "off": true })).await;
    let leaving = json!({ "reason": "left", "successor": "mia" });
    assert_eq!(test.post("/actors/lea/offboard", &test.admin, leaving.clone()).await.status, 200);
    go_on(&test).await;
    let on = run(&test, &asks).await;
    assert_eq!((&on["status"], &on["trace"][0]["status"]), (&json!("completed"), &json!("failed")));
    assert_eq!(test.post("/actors/aide/offboard", &test.admin, leaving).await.status, 200);
    go_on(&test).await;
    assert_eq!(run(&test, &part).await["error"]["message"], "aide has left");
    assert_eq!(run(&test, &held).await["status"], "completed", "and what it was a part of goes on");
    accounted_for(&test);
}

#[tokio::test]
async fn a_kill_switch_of_a_tool_stops_it_in_runs() {
    let (test, cast) = company().await;
    test.post("/kill", &test.admin, json!({ "scope": "tool:task.create" })).await;
    let id = ask_for(&test, &cast.mia, json!([creates()])).await;
    assert_eq!(run(&test, &id).await["trace"][0]["reason"], "a kill switch stops this tool");
}

#[tokio::test]
async fn a_tick_passes_over_those_that_are_held_however_many_there_are() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("aide", "agent", json!({ "team": "team:dev", "owner": "liv" })).await;
    let plan = json!({ "steps": [{ "wait": { "seconds": 60 } }] });
    let ask = async |agent: &str, token: &str| {
        let asked = test.post("/ask", token, json!({ "agent": agent, "text": "rest", "plan": plan })).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        asked.json()["run"].as_str().unwrap().to_owned()
    };
    // More than one tick looks at, which takes long.
    for _ in 0..if proves() { 1_001 } else { 3 } {
        ask("bot", &cast.mia).await;
    }
    go_on(&test).await;
    test.clock.advance(1);
    let last = ask("aide", &cast.max).await;
    go_on(&test).await;
    test.post("/kill", &test.admin, json!({ "scope": "actor:bot" })).await;
    let later = "2026-11-20T10:00:00Z";
    assert_eq!(test.post("/tick", &test.admin, json!({ "now": later })).await.status, 200);
    assert_eq!(run(&test, &last).await["trace"][0]["status"], "completed");
}
