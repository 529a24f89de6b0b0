//! What stands besides the records: collections under policies that change, flags, the catalog.

use ok::policy::Bundle;
use serde_json::json;

use super::{INVOICES, company, put_into_force, write};

#[tokio::test]
async fn policies_come_and_go_and_the_collections_stay() {
    let (test, _) = company().await;
    let files = Bundle::built_in().files;
    let mut other = files.clone();
    other.insert(
        "more.cedar".into(),
        "@id(\"more\") @reason(\"r\") forbid (principal == Ok::Actor::\"nobody\", action, resource);".into(),
    );
    let applied = put_into_force(&test, json!(other)).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    assert_eq!(test.get("/brain/collections", &test.admin).await.json().as_array().unwrap().len(), 2);
    // A bundle changes no collection: that is a proposal's.
    let mut wrong = files;
    wrong.insert(
        "collections/vendors.yaml".into(),
        "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: vendors}\nspec:\n  fields:\n    name: {type: text}\n"
            .into(),
    );
    let refused = test.post("/policy/proposals", &test.admin, json!({ "files": wrong, "reason": "no" })).await;
    assert!(refused.error().contains("`collections/vendors.yaml` is not as in force"), "{}", refused.error());
}

#[tokio::test]
async fn flags_are_shown_to_whoever_may_read_the_record() {
    let (test, cast) = company().await;
    let record = write(&test, &cast.mia, json!({ "number": "1" })).await;
    let path = format!("{INVOICES}/records/{}", record["id"].as_str().unwrap());
    let flagged = test.post(&format!("{path}/flag"), &cast.max, json!({ "kind": "wrong", "note": "twice" })).await;
    assert_eq!(flagged.status, 201, "{}", flagged.text());
    let flags = test.get("/brain/flags", &cast.mia).await.json();
    assert_eq!((&flags[0]["kind"], &flags[0]["by"]), (&json!("wrong"), &json!("max")));
    test.call("DELETE", &path, &cast.mia, None).await;
    assert_eq!(test.get("/brain/flags", &cast.mia).await.json(), json!([]));
    let hits = test.get("/brain/catalog?phrase=invoice%20totals", &cast.mia).await.json();
    assert_eq!((&hits[0]["collection"], &hits[1]["field"]), (&json!("invoices"), &json!("total")), "{hits}");
}
