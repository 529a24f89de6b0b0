use serde_json::json;

use crate::harness::Test;

#[tokio::test]
async fn a_token_is_shown_once_and_works_until_it_is_revoked() {
    let test = Test::new().await;
    let issued = test.post("/tokens", &test.admin, json!({ "label": "laptop", "scopes": ["read"] })).await;
    assert_eq!(issued.status, 201, "{}", issued.text());
    let issued = issued.json();
    assert_eq!(issued["kind"], "api");
    let token = issued["token"].as_str().unwrap();
    assert_eq!(test.get("/me", token).await.json()["id"], "ana");
    let id = issued["id"].as_str().unwrap();
    let revoked = test.call("DELETE", &format!("/tokens/id/{id}"), &test.admin, None).await;
    assert_eq!(revoked.json(), json!({ "revoked": 1 }));
    assert_eq!(test.get("/me", token).await.error(), "401 unauthorized invalid token");
}
