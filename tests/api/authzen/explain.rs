//! Why another program is answered as it is.

use serde_json::{Value, json};

use super::{company, doc, question};
use crate::harness::{Answer, Test};

async fn explain(test: &Test, token: &str, evaluation: Value) -> Answer {
    test.post("/policy/explain", token, json!({ "evaluation": evaluation })).await
}

#[tokio::test]
async fn a_no_names_the_permits_that_came_near_part_by_part() {
    let test = company().await;
    let mut asked = question("edit", doc("1", json!({ "open": true, "owner": { "type": "Docs::User", "id": "bob" } })));
    asked["subject"]["properties"] = json!({ "parents": [{ "type": "Docs::Team", "id": "editors" }] });
    let no = explain(&test, &test.admin, asked.clone()).await.json();
    assert_eq!((&no["decision"], &no["operation"]), (&json!("deny"), &json!("Docs::Action::edit")), "{no}");
    assert_eq!((&no["actor"], &no["target"]), (&json!("Docs::User::ann"), &json!("Docs::Doc::1")));
    let near: Vec<&Value> = no["near_misses"].as_array().unwrap().iter().map(|policy| &policy["id"]).collect();
    assert_eq!(near, ["editors", "own-docs"], "{no}");
    let parts = no["near_misses"][1]["observed"].as_array().unwrap();
    let failing = parts.iter().find(|part| part["state"] == "fail").unwrap();
    assert_eq!(failing["text"], "resource.owner == principal");
    assert_eq!(failing["observed"][0]["value"]["id"], "bob");
    asked["context"] = json!({ "mfa": true });
    let yes = explain(&test, &test.admin, asked).await.json();
    assert_eq!((&yes["decision"], &yes["because"][0]["id"]), (&json!("allow"), &json!("editors")));
    let owned = doc("1", json!({ "open": true, "owner": { "type": "Docs::User", "id": "ann" } }));
    let waits = explain(&test, &test.admin, question("purge", owned)).await.json();
    assert_eq!((&waits["decision"], &waits["reason"]), (&json!("needs_approval"), &json!("purging takes an admin")));
    assert_eq!(waits["approvals"], json!([{ "kind": "admin", "threshold": 1 }]));
}

#[tokio::test]
async fn whoever_may_not_ask_is_told_nothing_and_what_is_wrong_is_named() {
    let test = company().await;
    let mia = test.add("mia", "person", json!({})).await;
    let asked = question("view", doc("1", json!({ "open": true })));
    let denied = explain(&test, &mia, asked.clone()).await.error();
    assert!(denied.starts_with("403 denied policy denied access.evaluate: "), "{denied}");
    let told = async |evaluation: Value| explain(&test, &test.admin, evaluation).await.error();
    assert_eq!(told(json!({})).await, "400 bad_request action: is required");
    assert_eq!(
        told(question("hug", doc("1", json!({})))).await,
        "400 bad_request action.name: the company's schema has no action `hug`"
    );
    assert_eq!(
        told(question("view", doc("1", json!({})))).await,
        "400 bad_request resource.properties.open: is missing"
    );
    let both = json!({ "op": "tick", "evaluation": asked });
    let both = test.post("/policy/explain", &test.admin, both).await.error();
    assert_eq!(both, "422 invalid evaluation: give it without op, target, input, under and run");
}
