//! Budgets beside a run's own: what an agent may spend in a day, a company in a month.

use std::sync::Arc;

use ok::gate::Request;
use ok::nouns::run::{Next, OneCall};
use ok::policy::Bundle;
use ok::types::caller::{Channel, Credential, Presented};
use ok::types::models::ProviderKind;
use ok::types::time::{DAY, HOUR};
use serde_json::{Value, json};

use super::brain::put_into_force;
use super::delegations::{Given, all};
use super::runs::{accounted_for, company, go_on, run};
use super::thinking;
use crate::harness::Test;
use crate::harness::fake::{Fake, Reply};

/// Hires `clerk` with these limits.
pub async fn hired(test: &Test, limits: &str) {
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

pub async fn status(test: &Test, id: &str) -> Value {
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
                "cost_cents": 1,
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
pub async fn requests(test: &Test) -> Vec<(String, String)> {
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
    let task = test.post("/tasks", &cast.mia, json!({ "title": "Think", "owner": "bot" })).await.json();
    let path = format!("/tasks/{}/run", task["id"].as_str().unwrap());
    let begun = test.post(&path, &cast.mia, json!({ "plan": plan, "budget_cents": 10 })).await;
    let id = begun.json()["run"].as_str().unwrap_or_else(|| panic!("{}", begun.text())).to_owned();
    go_on(&test).await;
    let waiting = requests(&test).await;
    assert_eq!(
        waiting.iter().map(|(summary, _)| summary.as_str()).collect::<Vec<_>>(),
        [format!("bot raises the budget of {id} to 20 cents")]
    );
    // Whoever asked for the whole learns that its part is held: the agent that asked for the part can do nothing.
    let inbox = test.get("/inbox", &cast.mia).await.json();
    let alerts = inbox.as_array().unwrap().iter().filter(|item| item["kind"] == "alert");
    let titles: Vec<&str> = alerts.map(|item| item["title"].as_str().unwrap()).collect();
    assert!(titles.len() == 1 && titles[0].starts_with("a run of aide is held: "), "{titles:?}");
    let path = format!("/approvals/{}", waiting[0].1);
    // The task's title says what the run is, to whoever may see it.
    assert_eq!(test.get(&path, &cast.lea).await.json()["title"], "Think");
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].as_object().unwrap().clone();
    files.retain(|path, _| !path.starts_with("tests/"));
    let hidden = r#"@id("hidden") @reason("not for lea")
forbid (principal == Ok::Actor::"lea", action == Ok::Action::"run.read", resource);"#;
    files.insert("hidden.cedar".into(), hidden.into());
    files.insert(
        "tests/one.yaml".into(),
        "actors: [{id: ana, role: admin}]\ncases: [{actor: ana, op: tick, expect: allow}]\n".into(),
    );
    assert_eq!(put_into_force(&test, json!(files)).await.status, 200);
    assert_eq!(test.get(&path, &cast.lea).await.json()["title"], Value::Null);
    assert_eq!(test.post(&path, &cast.mia, json!({ "decision": "approve" })).await.status, 403, "no lead");
    let decided = test.post(&path, &cast.lea, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    go_on(&test).await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["cost_cents"]), (&json!("completed"), &json!(12)), "{done}");
    accounted_for(&test);
}

/// Does what a server does with one run until it holds it, and no more.
/// Whoever a run is done for agrees to nothing that it asks for; neither to more money.
#[tokio::test]
async fn a_lead_who_asked_for_a_run_does_not_agree_to_what_its_agent_asks_to_spend() {
    let (test, cast) = company().await;
    let plan = json!({ "steps": [{ "model": { "text": "so", "cost_cents": 6 } }] });
    let wish = json!({ "agent": "bot", "text": "think", "budget_cents": 3, "plan": plan });
    let asked = test.post("/ask", &cast.lea, wish).await;
    let id = asked.json()["run"].as_str().unwrap_or_else(|| panic!("{}", asked.text())).to_owned();
    go_on(&test).await;
    let path = format!("/approvals/{}", requests(&test).await[0].1);
    assert_eq!(test.get(&path, &test.admin).await.json()["on_behalf_of"], json!(["lea"]));
    assert_eq!(test.post(&path, &cast.lea, json!({ "decision": "approve" })).await.status, 403);
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    go_on(&test).await;
    assert_eq!(status(&test, &id).await, "completed");
    accounted_for(&test);
}

async fn held_by_a_server_that_dies(test: &Test, id: &str) {
    let gate = &test.company.gate;
    let ask = async |operation: &str, credential: Credential, input: Value| {
        let entry = gate.entry(operation).unwrap();
        let presented = Presented { credential, channel: Channel::Run, address: None, under: None };
        let (caller, call) = (gate.admit(&presented, &entry.spec).unwrap(), entry.prepare(input).unwrap());
        serde_json::from_slice::<Value>(&gate.perform(Request { caller, call, idem: None }).await.unwrap().body)
            .unwrap()
    };
    let next = ask("run.next", Credential::Server, json!({ "id": id })).await;
    let Ok(Next::Calls { calls, agent }) = serde_json::from_value(next) else { panic!("no call") };
    for OneCall { operation, input, facts, .. } in calls {
        let spoken = ask(&operation, Credential::Run(agent.clone(), Arc::new(facts)), input.unwrap()).await;
        assert_eq!(spoken["answered"], false, "{spoken}");
    }
}

#[tokio::test]
async fn what_a_server_that_died_has_not_asked_for_the_next_one_asks_for_once() {
    let (test, cast) = company().await;
    let plan = json!({ "steps": [{ "model": { "text": "so", "cost_cents": 20 } }] });
    let wish = json!({ "agent": "bot", "text": "think", "plan": plan, "budget_cents": 10 });
    let id = test.post("/ask", &cast.mia, wish).await.json()["run"].as_str().unwrap().to_owned();
    held_by_a_server_that_dies(&test, &id).await;
    assert_eq!((status(&test, &id).await, requests(&test).await), (json!("held"), vec![]));
    let test = test.reopened().await;
    for again in ["begins", "begins again"] {
        go_on(&test).await;
        assert_eq!(requests(&test).await.len(), 1, "{again}");
    }
    let (told, request) = requests(&test).await.remove(0);
    assert_eq!(told, format!("bot raises the budget of {id} to 20 cents"));
    let rejected = json!({ "decision": "reject", "note": "no" });
    assert_eq!(test.post(&format!("/approvals/{request}"), &cast.lea, rejected).await.status, 200);
    let test = test.reopened().await;
    go_on(&test).await;
    assert_eq!(requests(&test).await, [], "whoever said no is not asked again");
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
async fn what_a_plan_makes_up_holds_plans_and_keeps_no_model_from_being_asked() {
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Say("done")]);
    let never = "@id(\"enough\") @reason(\"spent\")\nforbid (principal is Ok::Actor, action == Ok::Action::\"model.call\", resource)\n\
                 when { context.hist[\"model.call\"].month_cents > 1000 };\n";
    let (test, cast) = thinking::company_with(&fake.config(), &[never]).await;
    test.add("aide", "agent", json!({ "owner": "lea" })).await;
    let budget = test.call("PATCH", "/company", &test.admin, Some(json!({ "budget_cents_month": 2000 }))).await;
    assert_eq!(budget.status, 200, "{}", budget.text());
    let (first, second) = (spends(&test, "bot", &[1001]).await, spends(&test, "bot", &[1]).await);
    let (other, held) = (spends(&test, "aide", &[900]).await, spends(&test, "aide", &[100]).await);
    let asked = thinking::asked(&test, &cast, json!({})).await;
    assert_eq!(status(&test, &first).await, "completed");
    assert_eq!(
        thinking::steps(&run(&test, &second).await),
        ["model model.call denied policy denied model.call: spent"]
    );
    assert_eq!([status(&test, &other).await, status(&test, &held).await], ["completed", "held"], "plans test budgets");
    assert_eq!(status(&test, &asked).await, "completed", "{}", run(&test, &asked).await);
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

#[tokio::test]
async fn a_request_for_more_ends_when_the_budget_is_raised_directly_or_its_run_is_over() {
    let (test, cast) = company().await;
    let thinks = |cents: u32| json!({ "model": { "text": "so", "cost_cents": cents } });
    let begin = async || {
        let wish = json!({ "agent": "bot", "text": "think", "plan": { "steps": [thinks(11)] }, "budget_cents": 10 });
        let id = test.post("/ask", &cast.mia, wish).await.json()["run"].as_str().unwrap().to_owned();
        go_on(&test).await;
        assert_eq!(requests(&test).await.len(), 1);
        id
    };
    let id = begin().await;
    let raised = test.post(&format!("/runs/{id}/budget"), &cast.lea, json!({ "budget_cents": 12 })).await;
    assert_eq!(raised.status, 200, "{}", raised.text());
    assert_eq!(requests(&test).await, []);
    let ended = test.get("/approvals?status=stale", &test.admin).await.json();
    assert_eq!(ended[0]["stale"], format!("the budget of {id} was raised"), "{ended}");
    go_on(&test).await;
    assert_eq!(status(&test, &id).await, "completed");
    let id = begin().await;
    test.post(&format!("/runs/{id}/cancel"), &cast.mia, json!({})).await;
    assert_eq!(requests(&test).await, [], "the run is over");
    accounted_for(&test);
}

#[tokio::test]
async fn what_a_run_may_spend_is_set_aside_from_the_delegation_that_it_is_asked_for_under() {
    let given = Given::new().await;
    let mut terms = all("mia");
    terms["budget_cents"] = json!(30);
    let under = given.grant(&given.cast.lea, terms).await;
    let test = &given.test;
    let begin = async |budget: Option<i64>, cents: &[u32]| {
        let steps: Vec<Value> =
            cents.iter().map(|cents| json!({ "model": { "text": "so", "cost_cents": cents } })).collect();
        let mut wish = json!({ "agent": "bot", "text": "think", "plan": { "steps": steps } });
        wish.as_object_mut().unwrap().extend(budget.map(|cents| ("budget_cents".to_owned(), json!(cents))));
        let asked = given.under(&under, &given.cast.mia, "POST", "/ask", wish).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        go_on(test).await;
        asked.json()["run"].as_str().unwrap().to_owned()
    };
    let stands = async || {
        let shown = test.get("/delegations", &given.cast.lea).await.json()[0].clone();
        [shown["spent_cents"].as_i64().unwrap(), shown["reserved_cents"].as_i64().unwrap()]
    };
    let first = begin(Some(10), &[6, 14]).await;
    assert_eq!((status(test, &first).await, stands().await), (json!("held"), [0, 10]));
    let waiting = requests(test).await;
    // It is done for lea, too, who gave the delegation: she agrees to nothing of it.
    let path = format!("/approvals/{}", waiting[0].1);
    assert_eq!(test.post(&path, &given.cast.lea, json!({ "decision": "approve" })).await.status, 403);
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    assert_eq!(stands().await, [0, 20], "what it may spend more is set aside too");
    // Another one gets what is left now, and nobody can let it spend more.
    let second = begin(None, &[4, 11]).await;
    assert_eq!((status(test, &second).await, stands().await), (json!("held"), [20, 10]));
    assert_eq!(status(test, &first).await, "completed");
    assert_eq!(requests(test).await, [], "there is no more to ask for");
    let more = test.post(&format!("/runs/{second}/budget"), &given.cast.lea, json!({ "budget_cents": 11 })).await;
    assert_eq!(
        more.json()["problems"],
        json!(["budget_cents: must be 10 to 10; its delegation has ended, or its budget is spent"])
    );
    test.post(&format!("/runs/{second}/cancel"), &given.cast.mia, json!({})).await;
    assert_eq!(stands().await, [24, 0], "what it did not spend is free again");
    // Of a delegation that has ended nothing is left, whatever it had not spent.
    let third = begin(Some(3), &[2, 2]).await;
    assert_eq!((status(test, &third).await, stands().await), (json!("held"), [24, 3]));
    assert_eq!(given.revoke(&given.cast.lea, &under).await.status, 200);
    let late = test.post(&format!("/runs/{third}/budget"), &given.cast.lea, json!({ "budget_cents": 4 })).await;
    assert!(late.text().contains("must be 3 to 3; its delegation has ended") || late.status == 409, "{}", late.text());
    assert!(stands().await[1] <= 3);
    accounted_for(test);
}
