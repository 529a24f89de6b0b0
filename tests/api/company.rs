//! The company's settings.

use serde_json::{Value, json};

use crate::harness::{Answer, Test};

#[tokio::test]
async fn settings_are_replaced_whole_and_counted() {
    let test = Test::new().await;
    let before = test.get("/company", &test.admin).await.json();
    assert_eq!((&before["name"], &before["version"]), (&json!("Company"), &json!(1)));
    let new = json!({
        "name": "Acme", "timezone": "Europe/Berlin", "locale": "de", "hours": { "from": "08:00", "to": "16:00" },
        "retention_days": 30, "approvals": { "default_ttl_h": 24 }, "decisions": { "record": "none" }, "budget_cents_month": 500,
        "vector_search": true,
    });
    let mut sent = new.clone();
    sent["version"] = json!(1);
    let updated = test.call("PUT", "/company", &test.admin, Some(sent)).await;
    assert_eq!((updated.status.as_u16(), &updated.json()["version"]), (200, &json!(2)));
    let mut expected = new;
    expected["version"] = json!(2);
    expected["vector_model"] = json!(null);
    assert_eq!(test.get("/company", &test.admin).await.json(), expected);
    assert_eq!(test.event().await["event"]["type"], "company_updated");
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn a_change_made_from_an_older_version_conflicts() {
    let test = Test::new().await;
    let put = |version: i64| json!({ "name": "Acme", "version": version });
    assert_eq!(test.call("PUT", "/company", &test.admin, Some(put(1))).await.status, 200);
    let late = test.call("PUT", "/company", &test.admin, Some(put(1))).await;
    assert_eq!(late.error(), "409 conflict version: the current version is 2");
    let late = test.call("PATCH", "/company", &test.admin, Some(put(1))).await;
    assert_eq!(late.error(), "409 conflict version: the current version is 2");
    let blind = test.call("PUT", "/company", &test.admin, Some(json!({ "name": "Acme" }))).await;
    assert_eq!((blind.status.as_u16(), blind.text().contains("version")), (422, true), "{}", blind.text());
}

/// What a change with `If-Match` is answered.
async fn matched(test: &Test, (method, path): (&str, &str), version: &str, body: Value) -> Answer {
    test.raw(method, path, &[("content-type", "application/json"), ("if-match", version)], body.to_string()).await
}

#[tokio::test]
async fn if_match_says_which_version_a_change_was_made_from() {
    let test = Test::new().await;
    let read = test.get("/company", &test.admin).await;
    let tag = read.header("etag");
    assert_eq!(tag, "\"1\"");
    let put = ("PUT", "/company");
    let changed = matched(&test, put, tag, json!({ "name": "Acme" })).await;
    assert_eq!((changed.status.as_u16(), changed.header("etag")), (200, "\"2\""));
    let late = matched(&test, put, tag, json!({ "name": "Other" })).await;
    assert_eq!(late.error(), "409 conflict version: the current version is 2");
    assert_eq!(late.header("etag"), "");
    let patched = matched(&test, ("PATCH", "/company"), "2", json!({ "name": "Other" })).await;
    assert_eq!(patched.header("etag"), "\"3\"");
    let both = matched(&test, put, "\"3\"", json!({ "name": "Acme", "version": 3 })).await;
    assert_eq!(both.header("etag"), "\"4\"");
    let torn = matched(&test, put, "\"4\"", json!({ "name": "Acme", "version": 3 })).await;
    assert_eq!(torn.error(), "400 bad_request If-Match: names another version than `version`");
    let any = matched(&test, put, "*", json!({ "name": "Acme" })).await;
    assert_eq!((any.status.as_u16(), any.text().contains("version")), (422, true), "`*` names no version");
    for odd in ["W/\"4\"", "\"4\", \"5\"", "\"\"", "four"] {
        let refused = matched(&test, put, odd, json!({ "name": "Acme" })).await;
        assert!(refused.error().starts_with("400 bad_request If-Match: must be one version"), "{odd}");
    }
    assert_eq!(test.get("/company", &test.admin).await.header("etag"), "\"4\"");
}

/// A body for every change that says which version it was made from.
fn body_of(operation: &str) -> Value {
    let files = json!({ "a.cedar": "@id(\"a\")\npermit (principal, action, resource);\n" });
    match operation {
        "company.replace" | "company.update" => json!({ "name": "Acme" }),
        "change.propose" => json!({ "target": "policy", "content": { "files": files }, "reason": "a law" }),
        "task.assign" => json!({ "to": "ana" }),
        "task.update" => json!({ "collection": "url", "thing": "https://example.org/x" }),
        "task.complete" => json!({ "outcome": "done" }),
        "policy.propose" => json!({ "files": files, "reason": "a law" }),
        "record.write" | "record.replace" | "record.change" => json!({ "fields": { "code": "a law" } }),
        "semantics.propose" => json!({ "reason": "a law" }),
        "record.rollback" => json!({ "to_version": 1, "reason": "a law" }),
        "record.delete" | "knowledge.accept" | "knowledge.reject" | "knowledge.retract" => json!({}),
        other => panic!("say in this test what {other} takes"),
    }
}

#[tokio::test]
async fn whatever_changes_a_record_with_a_version_conflicts_over_another_one() {
    let test = Test::new().await;
    let task = test.post("/tasks", &test.admin, json!({ "title": "a law" })).await.json();
    let task = task["id"].as_str().unwrap().to_owned();
    let spec = json!({ "key": ["code"], "fields": { "code": { "type": "text", "required": true } } });
    super::brain::create(&test, "codes", spec).await;
    let record = json!({ "fields": { "code": "a law" } });
    let record = test.post("/brain/collections/codes/records", &test.admin, record).await.json();
    let record = record["id"].as_str().unwrap().to_owned();
    let mia = test.add("mia", "person", json!({})).await;
    let known = test.post("/knowledge", &mia, json!({ "statement": "a law" })).await.json();
    let known = known["id"].as_str().unwrap().to_owned();
    for entry in ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.precondition.field().is_some()) {
        let id = match entry.spec.name.split_once('.') {
            Some(("record", _)) => &record,
            Some(("knowledge", _)) => &known,
            _ => &task,
        };
        let path = entry.spec.route.path.replace("{id}", id).replace("{collection}", "codes");
        let refused = matched(&test, (entry.spec.route.method.name(), &path), "\"77\"", body_of(entry.spec.name)).await;
        assert!(refused.error().starts_with("409 conflict "), "{}: {}", entry.spec.name, refused.text());
    }
    let stop = matched(&test, ("POST", "/kill"), "\"1\"", json!({ "scope": "tool:mail.send" })).await;
    assert_eq!(stop.error(), "400 bad_request If-Match: kill takes no version; omit the header");
    assert_eq!(test.get("/policy/applied", &test.admin).await.header("etag"), "\"2\"");
    assert_eq!(test.get("/actors", &test.admin).await.header("etag"), "");
}

#[tokio::test]
async fn every_bad_setting_is_named_at_once() {
    let test = Test::new().await;
    let bad = json!({ "name": "", "timezone": "Mars/Olympus", "hours": { "from": "9", "to": "17:00" }, "version": 1 });
    let answer = test.call("PUT", "/company", &test.admin, Some(bad)).await;
    assert_eq!(answer.status, 422);
    assert_eq!(
        answer.json()["problems"],
        json!([
            "name: must have 1 to 100 characters, on one line, not all of them blank or invisible",
            "timezone: must be an IANA time zone, such as Europe/Berlin",
            "hours.from: must be HH:MM",
        ])
    );
    assert_eq!(test.get("/company", &test.admin).await.json()["version"], 1);
}

#[tokio::test]
async fn a_change_of_no_setting_is_none() {
    let test = Test::new().await;
    for nothing in [json!({}), json!({ "version": 1 }), json!({ "name": null })] {
        let answer = test.call("PATCH", "/company", &test.admin, Some(nothing)).await;
        assert_eq!(answer.error(), "422 invalid specify at least one change: a setting, or no_budget");
    }
    assert_eq!(test.get("/company", &test.admin).await.json()["version"], 1);
}

#[tokio::test]
async fn a_budget_that_the_log_cannot_hold_to_the_cent_is_refused() {
    let test = Test::new().await;
    let put = async |cents: u64| {
        test.call("PATCH", "/company", &test.admin, Some(json!({ "budget_cents_month": cents }))).await
    };
    let over = put(9_007_199_254_740_992).await;
    assert_eq!(over.error(), "422 invalid budget_cents_month: must be at most 9007199254740991");
    assert_eq!(put(9_007_199_254_740_991).await.status, 200);
    assert_eq!(test.event().await["event"]["settings"]["budget_cents_month"], 9_007_199_254_740_991_u64);
}

#[tokio::test]
async fn only_admins_change_the_company() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for token in [&cast.lea, &cast.sam, &cast.mia, &cast.bot] {
        for (method, operation) in [("PUT", "company.replace"), ("PATCH", "company.update")] {
            let answer = test.call(method, "/company", token, Some(json!({ "version": 1 }))).await;
            let denied = format!("403 denied policy denied {operation}: only admins change the company");
            assert_eq!(answer.error(), denied);
        }
    }
}

#[tokio::test]
async fn what_a_change_leaves_out_stays_as_it_is() {
    let test = Test::new().await;
    let patch = |change| test.call("PATCH", "/company", &test.admin, Some(change));
    assert_eq!(patch(json!({ "locale": "de", "budget_cents_month": 500 })).await.status, 200);
    let changed = patch(json!({ "name": "Acme", "approvals": { "default_ttl_h": 24 } })).await.json();
    assert_eq!((&changed["name"], &changed["locale"], &changed["version"]), (&json!("Acme"), &json!("de"), &json!(3)));
    assert_eq!((&changed["budget_cents_month"], &changed["timezone"]), (&json!(500), &json!("UTC")));
    assert_eq!(patch(json!({ "budget_cents_month": null })).await.status, 422, "nobody guesses what null means");
    assert_eq!(patch(json!({ "no_budget": true })).await.json()["budget_cents_month"], json!(null));
    let both = patch(json!({ "no_budget": true, "budget_cents_month": 1 })).await;
    assert_eq!(both.error(), "422 invalid no_budget: name a budget or none, not both");
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}
