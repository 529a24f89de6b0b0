//! Budgets beside a run's own: what an agent may spend in a day, a company in a month, and how long a run may be at work.

use ok::policy::Bundle;
use ok::types::models::ProviderKind;
use ok::types::time::{DAY, HOUR};
use serde_json::{Value, json};

use super::runs::{accounted_for, company, go_on, run};
use super::thinking;
use crate::harness::Test;
use crate::harness::fake::{Fake, Reply};

/// Hires `clerk` with these limits.
async fn hired(test: &Test, limits: &str) {
    let definition =
        format!("apiVersion: ok/v1\nkind: Agent\nmetadata: {{name: clerk}}\nspec:\n  owner: ana\n  limits: {limits}\n");
    let hired = test.post("/actors/hire", &test.admin, json!({ "definition": definition })).await;
    assert_eq!(hired.status, 201, "{}", hired.text());
}

/// Asks clerk for what costs so much, step by step, and lets it go on as far as it can.
async fn spends(test: &Test, agent: &str, cents: &[u32]) -> String {
    let answer = |cents: &u32| json!({ "model": { "text": "so", "cost_cents": cents } });
    let steps: Vec<Value> = cents.iter().map(answer).collect();
    let wish = json!({ "agent": agent, "text": "do it", "plan": { "steps": steps } });
    let asked = test.post("/ask", &test.admin, wish).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    go_on(test).await;
    asked.json()["run"].as_str().unwrap().to_owned()
}

async fn status(test: &Test, id: &str) -> Value {
    run(test, id).await["status"].clone()
}

#[tokio::test]
async fn an_agent_that_has_spent_what_it_may_in_a_day_goes_on_the_next() {
    let (test, _) = company().await;
    hired(&test, "{day_cents: 100}").await;
    let first = spends(&test, "clerk", &[60, 30]).await;
    assert_eq!(status(&test, &first).await, "completed");
    let second = spends(&test, "clerk", &[10, 1]).await;
    let held = run(&test, &second).await;
    assert_eq!(
        (&held["status"], &held["waiting"], &held["steps"]),
        (
            &json!("held"),
            &json!({
                "kind": "budget",
                "reason": "100 of 100 cents of clerk today are spent, and the next step takes 1",
                "until": "2026-11-21T00:00:00Z",
            }),
            &json!(1)
        )
    );
    let alert = test.get("/inbox", &test.admin).await.json()[0]["title"].clone();
    let why = "100 of 100 cents of clerk today are spent, and the next step takes 1";
    assert_eq!(alert, format!("a run of clerk is held: {why}"));
    let test = test.reopened().await;
    test.clock.advance(14 * HOUR);
    go_on(&test).await;
    assert_eq!(status(&test, &second).await, "held", "it is eleven at night");
    test.clock.advance(HOUR);
    go_on(&test).await;
    assert_eq!(status(&test, &second).await, "completed");
    accounted_for(&test);
}

#[tokio::test]
async fn a_company_that_has_spent_what_it_may_in_a_month_goes_on_once_that_is_raised() {
    let (test, _) = company().await;
    let set = async |budget: u32| {
        let answer = test.call("PATCH", "/company", &test.admin, Some(json!({ "budget_cents_month": budget }))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    };
    set(100).await;
    hired(&test, "{day_cents: 1000}").await;
    let first = spends(&test, "bot", &[60]).await;
    assert_eq!(status(&test, &first).await, "completed");
    let (second, third) = (spends(&test, "clerk", &[41]).await, spends(&test, "clerk", &[90]).await);
    assert_eq!([status(&test, &second).await, status(&test, &third).await], ["held", "held"]);
    let before = test.last_seq().await;
    let renamed = test.call("PATCH", "/company", &test.admin, Some(json!({ "name": "Another" }))).await;
    assert_eq!(renamed.status, 200, "{}", renamed.text());
    go_on(&test).await;
    assert_eq!(test.last_seq().await, before + 1, "what is held by a budget does not look again at another setting");
    set(120).await;
    go_on(&test).await;
    assert_eq!([status(&test, &second).await, status(&test, &third).await], ["completed", "held"]);
    test.clock.advance(11 * DAY);
    go_on(&test).await;
    assert_eq!(status(&test, &third).await, "completed", "it is December");
    accounted_for(&test);
}

/// The requests that wait, as their approvers read them.
async fn requests(test: &Test) -> Vec<(String, String)> {
    let waiting = test.get("/approvals?status=pending", &test.admin).await.json();
    let text = |shown: &Value, field: &str| shown[field].as_str().unwrap().to_owned();
    waiting.as_array().unwrap().iter().map(|shown| (text(shown, "summary"), text(shown, "id"))).collect()
}

#[tokio::test]
async fn an_agent_whose_run_is_held_asks_for_more_and_goes_on_once_its_lead_agrees() {
    let (test, cast) = company().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    // A part asks for what its whole may spend.
    let thinks =
        json!([{ "model": { "text": "so", "cost_cents": 6 } }, { "model": { "text": "so", "cost_cents": 6 } }]);
    let plan = json!({ "steps": [{ "delegate": { "agent": "aide", "text": "think", "plan": { "steps": thinks } } }] });
    let wish = json!({ "agent": "bot", "text": "think", "plan": plan, "budget_cents": 10 });
    let id = test.post("/ask", &cast.mia, wish).await.json()["run"].as_str().unwrap().to_owned();
    go_on(&test).await;
    let waiting = requests(&test).await;
    assert_eq!(
        waiting.iter().map(|(summary, _)| summary.as_str()).collect::<Vec<_>>(),
        [format!("bot lets {id} spend 20 cents")]
    );
    let path = format!("/approvals/{}", waiting[0].1);
    assert_eq!(test.post(&path, &cast.mia, json!({ "decision": "approve" })).await.status, 404, "no lead");
    let decided = test.post(&path, &cast.lea, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    go_on(&test).await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["cost_cents"]), (&json!("completed"), &json!(12)), "{done}");
    accounted_for(&test);
}

#[tokio::test]
async fn the_agents_of_a_team_spend_no_more_in_a_month_than_its_limit() {
    let mut policies = Bundle::built_in();
    let limits = policies.files.get_mut("limits.yaml").unwrap();
    limits.push_str("teams:\n  team:ops: {month_cents: 100}\n");
    let test = Test::with_policies(policies).await;
    test.cast().await;
    test.add("team:deep", "team", json!({ "lead": "lea", "team": "team:ops" })).await;
    test.add("diver", "agent", json!({ "team": "team:deep", "owner": "lea" })).await;
    test.add("other", "agent", json!({ "team": "team:dev", "owner": "liv" })).await;
    let first = spends(&test, "bot", &[60]).await;
    let (second, third) = (spends(&test, "diver", &[41]).await, spends(&test, "other", &[500]).await);
    assert_eq!(
        [status(&test, &first).await, status(&test, &second).await, status(&test, &third).await],
        ["completed", "held", "completed"]
    );
    assert_eq!(requests(&test).await, [], "the next month lets it go on");
    test.clock.advance(11 * DAY);
    go_on(&test).await;
    assert_eq!(status(&test, &second).await, "completed", "it is December");
    accounted_for(&test);
}

#[tokio::test]
async fn an_answer_that_is_no_use_costs_what_its_provider_says() {
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Limited("half of what"), Reply::Say("whole")]);
    let (test, cast) = thinking::company(&fake).await;
    let done = run(&test, &thinking::asked(&test, &cast, json!({})).await).await;
    assert_eq!(done["trace"][0]["reason"], "it needs more than 1000 tokens for its answer");
    let took = |step: &Value| (step["status"].clone(), step["tokens"].clone(), step["cost_cents"].clone());
    assert_eq!(took(&done["trace"][0]), (json!("unknown"), json!({ "input": 12, "output": 7 }), json!(1)));
    assert_eq!((&done["output"], &done["cost_cents"]), (&json!("whole"), &json!(2)));
    accounted_for(&test);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_at_work_for_too_long_ends_and_waiting_is_no_work() {
    let fake =
        Fake::new(ProviderKind::Anthropic, vec![Reply::Call(&[("run_ask", r#"{"text":"which?"}"#)]), Reply::Hang]);
    let (test, cast) = thinking::company(&fake).await;
    let id = thinking::asked(&test, &cast, json!({})).await;
    assert_eq!(run(&test, &id).await["status"], "waiting_input");
    test.clock.advance(3 * 24 * 3_600_000);
    test.post(&format!("/runs/{id}/answer"), &cast.mia, json!({ "text": "the first" })).await;
    let server = thinking::serve(&test);
    thinking::until(&test, &id, |run| run["trace"][2]["status"] == "dispatched").await;
    fake.wait_for(2);
    drop(server);
    test.clock.advance(31 * 60_000);
    let test = test.reopened().await;
    test.go_on().await;
    let ended = run(&test, &id).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["message"]),
        (&json!("timed_out"), &json!("it was at work for too long"))
    );
    accounted_for(&test);
}
