//! Runs that are asked for under a delegation: every step is taken under it, and they end with it.

use ok::types::time::{DAY, HOUR};
use serde_json::{Value, json};

use super::delegations::Given;
use super::runs::{accounted_for, go_on, run, wary};

/// `mia` asks `bot` on behalf of the lead `lea`.
async fn ask(given: &Given, under: &str, steps: Value) -> String {
    let wish = json!({ "agent": "bot", "text": "do it", "plan": { "steps": steps } });
    let asked = given.under(under, &given.cast.mia, "POST", "/ask", wish).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    go_on(&given.test).await;
    asked.json()["run"].as_str().unwrap().to_owned()
}

fn to_mia(scope: &[&str]) -> Value {
    json!({ "to": "mia", "scope": scope, "authority": "act" })
}

fn create() -> Value {
    json!({ "call": { "tool": "task.create", "with": { "title": "for lea" } } })
}

async fn titles(given: &Given) -> Vec<String> {
    let tasks = given.test.get("/tasks", &given.test.admin).await.json();
    tasks.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_step_needs_what_was_handed_on_but_for_thinking_and_asking() {
    let given = Given::new().await;
    let asks = given.grant(&given.cast.lea, to_mia(&["agent.ask"])).await;
    let thinks = json!([{ "model": { "text": "so", "cost_cents": 1 } }, { "say": "done" }]);
    let thought = run(&given.test, &ask(&given, &asks, thinks).await).await;
    assert_eq!((&thought["status"], &thought["cost_cents"]), (&json!("completed"), &json!(1)), "{thought}");
    assert_eq!(thought["delegation"], json!(asks));
    // What bot may do, and lea may do, but lea has not handed on.
    let refused = run(&given.test, &ask(&given, &asks, json!([create()])).await).await;
    let why = format!("policy denied task.create: the delegation {asks} from lea does not cover it");
    assert_eq!((&refused["trace"][0]["status"], &refused["trace"][0]["reason"]), (&json!("denied"), &json!(why)));
    assert_eq!(titles(&given).await.iter().filter(|title| *title == "for lea").count(), 0);
    // Neither does a part that another agent works on.
    let part = json!([{ "delegate": { "agent": "sub", "text": "do it", "plan": { "steps": [create()] } } }]);
    ask(&given, &asks, part.clone()).await;
    assert_eq!(titles(&given).await.iter().filter(|title| *title == "for lea").count(), 0);
    // With the operation handed on, both work; the log tells on whose behalf.
    let both = given.grant(&given.cast.lea, to_mia(&["agent.ask", "task.create"])).await;
    for steps in [json!([create()]), part] {
        let done = run(&given.test, &ask(&given, &both, steps).await).await;
        assert_eq!(done["status"], "completed", "{done}");
    }
    assert_eq!(titles(&given).await.iter().filter(|title| *title == "for lea").count(), 2);
    let events = given.test.get("/events?type=task_created&limit=50", &given.test.admin).await.json();
    let made = events["events"].as_array().unwrap_or_else(|| events.as_array().unwrap());
    let behalf: Vec<&Value> =
        made.iter().filter(|event| event["actor"] != "mia").map(|event| &event["on_behalf_of"]).collect();
    assert_eq!(behalf, [&json!(["mia", "lea"]), &json!(["bot", "mia", "lea"])]);
    accounted_for(&given.test);
}

#[tokio::test]
async fn a_run_ends_with_the_delegation_that_it_was_asked_for_under() {
    let given = Given::new().await;
    let waits = json!([{ "wait": { "seconds": 3600 } }, create()]);
    for how in ["revoked", "expired", "its giver left"] {
        let under = given.grant(&given.cast.lea, to_mia(&["agent.ask", "task.create"])).await;
        let id = ask(&given, &under, waits.clone()).await;
        assert_eq!(run(&given.test, &id).await["waiting"]["kind"], "time");
        match how {
            "revoked" => drop(given.revoke(&given.cast.lea, &under).await),
            "expired" => {
                given.test.clock.advance(8 * DAY);
                given.test.post("/tick", &given.test.admin, json!({})).await;
            }
            _ => {
                let leaves = json!({ "reason": "leaves", "successor": "ana" });
                let left = given.test.post("/actors/lea/offboard", &given.test.admin, leaves).await;
                assert_eq!(left.status, 200, "{}", left.text());
            }
        }
        go_on(&given.test).await;
        let ended = run(&given.test, &id).await;
        assert_eq!(
            (&ended["status"], &ended["error"]["code"]),
            (&json!("failed"), &json!("delegation_ended")),
            "{how}"
        );
        let why = format!("{under}, under which it was asked for, has ended");
        assert_eq!(ended["error"]["message"], why, "{how}");
    }
    given.test.clock.advance(HOUR);
    go_on(&given.test).await;
    assert!(!titles(&given).await.contains(&"for lea".to_owned()));
    accounted_for(&given.test);
}

#[tokio::test]
async fn a_run_that_waits_for_an_approval_is_taken_up_once_when_its_delegation_ends() {
    let (test, cast) = wary().await;
    let (ben, sub) = (cast.lea.clone(), cast.bot.clone());
    let given = Given { test, cast, ben, sub };
    let under = given.grant(&given.cast.lea, to_mia(&["agent.ask", "task.create"])).await;
    let id = ask(&given, &under, json!([create()])).await;
    let waits = run(&given.test, &id).await["waiting"].clone();
    let approval = waits["approval"].as_str().unwrap_or_else(|| panic!("{waits}")).to_owned();
    given.revoke(&given.cast.lea, &under).await;
    let shown = given.test.get(&format!("/approvals/{approval}"), &given.test.admin).await.json();
    let reason = format!("{under}, under which it was asked for, was revoked");
    assert_eq!((&shown["status"], &shown["stale"]), (&json!("stale"), &json!(reason)), "{shown}");
    let resumed = given.test.get(&format!("/events?type=run_resumed&run={id}"), &given.test.admin).await.json();
    assert_eq!(resumed["events"].as_array().map(Vec::len), Some(1), "{resumed}");
    go_on(&given.test).await;
    assert_eq!(run(&given.test, &id).await["error"]["code"], "delegation_ended");
    accounted_for(&given.test);
}

#[tokio::test]
async fn an_agent_at_work_does_not_pass_on_what_whoever_asked_was_given() {
    let given = Given::new().await;
    let under = given.grant(&given.test.admin, to_mia(&["*"])).await;
    let passes = json!([{ "call": { "tool": "delegation.grant", "with": { "to": "sub", "scope": ["actor.read"], "authority": "inform" } } }]);
    let refused = run(&given.test, &ask(&given, &under, passes).await).await;
    assert!(refused["trace"].to_string().contains("not an agent that works for them"), "{refused}");
}

#[tokio::test]
async fn a_part_of_a_run_that_its_own_agent_asked_for_is_done_under_the_delegation_too() {
    let given = Given::new().await;
    let terms = json!({ "to": "bot", "scope": ["agent.ask", "task.create"], "authority": "act" });
    let under = given.grant(&given.cast.lea, terms).await;
    let part = json!({ "delegate": { "agent": "sub", "text": "do it", "plan": { "steps": [create()] } } });
    let wish = json!({ "agent": "bot", "text": "do it", "plan": { "steps": [part] } });
    let asked = given.under(&under, &given.cast.bot, "POST", "/ask", wish).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    go_on(&given.test).await;
    let done = run(&given.test, asked.json()["run"].as_str().unwrap()).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert!(titles(&given).await.contains(&"for lea".to_owned()), "{done}");
}
