//! What comes to an end, and who learns of it: requests with what they are about, changes with their review.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use ok::types::time::{Clock as _, DAY, HOUR, SystemClock};
use serde_json::json;

use super::changes::{propose, step, stricter};
use crate::harness::Test;

#[tokio::test]
async fn a_request_ends_with_what_it_is_about_and_says_why() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let asked = async |id: &str| {
        let change = propose(&test, &test.admin, &stricter(id)).await;
        step(&test, &test.admin, &change, "evals", json!({})).await;
        let waits = step(&test, &test.admin, &change, "promote", json!({})).await;
        (change, waits.json()["approval"].as_str().unwrap().to_owned())
    };
    let stale = async |approval: &str| {
        let shown = test.get(&format!("/approvals/{approval}"), &abe).await.json();
        assert_eq!(shown["status"], "stale", "{shown}");
        shown["stale"].as_str().unwrap().to_owned()
    };
    let open = async |token: &str| -> Vec<String> {
        let items = test.get("/inbox", token).await.json();
        items.as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    };
    // Rejected: its author learns why, and nobody is asked about it any more.
    let (rejected, approval) = asked("one").await;
    assert_eq!(open(&abe).await.len(), 1);
    step(&test, &abe, &rejected, "reject", json!({ "reason": "not this quarter" })).await;
    let id = rejected["id"].as_str().unwrap();
    assert_eq!(stale(&approval).await, format!("{id} was rejected"));
    assert!(open(&abe).await.is_empty());
    let mine = open(&test.admin).await;
    assert!(mine.contains(&format!("your change {id} was rejected: not this quarter")), "{mine:?}");
    assert!(mine.iter().any(|title| title.contains(&format!("is stale ({id} was rejected)"))), "{mine:?}");
    // Reviewed and promoted meanwhile; and of two that were asked for, the other one is superseded.
    let ((first, other), (second, same)) = (asked("two").await, asked("three").await);
    step(&test, &abe, &second, "review", json!({ "verdict": "approve" })).await;
    assert_eq!(step(&test, &abe, &second, "promote", json!({})).await.json()["state"], "promoted");
    let id = second["id"].as_str().unwrap();
    assert_eq!(stale(&same).await, format!("{id} came into force by other means"));
    assert_eq!(stale(&other).await, format!("{id} came into force first"));
    let shown = test.get(&format!("/changes/{}/diff", first["id"].as_str().unwrap()), &abe).await.json();
    assert_eq!(shown["change"]["state"], "superseded");
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn the_author_of_a_change_that_comes_too_late_learns_of_it() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let elsewhere = |id: &str| {
        let is_own = |path: &String| !path.starts_with("tests/") || path == "tests/extra.yaml";
        let files = stricter(id).into_iter().filter(move |(path, _)| is_own(path));
        files.map(|(path, text)| {
            (path, text.replace("\"inbox.list\"", "\"tick\"").replace("op: inbox.list", "op: tick"))
        })
    };
    let late = propose(&test, &abe, &elsewhere("late").collect()).await["id"].as_str().unwrap().to_owned();
    let first = propose(&test, &test.admin, &elsewhere("first").collect()).await;
    step(&test, &abe, &first, "review", json!({ "verdict": "approve" })).await;
    step(&test, &test.admin, &first, "evals", json!({})).await;
    let promoted = step(&test, &test.admin, &first, "promote", json!({})).await;
    assert_eq!(promoted.json()["state"], "promoted", "{}", promoted.text());
    let told = format!(
        "your change {late} was superseded: {} came into force first; propose it anew",
        first["id"].as_str().unwrap()
    );
    let items = test.get("/inbox", &abe).await.json();
    assert!(items.as_array().unwrap().iter().any(|item| item["title"] == told.as_str()), "{items}");
}

/// Nothing but another change would ever end it.
#[tokio::test]
async fn policies_that_nobody_could_change_any_more_do_not_come_into_force() {
    let test = Test::new().await;
    let freeze = "@id(\"freeze\")\n@reason(\"holidays\")\nforbid (\n  principal is Ok::Actor,\n  action in Ok::Action::\"change\",\n  resource\n);\n";
    let mut files = defaults_and(freeze);
    let change = propose(&test, &test.admin, &files).await;
    step(&test, &test.admin, &change, "evals", json!({})).await;
    let refused = step(&test, &test.admin, &change, "promote", json!({})).await;
    assert_eq!(
        refused.error(),
        "409 conflict under these policies nobody could perform policy.propose, even with approvals, so they could never be changed again: permit it to somebody"
    );
    // Approvals are a way back, but not to themselves, nor while the kill switch is engaged.
    let unless = "resource\n)\nunless {\n  context.approvals.contains(Ok::ApprovalKind::\"admin\") ||\n  action == Ok::Action::\"approval.decide\" ||\n  action == Ok::Action::\"kill\"\n};";
    let lifted = freeze.replace("resource\n);", unless);
    files.insert("more.cedar".into(), lifted);
    let change = propose(&test, &test.admin, &files).await;
    step(&test, &test.admin, &change, "evals", json!({})).await;
    // As long as somebody can give them, or add whoever can.
    let refused = step(&test, &test.admin, &change, "promote", json!({})).await;
    assert_eq!(
        refused.error(),
        "409 conflict under these policies policy.propose needs the approval `admin`, which too few people can give, and \
         nobody could add people, so they could never be changed again: first make sure that enough people can give `admin`"
    );
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    step(&test, &abe, &change, "review", json!({ "verdict": "approve" })).await;
    let promoted = step(&test, &test.admin, &change, "promote", json!({})).await;
    assert_eq!(promoted.json()["state"], "promoted", "{}", promoted.text());
}

/// What forbids for good from a day on is refused today; what ends by itself is not.
#[tokio::test]
async fn policies_that_nobody_could_change_from_some_day_on_do_not_come_into_force() {
    let day = |days: i64| format!("datetime(\"{}\")", &SystemClock.now().plus_ms(days * DAY).to_string()[..10]);
    let (soon, later, in_30_years) = (day(2), day(9), day(30 * 365));
    let from = |condition: String| forbid("policy.propose", &format!("when {{ {condition} }}"));
    let for_good = "409 conflict under these policies, as they decide in 20 years, nobody could perform policy.propose, even \
                    with approvals, so they could never be changed again: permit it to somebody";
    assert_eq!(alone(&from(format!("context.now > {soon}"))).await, for_good);
    assert_eq!(alone(&from(format!("context.now > {soon} && context.now < {in_30_years}"))).await, for_good);
    assert_eq!(alone(&from(format!("context.now > {soon} && context.now < {later}"))).await, "promoted");
    // Nor may what is closed now stay so for long.
    let for_long = alone(&from(format!("context.now < {in_30_years}"))).await;
    assert!(
        for_long.starts_with("409 conflict under these policies nobody could perform policy.propose"),
        "{for_long}"
    );
    assert_eq!(alone(&from(format!("context.now < {}", day(40)))).await, for_long);
    let at_night = "context.now.toTime() < duration(\"1ms\")";
    assert_eq!(alone(&from(at_night.to_owned())).await, "promoted");
}

/// What is closed at present, or to those who have not done something, or call otherwise, is open to somebody.
#[tokio::test]
async fn policies_that_open_again_by_themselves_or_on_a_condition_come_into_force() {
    let now = SystemClock.now();
    let (before, soon) = (now.plus_ms(-DAY).to_string(), now.plus_ms(2 * DAY).to_string());
    let hour = now.0.rem_euclid(DAY) / HOUR;
    for condition in [
        format!(
            "when {{ context.now > datetime(\"{}\") && context.now < datetime(\"{}\") }}",
            &before[..10],
            &soon[..10]
        ),
        format!(
            "when {{ context.now.toTime() >= duration(\"{hour}h\") && context.now.toTime() < duration(\"{}h\") }}",
            hour + 1
        ),
        "unless { context.input has commit }".to_owned(),
        "when { context.hist[\"policy.export\"].hour < 1 }".to_owned(),
        "unless { context.hist[\"policy.export\"].hour >= 1 && context.hist[\"change.promote\"].day < 1 }".to_owned(),
        "when { context.channel == \"http\" }".to_owned(),
        "when { context.channel == \"cli\" }".to_owned(),
    ] {
        assert_eq!(alone(&forbid("policy.propose", &condition)).await, "promoted", "{condition}");
    }
    // Each step has its own hours.
    let only = |action, from, to| {
        let time = "context.now.toTime()";
        forbid(action, &format!("when {{ {time} < duration(\"{from}h\") || {time} >= duration(\"{to}h\") }}"))
    };
    let (first, then) = ((hour + 8) % 22, (hour + 12) % 22);
    let by_day = only("policy.propose", first, first + 1) + &only("change.evals", then, then + 1);
    assert_eq!(alone(&by_day).await, "promoted");
}

/// Ways to lock everybody out that no refusal of the operation itself shows.
#[tokio::test]
async fn policies_whose_way_back_is_closed_in_another_place_do_not_come_into_force() {
    let closed = async |policies: &str| {
        let why = alone(policies).await;
        assert!(why.starts_with("409 conflict under these policies"), "{why}\n{policies}");
        why
    };
    // What cannot be evaluated is denied.
    closed(&forbid("change.promote", "when { resource.admins + 9223372036854775807 > 0 }")).await;
    closed(&forbid("change.promote", "when { context.input.id like \"chg_*\" }")).await;
    // What holds whatever was done before.
    for always in [
        "context.hist[\"change.promote\"].month >= 0",
        "context.hist[\"change.promote\"].hour < 5",
        "context.hist[\"tick\"].hour <= context.hist[\"tick\"].month",
    ] {
        closed(&forbid("change.promote", &format!("when {{ {always} }}"))).await;
    }
    // Each approval would wait for another.
    let admin = "unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") }";
    closed(&(forbid("change.promote", admin) + &forbid("approval.decide", admin))).await;
    // While the switch is engaged, nothing else is done: no approval is decided.
    for release in [
        "when { resource is Ok::KillSwitch && !resource.engage }",
        "when { context.kill.global }",
        "when { resource is Ok::KillSwitch && !resource.engage && context.input has scope && context.input.scope == \"global\" }",
        "unless { context.hist[\"task.create\"].hour > 0 }",
        "when { resource is Ok::KillSwitch && !resource.engage } unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") }",
    ] {
        let released = closed(&forbid("kill", release)).await;
        assert!(released.contains("nobody could release the kill switch `global`"), "{release}: {released}");
    }
    // Who could approve may not see what, or may not decide.
    for missing in ["approval.decide", "approval.read"] {
        let test = Test::new().await;
        let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
        let policies = forbid("change.review", "") + &forbid(missing, "");
        let change = propose(&test, &test.admin, &defaults_and(&policies)).await;
        step(&test, &test.admin, &change, "evals", json!({})).await;
        step(&test, &abe, &change, "review", json!({ "verdict": "approve" })).await;
        let promoted = step(&test, &test.admin, &change, "promote", json!({})).await;
        assert!(promoted.error().starts_with("409 conflict under these policies"), "{missing}: {}", promoted.text());
    }
}

/// The default policies with these, and a test that passes.
fn defaults_and(policies: &str) -> BTreeMap<String, String> {
    let mut files = Bundle::built_in().files;
    files.retain(|path, _| !path.starts_with("tests/"));
    files.insert("more.cedar".into(), policies.into());
    let test_of_it = "actors:\n  - {id: zoe}\ncases:\n  - {actor: zoe, op: tick, expect: deny}\n";
    files.insert("tests/more.yaml".into(), test_of_it.into());
    files
}

/// A policy that forbids an operation.
fn forbid(action: &str, condition: &str) -> String {
    format!(
        "@id(\"{action}\")\n@reason(\"x\")\nforbid (principal is Ok::Actor, action == Ok::Action::\"{action}\", resource) {condition};\n"
    )
}

/// What promoting the default policies with these ends with, in a company of one.
async fn alone(policies: &str) -> String {
    let test = Test::new().await;
    let files = defaults_and(policies);
    let change = propose(&test, &test.admin, &files).await;
    step(&test, &test.admin, &change, "evals", json!({})).await;
    let promoted = step(&test, &test.admin, &change, "promote", json!({})).await;
    promoted.json()["state"].as_str().map_or_else(|| promoted.error(), str::to_owned)
}

/// Somebody who is the only one may ask for reviews, as long as somebody can join who gives them; and for canaries.
#[tokio::test]
async fn whoever_is_alone_may_ask_for_what_somebody_who_joins_can_give() {
    let reviewed = forbid("change.promote", "unless { resource.reviewed }");
    let tried = forbid("change.promote", "unless { resource.state == \"canary\" }");
    let nobody_joins = forbid("actor.add", "");
    assert_eq!(alone(&reviewed).await, "promoted");
    assert_eq!(alone(&tried).await, "promoted");
    let told = alone(&(reviewed + &nobody_joins)).await;
    assert!(told.starts_with("409 conflict under these policies nobody could perform change.review"), "{told}");
}

/// As bad: approvals that nobody can give, nor add anybody who could.
#[tokio::test]
async fn policies_whose_change_waits_for_nobody_do_not_come_into_force() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let only = |action: &str, who: &str| forbid(action, &format!("unless {{ principal == Ok::Actor::\"{who}\" }}"));
    let kinds = |names: &[&str]| {
        let each = names.iter().map(|name| format!("context.approvals.contains(Ok::ApprovalKind::\"{name}\")"));
        forbid("change.promote", &format!("unless {{ {} }}", each.collect::<Vec<_>>().join(" && ")))
    };
    let only_reviewed = forbid("change.promote", "unless { resource.reviewed }");
    let nobody_joins = forbid("actor.add", "when { [\"person\", \"team\"].contains(context.input.kind) }");
    let twice = "  k1: {eligible: [{role: admin}]}\n  k2: {eligible: [{role: admin}]}\n";
    let ghost = "  ghost: {eligible: [{team: \"team:ghost\"}]}\n";
    for (policies, approvals, told) in [
        (forbid("change.evals", ""), "", "nobody could perform change.evals"),
        (forbid("change.review", "") + &only_reviewed, "", "nobody could perform change.review"),
        (only_reviewed.clone(), "", ""),
        (forbid("change.read", ""), "", "nobody could perform change.read"),
        // Those who may review it see none but their own.
        (
            only_reviewed.clone() + &forbid("change.read", "unless { resource.author == principal }"),
            "",
            "nobody could perform change.review",
        ),
        // Each step could be taken by somebody, and nobody's change gets through all of them.
        (
            only_reviewed.clone() + &only("policy.propose", "ana") + &only("change.review", "ana"),
            "",
            "nobody could perform change.review",
        ),
        (
            only("policy.propose", "abe")
                + &forbid("change.promote", "unless { resource.author == Ok::Actor::\"ana\" }"),
            "",
            "nobody could perform change.promote",
        ),
        // A change that is reviewed is in another state.
        (
            forbid(
                "change.promote",
                "when { !resource.reviewed || [\"approved\", \"canary\"].contains(resource.state) }",
            ),
            "",
            "nobody could perform change.promote",
        ),
        (
            forbid("change.promote", "unless { resource.state == \"canary\" }") + &forbid("change.canary", ""),
            "",
            "nobody could perform change.promote",
        ),
        (kinds(&["ghost"]) + &nobody_joins, ghost, "change.promote needs the approval `ghost`"),
        // One other admin is not two people.
        (kinds(&["k1", "k2"]) + &nobody_joins, twice, "change.promote needs the approval `k2`"),
        (kinds(&["ghost"]), ghost, ""),
        // No agent approves, however many join.
        (kinds(&["robot"]), "  robot: {eligible: [{role: agent}]}\n", "change.promote needs the approval `robot`"),
    ] {
        let mut files = defaults_and(&policies);
        files.get_mut("approvals.yaml").unwrap().push_str(approvals);
        let change = propose(&test, &test.admin, &files).await;
        step(&test, &test.admin, &change, "evals", json!({})).await;
        step(&test, &abe, &change, "review", json!({ "verdict": "approve" })).await;
        let promoted = step(&test, &test.admin, &change, "promote", json!({})).await;
        match told {
            "" => assert_eq!(promoted.json()["state"], "promoted", "{}", promoted.text()),
            told => assert!(
                promoted.error().starts_with(&format!("409 conflict under these policies {told}")),
                "{}",
                promoted.error()
            ),
        }
    }
}

#[tokio::test]
async fn a_request_about_somebody_ends_when_they_leave() {
    let test = Test::new().await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    test.add("max", "person", json!({ "team": "team:ops" })).await;
    let asked = test.post("/actors/max/offboard", &lea, json!({ "reason": "left" })).await;
    let approval = asked.json()["approval"].as_str().unwrap().to_owned();
    assert_eq!(test.post("/actors/max/offboard", &test.admin, json!({})).await.status, 200);
    let shown = test.get(&format!("/approvals/{approval}"), &test.admin).await.json();
    assert_eq!((&shown["status"], &shown["stale"]), (&json!("stale"), &json!("max was offboarded")), "{shown}");
}

#[tokio::test]
async fn whoever_may_review_learns_of_what_a_pipeline_proposes() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let mia = test.add("mia", "person", json!({})).await;
    let alerts = async |token: &str| -> Vec<String> {
        let items = test.get("/inbox", token).await.json();
        items.as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    };
    let new = json!({ "files": stricter("closed"), "reason": "from git", "commit": "4f2a" });
    let change = test.post("/policy/proposals", &test.admin, new).await.json();
    assert_eq!(alerts(&abe).await, ["ana proposes policies (from git): waits for a review"]);
    assert!(alerts(&mia).await.is_empty() && alerts(&test.admin).await.is_empty());
    step(&test, &abe, &change, "review", json!({ "verdict": "approve" })).await;
    assert!(alerts(&abe).await.is_empty());
}

#[tokio::test]
async fn an_approved_source_does_not_overwrite_what_was_set_since() {
    let test = Test::with_policies(waits_for_an_admin("policy.source")).await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let source = |name: &str| json!({ "kind": "repo", "url": format!("https://git.example.org/{name}") });
    let ask = async |name: &str| {
        let asked = test.call("PUT", "/policy/source", &test.admin, Some(source(name))).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        asked.json()["approval"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask("first").await, ask("second").await);
    let decide = async |id: &str| {
        test.post(&format!("/approvals/{id}"), &abe, json!({ "decision": "approve" })).await.json()["status"].clone()
    };
    assert_eq!((decide(&second).await, decide(&first).await), (json!("used"), json!("stale")));
    assert_eq!(test.get("/policy", &abe).await.json()["source"]["url"], "https://git.example.org/second");
}

/// The default policies, and one that makes an operation wait.
fn waits_for_an_admin(operation: &str) -> Bundle {
    let rule = format!(
        "@id(\"waits\")\n@reason(\"it takes a second admin\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"{operation}\",\n  resource\n)\nunless {{ context.approvals.contains(Ok::ApprovalKind::\"admin\") }};\n"
    );
    let mut bundle = Bundle::built_in();
    bundle.files.insert("waits.cedar".into(), rule);
    bundle
}
