//! A query is explained: which policies leave which records and fields.

use serde_json::{Value, json};

use super::{INVOICES, ROWS, apply, typed, with_policies, write};
use crate::harness::Test;

async fn narrowed(test: &Test, asker: &str, actor: &str, operation: &str) -> Value {
    let question = json!({ "op": operation, "target": "invoices", "actor": actor });
    let answer = test.post("/policy/explain", asker, question).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["narrowed"].clone()
}

#[tokio::test]
async fn what_policies_leave_of_a_collection_is_told_policy_by_policy() {
    let (test, cast) = with_policies(typed()).await;
    assert_eq!(apply(&test, ROWS).await.status, 200);
    for operation in ["collection.query", "record.list", "record.aggregate"] {
        let told = narrowed(&test, &test.admin, "mia", operation).await;
        let condition = r#"created_by = "mia" or team in ["team:ops"] or total < 10.00"#;
        assert_eq!((&told["records"], &told["condition"]), (&json!("some"), &json!(condition)), "{told}");
        assert_eq!(told["by"].as_array().unwrap().len(), 1);
        let by = &told["by"][0];
        assert_eq!((&by["id"], &by["effect"], &by["records"]), (&json!("rows"), &json!("permit"), &json!("some")));
        let withheld = told["withheld"].as_array().unwrap();
        assert_eq!(withheld.len(), 2, "{told}");
        assert_eq!((&withheld[0]["label"], &withheld[0]["fields"]), (&json!("confidential"), &json!(["total"])));
        assert_eq!(withheld[0]["reason"], "no policy permits it");
    }
    // Whoever may not read policies is told which they are, not what they say.
    let own = narrowed(&test, &cast.mia, "mia", "collection.query").await;
    assert_eq!((&own["records"], &own["by"][0]["id"]), (&json!("some"), &json!("rows")));
    assert_eq!((&own["condition"], &own["by"][0]["condition"]), (&Value::Null, &Value::Null), "{own}");
    assert_eq!(narrowed(&test, &test.admin, "mia", "collection.read").await, Value::Null);
}

#[tokio::test]
async fn an_explanation_shows_no_field_that_its_reader_may_not_read() {
    let (test, _) = with_policies(typed()).await;
    let record = write(&test, &test.admin, json!({ "number": "1", "total": "240.5" })).await;
    let told = async |asker: &str| {
        let question = json!({ "op": "record.read", "target": record["id"], "actor": "mia" });
        test.post("/policy/explain", asker, question).await.text()
    };
    assert_eq!(apply(&test, ROWS).await.status, 200);
    assert!(told(&test.admin).await.contains("240.5"), "{}", told(&test.admin).await);
    let kept = format!(
        "{ROWS}@id(\"kept\") @reason(\"kept\") forbid (principal == Ok::Actor::\"ana\", action == Ok::Action::\"field.read\", resource);"
    );
    assert_eq!(apply(&test, &kept).await.status, 200);
    let told = told(&test.admin).await;
    assert!(!told.contains("240.5") && told.contains("hidden"), "{told}");
    // Nor does what would change the answer tell the field, by being there or not.
    let trusted = "@id(\"trusted\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices)\n\
                   when { principal has trust && principal.trust >= 3 && resource has total && resource.total.greaterThan(decimal(\"100.0\")) };";
    let small = write(&test, &test.admin, json!({ "number": "2", "total": "50.0" })).await;
    for (policies, is_told) in [(trusted.to_owned(), true), (format!("{kept}{trusted}"), false)] {
        let applied = apply(&test, &policies).await;
        assert_eq!(applied.status, 200, "{}", applied.text());
        let mut changes = Vec::new();
        for id in [&record["id"], &small["id"]] {
            let question = json!({ "op": "record.read", "target": id, "actor": "bot" });
            let answer = test.post("/policy/explain", &test.admin, question).await.json();
            assert_eq!(answer["decision"], "deny", "{answer}");
            changes.push(answer["what_would_change"].clone());
        }
        assert_eq!(changes[0] != changes[1], is_told, "{changes:?}");
    }
}

#[tokio::test]
async fn a_policy_that_narrows_nothing_shows_all_and_one_that_is_no_condition_asks_each() {
    let (test, _) = with_policies(typed()).await;
    const OPEN: &str =
        "@id(\"open\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource);\n";
    assert_eq!(apply(&test, OPEN).await.status, 200);
    let all = narrowed(&test, &test.admin, "mia", "collection.query").await;
    assert_eq!((&all["records"], &all["condition"]), (&json!("all"), &json!("every record")), "{all}");
    let ids = |told: &Value| -> Vec<String> {
        told["by"].as_array().unwrap().iter().map(|by| by["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(ids(&all).contains(&"open".to_owned()), "{all}");
    let forbid = |when: &str| {
        format!(
            "{OPEN}@id(\"kept\") @reason(\"kept\") forbid (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices)\n\
             when {{ {when} }};"
        )
    };
    let paid = forbid("resource has due && resource has status && resource.status == \"paid\"");
    let applied = apply(&test, &paid).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let some = narrowed(&test, &test.admin, "mia", "collection.query").await;
    assert_eq!(some["condition"], r#"not (due is there and status = "paid")"#, "{some}");
    assert!(ids(&some).contains(&"kept".to_owned()), "{some}");
    // One of two ways is not left out because the other looks at the same field.
    let either = forbid(
        "resource has due || (resource has status && resource.status == \"paid\") || (resource has due && resource.due < datetime(\"2026-01-01\"))",
    );
    assert_eq!(apply(&test, &either).await.status, 200);
    let some = narrowed(&test, &test.admin, "mia", "collection.query").await;
    assert_eq!(some["condition"], r#"not (due is there or status = "paid" or due < 2026-01-01)"#, "{some}");
    let by_tag = forbid("resource has tags && resource.tags == [\"rush\"]");
    assert_eq!(apply(&test, &by_tag).await.status, 200);
    let each = narrowed(&test, &test.admin, "mia", "collection.query").await;
    assert_eq!((&each["records"], &each["by"]), (&json!("each"), &json!([])), "{each}");
}

#[tokio::test]
async fn a_task_leads_nobody_to_records_that_they_may_not_see() {
    let (test, cast) = with_policies(typed()).await;
    assert_eq!(apply(&test, ROWS).await.status, 200);
    let mine = write(&test, &cast.bot, json!({ "number": "4", "total": "700" })).await;
    let gone = write(&test, &cast.max, json!({ "number": "5", "total": "700" })).await;
    let thing = |record: &Value| json!({ "collection": "invoices", "thing": record["id"], "note": "the large one" });
    let refs = [thing(&mine), thing(&gone), json!({ "collection": "url", "thing": "https://a.example/" })];
    let new = json!({ "title": "look", "owner": "mia", "refs": refs });
    let made = test.post("/tasks", &test.admin, new).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let path = format!("{INVOICES}/records/{}", gone["id"].as_str().unwrap());
    assert_eq!(test.call("DELETE", &path, &cast.max, None).await.status, 200);
    let path = format!("/tasks/{}", made.json()["id"].as_str().unwrap());
    let seen = async |who: &str| -> Vec<(String, String)> {
        let refs = test.get(&path, who).await.json()["refs"].as_array().unwrap().clone();
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        refs.iter().map(|one| (text(one, "id"), text(one, "note"))).collect()
    };
    let (hidden, address) =
        (("hidden".to_owned(), "hidden".to_owned()), ("https://a.example/".to_owned(), String::new()));
    let own = (mine["id"].as_str().unwrap().to_owned(), "the large one".to_owned());
    assert_eq!(seen(&test.admin).await, [own, hidden.clone(), address.clone()]);
    assert_eq!(seen(&cast.mia).await, [hidden.clone(), hidden, address], "one that is gone looks the same");
    let events = test.get(&path.replace("/tasks/", "/events?task="), &cast.mia).await.text();
    let told_of = |text: &str| [mine["id"].as_str().unwrap(), "the large one"].into_iter().any(|it| text.contains(it));
    assert!(events.contains("task_ref_added") && !told_of(&events), "{events}");
    // Nor does what asks for the link, or makes it.
    let wary = r#"@id("links-with-approval") @reason("somebody looks at it first")
        forbid (principal, action == Ok::Action::"task.update", resource)
        when { principal.kind == "agent" } unless { context.approvals.contains(Ok::ApprovalKind::"admin") };"#;
    assert_eq!(apply(&test, &format!("{ROWS}{wary}")).await.status, 200);
    let bots = test.post("/tasks", &test.admin, json!({ "title": "look", "owner": "bot" })).await.json();
    let with = json!({ "id": bots["id"], "collection": "invoices", "thing": mine["id"], "note": "the large one" });
    let plan = json!({ "steps": [{ "call": { "tool": "task.update", "with": with } }] });
    let asked = test.post("/ask", &cast.lea, json!({ "agent": "bot", "text": "link it", "plan": plan })).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    test.go_on().await;
    let run = format!("/runs/{}", asked.json()["run"].as_str().unwrap());
    let approval = test.get(&run, &test.admin).await.json()["waiting"]["approval"].as_str().map(str::to_owned);
    let approval = format!("/approvals/{}", approval.unwrap());
    assert!(told_of(&test.get(&approval, &test.admin).await.text()), "who decides and may see it does");
    for (path, who) in [(run.as_str(), &cast.mia), (&run, &cast.lea), ("/events?type=approval_requested", &cast.lea)] {
        let shown = test.get(path, who).await.text();
        assert!(shown.contains(r#""note":"hidden","thing":"hidden""#) && !told_of(&shown), "{shown}");
    }
    let own = test.get(&approval, &cast.lea).await.json();
    assert_eq!((&own["args"]["thing"], &own["withheld"]), (&json!("hidden"), &json!(["note", "thing"])), "{own}");
    let decided = test.post(&approval, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "used", "{decided}");
    for path in [&run, &run.replace("/runs/", "/events?run=")] {
        let shown = test.get(path, &cast.mia).await.text();
        assert!(shown.contains("task.update") && !told_of(&shown), "{shown}");
    }
}

/// Nor is it told by a call that has not the form that it should have, or by one within a plan.
#[tokio::test]
async fn a_run_tells_nobody_of_records_that_they_may_not_see_however_they_are_written() {
    let (test, cast) = with_policies(typed()).await;
    assert_eq!(apply(&test, ROWS).await.status, 200);
    test.add("aide", "agent", json!({ "team": "team:ops", "owner": "mia" })).await;
    let record = write(&test, &cast.bot, json!({ "number": "4", "total": "700" })).await;
    let id = record["id"].as_str().unwrap();
    let bots = test.post("/tasks", &test.admin, json!({ "title": "look", "owner": "bot" })).await.json();
    let link = json!({ "collection": "invoices", "thing": id, "note": "the large one" });
    let called = |tool: &str, with: Value| json!({ "call": { "tool": tool, "with": with } });
    let creates = |refs: Value| called("task.create", json!({ "title": "look", "refs": refs }));
    let mut more = link.clone();
    more["text"] = id.into();
    let part = json!({ "steps": [creates(json!([link]))] });
    let steps = [
        called(
            "task.update",
            json!({ "id": "tsk_1", "collection": "invoices", "thing": [id], "note": "the large one" }),
        ),
        creates(json!(id)),
        creates(link.clone()),
        creates(json!([["invoices", id, "the large one"]])),
        creates(json!([more])),
        creates(json!([{ "collection": "invoices", "thing": format!("{id}0") }])),
        creates(json!([link]).to_string().into()),
        called("task.create", json!({ "title": "look", "Refs": [link] })),
        called("agent.ask", json!({ "agent": "aide", "text": "do", "plan": format!("steps: {id}") })),
        creates(json!([link])),
        called("policy.explain", json!({ "op": "task.update", "target": bots["id"], "input": link })),
        called("agent.ask", json!({ "agent": "aide", "text": "do", "plan": part })),
        called("agent.ask", json!({ "agent": "aide", "text": "do", "plan": part.to_string() })),
    ];
    let plan = json!({ "steps": steps });
    let asked = test.post("/ask", &cast.lea, json!({ "agent": "bot", "text": "link it", "plan": plan })).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    test.go_on().await;
    let path = format!("/runs/{}", asked.json()["run"].as_str().unwrap());
    let all = test.get(&path, &test.admin).await.json();
    let stand = |run: &Value| {
        let trace = run["trace"].as_array().unwrap().iter();
        trace.map(|step| step["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let failed = ["failed"; 9];
    assert_eq!(stand(&all), [&failed[..], &["completed"; 4]].concat(), "{all}");
    let reason = |step: usize| all["trace"][step]["reason"].as_str().unwrap();
    assert_eq!(reason(3), "refs[0]: must be an object, not a list");
    let known = "expected one of `collection`, `thing`, `note`";
    assert_eq!(reason(4), format!("refs[0]: unknown field `text`, {known}"));
    assert_eq!(reason(5), "invalid: refs[0].thing: there is no such record that you may see");
    assert_eq!(all["trace"][11]["input"]["plan"]["steps"][0]["call"]["with"]["refs"][0]["thing"], id);
    let told = test.get(&path, &cast.mia).await.text();
    assert!(!told.contains(id) && !told.contains("the large one"), "{told}");
}
