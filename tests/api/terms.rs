//! Who may approve and how often something may be asked are half of the policies: what changes in them is told by its
//! meaning, and counts wherever a change of the policies counts.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::Test;

/// Two admins, six members, and a call of lea's that waits for an admin.
async fn company() -> Test {
    let test = Test::new().await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    for id in ["m1", "m2", "m3", "m4", "m5", "m6"] {
        test.add(id, "person", json!({})).await;
    }
    let asked = json!({ "id": "new", "kind": "person", "team": "team:ops" });
    assert_eq!(test.post("/actors", &lea, asked).await.status, 202);
    test
}

fn with(file: &str, text: &str) -> BTreeMap<String, String> {
    let mut files = Bundle::built_in().files;
    files.retain(|path, _| !path.starts_with("tests/") || path == "tests/member.yaml");
    files.insert(file.to_owned(), text.to_owned());
    files
}

fn approvals(admin: &str) -> BTreeMap<String, String> {
    let usual = Bundle::built_in().files["approvals.yaml"].clone();
    let (_, rest) = usual.split_once("  lead:").unwrap();
    with("approvals.yaml", &format!("kinds:\n  admin: {admin}\n  lead:{rest}"))
}

fn term(answer: &Value, about: &str) -> String {
    let terms = answer["terms"].as_array().unwrap();
    let term = terms.iter().find(|term| term["about"] == about).unwrap_or_else(|| panic!("{about}: {answer}"));
    let told: Vec<&str> = term["parts"].as_array().unwrap().iter().map(|told| told.as_str().unwrap()).collect();
    format!("{}: {}", term["change"].as_str().unwrap(), told.join(", "))
}

#[tokio::test]
async fn a_change_of_who_approves_is_told_in_people_and_counts_in_budgets() {
    let test = company().await;
    let diff = async |files: BTreeMap<String, String>, max: Value| {
        let answer = test.post("/policy/diff", &test.admin, json!({ "files": files, "max": max })).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let both = approvals("{eligible: [{role: admin}, {role: member}], threshold: 2, remind_hours: 4}");
    let mixed = diff(both, json!({ "newly_allowed": 0 })).await;
    assert_eq!(
        term(&mixed, "approvals of `admin`"),
        "mixed: 2 people → 8 (role admin → role admin or role member), threshold 1 → 2"
    );
    assert_eq!(
        (&mixed["impact"]["easier_approvals"], &mixed["over_budget"][0]["budget"]),
        (&json!(1), &json!("newly_allowed"))
    );
    let tighter = diff(approvals("{eligible: [{role: admin}], threshold: 2}"), json!({ "newly_approval": 0 })).await;
    assert_eq!(term(&tighter, "approvals of `admin`"), "tighter: threshold 1 → 2, reminds after 4 h → never");
    assert_eq!(
        (&tighter["impact"]["newly_allowed"], &tighter["over_budget"][0]["budget"]),
        (&json!(0), &json!("newly_approval"))
    );
    // Only how it is written, or when it reminds, is no difference that counts.
    let same = diff(approvals("{eligible: [{role: admin}], remind_hours: 5}"), json!({ "newly_allowed": 0 })).await;
    assert_eq!(term(&same, "approvals of `admin`"), "same: reminds after 4 h → after 5 h");
    assert_eq!((&same["over_budget"], &same["impact"]["easier_approvals"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn who_approves_and_what_is_limited_are_compared_by_what_they_cover() {
    let test = company().await;
    let diff = async |files: BTreeMap<String, String>| {
        test.post("/policy/diff", &test.admin, json!({ "files": files, "semantic": false })).await.json()
    };
    // An entry that says more of whom it means is for fewer, whoever there is.
    let narrowed = diff(approvals("{eligible: [{role: admin, team: team:ops}], remind_hours: 4}")).await;
    assert_eq!(term(&narrowed, "approvals of `admin`"), "tighter: 2 people → 0 (role admin → role admin in team:ops)");
    let counted =
        |answer: &Value| [&answer["impact"]["newly_allowed"], &answer["impact"]["newly_approval"]].map(Value::clone);
    assert_eq!(counted(&narrowed), [json!(0), json!(1)], "{narrowed}");
    let limits = async |from: &str, to: &str| {
        let usual = &Bundle::built_in().files["limits.yaml"];
        assert!(usual.contains(from), "{from}");
        let limited = diff(with("limits.yaml", &usual.replacen(from, to, 1))).await;
        let change = limited["terms"][0]["change"].as_str().unwrap().to_owned();
        assert_eq!(limited["terms"].as_array().unwrap().len(), 1, "{limited}");
        change
    };
    let proposals = "most: 120\n    seconds: 3600";
    let people = "roles: [lead, steward, auditor, member]\n    operations: [change]";
    for (from, to, change) in [
        (people, "roles: [lead, steward, auditor]\n    operations: [change]", "looser"),
        (people, "operations: [change]", "tighter"),
        ("except: [access.*]", "except: [access.*, me.read]", "looser"),
        // Fewer in the long run, more at once; the other way round; and as many in all.
        (proposals, "most: 1200\n    seconds: 86400", "mixed"),
        (proposals, "most: 60\n    seconds: 60", "mixed"),
        (proposals, "most: 60\n    seconds: 1800", "mixed"),
        (proposals, "most: 60\n    seconds: 3600", "tighter"),
        // Large changes count no more by their size.
        (people, "roles: [lead, steward, auditor, member]\n    operations: []", "mixed"),
    ] {
        assert_eq!(limits(from, to).await, change, "{from} -> {to}");
    }
}

#[tokio::test]
async fn budgets_of_teams_and_whom_a_view_is_for_are_told_by_meaning() {
    let test = Test::new().await;
    test.add("lea", "person", json!({ "role": "lead" })).await;
    for team in ["team:ops", "team:dev"] {
        test.add(team, "team", json!({ "lead": "lea" })).await;
    }
    super::brain::create(&test, "notes", json!({ "fields": { "text": { "type": "text" } } })).await;
    let in_force = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    let view = |more: &str| {
        let head = "apiVersion: ok/v1\nkind: View\nmetadata: {name: late}\nspec:\n  query: {collection: notes}\n";
        format!("{head}{more}")
    };
    let with = |limits: &str, more: &str| {
        let mut files = in_force.clone();
        files["limits.yaml"] = format!("{}{limits}", in_force["limits.yaml"].as_str().unwrap()).into();
        files["views/late.yaml"] = view(more).into();
        files
    };
    let (before, after) = (
        with("teams:\n  team:ops: {month_cents: 500}\n", "  visibility: team:ops\n"),
        with("teams:\n  team:ops: {month_cents: 700}\n  team:dev: {month_cents: 1}\n", ""),
    );
    assert_eq!(super::brain::put_into_force(&test, before).await.status, 200);
    let answer = test.post("/policy/diff", &test.admin, json!({ "files": after })).await.json();
    assert_eq!(term(&answer, "budget of team:ops"), "looser: a month 500 cents → 700 cents");
    assert_eq!(term(&answer, "budget of team:dev"), "tighter: a month without limit → 1 cents");
    assert_eq!(term(&answer, "view `late`"), "looser: for team:ops → everybody");
    // What is left out is not removed by that, and is named.
    let without: Value = in_force
        .as_object()
        .unwrap()
        .clone()
        .into_iter()
        .filter(|(path, _)| !path.starts_with("collections/"))
        .collect();
    let answer = test.post("/policy/diff", &test.admin, json!({ "files": without, "semantic": false })).await.json();
    assert_eq!(answer["kept"], json!(["collections/notes.yaml", "views/late.yaml"]));
}

#[tokio::test]
async fn drift_counts_who_approves_and_how_often_something_may_be_asked() {
    let test = company().await;
    let limits = Bundle::built_in().files["limits.yaml"].clone();
    let looser = limits.replacen("most: 300\n", "most: 3000\n", 1);
    assert_ne!(looser, limits);
    // The repository declares what is in force, then somebody changes the limits by hand.
    let policy = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    let declared = json!({ "files": policy, "reason": "from git", "commit": "4f2a" });
    assert_eq!(test.post("/policy/proposals", &test.admin, declared).await.json()["state"], "promoted");
    let change = json!({ "files": with("limits.yaml", &looser), "reason": "by hand" });
    let change = test.post("/policy/proposals", &test.admin, change).await.json();
    let id = change["id"].as_str().unwrap();
    let shown = test.get(&format!("/changes/{id}/diff"), &test.admin).await.json();
    assert!(term(&shown, "limit `changes-by-agents`").starts_with("looser: 300 in 60 s"), "{shown}");
    test.post(&format!("/changes/{id}/evals"), &test.admin, json!({})).await;
    let waits = test.post(&format!("/changes/{id}/promote"), &test.admin, json!({})).await.json();
    let ben = test.local_as("ben", "token.issue", json!({})).await["token"].as_str().unwrap().to_owned();
    let approved = test
        .post(&format!("/approvals/{}", waits["approval"].as_str().unwrap()), &ben, json!({ "decision": "approve" }))
        .await;
    assert_eq!(approved.status, 200, "{}", approved.text());
    let drift = test.get("/policy/drift", &test.admin).await.json();
    assert_eq!(drift["status"], "weaker", "{drift}");
    assert!(term(&drift, "limit `changes-by-agents`").starts_with("looser"), "{drift}");
}
