//! What is older than its collection keeps, the tick removes.

use ok::types::time::DAY;
use serde_json::{Value, json};

use super::{INVOICES, accounted_for, change, company, create, numbers, write};
use crate::harness::Test;

/// How many the tick has removed, and whether more is left.
async fn removed(test: &Test) -> (u64, bool) {
    let ticked = test.post("/tick", &test.admin, json!({})).await.json();
    (ticked["removed"].as_u64().unwrap(), ticked["more"].as_bool().unwrap())
}

async fn keep(test: &Test, retention: Value) {
    let changed = change(test, "invoices", json!([{ "retention": retention }])).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
}

async fn versions(test: &Test, path: &str) -> Vec<i64> {
    let shown = test.get(&format!("{path}/history"), &test.admin).await;
    assert_eq!(shown.status, 200, "{}", shown.text());
    shown.json().as_array().unwrap().iter().map(|version| version["version"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn an_earlier_version_goes_some_days_after_it_was_replaced_and_what_was_personal_of_it_is_erased() {
    let (test, cast) = company().await;
    let first = write(&test, &cast.mia, json!({ "number": "1", "iban": "DE0012345" })).await;
    let path = format!("{INVOICES}/records/{}", first["id"].as_str().unwrap());
    for iban in ["DE0067890", "DE0011111"] {
        test.clock.advance(DAY);
        write(&test, &test.admin, json!({ "number": "1", "iban": iban })).await;
    }
    assert_eq!(removed(&test).await, (0, false), "for good, unless the collection says otherwise");
    keep(&test, json!({ "history_days": 1 })).await;
    assert_eq!(removed(&test).await, (0, false), "replaced a day ago, not longer");
    test.clock.advance(1);
    assert_eq!((removed(&test).await, removed(&test).await), ((1, false), (0, false)), "once");
    assert_eq!(versions(&test, &path).await, [3, 2]);
    test.clock.advance(DAY);
    assert_eq!(removed(&test).await, (1, false));
    assert_eq!(test.newest(2).await, ["history_removed", "context_forgotten"]);
    assert_eq!(versions(&test, &path).await, [3]);
    // What it is now stays, with who made it.
    let now = test.get(&path, &test.admin).await.json();
    assert_eq!((&now["fields"]["iban"], &now["created_by"]), (&json!("DE0011111"), &json!("mia")));
    let back = json!({ "to_version": 1, "reason": "it was right before" });
    let refused = test.post(&format!("{path}/rollback"), &test.admin, back).await;
    assert_eq!(refused.error(), "422 invalid to_version: must be a version at which the record was there");
    assert_eq!(numbers(&test, &test.admin, json!({ "as_of": "2026-11-20T10:00:00Z" })).await, Vec::<String>::new());
    assert_eq!(numbers(&test, &test.admin, json!({})).await, ["1"]);
    let file = std::fs::read(test.path()).unwrap();
    for gone in [b"DE0012345", b"DE0067890"] {
        assert!(!file.windows(gone.len()).any(|window| window == gone), "it is still in the file");
    }
    // A deletion replaces a version, too.
    assert_eq!(test.call("DELETE", &path, &test.admin, None).await.status, 200);
    assert_eq!(versions(&test, &path).await, [4, 3]);
    test.clock.advance(2 * DAY);
    assert_eq!(removed(&test).await, (1, false));
    assert_eq!(test.get(&format!("{path}/history"), &test.admin).await.status, 404);
    accounted_for(&test);
}

#[tokio::test]
async fn a_record_that_nobody_changes_goes_with_all_that_it_was() {
    let (test, cast) = company().await;
    keep(&test, json!({ "record_days": 10 })).await;
    let old = write(&test, &cast.mia, json!({ "number": "old", "iban": "DE0012345" })).await;
    let path = format!("{INVOICES}/records/{}", old["id"].as_str().unwrap());
    write(&test, &cast.mia, json!({ "number": "old", "status": "paid" })).await;
    test.clock.advance(9 * DAY);
    write(&test, &cast.mia, json!({ "number": "new" })).await;
    assert_eq!(removed(&test).await, (0, false));
    test.clock.advance(2 * DAY);
    assert_eq!((removed(&test).await, removed(&test).await), ((2, false), (0, false)), "a version and the record");
    assert_eq!(numbers(&test, &test.admin, json!({})).await, ["new"]);
    for path in [path.clone(), format!("{path}/history")] {
        assert_eq!(test.get(&path, &test.admin).await.status, 404, "{path}");
    }
    assert_eq!(test.get("/search?q=old", &test.admin).await.json(), json!([]));
    let file = std::fs::read(test.path()).unwrap();
    assert!(!file.windows(9).any(|window| window == b"DE0012345"), "it is still in the file");
    // Its key is free again.
    assert_ne!(write(&test, &cast.mia, json!({ "number": "old" })).await["id"], old["id"]);
    keep(&test, json!({})).await;
    test.clock.advance(12 * DAY);
    assert_eq!(removed(&test).await, (0, false), "for good again");
    accounted_for(&test);
}

#[tokio::test]
async fn a_tick_removes_so_many_and_says_that_more_is_left() {
    let (test, _) = company().await;
    keep(&test, json!({ "history_days": 1 })).await;
    for status in ["new", "paid"] {
        test.clock.advance(DAY);
        let record = |number: usize| json!({ "number": number.to_string(), "status": status });
        for first in (0..1_005).step_by(201) {
            let records: Vec<_> = (first..first + 201).map(record).collect();
            let written = test.post(&format!("{INVOICES}/import"), &test.admin, json!({ "records": records })).await;
            assert_eq!(written.status, 200, "{}", written.text());
        }
    }
    test.clock.advance(2 * DAY);
    assert_eq!(
        (removed(&test).await, removed(&test).await, removed(&test).await),
        ((1_000, true), (5, false), (0, false))
    );
    accounted_for(&test);
}

#[tokio::test]
async fn a_retention_that_makes_no_sense_is_told_with_its_field() {
    let (test, _) = company().await;
    let days = "must be 1 to 36500; leave it out where nothing is to be removed";
    for (retention, told) in [
        (json!({ "history_days": 0 }), format!("spec.retention.history_days: {days}")),
        (json!({ "record_days": 36_501 }), format!("spec.retention.record_days: {days}")),
        (
            json!({ "history_days": 31, "record_days": 30 }),
            "spec.retention.history_days: must be at most record_days, which is 30: a record goes with its history"
                .into(),
        ),
    ] {
        let refused = change(&test, "invoices", json!([{ "retention": retention }])).await;
        assert_eq!(refused.error(), format!("422 invalid ops: {told}"));
    }
    let spec = json!({ "fields": { "name": { "type": "text" } }, "retention": {} });
    let refused = change(&test, "notes", json!([{ "create": { "spec": spec } }])).await;
    let told = "spec.retention: must have history_days, record_days or both; leave it out to keep everything";
    assert_eq!(refused.error(), format!("422 invalid ops: {told}"));
    for unread in [json!({ "keep_days": 1 }), json!({ "record_days": -1 }), json!({ "record_days": "30" })] {
        assert_eq!(change(&test, "invoices", json!([{ "retention": unread }])).await.status, 422, "{unread}");
    }
    let kept = json!({ "fields": { "name": { "type": "text" } }, "retention": { "record_days": 30 } });
    create(&test, "notes", kept).await;
    let shown = test.get("/brain/collections/notes", &test.admin).await.json();
    assert_eq!(shown["retention"], json!({ "record_days": 30 }));
}

#[tokio::test]
async fn an_import_renews_what_would_be_removed_without_a_change() {
    let (test, cast) = company().await;
    let code = json!({ "type": "text", "required": true });
    let spec = json!({ "key": ["code"], "retention": { "record_days": 10 }, "fields": { "code": code } });
    create(&test, "guests", spec).await;
    let import = async || {
        let records = json!({ "records": [{ "code": "a" }] });
        test.post("/brain/collections/guests/import", &cast.mia, records).await.json()
    };
    assert_eq!(import().await["created"], 1);
    test.clock.advance(8 * DAY);
    assert_eq!(import().await["changed"], 1);
    test.clock.advance(7 * DAY);
    assert_eq!(removed(&test).await, (0, false));
    test.clock.advance(4 * DAY);
    assert_eq!(removed(&test).await, (2, false), "the record, and its version before");
}
