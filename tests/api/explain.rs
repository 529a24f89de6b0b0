//! Asking the gate why.

use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::Test;

#[tokio::test]
async fn an_explanation_names_the_policy_its_reason_and_where_it_stands() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let question = json!({ "op": "token.issue", "target": "max", "actor": "mia" });
    let explained = test.post("/policy/explain", &cast.aud, question).await.json();
    assert_eq!(
        (&explained["decision"], &explained["actor"], &explained["target"], &explained["reason"]),
        (&json!("deny"), &json!("mia"), &json!("max"), &json!("only admins issue tokens for others"))
    );
    let because = &explained["because"][0];
    assert_eq!((&because["id"], &because["effect"]), (&json!("tokens-for-others-by-admins"), &json!("forbid")));
    let file = because["file"].as_str().unwrap();
    let source = std::fs::read_to_string(format!("{}/policies/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let line = because["line"].as_u64().unwrap() as usize;
    let text = because["text"].as_str().unwrap();
    let from = source.lines().skip(line - 1).collect::<Vec<_>>().join("\n");
    assert!(from.starts_with(text), "{file}:{line} is not where\n{text}\nstands");
    assert_eq!(explained["policy"]["version"], 1);
}

#[tokio::test]
async fn an_explanation_says_what_the_gate_then_does() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let input = json!({ "id": "new", "kind": "agent", "team": "team:ops" });
    for (token, decision, status) in
        [(&test.admin, "allow", 201), (&cast.lea, "needs_approval", 202), (&cast.mia, "deny", 403)]
    {
        let mut input = input.clone();
        input["id"] = json!(format!("new-{status}"));
        let question = json!({ "op": "actor.add", "input": input });
        let explained = test.post("/policy/explain", token, question).await.json();
        assert_eq!(explained["decision"], decision, "{explained}");
        let admin = json!({ "kind": "admin", "who_may_decide": ["ana"], "threshold": 1, "held": [], "request": null });
        let approvals = if decision == "needs_approval" { json!([admin]) } else { json!([]) };
        assert_eq!(explained["approvals"], approvals);
        assert_eq!(test.post("/actors", token, input).await.status, status);
    }
}

#[tokio::test]
async fn an_answer_names_what_the_policies_look_at_and_the_question_does_not_give() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let explained = async |question: Value| {
        let answer = test.post("/policy/explain", &cast.lea, question).await.json();
        (answer["decision"].clone(), answer["not_given"].clone())
    };
    let asked = json!({ "op": "actor.trust", "target": "bot" });
    let with = |tier: &str| json!({ "op": "actor.trust", "target": "bot", "input": { "id": "bot", "tier": tier, "reason": "x" } });
    assert_eq!(explained(asked).await.1, json!(["tier"]));
    assert_eq!(explained(with("assist")).await.1, Value::Null);
    assert_eq!(explained(json!({ "op": "actor.read", "target": "bot" })).await.1, Value::Null);
}

#[tokio::test]
async fn asking_changes_and_records_nothing() {
    let test = Test::new().await;
    let before = test.last_seq().await;
    test.post("/policy/explain", &test.admin, json!({ "op": "kill", "target": "global" })).await;
    assert_eq!(test.last_seq().await, before);
}

#[tokio::test]
async fn engaged_switches_that_touch_the_actor_are_shown() {
    let test = Test::new().await;
    test.cast().await;
    test.post("/kill", &test.admin, json!({ "scope": "team:ops" })).await;
    let question = json!({ "op": "company.read", "actor": "bot" });
    let explained = test.post("/policy/explain", &test.admin, question).await.json();
    assert_eq!(explained["kill"], json!(["team:ops"]));
    assert_eq!(explained["reason"], "a kill switch stops this actor's team");
}

#[tokio::test]
async fn others_are_explained_to_their_lead_and_to_admins_only() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let about = json!({ "op": "company.update", "actor": "bot" });
    for (token, status) in [(&test.admin, 200), (&cast.lea, 200), (&cast.aud, 200), (&cast.liv, 403), (&cast.mia, 403)]
    {
        assert_eq!(test.post("/policy/explain", token, about.clone()).await.status, status);
    }
}

#[tokio::test]
async fn nothing_is_told_about_what_the_asker_may_not_see() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let issued = test.post("/tokens", &test.admin, json!({ "for": "max" })).await.json();
    let hidden = json!({ "op": "token.revoke", "target": issued["id"] });
    let invisible = test.post("/policy/explain", &cast.mia, hidden.clone()).await;
    // Just as of a token that is not there.
    let told = format!(
        "422 invalid target: token.revoke is about Token: there is none with the id `{}` that you may see",
        issued["id"].as_str().unwrap()
    );
    assert_eq!(invisible.error(), told);
    assert_eq!(test.post("/policy/explain", &test.admin, hidden).await.status, 200);
}

#[tokio::test]
async fn a_question_about_no_operation_or_no_target_is_refused() {
    let test = Test::new().await;
    let ask = |question: serde_json::Value| test.post("/policy/explain", &test.admin, question);
    let no_op = ask(json!({ "target": "max" })).await;
    assert_eq!(no_op.error(), "422 invalid op: name an operation: `target`, `input` and `run` belong to one");
    assert_eq!(ask(json!({ "op": "actor.trust", "target": "bto" })).await.error(), "404 not_found not found");
    assert_eq!(ask(json!({ "op": "fly" })).await.error(), "422 invalid op: there is no operation `fly`");
    let wrong = ask(json!({ "op": "tick", "target": "mars" })).await;
    assert_eq!(
        wrong.error(),
        "422 invalid target: tick is about Company: there is none with the id `mars` that you may see"
    );
    for (input, error) in [
        (json!({ "rule": "x" }), "422 invalid input: rule: there is no such field"),
        (json!({ "role": 7 }), "422 invalid input: role: must be a string"),
        (json!({ "skills": ["a", 1] }), "422 invalid input: skills: must be a list of a string"),
        (json!([]), "422 invalid input: must be an object"),
    ] {
        let wrong = ask(json!({ "op": "actor.add", "target": "company", "input": input })).await;
        assert_eq!(wrong.error(), error);
    }
    let unnamed = ask(json!({ "op": "kill" })).await;
    assert_eq!(unnamed.error(), "422 invalid target: kill needs a target: KillSwitch");
    let bad = ask(json!({ "op": "kill", "input": { "scope": 1 } })).await;
    assert_eq!(bad.status, 422);
    assert!(bad.json()["message"].as_str().unwrap().starts_with("input: scope: "), "{}", bad.text());
}

#[tokio::test]
async fn an_input_without_a_target_is_told_all_that_it_lacks() {
    let test = Test::new().await;
    let asked = async |input: serde_json::Value| {
        let question = json!({ "op": "actor.add", "input": input });
        test.post("/policy/explain", &test.admin, question).await
    };
    assert_eq!(
        asked(json!({ "role": "admin" })).await.error(),
        "422 invalid input: lacks `id` (a text), `kind` (a text: person, team, agent, outside_agent); \
         give all of them, or name the target"
    );
    assert_eq!(asked(json!({ "id": "kim", "kind": "person" })).await.status, 200);
}

/// What a call is given says what it is about, too.
#[tokio::test]
async fn an_input_that_is_about_something_other_than_the_target_is_refused() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ask = async |op: &str, target: &str, input: serde_json::Value| {
        let question = json!({ "actor": "lea", "op": op, "target": target, "input": input });
        test.post("/policy/explain", &test.admin, question).await
    };
    // The same switch, engaged or released.
    assert_eq!(ask("kill", "actor:mia", json!({})).await.json()["decision"], "allow");
    assert_eq!(ask("kill", "actor:mia", json!({ "off": true })).await.json()["decision"], "deny");
    assert_eq!(test.post("/kill", &cast.lea, json!({ "scope": "actor:mia", "off": true })).await.status, 403);
    for (op, target, input) in [
        ("kill", "actor:mia", json!({ "scope": "global" })),
        ("token.issue", "lea", json!({ "for": "mia" })),
        ("task.create", "max", json!({ "owner": "mia" })),
    ] {
        let refused = ask(op, target, input).await;
        let told = format!(
            "422 invalid input: with this input, {op} is not about `{target}`: omit the target, or the input that names another"
        );
        assert_eq!(refused.error(), told);
    }
    // What names the target may be left out, or be said again.
    for input in [json!({ "label": "x" }), json!({ "label": "x", "for": "max" })] {
        assert_eq!(ask("token.issue", "max", input).await.json()["target"], "max");
    }
}

#[tokio::test]
async fn what_giving_a_task_takes_besides_is_told_and_waited_for() {
    let mut policies = Bundle::built_in();
    let more = r#"@id("gives") permit (principal == Ok::Actor::"mia", action in [Ok::Action::"task.assign", Ok::Action::"task.create"], resource);
@id("asks-first") @reason("a lead looks first") forbid (principal, action == Ok::Action::"task.create", resource is Ok::Actor)
when { resource == Ok::Actor::"tom" } unless { context.approvals.contains(Ok::ApprovalKind::"lead") };"#;
    policies.files.insert("more.cedar".into(), more.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    test.add("tom", "person", json!({})).await;
    let task = test.post("/tasks", &cast.mia, json!({ "title": "t", "owner": "mia" })).await.json()["id"].clone();
    let question = json!({ "op": "task.assign", "input": { "id": task, "to": "tom" } });
    assert_eq!(test.why(&cast.mia, question).await["decision"], "needs_approval");
    let path = format!("/tasks/{}/assign", task.as_str().unwrap());
    let waits = test.post(&path, &cast.mia, json!({ "to": "tom" })).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    let path = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
    assert_eq!(test.post(&path, &cast.lea, json!({ "decision": "approve" })).await.json()["status"], "used");
}
