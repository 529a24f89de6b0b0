//! Policies that look at what an actor has done before: `context.hist`.

use ok::policy::Bundle;
use ok::types::time::HOUR;
use serde_json::{Value, json};

use super::runs::{accounted_for, asked, run};
use crate::harness::{Cast, Test};

const FEW: &str = r#"@id("few-tasks")
@reason("three tasks an hour are enough for an agent")
forbid (
  principal is Ok::Actor,
  action == Ok::Action::"task.create",
  resource
)
when { principal.kind == "agent" && context.hist["task.create"].hour >= 3 };
"#;

const CHEAP: &str = r#"@id("a-dollar-a-day")
@reason("a dollar a day is enough for an agent")
forbid (
  principal is Ok::Actor,
  action == Ok::Action::"model.call",
  resource
)
when { context.hist["model.call"].day_cents + context.input.cost_cents > 100 };
"#;

fn with(rule: &str) -> Bundle {
    let mut policies = Bundle::built_in();
    policies.files.insert("hist.cedar".into(), rule.into());
    policies
}

async fn company(rule: &str) -> (Test, Cast) {
    let test = Test::with_policies(with(rule)).await;
    let cast = test.cast().await;
    (test, cast)
}

async fn creates(test: &Test, token: &str) -> u16 {
    test.post("/tasks", token, json!({ "title": "t" })).await.status.as_u16()
}

async fn explained(test: &Test, at: Value) -> Value {
    let question = json!({ "op": "task.create", "target": "company", "actor": "bot", "at": at });
    test.post("/policy/explain", &test.admin, question).await.json()["decision"].clone()
}

#[tokio::test]
async fn what_an_actor_has_done_within_the_hour_counts_after_a_restart_and_under_a_clock_that_was_set_back() {
    let (test, cast) = company(FEW).await;
    for _ in 0..3 {
        assert_eq!(creates(&test, &cast.bot).await, 201);
    }
    let before = test.last_seq().await - 1;
    let refused = test.post("/tasks", &cast.bot, json!({ "title": "t" })).await;
    assert_eq!(refused.error(), "403 denied policy denied task.create: three tasks an hour are enough for an agent");
    assert_eq!(creates(&test, &cast.mia).await, 201, "each has a count of their own");
    assert_eq!(
        (explained(&test, Value::Null).await, explained(&test, json!(before)).await),
        (json!("deny"), json!("allow"))
    );
    let test = test.reopened().await;
    assert_eq!(creates(&test, &cast.bot).await, 403);
    test.clock.advance(-HOUR);
    let test = test.reopened().await;
    assert_eq!(creates(&test, &cast.bot).await, 403, "time in the log does not go back");
    test.clock.advance(2 * HOUR);
    assert_eq!(creates(&test, &cast.bot).await, 201, "another hour");
    accounted_for(&test);
}

#[tokio::test]
async fn what_a_refusal_or_a_wait_came_to_is_not_done() {
    let wary = FEW
        .replace("\n};", "")
        .replace(">= 3 }", ">= 1 } unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") }");
    let (test, cast) = company(&wary).await;
    assert_eq!(creates(&test, &cast.bot).await, 201);
    let waits = test.post("/tasks", &cast.bot, json!({ "title": "second" })).await;
    assert_eq!(waits.status, 202);
    test.clock.advance(HOUR);
    assert_eq!(creates(&test, &cast.bot).await, 201, "what waited was not done");
    let approval = waits.json()["approval"].as_str().unwrap().to_owned();
    test.post(&format!("/approvals/{approval}"), &test.admin, json!({ "decision": "approve" })).await;
    let counted: i64 = test
        .file()
        .query_row("SELECT hour_times FROM done WHERE actor = 'bot' AND operation = 'task.create'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(counted, 2, "what an approver lets go on is done by whoever asked for it");
    accounted_for(&test);
}

#[tokio::test]
async fn what_models_cost_within_the_day_is_counted() {
    let (test, cast) = company(CHEAP).await;
    let answers = |cents: u32| json!({ "model": { "text": "so", "cost_cents": cents } });
    let first = asked(&test, &cast.mia, json!([answers(60)])).await;
    assert_eq!(run(&test, &first).await["status"], "completed");
    let second = asked(&test, &cast.mia, json!([answers(41), answers(40)])).await;
    let second = run(&test, &second).await;
    assert_eq!(second["trace"][0]["reason"], "policy denied model.call: a dollar a day is enough for an agent");
    assert_eq!(second["trace"][1]["status"], "completed");
    test.clock.advance(24 * HOUR);
    let next = asked(&test, &cast.mia, json!([answers(100)])).await;
    assert_eq!(run(&test, &next).await["trace"][0]["status"], "completed");
    accounted_for(&test);
}

#[tokio::test]
async fn a_comparison_asks_each_decision_with_what_was_done_before_it_and_finds_a_witness() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let since = test.last_seq().await;
    for _ in 0..5 {
        assert_eq!(creates(&test, &cast.bot).await, 201);
    }
    for (since, denied) in [(since, 2), (test.last_seq().await, 1)] {
        let input = json!({ "files": with(FEW).files, "since": since.to_string() });
        let compared = test.post("/policy/diff", &test.admin, input).await.json();
        let impact = &compared["impact"];
        assert_eq!((&impact["newly_denied"], &impact["recorded_otherwise"]), (&json!(denied), &json!(0)), "{impact}");
        let pairs = compared["semantic"]["pairs"].as_array().unwrap();
        let witness = &pairs.iter().find(|pair| pair["actor_kind"] == "agent").unwrap()["witnesses"][0];
        assert!(witness["test"].as_str().unwrap().contains(r#"hist: {"task.create":{"hour":"#), "{witness}");
    }
}

#[tokio::test]
async fn a_comparison_and_an_explanation_know_what_had_been_spent_by_then() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let spends = |cents: u32| json!([{ "model": { "text": "so", "cost_cents": cents } }]);
    asked(&test, &cast.mia, spends(60)).await;
    test.clock.advance(12 * 24 * HOUR);
    let since = test.last_seq().await;
    asked(&test, &cast.mia, spends(60)).await;
    let between = test.last_seq().await;
    asked(&test, &cast.mia, spends(60)).await;
    for (since, denied) in [(1, 1), (since, 1), (between, 1), (test.last_seq().await, 0)] {
        let input = json!({ "files": with(CHEAP).files, "since": since.to_string(), "semantic": false });
        let impact = test.post("/policy/diff", &test.admin, input).await.json()["impact"].clone();
        assert_eq!((&impact["newly_denied"], &impact["recorded_otherwise"]), (&json!(denied), &json!(0)), "{impact}");
    }
}

#[tokio::test]
async fn a_policy_test_says_what_was_done_before() {
    let test = Test::new().await;
    let case =
        |hist: &str, expect: &str| format!("  - {{actor: bot, op: task.create, hist: {{{hist}}}, expect: {expect}}}\n");
    let cases = [
        case("task.create: {hour: 2, month: 900}", "allow"),
        case("task.create: {hour: 3}", "deny"),
        case("tick: {hour: 9}", "allow"),
        case("task.creat: {hour: 9}", "allow"),
    ];
    let mut files = with(FEW).files;
    files
        .insert("tests/hist.yaml".into(), format!("actors:\n  - {{id: bot, kind: agent}}\ncases:\n{}", cases.concat()));
    let checked = test.post("/policy/check", &test.admin, json!({ "files": files })).await.json();
    let told: Vec<&str> = checked["tests"]["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failed| failed["message"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["hist: there is no operation `task.creat` that leaves entries in the log"]);
}
