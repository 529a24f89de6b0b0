//! What becomes of a request that nobody decides, and of one that is taken back.

use ok::policy::Bundle;
use ok::types::models::ProviderKind;
use ok::types::time::{DAY, HOUR, SECOND};
use serde_json::{Value, json};

use super::{runs, thinking};
use crate::harness::fake::{Fake, Reply};
use crate::harness::{Cast, Test};

/// Any admin may give the approval, who is reminded after 4 hours; after 24, any auditor too.
const RULES: &str = "kinds:
  admin:
    eligible: [{role: admin}]
    remind_hours: 4
    escalate: {after_hours: 24, to: [{role: auditor}]}
";

async fn company() -> (Test, Cast) {
    let mut policies = Bundle::built_in();
    policies.files.insert("approvals.yaml".into(), RULES.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    (test, cast)
}

async fn asked(test: &Test, cast: &Cast) -> String {
    let asked = test.post("/actors", &cast.lea, json!({ "id": "new", "kind": "agent", "team": "team:ops" })).await;
    asked.json()["approval"].as_str().unwrap().to_owned()
}

/// Titles of what is unread and unresolved.
async fn unread(test: &Test, token: &str) -> Vec<String> {
    let items = test.get("/inbox", token).await.json();
    let unread = items.as_array().unwrap().iter().filter(|item| item["read_at"].is_null());
    unread.map(|item| item["title"].as_str().unwrap().to_owned()).collect()
}

async fn tick(test: &Test) -> [Value; 2] {
    let ticked = test.post("/tick", &test.admin, json!({})).await.json();
    [ticked["reminded"].clone(), ticked["escalated"].clone()]
}

#[tokio::test]
async fn who_may_decide_is_reminded_once_and_then_more_people_may() {
    let (test, cast) = company().await;
    let id = asked(&test, &cast).await;
    let item = test.get("/inbox", &test.admin).await.json()[0]["id"].as_str().unwrap().to_owned();
    test.post(&format!("/inbox/{item}/read"), &test.admin, json!({})).await;
    let none = [json!([]), json!([])];

    test.clock.advance(4 * HOUR - SECOND);
    assert_eq!(tick(&test).await, none);
    test.clock.advance(SECOND);
    assert_eq!(tick(&test).await, [json!([id]), json!([])]);
    assert_eq!(unread(&test, &test.admin).await, ["lea adds new as agent to team:ops: still waits for you"]);
    assert_eq!(test.event().await["event"]["approvers"], json!(["ana"]));
    assert_eq!(tick(&test).await, none, "reminded once");

    let test = test.reopened().await;
    assert_eq!(tick(&test).await, none, "reminded once, whatever restarts");
    let early = test.post(&format!("/approvals/{id}"), &cast.aud, json!({ "decision": "approve" })).await;
    assert_eq!(early.status, 403);
    test.clock.advance(20 * HOUR);
    assert_eq!(tick(&test).await, [json!([]), json!([id])]);
    assert_eq!(tick(&test).await, none, "escalated once");
    assert_eq!(
        unread(&test, &cast.aud).await,
        ["lea adds new as agent to team:ops: has waited long and now waits for you too"]
    );
    let late = test.post(&format!("/approvals/{id}"), &cast.aud, json!({ "decision": "approve" })).await;
    assert_eq!(late.json()["status"], "used", "{}", late.text());
    assert!(unread(&test, &test.admin).await.is_empty(), "what is decided waits for nobody");
}

#[tokio::test]
async fn nothing_is_said_of_what_is_over() {
    let (test, cast) = company().await;
    let id = asked(&test, &cast).await;
    test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "reject" })).await;
    test.clock.advance(30 * HOUR);
    assert_eq!(tick(&test).await, [json!([]), json!([])]);
    let id = asked(&test, &cast).await;
    test.clock.advance(73 * HOUR);
    let ticked = test.post("/tick", &test.admin, json!({})).await.json();
    assert_eq!(ticked["expired"].as_array().unwrap().last().unwrap(), &id, "it runs out, and nobody is told before");
    assert_eq!((&ticked["reminded"], &ticked["escalated"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_requester_takes_a_request_back() {
    let (test, cast) = company().await;
    let id = asked(&test, &cast).await;
    let path = format!("/approvals/{id}");
    let refused = test.call("DELETE", &path, &test.admin, None).await;
    assert_eq!(refused.error(), "403 not_owner policy denied approval.withdraw: only who asked takes a request back");
    assert_eq!(test.call("DELETE", &path, &cast.mia, None).await.status, 404);
    let withdrawn = test.call("DELETE", &path, &cast.lea, None).await;
    assert_eq!((withdrawn.status.as_u16(), &withdrawn.json()["status"]), (200, &json!("cancelled")));
    assert!(unread(&test, &test.admin).await.is_empty());
    let late = test.post(&path, &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(late.error(), "409 conflict the approval is cancelled already");
    let again = test.call("DELETE", &path, &cast.lea, None).await;
    assert_eq!(again.error(), "409 conflict the approval is cancelled already");
    assert_ne!(asked(&test, &cast).await, id, "asked again, it is a request of its own");
}

#[tokio::test]
async fn one_requester_has_no_more_than_100_open_requests() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ask = async |id: String| {
        test.post("/actors", &cast.lea, json!({ "id": id, "kind": "person", "team": "team:ops" })).await
    };
    let mut first = String::new();
    for number in 0..100 {
        let asked = ask(format!("p{number}")).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        first = asked.json()["approval"].as_str().unwrap().to_owned();
    }
    let told = "lea has 100 open requests, which is the limit: withdraw one, or have it decided";
    assert_eq!(ask("more".into()).await.error(), format!("409 conflict {told}"));
    assert_eq!(ask("p0".into()).await.status, 202, "what waits already is no further one");
    assert_eq!(test.call("DELETE", &format!("/approvals/{first}"), &cast.lea, None).await.status, 200);
    assert_eq!(ask("more".into()).await.status, 202);
}

#[tokio::test]
async fn nobody_fills_an_agents_room_for_requests_by_asking_it_often() {
    let (test, cast) = runs::wary().await;
    let step = json!([{ "call": { "tool": "task.create", "with": { "title": "t", "owner": "mia" } } }]);
    for _ in 0..25 {
        let id = runs::asked(&test, &cast.mia, step.clone()).await;
        assert_eq!(runs::run(&test, &id).await["status"], "waiting_approval");
    }
    let id = runs::asked(&test, &cast.mia, step.clone()).await;
    let refused = runs::run(&test, &id).await["trace"][0]["reason"].as_str().unwrap().to_owned();
    assert!(refused.starts_with("conflict: bot has 25 open requests in runs that mia asked for"), "{refused}");
    let id = runs::asked(&test, &cast.lea, step).await;
    assert_eq!(runs::run(&test, &id).await["status"], "waiting_approval", "others' runs have room");
}

/// That a run waits and goes on changes nothing of the task that it works on, for whoever has to approve a change of that.
#[tokio::test]
async fn a_run_may_ask_for_approval_of_a_change_of_its_own_task() {
    let mut policies = Bundle::built_in();
    let rule = r#"@id("links-with-approval") @reason("somebody looks at it first")
        forbid (principal, action == Ok::Action::"task.update", resource)
        when { principal.kind == "agent" } unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    policies.files.insert("links.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let asked = test.post("/tasks", &cast.mia, json!({ "title": "look it up", "owner": "bot" })).await.json();
    let task = asked["id"].as_str().unwrap().to_owned();
    let link = |page: &str| {
        let with = json!({ "id": task, "collection": "url", "thing": format!("https://example.com/{page}") });
        json!({ "call": { "tool": "task.update", "with": with } })
    };
    let plan = json!({ "plan": { "steps": [link("one"), { "say": "there" }, link("two")] } });
    let begun = test.post(&format!("/tasks/{task}/run"), &cast.mia, plan).await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        test.go_on().await;
        let waits = runs::run(&test, &run).await["waiting"].clone();
        let path = format!("/approvals/{}", waits["approval"].as_str().unwrap_or_else(|| panic!("{waits}")));
        let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
        assert_eq!(decided["status"], "used", "{decided}");
    }
    test.go_on().await;
    assert_eq!(runs::run(&test, &run).await["status"], "completed");
    let refs = test.get(&format!("/tasks/{task}"), &cast.mia).await.json()["refs"].clone();
    assert_eq!(refs.as_array().unwrap().len(), 2);
    // What somebody else changes meanwhile does.
    let other = test.post("/tasks", &cast.mia, json!({ "title": "another", "owner": "bot" })).await.json();
    let id = other["id"].as_str().unwrap();
    let with = json!({ "collection": "url", "thing": "https://example.com/" });
    let held = test.post(&format!("/tasks/{id}/refs"), &cast.bot, with.clone()).await.json();
    assert_eq!(test.post(&format!("/tasks/{id}/refs"), &cast.mia, with).await.status, 200);
    let path = format!("/approvals/{}", held["approval"].as_str().unwrap());
    let late = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(
        (&late["status"], &late["stale"]),
        (&json!("stale"), &json!(format!("{id} has changed since the request")))
    );
    runs::accounted_for(&test);
}

#[tokio::test]
async fn a_part_and_a_question_that_were_approved_are_waited_for_and_asked_once() {
    let mut policies = Bundle::built_in();
    let rule = r#"@id("agents-ask-with-approval") @reason("an admin looks at it first")
        forbid (principal is Ok::Actor, action in [Ok::Action::"agent.ask", Ok::Action::"run.ask"], resource)
        when { principal.kind == "agent" } unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    policies.files.insert("wary.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    test.add("aid", "agent", json!({ "team": "team:ops", "owner": "mia" })).await;
    let part = json!({ "steps": [{ "model": { "text": "paid", "cost_cents": 10 } }, { "say": "the part" }] });
    let steps = json!([
        { "delegate": { "agent": "aid", "text": "a part", "plan": part } },
        { "ask": { "text": "which one?" } },
        { "say": "end" },
    ]);
    let id = runs::asked(&test, &cast.mia, steps).await;
    let approve = async || {
        let waiting = runs::run(&test, &id).await;
        let approval = waiting["waiting"]["approval"].as_str().unwrap_or_else(|| panic!("{waiting}")).to_owned();
        let decided = test.post(&format!("/approvals/{approval}"), &test.admin, json!({ "decision": "approve" })).await;
        assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    };
    approve().await;
    assert_eq!(runs::run(&test, &id).await["waiting"]["kind"], "run");
    runs::go_on(&test).await;
    let parts = test.get("/runs?agent=aid", &test.admin).await.json();
    assert_eq!(parts.as_array().unwrap().len(), 1, "{parts}");
    approve().await;
    let waiting = runs::run(&test, &id).await;
    assert_eq!((&waiting["status"], &waiting["cost_cents"]), (&json!("waiting_input"), &json!(10)), "{waiting}");
    assert_eq!(unread(&test, &cast.mia).await.last().unwrap(), "bot asks you something");
    let answer = json!({ "text": "this one", "question": 2 });
    assert_eq!(test.post(&format!("/runs/{id}/answer"), &cast.mia, answer).await.status, 200);
    runs::go_on(&test).await;
    let done = runs::run(&test, &id).await;
    assert_eq!((&done["status"], &done["steps"]), (&json!("completed"), &json!(3)), "{done}");
    runs::accounted_for(&test);
}

#[tokio::test]
async fn a_request_whose_plan_is_a_text_shows_all_of_it_and_ends_when_it_is_erased() {
    let mut policies = Bundle::built_in();
    let rule = r#"@id("plans-with-approval") @reason("an admin looks at the plan first")
        forbid (principal is Ok::Actor, action == Ok::Action::"agent.ask", resource)
        when { context.input has plan } unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    policies.files.insert("wary.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let ask = async || {
        let plan = "steps:\n  - say: done\n";
        let asked = test.post("/ask", &cast.mia, json!({ "agent": "bot", "text": "do it", "plan": plan })).await;
        asked.json()["approval"].as_str().unwrap_or_else(|| panic!("{}", asked.text())).to_owned()
    };
    let id = ask().await;
    let shown = test.get(&format!("/approvals/{id}"), &test.admin).await.json();
    assert_eq!((&shown["args"]["plan"], &shown["withheld"]), (&json!({ "steps": [{ "say": "done" }] }), &Value::Null));
    assert_eq!(ask().await, id, "the same call waits already");

    let kept = test.get("/events?type=arguments_kept", &test.admin).await.json()["events"][0]["seq"].clone();
    let erased = test.post("/context/forget", &test.admin, json!({ "events": [kept], "reason": "personal" })).await;
    assert_eq!(erased.status, 200, "{}", erased.text());
    let shown = test.get(&format!("/approvals/{id}"), &test.admin).await.json();
    let over = (json!("stale"), json!("a part of what was asked for has been erased"));
    assert_eq!((&shown["status"], &shown["stale"]), (&over.0, &over.1));
    assert_ne!(ask().await, id, "what is asked anew is another request");
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn an_approved_model_call_that_a_budget_holds_is_made_once_the_budget_is_raised() {
    let mut policies = Bundle::built_in();
    let rule = r#"@id("models-with-approval") @reason("an admin looks at it first")
        forbid (principal is Ok::Actor, action == Ok::Action::"model.call", resource)
        unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    policies.files.insert("wary.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let plan = json!({ "steps": [{ "model": { "text": "paid", "cost_cents": 9 } }, { "say": "end" }] });
    let ask = json!({ "agent": "bot", "text": "do it", "plan": plan, "budget_cents": 6 });
    let id = test.post("/ask", &cast.mia, ask).await.json()["run"].as_str().unwrap().to_owned();
    runs::go_on(&test).await;
    let pending = async |operation: &str| {
        let all = test.get("/approvals?status=pending", &test.admin).await.json();
        let mut all = all.as_array().unwrap().clone();
        all.retain(|approval| approval["action"] == operation);
        assert_eq!(all.len(), 1, "{operation}: {all:?}");
        format!("/approvals/{}", all[0]["id"].as_str().unwrap())
    };
    let call = pending("model.call").await;
    let decided = test.post(&call, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "approved", "nothing has been asked of the model: {decided}");
    runs::go_on(&test).await;
    assert_eq!(runs::run(&test, &id).await["status"], "held");
    let raise = pending("budget.raise").await;
    let decided = test.post(&raise, &cast.lea, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "used", "{decided}");
    runs::go_on(&test).await;
    let done = runs::run(&test, &id).await;
    assert_eq!((&done["status"], &done["cost_cents"]), (&json!("completed"), &json!(9)), "{done}");
    assert_eq!(test.get(&call, &test.admin).await.json()["status"], "used");
    let asked = test.get("/approvals?operation=model.call", &test.admin).await.json();
    assert_eq!(asked.as_array().unwrap().len(), 1, "{asked}");
    runs::accounted_for(&test);
}

#[tokio::test]
async fn a_model_is_asked_as_was_approved_however_much_money_there_is_by_then() {
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Say("done")]);
    let rule = r#"@id("models-with-approval") @reason("an admin looks at it first")
        forbid (principal is Ok::Actor, action == Ok::Action::"model.call", resource)
        unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    let (test, cast) = thinking::company_with(&fake.config(), &[rule]).await;
    let requests = async |operation: &str| {
        let all = test.get(&format!("/approvals?operation={operation}"), &test.admin).await.json();
        all.as_array().unwrap().clone()
    };
    test.clock.advance(9 * DAY);
    // People are asked to approve nothing that there is no money for.
    let id = thinking::asked(&test, &cast, json!({ "budget_cents": 1 })).await;
    assert_eq!(runs::run(&test, &id).await["status"], "held");
    assert_eq!((requests("model.call").await.len(), requests("budget.raise").await.len()), (0, 1));
    test.post(&format!("/runs/{id}/budget"), &cast.lea, json!({ "budget_cents": 22 })).await;
    runs::go_on(&test).await;
    let call = requests("model.call").await[0].clone();
    let most = call["args"]["output_tokens"].clone();

    let set = async |cents: u32| {
        let answer = test.call("PATCH", "/company", &test.admin, Some(json!({ "budget_cents_month": cents }))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    };
    set(1).await;
    test.clock.advance(60 * HOUR);
    let path = format!("/approvals/{}", call["id"].as_str().unwrap());
    let decided = test.post(&path, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "approved", "{decided}");
    for cents in [2, 15, 1_000] {
        runs::go_on(&test).await;
        assert_eq!((&runs::run(&test, &id).await["status"], fake.got().len()), (&json!("held"), 0));
        set(cents).await;
    }
    test.post(&format!("/runs/{id}/budget"), &cast.lea, json!({ "budget_cents": 500 })).await;
    runs::go_on(&test).await;
    assert_eq!(runs::run(&test, &id).await["status"], "completed");
    assert_eq!((fake.got().len(), &fake.got()[0].body["max_tokens"]), (1, &most));
    assert!((256..1_000).contains(&most.as_u64().unwrap()), "with more money it would have been {most}");
    let asked: Vec<_> = requests("model.call").await.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(asked, ["used"]);
    // What it cost in the end is counted in the month in which it was decided, not in the one in which it was requested.
    set(1).await;
    let id = thinking::asked(&test, &cast, json!({})).await;
    let why = "1 of 1 cents of the company this month are spent, and the next step takes 22";
    assert_eq!(runs::run(&test, &id).await["waiting"]["reason"], why);
    runs::accounted_for(&test);
}
