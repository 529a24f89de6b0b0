//! A change of policies about the company's own types: what it would change is found, counted, tried and told just as it is
//! for the product's.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::{POLICIES, SCHEMA, ask, company, doc, question, record, user};
use crate::harness::Test;

/// The company's files with other policies about its own types.
fn files(policies: &str) -> BTreeMap<String, String> {
    let mut files = Bundle::built_in().files;
    files.insert("schema.cedarschema".into(), SCHEMA.into());
    files.insert("docs.cedar".into(), policies.into());
    files
}

/// Everybody views everything.
fn widened() -> BTreeMap<String, String> {
    files(&POLICIES.replacen("when { resource.open }", "", 1))
}

async fn diff(test: &Test, files: &BTreeMap<String, String>, more: Value) -> Value {
    let mut input = json!({ "files": files });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = test.post("/policy/diff", &test.admin, input).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// `Docs::Action::view Docs::User looser`
fn changed(compared: &Value) -> Vec<String> {
    let word = |pair: &Value, field: &str| pair[field].as_str().unwrap().to_owned();
    let pairs = compared["semantic"]["pairs"].as_array().unwrap().iter();
    let told = pairs.map(|pair| ["operation", "actor_kind", "change"].map(|field| word(pair, field)).join(" "));
    told.filter(|told| !told.ends_with(" same")).collect()
}

#[tokio::test]
async fn what_a_change_does_to_the_companys_own_types_is_found_without_any_test() {
    let test = company().await;
    let same = diff(&test, &files(POLICIES), json!({ "impact": false })).await;
    assert_eq!(same["semantic"]["summary"], "the policies for every operation are the same");
    let view = |way: &str| format!("Docs::Action::view Docs::User {way}");
    let edit = |way: &str| format!("Docs::Action::edit Docs::User {way}");
    let conditions = [
        (POLICIES.replacen("when { resource.open }", "", 1), vec![view("looser")]),
        (
            POLICIES.replacen("resource.open", "resource.open && principal has level && principal.level > 41", 1),
            vec![view("tighter")],
        ),
        (POLICIES.replacen("context has mfa && context.mfa", "context has mfa", 1), vec![edit("looser")]),
        (POLICIES.replacen("Team::\"editors\"", "Team::\"writers\"", 1), vec![edit("mixed")]),
        (
            POLICIES.replacen("resource has owner && resource.owner == principal", "resource has owner", 1),
            vec![edit("looser"), "Docs::Action::purge Docs::User looser".to_owned(), view("looser")],
        ),
        (
            POLICIES.replacen("unless { context.approvals", "when { resource.open } unless { context.approvals", 1),
            vec!["Docs::Action::purge Docs::User looser".to_owned()],
        ),
        (
            POLICIES.replacen(
                "resource.open",
                "resource.open && !(resource has tags && resource.tags.contains(\"secret\"))",
                1,
            ),
            vec![view("tighter")],
        ),
    ];
    for (policies, expected) in conditions {
        let compared = diff(&test, &files(&policies), json!({ "impact": false })).await;
        assert_eq!(changed(&compared), expected, "{policies}");
    }
}

#[tokio::test]
async fn an_action_that_is_new_is_looser_for_whom_it_is_permitted_and_one_that_goes_tighter() {
    let test = company().await;
    let mut more = files(POLICIES);
    let action = "action \"burn\" appliesTo { principal: [User], resource: [Doc] };\n}";
    let end = SCHEMA.trim_end().strip_suffix('}').unwrap();
    more.insert("schema.cedarschema".into(), format!("{end}{action}\n"));
    let permit = "@id(\"burners\")\npermit (principal, action == Docs::Action::\"burn\", resource);\n";
    more.insert("burn.cedar".into(), permit.into());
    let compared = diff(&test, &more, json!({ "impact": false })).await;
    assert_eq!(changed(&compared), ["Docs::Action::burn Docs::User looser"], "{compared}");
    more.remove("burn.cedar");
    let owners = diff(&test, &more, json!({ "impact": false })).await;
    assert_eq!(changed(&owners), ["Docs::Action::burn Docs::User looser"], "a policy about every action permits it");
    assert!(owners.to_string().contains("own-docs"), "{owners}");
    let less = ok::policy::Bundle::built_in().files;
    let gone = diff(&test, &less, json!({ "impact": false })).await;
    assert!(changed(&gone).contains(&"Docs::Action::view Docs::User tighter".to_owned()), "{gone}");
}

#[tokio::test]
async fn a_schema_that_lets_others_ask_is_looser_although_no_policy_changed() {
    let everybody = POLICIES.replacen(
        "principal is Docs::User, action == Docs::Action::\"view\"",
        "principal, action == Docs::Action::\"view\"",
        1,
    );
    let mut files = files(&everybody);
    let test = Test::with_policies(Bundle { files: files.clone() }).await;
    let guests = SCHEMA.replacen("entity Team;", "entity Team;\n  entity Guest;\n  entity Page = { open: Bool };", 1);
    let asked = guests.replacen("action view, edit", "action view appliesTo { principal: [User, Guest], resource: [Doc, Page], context: { mfa?: Bool } };\n  action edit", 1);
    files.insert("schema.cedarschema".into(), asked);
    let compared = diff(&test, &files, json!({ "impact": false })).await;
    assert_eq!(changed(&compared), ["Docs::Action::view Docs::Guest looser"], "{compared}");
}

#[tokio::test]
async fn a_witness_is_a_test_that_passes_with_the_candidate() {
    let test = company().await;
    let mut candidate = widened();
    let compared = diff(&test, &candidate, json!({ "impact": false })).await;
    let pair =
        compared["semantic"]["pairs"].as_array().unwrap().iter().find(|pair| pair["change"] == "looser").unwrap();
    let witness = &pair["witnesses"][0];
    assert_eq!((&witness["before"]["decision"], &witness["after"]["decision"]), (&json!("deny"), &json!("allow")));
    candidate.retain(|path, _| !path.starts_with("tests/"));
    candidate.insert("tests/witness.yaml".into(), witness["test"].as_str().unwrap().into());
    let checked = test.post("/policy/check", &test.admin, json!({ "files": candidate })).await.json();
    assert_eq!(checked["tests"], json!({ "run": 1, "failed": [] }), "{}", witness["test"]);
    candidate.insert("docs.cedar".into(), POLICIES.into());
    let checked = test.post("/policy/check", &test.admin, json!({ "files": candidate })).await.json();
    assert_eq!(checked["tests"]["failed"].as_array().unwrap().len(), 1);
}

/// Ten questions, four of which are answered yes.
async fn asked(test: &Test) {
    for number in 0..10 {
        let answer = ask(test, question("view", doc(&number.to_string(), json!({ "open": number < 4 })))).await;
        assert_eq!(answer.json()["decision"], number < 4);
    }
}

#[tokio::test]
async fn recorded_decisions_are_asked_again_and_held_to_budgets() {
    let test = company().await;
    record(&test, "all").await;
    let since = test.last_seq().await + 1;
    asked(&test).await;
    let compared = diff(&test, &widened(), json!({ "since": since.to_string(), "max": { "newly_allowed": 5 } })).await;
    let impact = &compared["impact"];
    // That the program may ask is one decision, what it is answered another.
    assert_eq!(impact["denominator"]["summary"], "20 of 20 replayed, 0 not replayable", "{impact}");
    assert_eq!((&impact["newly_allowed"], &impact["recorded_otherwise"]), (&json!(6), &json!(0)));
    assert_eq!(impact["by_operation"]["rows"][0]["name"], "Docs::Action::view");
    assert_eq!(impact["by_policy"]["rows"][0]["name"], "open-docs");
    assert_eq!(impact["samples"][0]["target"], "Docs::Doc::4");
    assert_eq!(compared["over_budget"], json!([{ "budget": "newly_allowed", "found": 6, "max": 5 }]));
    // The question is in the log and nowhere else.
    let event = test.event().await;
    assert_eq!((&event["event"]["type"], &event["event"]["asked"]), (&json!("access_decided"), &Value::Null));
}

#[tokio::test]
async fn what_was_not_kept_is_counted_as_not_replayable() {
    let test = company().await;
    let since = test.last_seq().await + 1;
    asked(&test).await;
    let impact = diff(&test, &widened(), json!({ "since": since.to_string() })).await["impact"].clone();
    assert_eq!(impact["denominator"]["summary"], "6 of 12 replayed, 6 not replayable", "{impact}");
    assert_eq!(impact["denominator"]["why"], json!({ "what another program asked was not kept": 6 }));
    record(&test, "all").await;
    let since = test.last_seq().await + 1;
    let long = json!({ "open": true, "tags": ["x".repeat(20_000)] });
    assert_eq!(ask(&test, question("view", doc("1", long))).await.json()["decision"], true);
    asked(&test).await;
    let erased =
        test.post("/context/forget", &test.admin, json!({ "events": [since + 1], "reason": "asked to" })).await;
    assert_eq!(erased.status, 200, "{}", erased.text());
    let impact = diff(&test, &widened(), json!({ "since": since.to_string() })).await["impact"].clone();
    let why = json!({ "what another program asked was not kept": 1, "its content was erased": 1 });
    assert_eq!(impact["denominator"]["why"], why, "{impact}");
    // Another schema: what it does not take cannot be asked of it.
    let mut other = widened();
    other.insert("schema.cedarschema".into(), SCHEMA.replace("open: Bool", "open: Bool, kind: String"));
    let impact = diff(&test, &other, json!({ "since": since.to_string() })).await["impact"].clone();
    assert_eq!(impact["denominator"]["why"]["what another program asked does not fit the schema of both sides"], 9);
}

#[tokio::test]
async fn a_batch_is_kept_question_by_question() {
    let test = company().await;
    record(&test, "all").await;
    let since = test.last_seq().await + 1;
    let batch = json!({
        "subject": user("ann"), "action": { "name": "edit", "properties": { "mfa": true } },
        "evaluations": [
            { "resource": doc("1", json!({ "open": true, "owner": user("ann") })) },
            { "resource": doc("2", json!({ "open": true })), "context": {} },
            { "resource": doc("3", json!({ "open": true })), "action": { "name": "view" } },
        ],
    });
    let answers = test.post("/access/v1/evaluations", &test.admin, batch).await.json();
    let decisions: Vec<&Value> =
        answers["evaluations"].as_array().unwrap().iter().map(|one| &one["decision"]).collect();
    assert_eq!(decisions, [true, false, true]);
    let stricter = files(&POLICIES.replacen("resource has owner", "resource has tags && resource has owner", 1));
    let impact = diff(&test, &stricter, json!({ "since": since.to_string() })).await["impact"].clone();
    assert_eq!(impact["denominator"]["summary"], "4 of 4 replayed, 0 not replayable", "{impact}");
    assert_eq!((&impact["newly_denied"], &impact["recorded_otherwise"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn drift_about_the_companys_own_types_is_weaker_not_equivalent() {
    let test = company().await;
    let narrow = files(&POLICIES.replacen("resource.open", "resource.open && context has mfa", 1));
    let declared = json!({ "files": narrow, "reason": "from git", "commit": "4f2a" });
    assert_eq!(test.post("/policy/proposals", &test.admin, declared).await.status, 201);
    let drift = test.get("/policy/drift", &test.admin).await.json();
    assert_eq!(drift["status"], "weaker", "{drift}");
    assert_eq!(drift["weaker"][0]["operation"], "Docs::Action::view");
}

#[tokio::test]
async fn a_trial_sees_the_questions_of_other_programs_too() {
    let test = company().await;
    let mut candidate = widened();
    candidate.retain(|path, _| !path.starts_with("tests/"));
    candidate.insert(
        "tests/a.yaml".into(),
        "cases:\n  - {actor: zoe, op: me.read, expect: allow}\nactors: [{id: zoe}]\n".into(),
    );
    let change = test.post("/policy/proposals", &test.admin, json!({ "files": candidate, "reason": "a trial" })).await;
    let id = change.json()["id"].as_str().unwrap().to_owned();
    let step =
        async |step: &str, body: Value| test.post(&format!("/changes/{id}/{step}"), &test.admin, body).await.json();
    assert_eq!(step("evals", json!({})).await["evals"]["passed"], true);
    let terms = json!({ "percent": 100, "abort_if": { "newly_allowed": 5 } });
    assert_eq!(step("canary", terms).await["state"], "canary");
    asked(&test).await;
    test.post("/tick", &test.admin, json!({})).await;
    let shown = test.get(&format!("/changes/{id}/diff"), &test.admin).await.json()["change"].clone();
    assert_eq!(shown["canary"]["matrix"]["deny"]["allow"], 6, "{shown}");
    assert_eq!(shown["canary"]["samples"][0]["operation"], "Docs::Action::view");
    assert_eq!(shown["state"], "in_review", "over its budget it is ended by the tick: {shown}");
}
