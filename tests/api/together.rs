//! The calls that a model wants at once: made together, and none waits for another.

use ok::types::models::ProviderKind;
use serde_json::{Value, json};

use super::runs::{self, accounted_for, run};
use super::thinking::{asked, company, company_with, steps};
use crate::harness::Test;
use crate::harness::fake::{Fake, Reply};

/// Agents create tasks with approval.
pub const ASK_FIRST: &str = r#"@id("agents-create-with-approval") @reason("an admin looks at it first")
    forbid (principal is Ok::Actor, action == Ok::Action::"task.create", resource)
    when { principal.kind == "agent" } unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;

/// What each step of a run waits for.
fn waits(run: &Value) -> Vec<&str> {
    run["trace"].as_array().unwrap().iter().map(|step| step["waiting"]["kind"].as_str().unwrap_or("-")).collect()
}

async fn decide(test: &Test, step: &Value, decision: Value) {
    let approval = step["waiting"]["approval"].as_str().unwrap();
    let decided = test.post(&format!("/approvals/{approval}"), &test.admin, decision).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
}

#[tokio::test]
async fn the_calls_of_one_answer_are_made_together_and_each_goes_on_by_itself() {
    // Two of them are equal to the letter.
    let calls: &[(&str, &str)] = &[
        ("task_create", r#"{"title":"one"}"#),
        ("run_ask", r#"{"text":"which?","to":"mia"}"#),
        ("actor_read", r#"{"id":"mia"}"#),
        ("run_ask", r#"{"text":"and when?","to":"lea"}"#),
        ("agent_ask", r#"{"agent":"aide","text":"look"}"#),
        ("task_create", r#"{"title":"one"}"#),
    ];
    let fake = Fake::new(ProviderKind::Gemini, vec![Reply::Call(calls), Reply::Say("seen"), Reply::Say("all done")]);
    let (test, cast) = company_with(&fake.config(), &[ASK_FIRST]).await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let id = asked(&test, &cast, json!({})).await;
    let waiting = run(&test, &id).await;
    assert_eq!(waiting["status"], "waiting_approval", "{waiting}");
    assert_eq!(
        waits(&waiting),
        ["-", "approval", "question", "-", "question", "run", "approval"],
        "none waits for another"
    );
    assert_eq!(steps(&waiting)[5], "delegate aide completed", "the part has ended meanwhile");

    // Each question is answered by whom it was put to, in any order, and stands in their inbox until then.
    let path = format!("/runs/{id}/answer");
    let answer = async |token: &str, body: Value| test.post(&path, token, body).await;
    let anothers = answer(&cast.mia, json!({ "text": "never", "question": 5 })).await;
    assert_eq!(anothers.error(), format!("409 conflict {id} asks at step 3 now"));
    assert_eq!(answer(&cast.lea, json!({ "text": "soon" })).await.status, 200);
    let inbox = async |token: &str| {
        let items = test.get("/inbox", token).await.json();
        items.as_array().unwrap().iter().filter(|item| item["kind"] == "question").count()
    };
    assert_eq!((inbox(&cast.mia).await, inbox(&cast.lea).await), (1, 0));
    decide(&test, &waiting["trace"][6], json!({ "decision": "reject", "note": "no" })).await;
    test.go_on().await;
    let test = test.reopened().await;
    test.go_on().await;
    assert_eq!(fake.got().len(), 2, "the model is not asked before all have ended");
    assert_eq!(test.post(&path, &cast.mia, json!({ "text": "this" })).await.status, 200);
    decide(&test, &waiting["trace"][1], json!({ "decision": "approve" })).await;
    test.go_on().await;
    let done = run(&test, &id).await;
    assert_eq!(
        steps(&done),
        [
            "model m completed",
            "tool task.create completed",
            "question mia completed",
            "tool actor.read completed",
            "question lea completed",
            "delegate aide completed",
            "tool task.create denied an approver rejected it: no",
            "model m completed",
        ]
    );
    assert_eq!((&done["output"], &done["steps"]), (&json!("all done"), &json!(8)));
    let told = fake.got()[2].body["contents"].to_string();
    let places = ["this", "soon", "seen", "rejected it: no"].map(|text| told.find(text).expect(text));
    assert!(places.is_sorted(), "the model is told in the order of its calls: {told}");
    accounted_for(&test);
}

#[tokio::test]
async fn calls_that_are_made_together_count_one_after_the_other() {
    let rule = r#"@id("two-calls") @reason("two operations are enough")
        forbid (principal is Ok::Actor, action == Ok::Action::"task.create", resource)
        when { context has run && context.run.calls >= 2 };"#;
    let four: &[(&str, &str)] = &[("task_create", r#"{"title":"one"}"#); 4];
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Call(four), Reply::Say("two")]);
    let (test, cast) = company_with(&fake.config(), &[rule]).await;
    let done = run(&test, &asked(&test, &cast, json!({})).await).await;
    let made: Vec<&Value> = done["trace"].as_array().unwrap().iter().map(|step| &step["status"]).collect();
    assert_eq!(made, ["completed", "completed", "completed", "denied", "denied", "completed"], "{done}");
    accounted_for(&test);
}

#[tokio::test]
async fn things_that_are_read_together_are_counted_one_after_the_other() {
    let rule = r#"@id("few-reads") @reason("three reads an hour are enough")
        forbid (principal is Ok::Actor, action == Ok::Action::"actor.read", resource)
        when { principal.kind == "agent" && context.hist["actor.read"].hour >= 3 };"#;
    let five: &[(&str, &str)] = &[("actor_read", r#"{"id":"mia"}"#); 5];
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Call(five), Reply::Say("three")]);
    let (test, cast) = company_with(&fake.config(), &[rule]).await;
    let done = run(&test, &asked(&test, &cast, json!({})).await).await;
    // Who may not be read is not there.
    let refused = "tool actor.read failed not_found: not found";
    let read = "tool actor.read completed";
    assert_eq!(steps(&done), ["model m completed", read, read, read, refused, refused, "model m completed"]);
    let shown: Vec<bool> = done["trace"].as_array().unwrap().iter().map(|step| step["output"].is_null()).collect();
    assert_eq!(shown[1..6], [false, false, false, true, true], "what was refused is not told: {done}");
    let counted: i64 = test
        .file()
        .query_row("SELECT hour_times FROM done WHERE actor = 'bot' AND operation = 'actor.read'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(counted, 3);
    accounted_for(&test);
}

#[tokio::test]
async fn parts_that_work_side_by_side_spend_no_more_than_their_whole_has() {
    let two: &[(&str, &str)] =
        &[("agent_ask", r#"{"agent":"aide","text":"look"}"#), ("agent_ask", r#"{"agent":"aid","text":"look"}"#)];
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Call(two), Reply::Say("seen")]);
    let (test, cast) = company(&fake).await;
    for id in ["aide", "aid"] {
        test.add(id, "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    }
    // Enough for one to think at a time: the other is held until it has.
    let done = run(&test, &asked(&test, &cast, json!({ "budget_cents": 30 })).await).await;
    assert_eq!((&done["status"], &done["cost_cents"]), (&json!("completed"), &json!(3)), "{done}");
    let held = test.get("/events?type=run_held", &test.admin).await.json()["events"].as_array().unwrap().len();
    assert_eq!(held, 1);
    accounted_for(&test);
}

#[tokio::test]
async fn a_run_that_may_take_no_more_steps_waits_for_what_it_has_begun_and_ends() {
    let three: &[(&str, &str)] =
        &[("task_create", r#"{"title":"one"}"#), ("actor_read", r#"{"id":"mia"}"#), ("actor_read", r#"{"id":"lea"}"#)];
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Call(three), Reply::Say("never asked")]);
    let (test, cast) = company_with(&fake.config(), &[ASK_FIRST]).await;
    let few = json!({ "apiVersion": "ok/v1", "kind": "Agent", "metadata": { "name": "few", "labels": { "team": "team:ops" } },
                      "spec": { "owner": "mia", "tools": ["task.create", "actor.read"], "limits": { "steps": 3 } } });
    let hired = test.post("/actors/hire", &test.admin, json!({ "definition": few })).await;
    assert!(hired.status.is_success(), "{}", hired.text());
    let raised = json!({ "tier": "standard", "reason": "it does well" });
    assert_eq!(test.post("/actors/few/trust", &test.admin, raised).await.status, 200);
    let id = asked(&test, &cast, json!({ "agent": "few" })).await;
    let waiting = run(&test, &id).await;
    assert_eq!(
        (&waiting["status"], waits(&waiting)),
        (&json!("waiting_approval"), vec!["-", "approval", "-"]),
        "{waiting}"
    );
    decide(&test, &waiting["trace"][1], json!({ "decision": "approve" })).await;
    test.go_on().await;
    let ended = run(&test, &id).await;
    assert_eq!((&ended["status"], fake.got().len()), (&json!("failed"), 1), "{ended}");
    assert_eq!(ended["error"], json!({ "code": "steps", "message": "it may take no more than 3 steps" }));
    accounted_for(&test);
}

/// A part of a part and so on has an end, and whoever asked for it is told; all of them go on without it.
#[tokio::test]
async fn a_part_of_a_part_is_at_most_five_runs_deep() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let agents = ["one", "two", "three", "four", "five", "six"];
    for agent in agents {
        test.add(agent, "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    }
    let part = |within: Value, agent: &&str| {
        let steps = json!([within, { "say": agent }]);
        json!({ "delegate": { "agent": agent, "text": "a part", "plan": { "steps": steps } } })
    };
    let plan = agents.iter().rev().fold(json!({ "say": "the last" }), part);
    let id = runs::asked(&test, &cast.mia, json!([plan])).await;
    let (mut at, mut agents) = (id.clone(), Vec::new());
    let refused = loop {
        let run = run(&test, &at).await;
        assert_eq!(run["status"], "completed", "{run}");
        agents.push(run["agent"].as_str().unwrap().to_owned());
        let step = &run["trace"][0];
        match step["target"].as_str().filter(|target| target.starts_with("run_")) {
            Some(next) => at = next.to_owned(),
            None => break format!("{} {}", step["status"].as_str().unwrap(), step["reason"].as_str().unwrap()),
        }
    };
    assert_eq!(agents, ["bot", "one", "two", "three", "four", "five"]);
    assert!(refused.starts_with("failed") && refused.ends_with(" is 5 runs deep already"), "{refused}");
    accounted_for(&test);
}
