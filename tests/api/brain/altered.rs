//! What is said of a field otherwise: its records must fit, and what a label keeps is uncovered by nobody alone.

use ok::policy::Bundle;
use ok::types::time::{Clock as _, SECOND};
use serde_json::{Value, json};

use super::{INVOICES, accounted_for, change, company, numbers, with_policies, write};
use crate::harness::{Answer, Cast, Test};

async fn alter(test: &Test, field: &str, changes: Value) -> Answer {
    change(test, "invoices", json!([{ "alter_field": { "name": field, "field": changes } }])).await
}

async fn field(test: &Test, name: &str) -> Value {
    test.get(INVOICES, &test.admin).await.json()["fields"][name].clone()
}

/// Proposes as the steward, who applies it.
async fn by_steward(test: &Test, cast: &Cast, changes: Value) -> Answer {
    let ops = json!([{ "alter_field": { "name": "total", "field": changes } }]);
    let proposal = json!({ "collection": "invoices", "ops": ops, "reason": "needed" });
    let proposed = test.post("/schema/proposals", &cast.sam, proposal).await;
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    let path = format!("/schema/proposals/{}/apply", proposed.json()["id"].as_str().unwrap());
    test.post(&path, &cast.sam, json!({})).await
}

#[tokio::test]
async fn what_is_said_of_a_field_changes_where_its_records_fit() {
    let (test, cast) = company().await;
    write(&test, &test.admin, json!({ "number": "1", "total": "5", "tags": ["rush", "old"], "status": "paid" })).await;
    write(&test, &test.admin, json!({ "number": "2", "total": "50", "due": "2026-03-01" })).await;
    // More to choose from, and a record that has it.
    assert_eq!(alter(&test, "status", json!({ "options": ["new", "paid", "late"] })).await.status, 200);
    write(&test, &cast.mia, json!({ "number": "3", "total": "7", "due": "2026-04-01", "status": "late" })).await;
    for (name, changes, why) in [
        ("status", json!({ "options": ["new", "paid"] }), "values of `status` that are not among the options"),
        ("tags", json!({ "options": ["rush"] }), "values of `tags` that are not among the options"),
        ("due", json!({ "required": true }), "records have no `due`: give them one first"),
        ("total", json!({ "max": "49.99" }), "records have a `total` beyond its bounds"),
        ("total", json!({ "min": "5.01" }), "records have a `total` beyond its bounds"),
        ("total", json!({ "min": "0" }), "ops[0]: it changes nothing: specify at least one change"),
        ("total", json!({}), "ops[0]: it changes nothing: specify at least one change"),
        ("total", json!({ "max": "-1" }), "must not be above max"),
        ("status", json!({ "default": "lost" }), "must be one of new, paid, late"),
        ("due", json!({ "unit": "EUR" }), "only numbers have a unit"),
        ("iban", json!({ "label": null }), "personal data is stored separately"),
        ("vendor", json!({ "label": "personal" }), "personal data is stored separately"),
        ("iban", json!({ "required": true }), "are not checked"),
        ("number", json!({ "required": false }), "must be required: a key is never empty"),
        ("number", json!({ "label": "confidential" }), "a key is for everybody to see"),
        ("none", json!({ "unit": "EUR" }), "there is no field `none`"),
    ] {
        let refused = alter(&test, name, changes.clone()).await;
        let told = refused.error();
        assert!(refused.status == 422 && told.contains(why), "{name} {changes}: {told}");
    }
    let unknown = alter(&test, "total", json!({ "type": "integer" })).await;
    assert!(unknown.status == 422 && unknown.text().contains("unknown field `type`"), "{}", unknown.text());
    // What is written as a list would be taken by its places.
    for op in [
        json!({ "alter_field": { "name": "total", "field": ["x"] } }),
        json!({ "retention": [1, 2] }),
        json!({ "semantics": { "metrics": { "m": ["count"] } } }),
    ] {
        let refused = change(&test, "invoices", json!([op])).await;
        assert!(refused.text().contains("must be an object, not a list"), "{op}: {}", refused.text());
    }
    // Once they fit, it is so.
    write(&test, &test.admin, json!({ "number": "1", "total": "6", "due": "2026-01-01", "tags": ["rush"] })).await;
    for (name, changes) in [
        ("due", json!({ "required": true, "title": "Due on" })),
        ("tags", json!({ "options": ["rush"] })),
        ("total", json!({ "min": "5.01", "max": "50", "unit": "EUR" })),
        ("status", json!({ "default": null })),
        ("due", json!({ "required": null })),
        ("due", json!({ "required": true })),
    ] {
        let altered = alter(&test, name, changes.clone()).await;
        assert_eq!(altered.status, 200, "{name} {changes}: {}", altered.text());
    }
    assert_eq!(field(&test, "due").await, json!({ "type": "date", "required": true, "title": "Due on" }));
    let total = json!({ "type": "money", "min": "5.01", "max": "50", "unit": "EUR", "label": "confidential" });
    assert_eq!(field(&test, "total").await, total);
    for (fields, why) in [
        (json!({ "number": "4" }), "due"),
        (json!({ "number": "4", "due": "2026-01-01", "total": "51" }), "must be at most"),
        (json!({ "number": "4", "due": "2026-01-01", "tags": ["old"] }), "must be one of rush"),
    ] {
        let refused = test.post(&format!("{INVOICES}/records"), &test.admin, json!({ "fields": fields })).await;
        assert!(refused.status == 422 && refused.error().contains(why), "{}", refused.error());
    }
    assert_eq!(alter(&test, "total", json!({ "max": null })).await.status, 200);
    assert_eq!(numbers(&test, &test.admin, json!({ "sort": ["number"] })).await, ["1", "2", "3"]);
    // The same of the collection.
    let group = change(&test, "invoices", json!([{ "alter": { "smallest_group": 9, "title": "Bills" } }])).await;
    assert_eq!(group.status, 200, "{}", group.text());
    let shown = test.get(INVOICES, &test.admin).await.json();
    assert_eq!((&shown["title"], &shown["smallest_group"]), (&json!("Bills"), &json!(9)), "{shown}");
    let few = json!({ "measures": ["count"], "group_by": ["status"] });
    let few = test.post(&format!("{INVOICES}/aggregate"), &test.admin, few).await.json();
    assert_eq!(few, json!([]));
    accounted_for(&test);
}

/// Whoever may not read a field learns nothing of it by what is refused, and does not make it theirs to read.
#[tokio::test]
async fn what_a_label_keeps_from_a_steward_is_neither_guessed_nor_uncovered() {
    let mut policies = Bundle::built_in();
    let blind = r#"@id("blind") @reason("not for stewards")
        forbid (principal in Ok::Role::"steward", action == Ok::Action::"field.read", resource)
        when { context.input has label && context.input.label == "confidential" };"#;
    policies.files.insert("blind.cedar".into(), blind.into());
    let (test, cast) = with_policies(policies).await;
    let record = write(&test, &test.admin, json!({ "number": "1", "total": "50" })).await;
    let path = format!("{INVOICES}/records/{}", record["id"].as_str().unwrap());
    let total = async |who: &str| test.get(&path, who).await.json()["fields"]["total"].clone();
    assert_eq!((total(&cast.sam).await, total(&test.admin).await), (Value::Null, json!("50.00")));
    let told = "409 conflict whether the records fit is shown only to somebody who may read `total` of all of them: have them apply it";
    for most in ["49", "51"] {
        assert_eq!(by_steward(&test, &cast, json!({ "max": most })).await.error(), told);
    }
    assert_eq!(by_steward(&test, &cast, json!({ "unit": "EUR" })).await.status, 200, "that tells of no record");
    for label in [Value::Null, json!("untrusted")] {
        let waits = by_steward(&test, &cast, json!({ "label": label })).await;
        assert_eq!(waits.status, 202, "{}", waits.text());
        assert_eq!(total(&cast.sam).await, Value::Null);
    }
    let waits = by_steward(&test, &cast, json!({ "label": null })).await.json();
    let approval = format!("/approvals/{}", waits["approval"].as_str().unwrap());
    let decided = test.post(&approval, &test.admin, json!({ "decision": "approve" })).await.json();
    assert_eq!(decided["status"], "used", "{decided}");
    assert_eq!((total(&cast.sam).await, total(&cast.mia).await), (json!("50.00"), json!("50.00")));
    // A label that comes keeps it from then on, and what it was.
    assert_eq!(by_steward(&test, &cast, json!({ "label": "confidential" })).await.status, 200);
    assert_eq!(total(&cast.mia).await, Value::Null);
    let history = test.get(&format!("{path}/history"), &cast.mia).await.text();
    assert!(!history.contains("50"), "{history}");
    accounted_for(&test);
}

/// A name that a field has only within the proposal hides no label.
#[tokio::test]
async fn a_label_is_not_taken_off_by_another_name() {
    let (test, cast) = company().await;
    let ops = json!([
        { "rename_field": { "name": "total", "to": "sum" } },
        { "alter_field": { "name": "sum", "field": { "label": null } } },
    ]);
    let proposal = json!({ "collection": "invoices", "ops": ops, "reason": "needed" });
    let proposed = test.post("/schema/proposals", &cast.sam, proposal).await.json();
    let path = format!("/schema/proposals/{}/apply", proposed["id"].as_str().unwrap());
    assert_eq!(test.post(&path, &cast.sam, json!({ "dry_run": true })).await.status, 200);
    assert_eq!(test.post(&path, &cast.sam, json!({})).await.status, 202);
}

/// A field that comes with a default is there in what records are now, whichever way that is asked, and in what comes of a
/// rollback.
#[tokio::test]
async fn a_required_field_that_was_added_keeps_no_record_from_its_earlier_versions() {
    let (test, _) = company().await;
    let mut records = Vec::new();
    for number in ["1", "2"] {
        records.push(write(&test, &test.admin, json!({ "number": number })).await["id"].as_str().unwrap().to_owned());
        write(&test, &test.admin, json!({ "number": number, "due": "2026-12-01" })).await;
    }
    let path = |id: &str| format!("{INVOICES}/records/{id}");
    let (live, dead) = (path(&records[0]), path(&records[1]));
    assert_eq!(test.call("DELETE", &dead, &test.admin, None).await.status, 200);
    let field = json!({ "type": "text", "required": true, "default": "zz" });
    let added = change(&test, "invoices", json!([{ "add_field": { "name": "must", "field": field } }])).await;
    assert_eq!(added.status, 200, "{}", added.text());
    test.clock.advance(SECOND);

    let now = test.clock.now().to_string();
    for query in [json!({}), json!({ "as_of": now })] {
        let mut query = query.as_object().unwrap().clone();
        query.insert("filter".into(), json!({ "must": "zz" }));
        assert_eq!(numbers(&test, &test.admin, query.into()).await, ["1"]);
    }
    let history = test.get(&format!("{live}/history"), &test.admin).await.json();
    assert_eq!(history[0]["fields"], test.get(&live, &test.admin).await.json()["fields"]);
    assert_eq!(history[1]["fields"]["must"], Value::Null, "{history}");

    test.call("PATCH", &live, &test.admin, Some(json!({ "fields": { "must": "mine" } }))).await;
    for (path, to, must) in [(&live, 2, "zz"), (&live, 1, "zz"), (&dead, 2, "zz")] {
        let back = json!({ "to_version": to, "reason": "as it was" });
        let back = test.post(&format!("{path}/rollback"), &test.admin, back).await;
        assert_eq!(back.status, 200, "{path} to {to}: {}", back.text());
        assert_eq!(back.json()["fields"]["must"], must);
    }
    accounted_for(&test);
}

#[tokio::test]
async fn what_refers_to_a_deleted_record_is_still_listed() {
    let (test, _) = company().await;
    let vendors = "/brain/collections/vendors/records";
    let vendor = test.post(vendors, &test.admin, json!({ "fields": { "name": "acme" } })).await.json()["id"].clone();
    write(&test, &test.admin, json!({ "number": "7", "vendor": vendor })).await;
    let refs = format!("/refs/vendors/{}", vendor.as_str().unwrap());
    let listed = test.get(&refs, &test.admin).await.json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let gone = test.call("DELETE", &format!("{vendors}/{}", vendor.as_str().unwrap()), &test.admin, None).await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert_eq!(test.get(&refs, &test.admin).await.json(), listed);
    assert_eq!(test.get("/refs/vendors/rec_0", &test.admin).await.status, 404);
}
