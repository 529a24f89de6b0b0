//! A change that is tried beside what is in force: asked on a share of the traffic, counted, stopped by itself, and never
//! heard by anybody who asks something.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::brain;
use crate::harness::Test;

/// The default policies, with one more, and nothing that tests it but one case.
fn with(policy: &str) -> BTreeMap<String, String> {
    let files = Bundle::built_in().files.into_iter().filter(|(path, _)| !path.starts_with("tests/"));
    let test = "cases:\n  - {actor: zoe, op: me.read, expect: allow}\nactors:\n  - {id: zoe}\n";
    files.chain([("extra.cedar".to_owned(), policy.to_owned()), ("tests/a.yaml".to_owned(), test.to_owned())]).collect()
}

fn closed() -> BTreeMap<String, String> {
    with(
        "@id(\"closed\")\n@reason(\"closed for now\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"inbox.list\",\n  resource\n);\n",
    )
}

fn opened() -> BTreeMap<String, String> {
    with(
        "@id(\"opened\")\npermit (\n  principal is Ok::Actor,\n  action == Ok::Action::\"policy.read\",\n  resource\n);\n",
    )
}

async fn tested(test: &Test, files: &BTreeMap<String, String>) -> String {
    let new = json!({ "files": files, "reason": "a trial" });
    let change = test.post("/policy/proposals", &test.admin, new).await.json();
    let id = change["id"].as_str().unwrap_or_else(|| panic!("{change}")).to_owned();
    let evals = test.post(&format!("/changes/{id}/evals"), &test.admin, json!({})).await.json();
    assert_eq!(evals["evals"]["passed"], true, "{evals}");
    id
}

async fn step(test: &Test, id: &str, step: &str, body: Value) -> crate::harness::Answer {
    test.post(&format!("/changes/{id}/{step}"), &test.admin, body).await
}

async fn shown(test: &Test, id: &str) -> Value {
    test.get(&format!("/changes/{id}/diff"), &test.admin).await.json()["change"].clone()
}

#[tokio::test]
async fn a_trial_counts_what_would_come_out_otherwise_and_changes_no_answer() {
    let test = Test::new().await;
    let id = tested(&test, &closed()).await;
    let terms = json!({ "percent": 100, "min_decisions": 5, "abort_if": { "newly_allowed": 0 } });
    assert_eq!(step(&test, &id, "canary", terms.clone()).await.json()["state"], "canary");
    let other = tested(&test, &opened()).await;
    assert_eq!(
        step(&test, &other, "canary", terms).await.error(),
        format!("409 conflict {id} has a canary already; one runs at a time")
    );
    let early = step(&test, &id, "promote", json!({})).await;
    assert_eq!(
        early.error(),
        "409 conflict its trial has seen 4 of 5 decisions; wait for them, or ask for fewer in another canary (`min_decisions`)"
    );
    for _ in 0..3 {
        assert_eq!(test.get("/inbox", &test.admin).await.status, 200);
    }
    // What becomes of another change is no end of the trial, and nothing that it has seen is forgotten.
    assert_eq!(step(&test, &other, "reject", json!({})).await.status, 200);
    test.post("/tick", &test.admin, json!({})).await;
    let canary = shown(&test, &id).await["canary"].clone();
    assert_eq!(canary["matrix"]["allow"]["deny"], 3, "{canary}");
    assert_eq!(canary["samples"][0]["operation"], "inbox.list");
    assert_eq!(test.get("/events?type=denied", &test.admin).await.json()["events"], json!([]));

    // It goes on after a restart, from what was recorded.
    let test = test.reopened().await;
    assert_eq!(test.get("/inbox", &test.admin).await.status, 200);
    test.post("/tick", &test.admin, json!({})).await;
    assert_eq!(shown(&test, &id).await["canary"]["matrix"]["allow"]["deny"], 4);
    assert_eq!(step(&test, &id, "promote", json!({})).await.json()["version"], 2);
    assert_eq!(test.get("/inbox", &test.admin).await.status, 403);
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn an_approval_that_comes_too_early_is_refused_and_can_be_given_later() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let id = tested(&test, &closed()).await;
    let waits = step(&test, &id, "promote", json!({})).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    step(&test, &id, "canary", json!({ "percent": 100, "min_decisions": 30 })).await;
    let approval = format!("/approvals/{}", waits.json()["approval"].as_str().unwrap());
    let early = test.post(&approval, &abe, json!({ "decision": "approve" })).await;
    assert_eq!(early.status, 409, "{}", early.text());
    assert!(early.text().contains("of 30 decisions; wait for them"), "{}", early.text());
    let shown = test.get(&approval, &abe).await.json();
    assert_eq!((&shown["status"], &shown["decisions"]), (&json!("pending"), &json!([])), "{shown}");
    for _ in 0..30 {
        test.get("/inbox", &test.admin).await;
    }
    let decided = test.post(&approval, &abe, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    assert_eq!(test.get("/policy/applied", &abe).await.json()["version"], 2);
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn a_trial_over_budget_ends_by_itself() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let id = tested(&test, &opened()).await;
    step(&test, &id, "canary", json!({ "percent": 100, "min_decisions": 1 })).await;
    assert_eq!(test.get("/policy", &mia).await.status, 403);
    assert_eq!(
        step(&test, &id, "promote", json!({})).await.error(),
        "409 conflict its trial is over budget: newly_allowed is 1, of at most 0"
    );
    test.post("/tick", &test.admin, json!({})).await;
    assert!(test.newest(3).await.contains(&"canary_aborted".to_owned()));
    let change = shown(&test, &id).await;
    assert_eq!((&change["state"], &change["canary"]["matrix"]["deny"]["allow"]), (&json!("in_review"), &json!(1)));
    let before = test.last_seq().await;
    test.post("/tick", &test.admin, json!({})).await;
    assert_eq!(test.last_seq().await, before, "a trial that has ended is measured no more");
}

#[tokio::test]
async fn after_a_trial_over_budget_its_author_is_told_and_the_reviews_before_count_no_more() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let mia = test.add("mia", "person", json!({})).await;
    let id = tested(&test, &opened()).await;
    let review = json!({ "verdict": "approve" });
    test.post(&format!("/changes/{id}/review"), &abe, review.clone()).await;
    step(&test, &id, "canary", json!({ "percent": 100, "min_decisions": 1 })).await;
    assert_eq!(test.get("/policy", &mia).await.status, 403);
    test.post("/tick", &test.admin, json!({})).await;
    let inbox = test.get("/inbox", &test.admin).await.json();
    let told = inbox[0]["title"].as_str().unwrap();
    let figures = format!("the trial of your change {id} has ended: newly_allowed is 1, of at most 0, after ");
    assert!(told.starts_with(&figures), "{inbox}");
    assert_eq!(step(&test, &id, "promote", json!({})).await.status, 202, "the review was given before");
    test.post(&format!("/changes/{id}/review"), &abe, review).await;
    assert_eq!(step(&test, &id, "promote", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_trial_takes_its_share_and_names_what_is_wrong_with_its_terms() {
    let test = Test::new().await;
    let id = tested(&test, &closed()).await;
    let wrong = step(&test, &id, "canary", json!({ "percent": 0 })).await;
    assert_eq!(wrong.error(), "422 invalid percent: must be 1 to 100");
    step(&test, &id, "canary", json!({ "percent": 10 })).await;
    for _ in 0..100 {
        test.get("/inbox", &test.admin).await;
    }
    test.post("/tick", &test.admin, json!({})).await;
    let matrix = shown(&test, &id).await["canary"]["matrix"].clone();
    let seen: u64 = ["allow", "needs_approval", "deny"]
        .iter()
        .flat_map(|row| ["allow", "needs_approval", "deny"].map(|cell| matrix[row][cell].as_u64().unwrap()))
        .sum();
    assert!((10..=12).contains(&seen), "{matrix}");
    let fresh = json!({ "files": opened(), "reason": "untested" });
    let fresh = test.post("/policy/proposals", &test.admin, fresh).await.json();
    let untested = step(&test, fresh["id"].as_str().unwrap(), "canary", json!({ "percent": 10 })).await.json();
    assert_eq!(untested["error"], "evals_not_run");
}

#[tokio::test]
async fn drift_tells_how_what_is_in_force_differs_from_what_is_declared() {
    let test = Test::new().await;
    let drift = async || test.get("/policy/drift", &test.admin).await.json();
    assert_eq!(drift().await["status"], "unmanaged");
    let declared = json!({ "files": closed(), "reason": "from git", "commit": "4f2a" });
    let declared = test.post("/policy/proposals", &test.admin, declared).await.json();
    let id = declared["id"].as_str().unwrap();
    let looser = drift().await;
    assert_eq!((&looser["status"], &looser["drifted"]), (&json!("weaker"), &json!(true)), "{looser}");
    assert_eq!((&looser["weaker"][0]["operation"], &looser["waits"]), (&json!("inbox.list"), &json!(true)));
    step(&test, id, "evals", json!({})).await;
    step(&test, id, "promote", json!({})).await;
    let synced = drift().await;
    assert_eq!((&synced["status"], &synced["waits"]), (&json!("in_sync"), &json!(false)));
    // By hand, one file beside the others that changes no answer; then one that is stricter still.
    let mut files = closed();
    files.insert("note.cedar".into(), "// Nothing.\n".into());
    let by_hand = tested(&test, &files).await;
    step(&test, &by_hand, "promote", json!({})).await;
    assert_eq!(drift().await["status"], "equivalent");
    files.insert("note.cedar".into(), "@id(\"shut\")\n@reason(\"shut\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"directory.find\",\n  resource\n);\n".into());
    let by_hand = tested(&test, &files).await;
    step(&test, &by_hand, "promote", json!({})).await;
    let by_hand = drift().await;
    assert_eq!((&by_hand["status"], &by_hand["waits"]), (&json!("stronger"), &json!(false)));
    // The repository takes it over: nothing changes but that it is declared.
    let other =
        test.post("/policy/proposals", &test.admin, json!({ "files": opened(), "reason": "waits" })).await.json();
    let adopted = json!({ "files": files, "reason": "taken over", "commit": "5b3c" });
    let change = test.post("/policy/proposals", &test.admin, adopted.clone()).await.json();
    assert_eq!((&change["state"], &change["version"]), (&json!("promoted"), &by_hand["applied_version"]), "{change}");
    let synced = drift().await;
    assert_eq!((&synced["status"], &synced["declared_change"]), (&json!("in_sync"), &change["id"]));
    assert_eq!(synced["applied_version"], by_hand["applied_version"]);
    assert_eq!(test.get("/policy/applied", &test.admin).await.json()["commit"], "5b3c");
    assert_eq!(shown(&test, other["id"].as_str().unwrap()).await["state"], "proposed");
    assert_eq!(test.post("/policy/proposals", &test.admin, adopted).await.json()["error"], "conflict");
}

async fn with_invoices(test: &Test) {
    let fields = json!({ "number": { "type": "text", "required": true }, "total": { "type": "money" } });
    brain::create(test, "invoices", json!({ "key": ["number"], "fields": fields })).await;
}

async fn altered(test: &Test, op: Value) {
    assert_eq!(brain::change(test, "invoices", json!([op])).await.status, 200);
}

fn limited() -> BTreeMap<String, String> {
    with(
        "@id(\"limited\")\n@reason(\"too much\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"record.write\",\n  resource is Brain::invoices\n)\nwhen { resource has total && resource.total.greaterThan(decimal(\"5.0\")) };\n",
    )
}

#[tokio::test]
async fn what_a_repository_declares_ends_nothing_that_waits_though_the_data_has_changed() {
    let test = Test::new().await;
    with_invoices(&test).await;
    let waits = tested(&test, &opened()).await;
    altered(&test, json!({ "add_field": { "name": "iban", "field": { "type": "text" } } })).await;
    // Proposed again, it is the same change.
    assert_eq!(tested(&test, &opened()).await, waits);
    let files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    let declared = json!({ "files": files, "reason": "declared", "commit": "c0c0" });
    let declared = test.post("/policy/proposals", &test.admin, declared).await.json();
    assert_eq!(declared["state"], "promoted", "{declared}");
    assert_eq!(shown(&test, &waits).await["state"], "proposed");
    let promoted = step(&test, &waits, "promote", json!({})).await;
    assert_eq!(promoted.json()["state"], "promoted", "{}", promoted.text());
    let files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    assert!(files["collections/invoices.yaml"].as_str().unwrap().contains("iban"));
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn a_trial_goes_on_about_the_data_as_it_is_and_ends_where_it_no_longer_fits() {
    let test = Test::new().await;
    with_invoices(&test).await;
    let id = tested(&test, &limited()).await;
    let terms = json!({ "percent": 100, "min_decisions": 1 });
    assert_eq!(step(&test, &id, "canary", terms.clone()).await.json()["state"], "canary");
    altered(&test, json!({ "add_field": { "name": "iban", "field": { "type": "text" } } })).await;
    let record = json!({ "fields": { "number": "1", "iban": "x" } });
    assert_eq!(test.post("/brain/collections/invoices/records", &test.admin, record).await.status, 200);
    let counted = shown(&test, &id).await["canary"].clone();
    assert_eq!(counted["matrix"]["allow"]["deny"], 0, "it knows the new field: {counted}");
    altered(&test, json!({ "rename_field": { "name": "total", "to": "sum" } })).await;
    let other = tested(&test, &opened()).await;
    let second = step(&test, &other, "canary", terms).await.error();
    assert!(second.contains("has a canary already"), "{second}");
    let promoted = step(&test, &id, "promote", json!({})).await.error();
    assert!(promoted.starts_with("422"), "it no longer loads: {promoted}");
    assert_eq!(test.post("/tick", &test.admin, json!({})).await.status, 200);
    let ended = shown(&test, &id).await;
    assert_ne!(ended["state"], "canary", "{ended}");
}
