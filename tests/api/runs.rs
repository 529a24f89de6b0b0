//! Agents at work, through the router: plans stand in for models, and the clock stands still.

use ok::types::time::{DAY, SECOND};
use serde_json::{Value, json};

use crate::harness::{Answer, Cast, Test, counted};

pub async fn company() -> (Test, Cast) {
    let test = Test::new().await;
    let cast = test.cast().await;
    (test, cast)
}

pub async fn ask(test: &Test, token: &str, steps: Value) -> Answer {
    test.post("/ask", token, json!({ "agent": "bot", "text": "do it", "plan": { "steps": steps } })).await
}

/// Asks and lets the run go on as far as it can; the run's id.
pub async fn asked(test: &Test, token: &str, steps: Value) -> String {
    let answer = ask(test, token, steps).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    go_on(test).await;
    answer.json()["run"].as_str().unwrap().to_owned()
}

pub async fn go_on(test: &Test) {
    test.go_on().await;
}

pub async fn run(test: &Test, id: &str) -> Value {
    test.get(&format!("/runs/{id}"), &test.admin).await.json()
}

/// The steps of a run: kind, name, status.
fn steps(run: &Value) -> Vec<String> {
    let step = |step: &Value| {
        let text = |name: &str| step[name].as_str().unwrap();
        format!("{} {} {}", text("kind"), text("name"), text("status"))
    };
    run["trace"].as_array().unwrap().iter().map(step).collect()
}

/// What the tables hold is what the log says, and the log verifies.
pub fn accounted_for(test: &Test) {
    counted::are_as_logged(&test.file());
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn an_agent_works_through_its_plan_and_each_step_is_decided_and_told() {
    let (test, cast) = company().await;
    let plan = json!([
        { "say": "I look who is there" },
        { "call": { "tool": "actor.read", "with": { "id": "mia" } } },
        { "call": { "tool": "task.create", "with": { "title": "call the vendor", "owner": "mia" } } },
        { "model": { "text": "done", "input_tokens": 12, "output_tokens": 3, "cost_cents": 2 } },
    ]);
    let id = asked(&test, &cast.mia, plan).await;
    let done = run(&test, &id).await;
    assert_eq!(
        (&done["status"], &done["output"], &done["cost_cents"]),
        (&json!("completed"), &json!("done"), &json!(2))
    );
    assert_eq!(done["tokens"], json!({ "input": 12, "output": 3 }));
    assert_eq!(
        steps(&done),
        ["say  completed", "tool actor.read completed", "tool task.create completed", "model plan completed"]
    );
    assert_eq!(done["trace"][1]["output"]["id"], "mia");
    let given =
        [json!(null), json!({ "id": "mia" }), json!({ "title": "call the vendor", "owner": "mia" }), json!(null)];
    assert_eq!(done["trace"].as_array().unwrap().iter().map(|step| step["input"].clone()).collect::<Vec<_>>(), given);
    // What the agent did, it did itself: mia was told of the task by it.
    let inbox = test.get("/inbox", &cast.mia).await.json();
    let titles: Vec<&str> = inbox.as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap()).collect();
    assert!(
        titles.contains(&"bot has finished what you asked") && titles.contains(&"bot gave you a task: call the vendor")
    );
    let task = test.get(&format!("/tasks/{}", done["task"].as_str().unwrap()), &cast.mia).await.json();
    assert_eq!((&task["status"], &task["owner"]), (&json!("completed"), &json!("bot")));
    accounted_for(&test);
}

#[tokio::test]
async fn a_refused_step_is_told_to_the_run_and_three_equal_ones_end_it() {
    let (test, cast) = company().await;
    let refused = json!({ "call": { "tool": "tick", "expect": "deny" } });
    let id = asked(&test, &cast.mia, json!([refused.clone(), { "say": "then not" }])).await;
    let done = run(&test, &id).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(done["trace"][0]["reason"], "policy denied tick: admins only");
    // Whatever it does between: models say something before they try again.
    let [said, read] = [json!({ "say": "again" }), json!({ "call": { "tool": "me.read" } })];
    let plan = json!([refused.clone(), said, refused.clone(), read, refused, { "say": "never" }]);
    let failed = run(&test, &asked(&test, &cast.mia, plan).await).await;
    assert_eq!(failed["error"], json!({ "code": "denied", "message": "it was refused the same thing 3 times" }));
    assert_eq!(steps(&failed).len(), 5);
    // What the gate would not let be known is as if it were not there, and the run goes on.
    let id = asked(&test, &cast.mia, json!([{ "call": { "tool": "task.read", "with": { "id": "tsk_none" } } }])).await;
    assert_eq!(run(&test, &id).await["trace"][0]["reason"], "not_found: not found");
    accounted_for(&test);
}

/// Policies under which whatever an agent creates needs an admin's approval.
pub async fn wary() -> (Test, Cast) {
    let mut policies = ok::policy::Bundle::built_in();
    let rule = r#"@id("agents-create-with-approval") @reason("an admin looks at it first")
        forbid (principal is Ok::Actor, action == Ok::Action::"task.create", resource)
        when { principal.kind == "agent" } unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    policies.files.insert("wary.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    (test, cast)
}

fn creates() -> Value {
    json!({ "call": { "tool": "task.create", "with": { "title": "t", "owner": "mia" }, "expect": "needs_approval" } })
}

/// What a plan expects holds for a call that waits, too: nobody can let it through after that.
#[tokio::test]
async fn a_call_that_waits_against_what_its_plan_expects_fails_the_run_before_anybody_decides() {
    let (test, cast) = wary().await;
    for expected in ["deny", "allow"] {
        let create =
            json!({ "call": { "tool": "task.create", "with": { "title": "t", "owner": "mia" }, "expect": expected } });
        let id = asked(&test, &cast.mia, json!([create, { "say": "never" }])).await;
        let failed = run(&test, &id).await;
        let message = format!("step 1 (task.create): the plan expects {expected}, the gate said needs_approval");
        assert_eq!(failed["error"], json!({ "code": "failed", "message": message }), "{failed}");
        let pending = test.get("/approvals?status=pending", &test.admin).await.json();
        assert_eq!(pending, json!([]), "its request ends with it");
    }
    accounted_for(&test);
}

async fn approval_of(test: &Test, id: &str) -> String {
    run(test, id).await["waiting"]["approval"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_step_that_needs_approval_is_taken_in_the_transaction_of_the_decision() {
    let (test, cast) = wary().await;
    let id = asked(&test, &cast.mia, json!([creates(), { "say": "there it is" }])).await;
    let waiting = run(&test, &id).await;
    assert_eq!(waiting["status"], "waiting_approval");
    let approval = approval_of(&test, &id).await;
    let decided = test.post(&format!("/approvals/{approval}"), &test.admin, json!({ "decision": "approve" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    assert_eq!(steps(&run(&test, &id).await), ["tool task.create completed"]);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "completed");
    accounted_for(&test);
}

#[tokio::test]
async fn a_run_goes_on_when_its_request_is_rejected_taken_back_or_over() {
    let (test, cast) = wary().await;
    for (how, reason) in [
        ("reject", "an approver rejected it: not now"),
        ("withdraw", "the request was taken back"),
        ("expire", "no decision in time"),
    ] {
        let step = json!({ "call": { "tool": "task.create", "with": { "title": how } } });
        let id = asked(&test, &cast.mia, json!([step, { "say": "without it" }])).await;
        let approval = approval_of(&test, &id).await;
        let path = format!("/approvals/{approval}");
        match how {
            "reject" => {
                let note = json!({ "decision": "reject", "note": "not now" });
                assert_eq!(test.post(&path, &test.admin, note).await.status, 200);
            }
            "withdraw" => assert_eq!(test.call("DELETE", &path, &cast.bot, None).await.status, 200),
            _ => {
                test.clock.advance(4 * DAY);
                test.post("/tick", &test.admin, json!({})).await;
            }
        }
        go_on(&test).await;
        let done = run(&test, &id).await;
        assert_eq!((&done["status"], &done["trace"][0]["reason"]), (&json!("completed"), &json!(reason)));
    }
    accounted_for(&test);
}

#[tokio::test]
async fn a_question_waits_for_whoever_is_asked_and_for_nobody_else() {
    let (test, cast) = company().await;
    let id = asked(&test, &cast.mia, json!([{ "ask": { "text": "which one?" } }, { "say": "fine" }])).await;
    let waiting = run(&test, &id).await;
    assert_eq!((&waiting["status"], &waiting["question"]), (&json!("waiting_input"), &json!("which one?")));
    let path = format!("/runs/{id}/answer");
    let answer = json!({ "text": "the second", "question": 1 });
    assert_eq!(
        test.post(&path, &cast.lea, answer.clone()).await.error(),
        "403 denied policy denied run.answer: only who is asked answers"
    );
    assert_eq!(test.post(&path, &cast.max, answer.clone()).await.error(), "404 not_found not found");
    let stale = test.post(&path, &cast.mia, json!({ "text": "x", "question": 2 })).await;
    assert_eq!(stale.error(), format!("409 conflict {id} asks at step 1 now"));
    assert_eq!(test.post(&path, &cast.mia, answer.clone()).await.status, 200);
    let again = test.post(&path, &cast.mia, answer).await;
    assert_eq!(again.error(), format!("409 conflict the question of {id} at step 1 is answered already"));
    let unnamed = test.post(&path, &cast.mia, json!({ "text": "the third" })).await;
    assert_eq!(unnamed.error(), format!("409 conflict the question of {id} at step 1 is answered already"));
    assert_eq!(
        test.post(&path, &cast.lea, json!({ "text": "x" })).await.error(),
        "403 denied policy denied run.answer: only who is asked answers",
        "she never was"
    );
    go_on(&test).await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["trace"][0]["output"]), (&json!("completed"), &json!("the second")));
    // Nobody answers: after a week it is over.
    let id = asked(&test, &cast.mia, json!([{ "ask": { "text": "anybody?", "to": "lea" } }])).await;
    test.clock.advance(7 * DAY + 1);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "timed_out");
    accounted_for(&test);
}

#[tokio::test]
async fn a_part_is_done_by_another_agent_with_no_more_rights_than_the_one_that_asks() {
    let (test, cast) = company().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let part = json!([
        { "call": { "tool": "actor.read", "with": { "id": "max" } } },
        { "model": { "text": "looked", "cost_cents": 4 } },
        { "ask": { "text": "go on?" } },
    ]);
    let plan =
        json!([{ "delegate": { "agent": "aide", "text": "look", "plan": { "steps": part } } }, { "say": "both done" }]);
    let id = asked(&test, &cast.mia, plan).await;
    let waiting = run(&test, &id).await;
    let part = waiting["waiting"]["run"].as_str().unwrap().to_owned();
    assert_eq!(run(&test, &part).await["waiting"]["to"], json!(["mia"]), "the person at the end of the chain is asked");
    test.post(&format!("/runs/{part}/answer"), &cast.mia, json!({ "text": "yes" })).await;
    go_on(&test).await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["cost_cents"]), (&json!("completed"), &json!(4)));
    assert_eq!(steps(&done)[0], "delegate aide completed");
    // What the asking agent may not do, its part may not.
    let mut policies = ok::policy::Bundle::built_in();
    let rule = r#"@id("bot-creates-nothing") @reason("bot creates nothing")
        forbid (principal == Ok::Actor::"bot", action == Ok::Action::"task.create", resource);"#;
    policies.files.insert("bot.cedar".into(), rule.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let part = json!([{ "call": { "tool": "task.create", "with": { "title": "t" } } }]);
    let id = asked(
        &test,
        &cast.mia,
        json!([{ "delegate": { "agent": "aide", "text": "create", "plan": { "steps": part } } }]),
    )
    .await;
    let part = run(&test, &id).await["trace"][0]["target"].as_str().unwrap().to_owned();
    assert_eq!(
        run(&test, &part).await["trace"][0]["reason"],
        "policy denied task.create: not on behalf of bot: bot creates nothing"
    );
    accounted_for(&test);
}

#[tokio::test]
async fn agents_ask_each_other_neither_in_a_circle_nor_without_end() {
    let (test, cast) = company().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let itself = json!([{ "delegate": { "agent": "bot", "text": "again", "plan": { "steps": [{ "say": "hm" }] } } }]);
    let id = asked(&test, &cast.mia, itself.clone()).await;
    assert_eq!(run(&test, &id).await["trace"][0]["reason"], "invalid: agent: bot works on this already");
    let circle = json!([{ "delegate": { "agent": "aide", "text": "again", "plan": { "steps": itself } } }]);
    let id = asked(&test, &cast.mia, circle).await;
    let part = run(&test, &id).await["trace"][0]["target"].as_str().unwrap().to_owned();
    assert_eq!(run(&test, &part).await["trace"][0]["reason"], "invalid: agent: bot works on this already");
    accounted_for(&test);
}

#[tokio::test]
async fn a_kill_switch_holds_runs_where_they_are_and_a_release_lets_them_go_on() {
    let (test, cast) = company().await;
    let id = asked(&test, &cast.mia, json!([{ "wait": { "seconds": 60 } }, { "say": "after" }])).await;
    assert_eq!(wary_kill(&test, "actor:bot", false).await, 1);
    test.clock.advance(61 * SECOND);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "held");
    for (status, listed) in [("held", 1), ("running", 0), ("waiting_input", 0)] {
        let runs = test.get(&format!("/runs?status={status}"), &test.admin).await.json();
        assert_eq!(runs.as_array().unwrap().len(), listed, "{status}: {runs}");
    }
    assert_eq!(ask(&test, &cast.mia, json!([{ "say": "more" }])).await.status, 202, "it is asked, and held too");
    assert_eq!(wary_kill(&test, "actor:bot", true).await, 2);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "completed");
    // So does one for whoever asked: what they began goes on no more in their name.
    let id = asked(&test, &cast.mia, json!([{ "wait": { "seconds": 60 } }, { "say": "after" }])).await;
    assert_eq!(wary_kill(&test, "actor:mia", false).await, 1);
    test.clock.advance(61 * SECOND);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "held");
    assert_eq!(wary_kill(&test, "actor:mia", true).await, 1);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "completed");
    accounted_for(&test);
}

/// Engages a switch or releases it; how many runs it holds, or held.
async fn wary_kill(test: &Test, scope: &str, off: bool) -> i64 {
    let switched = test.post("/kill", &test.admin, json!({ "scope": scope, "off": off })).await;
    assert_eq!(switched.status, 200, "{}", switched.text());
    switched.json()["runs"].as_i64().unwrap()
}

#[tokio::test]
async fn a_run_that_would_spend_too_much_is_held_until_a_person_raises_its_budget() {
    let (test, cast) = company().await;
    let plan = json!({ "steps": [{ "model": { "text": "one", "cost_cents": 6 } }, { "model": { "text": "two", "cost_cents": 6 } }] });
    let asked = test
        .post("/ask", &cast.lea, json!({ "agent": "bot", "text": "think", "plan": plan, "budget_cents": 10 }))
        .await;
    let id = asked.json()["run"].as_str().unwrap().to_owned();
    go_on(&test).await;
    let held = run(&test, &id).await;
    assert_eq!(
        (&held["status"], &held["waiting"], &held["cost_cents"]),
        (
            &json!("held"),
            &json!({ "kind": "budget", "reason": "6 of 10 cents are spent, and the next step takes 6", "cost_cents": 6 }),
            &json!(6)
        )
    );
    let path = format!("/runs/{id}/budget");
    let refused = test.post(&path, &cast.bot, json!({ "budget_cents": 100 })).await.error();
    assert_eq!(
        refused,
        "202 needs_approval budget.raise needs approval (lead): a person decides whether a run may spend more"
    );
    assert_eq!(test.post(&path, &cast.lea, json!({ "budget_cents": 5 })).await.status, 422);
    assert_eq!(test.post(&path, &cast.lea, json!({ "budget_cents": 12 })).await.status, 200);
    go_on(&test).await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["cost_cents"]), (&json!("completed"), &json!(12)));
    accounted_for(&test);
}

#[tokio::test]
async fn a_run_outlives_the_server_and_goes_on_where_it_was() {
    let (test, cast) = company().await;
    let id = asked(&test, &cast.mia, json!([{ "say": "one" }, { "wait": { "seconds": 5 } }, { "say": "two" }])).await;
    let before = run(&test, &id).await["trace"].clone();
    let test = test.reopened().await;
    assert_eq!(run(&test, &id).await["trace"], before);
    test.clock.advance(5 * SECOND);
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["output"], "two");
    accounted_for(&test);
}

#[tokio::test]
async fn who_asked_cancels_with_all_parts_and_nothing_goes_on() {
    let (test, cast) = company().await;
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "lea" })).await;
    let part = json!({ "agent": "aide", "text": "look", "plan": { "steps": [{ "ask": { "text": "?" } }] } });
    let id = asked(&test, &cast.mia, json!([{ "delegate": part }, { "say": "never" }])).await;
    let part = run(&test, &id).await["waiting"]["run"].as_str().unwrap().to_owned();
    let cancelled = test.post(&format!("/runs/{id}/cancel"), &cast.mia, json!({ "reason": "no need" })).await;
    let told = cancelled.json();
    assert_eq!((&told["status"], &told["reason"]), (&json!("cancelled"), &json!("no need")), "{}", cancelled.text());
    go_on(&test).await;
    assert_eq!(run(&test, &part).await["status"], "cancelled");
    assert_eq!(run(&test, &id).await["reason"], "no need");
    assert_eq!(run(&test, &id).await["output"], Value::Null);
    let again = test.post(&format!("/runs/{id}/cancel"), &cast.mia, json!({})).await;
    assert_eq!(again.error(), format!("409 conflict {id} is cancelled"));
    accounted_for(&test);
}

#[tokio::test]
async fn an_observing_agent_proposes_what_it_would_do_and_its_lead_lets_it() {
    let (test, cast) = company().await;
    let lowered = test.post("/actors/bot/trust", &cast.mia, json!({ "tier": "observe", "reason": "at first" })).await;
    assert_eq!(lowered.status, 200);
    let plan = json!([
        { "call": { "tool": "actor.read", "with": { "id": "mia" }, "expect": "allow" } },
        creates(),
        { "say": "so" },
    ]);
    let id = asked(&test, &cast.mia, plan).await;
    let waits = run(&test, &id).await;
    assert_eq!(steps(&waits), ["tool actor.read completed", "tool task.create waiting"]);
    let approval = approval_of(&test, &id).await;
    let path = format!("/approvals/{approval}");
    assert_eq!(test.post(&path, &cast.mia, json!({ "decision": "approve" })).await.status, 403, "its owner is no lead");
    let decided = test.post(&path, &cast.lea, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    go_on(&test).await;
    assert_eq!(run(&test, &id).await["status"], "completed");
    accounted_for(&test);
}
