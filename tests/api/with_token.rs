//! Which token a call was made with: what a company looks for once one has leaked.

use serde_json::{Value, json};

use crate::harness::{Answer, Test};

/// Two tokens of the lead `lea`, and the second admin `ben`, who has not issued them.
struct Leaked {
    test: Test,
    ben: String,
    stolen: (String, String),
    own: (String, String),
}

impl Leaked {
    async fn new() -> Leaked {
        let test = Test::new().await;
        let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
        test.add("team:ops", "team", json!({ "lead": "lea" })).await;
        let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
        let issue = async || {
            let issued = test.post("/tokens", &lea, json!({})).await.json();
            let text = |field: &str| issued[field].as_str().unwrap().to_owned();
            (text("token"), text("id"))
        };
        let (stolen, own) = (issue().await, issue().await);
        Leaked { test, ben, stolen, own }
    }

    async fn add(&self, id: &str, with: &str) -> String {
        let asked =
            self.test.post("/actors", with, json!({ "id": id, "kind": "person", "team": "team:ops" })).await.json();
        asked["approval"].as_str().unwrap().to_owned()
    }

    async fn events(&self, reader: &str, query: &str) -> Vec<Value> {
        let all = self.test.get(&format!("/events?limit=1000{query}"), reader).await.json();
        all["events"].as_array().unwrap().clone()
    }

    async fn done_with(&self, reader: &str, id: &str) -> Vec<String> {
        let events = self.events(reader, &format!("&token_id={id}")).await;
        events.iter().map(|record| record["event"]["type"].as_str().unwrap().to_owned()).collect()
    }

    async fn revoke(&self, path: &str) -> Answer {
        self.test.call("DELETE", path, &self.ben, None).await
    }
}

#[tokio::test]
async fn all_that_was_done_with_a_token_is_found_by_its_id() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, own } = &leaked;
    test.post("/kill", &stolen.0, json!({ "scope": "global" })).await;
    test.post("/kill", &own.0, json!({ "scope": "global" })).await;
    let [mine, theirs] = [leaked.add("new1", &own.0).await, leaked.add("new2", &stolen.0).await];
    for id in [&mine, &theirs] {
        let decided = test.post(&format!("/approvals/{id}"), ben, json!({ "decision": "approve" })).await;
        assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    }
    assert_eq!(leaked.revoke(&format!("/tokens/id/{}", stolen.1)).await.json(), json!({ "revoked": 1 }));
    // From its beginning to its end, with what was carried out of it when others had approved.
    let done = ["token_issued", "denied", "approval_requested", "actor_added", "token_revoked"];
    assert_eq!(leaked.done_with(ben, &stolen.1).await, done);
    assert_eq!(leaked.done_with(ben, &own.1).await, done[..4]);
    let with = |records: Vec<Value>| -> Vec<Value> { records.iter().map(|one| one["token_id"].clone()).collect() };
    let records = leaked.events(ben, &format!("&token_id={}", stolen.1)).await;
    let [issued, .., revoked] = &with(records)[..] else { panic!() };
    assert!(issued != &json!(stolen.1) && revoked != &json!(stolen.1), "what was done to it was done with others");
    let added = leaked.events(ben, "&type=actor_added").await;
    assert!(with(added).ends_with(&[json!(own.1), json!(stolen.1)]), "what was carried out is of who asked");
    assert_eq!(test.verdict().problems, []);
    // Whoever holds the state file needs none.
    let by_file = test.local_as("ana", "kill", json!({ "scope": "tool:mail.send" })).await;
    assert!(by_file.is_object());
    assert_eq!(test.event().await.get("token_id"), None);
}

#[tokio::test]
async fn whose_token_it_was_is_for_who_may_see_it() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, own } = &leaked;
    let max = test.add("max", "person", json!({ "team": "team:ops" })).await;
    let asked = test
        .post(
            "/delegations",
            &stolen.0,
            json!({ "to": "max", "scope": ["actor.list"], "authority": "inform", "ttl": "1h" }),
        )
        .await;
    assert_eq!(asked.status, 201, "{}", asked.text());
    let of = async |reader: &str| leaked.events(reader, "&type=delegation_granted").await[0]["token_id"].clone();
    assert_eq!((of(ben).await, of(&own.0).await, of(&max).await), (json!(stolen.1), json!(stolen.1), Value::Null));
    assert_eq!(leaked.done_with(&own.0, &stolen.1).await, ["token_issued", "delegation_granted"]);
    // Nor does the filter tell it.
    for (reader, id) in [(&max, &stolen.1[..]), (&max, "tok_00000000000000000000000000"), (ben, "tok_01M7")] {
        let refused = test.get(&format!("/events?token_id={id}"), reader).await.error();
        assert_eq!(refused, format!("404 not_found not found, or not yours to see: token_id `{id}`"));
    }
}

#[tokio::test]
async fn a_request_says_that_its_token_was_revoked_and_who_revokes_is_told_of_it() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, own } = &leaked;
    let id = leaked.add("new", &stolen.0).await;
    let [about, explained] = [format!("/approvals/{id}"), format!("/approvals/{id}/explain")];
    let before = test.get(&about, ben).await.json();
    assert_eq!((&before["token_id"], before.get("token_revoked_at")), (&json!(stolen.1), None));
    test.clock.advance(60_000);
    let revoked = leaked.revoke(&format!("/tokens/id/{}", stolen.1)).await;
    assert_eq!(revoked.json(), json!({ "revoked": 1, "requests": [id] }));
    for path in [&about, &explained] {
        assert_eq!(test.get(path, ben).await.json()["token_revoked_at"], "2026-11-20T09:01:00Z", "{path}");
    }
    let listed = test.get("/tokens?actor=lea", ben).await.json();
    let revoked =
        |id: &str| listed.as_array().unwrap().iter().find(|token| token["id"] == id).unwrap().get("revoked_at");
    assert_eq!((revoked(&stolen.1), revoked(&own.1)), (Some(&json!("2026-11-20T09:01:00Z")), None));
    // It is no other request because of that.
    let again = leaked.add("new", &own.0).await;
    assert_eq!(again, id);
    let all = leaked.revoke("/tokens/lea").await.json();
    assert_eq!((&all["revoked"], all.get("requests")), (&json!(2), None), "it was made with another");
}
