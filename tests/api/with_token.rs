//! Which token a call was made with: what a company looks for once one has leaked.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::approvals::two_admins;
use super::changes::{propose, step, stricter};
use crate::harness::{Answer, Test};

/// Two more tokens of the lead `lea`, and the second admin `ben`, who has not issued them.
pub struct Leaked {
    pub test: Test,
    pub lea: String,
    pub ben: String,
    pub stolen: (String, String),
    pub own: (String, String),
}

impl Leaked {
    pub async fn new() -> Leaked {
        Leaked::of(Test::new().await).await
    }

    pub async fn of(test: Test) -> Leaked {
        let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
        test.add("team:ops", "team", json!({ "lead": "lea" })).await;
        let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
        let issue = async || {
            let issued = test.post("/tokens", &lea, json!({})).await.json();
            let text = |field: &str| issued[field].as_str().unwrap().to_owned();
            (text("token"), text("id"))
        };
        let (stolen, own) = (issue().await, issue().await);
        Leaked { test, lea, ben, stolen, own }
    }

    pub async fn add(&self, id: &str, with: &str) -> String {
        let asked =
            self.test.post("/actors", with, json!({ "id": id, "kind": "person", "team": "team:ops" })).await.json();
        asked["approval"].as_str().unwrap().to_owned()
    }

    pub async fn events(&self, reader: &str, query: &str) -> Vec<Value> {
        let all = self.test.get(&format!("/events?limit=1000{query}"), reader).await.json();
        all["events"].as_array().unwrap().clone()
    }

    async fn done_with(&self, reader: &str, id: &str) -> Vec<String> {
        let events = self.events(reader, &format!("&token_id={id}")).await;
        events.iter().map(|record| record["event"]["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Has an agent that is only observed ask for a change, in a run: the approval that it waits for.
    pub async fn in_a_run(&self, with: &str) -> String {
        let own = json!({ "call": { "tool": "me.read" } });
        let step = json!({ "call": { "tool": "task.create", "with": { "title": "pay mallory" } } });
        let asked = json!({ "agent": "bot", "text": "x", "plan": { "steps": [own, step, { "say": "done" }] } });
        let asked = self.test.post("/ask", with, asked).await;
        assert_eq!(asked.status, 202, "{}", asked.text());
        self.test.go_on().await;
        let waiting = self.test.get("/approvals?status=pending", &self.ben).await.json();
        waiting[0]["id"].as_str().unwrap_or_else(|| panic!("{waiting}")).to_owned()
    }

    pub async fn revoke(&self, path: &str) -> Answer {
        self.test.call("DELETE", path, &self.ben, None).await
    }
}

#[tokio::test]
async fn all_that_was_done_with_a_token_is_found_by_its_id() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, own, .. } = &leaked;
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
    let mine = |of: Value| of["token_id"].clone();
    let [lea, ben_own] = [mine(test.get("/me", &leaked.lea).await.json()), mine(test.get("/me", ben).await.json())];
    assert_eq!((issued, revoked), (&lea, &ben_own), "what was done to it was done with others");
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
    let Leaked { test, ben, stolen, own, .. } = &leaked;
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
        for field in ["token_id", "run", "task", "thread"] {
            let refused = test.get(&format!("/events?{field}={id}"), reader).await.error();
            assert_eq!(refused, format!("404 not_found not found, or not yours to see: {field} `{id}`"));
        }
        let stream = test.get(&format!("/events/stream?token_id={id}"), reader).await;
        assert_eq!(stream.status, 404);
    }
    // An approver who is no admin decides the request, and learns no more of the token than that it was revoked.
    let pasted = test.get(&format!("/events?token_id={}", stolen.0), ben).await.error();
    assert_eq!(pasted, "404 not_found not found, or not yours to see: token_id `ok_…`");
}

#[tokio::test]
async fn a_request_says_that_its_token_was_revoked_and_who_revokes_is_told_of_it() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, own, .. } = &leaked;
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
    let alert = test.get("/inbox", ben).await.json();
    let alert = alert.as_array().unwrap().iter().find(|item| item["kind"] == "alert").unwrap();
    let said = "a token that this was requested or decided with was revoked: lea adds new as person to team:ops";
    assert_eq!((&alert["title"], &alert["subject"]), (&json!(said), &json!(id)));
    let told = leaked.events(ben, "&type=approval_token_revoked").await;
    assert_eq!(told[0]["event"], json!({ "type": "approval_token_revoked", "id": id, "requester": "lea" }));
    // Whoever revokes it again, not having seen the answer, is told, too.
    let again = leaked.revoke(&format!("/tokens/id/{}", stolen.1)).await;
    assert_eq!(again.json(), json!({ "revoked": 0, "requests": [id] }));
    // It is no other request because of that.
    let again = leaked.add("new", &own.0).await;
    assert_eq!(again, id);
    let all = leaked.revoke("/tokens/lea").await.json();
    assert_eq!((&all["revoked"], all.get("requests")), (&json!(2), None), "it was made with another");
}

#[tokio::test]
async fn who_decides_and_may_not_see_the_token_is_told_that_it_was_revoked_and_not_which_it_is() {
    let leaked = Leaked::new().await;
    let Leaked { test, lea, ben, .. } = &leaked;
    let mia = test.add("mia", "person", json!({ "team": "team:ops" })).await;
    let stolen = test.get("/me", &mia).await.json()["token_id"].clone();
    test.add("bot", "agent", json!({ "team": "team:ops", "owner": "mia", "trust": "observe" })).await;
    let id = leaked.in_a_run(&mia).await;
    leaked.revoke(&format!("/tokens/id/{}", stolen.as_str().unwrap())).await;
    let read = async |path: &str| test.get(path, lea).await.text();
    for path in ["/approvals", &format!("/approvals/{id}"), &format!("/approvals/{id}/explain")] {
        let shown = read(path).await;
        assert!(shown.contains("token_revoked_at") && !shown.contains(stolen.as_str().unwrap()), "{shown}");
    }
    assert!(read("/inbox").await.contains("was requested or decided with was revoked"));
    // Leads see that it was issued, and revoked; and not what was done with it.
    let events = leaked.events(lea, "").await;
    let of_token: Vec<&Value> =
        events.iter().filter(|one| one.to_string().contains(stolen.as_str().unwrap())).collect();
    let kinds: Vec<&str> = of_token.iter().map(|one| one["event"]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["token_issued", "token_revoked"]);
    assert!(events.iter().any(|one| one["event"]["type"] == "approval_requested"));
    let done = leaked.done_with(ben, stolen.as_str().unwrap()).await;
    assert!(done.contains(&"approval_requested".to_owned()), "{done:?}");
}

#[tokio::test]
async fn what_a_run_does_is_done_with_the_token_that_it_was_begun_with() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, .. } = &leaked;
    test.add("bot", "agent", json!({ "team": "team:ops", "owner": "lea", "trust": "observe" })).await;
    let id = leaked.in_a_run(&stolen.0).await;
    let shown = test.get(&format!("/approvals/{id}"), ben).await.json();
    let run = shown["run"].as_str().unwrap();
    assert_eq!((&shown["actor"], &shown["token_id"]), (&json!("bot"), &json!(stolen.1)));
    let revoked = leaked.revoke(&format!("/tokens/id/{}", stolen.1)).await.json();
    assert_eq!(revoked, json!({ "revoked": 1, "requests": [id], "runs": [run] }));
    test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "approve" })).await;
    test.go_on().await;
    let done = leaked.done_with(ben, &stolen.1).await;
    assert!(
        ["run_started", "approval_requested", "task_created"].iter().all(|kind| done.iter().any(|one| one == kind)),
        "{done:?}"
    );
    // It is none of what the run says of itself, or its agent reads of itself.
    for path in [format!("/runs/{run}"), format!("/events?run={run}&limit=1000")] {
        let read = test.get(&path, ben).await.json();
        let events = read["events"].as_array().into_iter().flatten();
        let said: Vec<String> = events.map(|record| record["event"].to_string()).collect();
        assert!(
            !said.concat().contains(&stolen.1) && (!said.is_empty() || !read.to_string().contains(&stolen.1)),
            "{path}"
        );
    }
    let steps = test.get(&format!("/runs/{run}"), ben).await.text();
    assert!(steps.contains("me.read") && !steps.contains("token_id"), "{steps}");
    assert_eq!(test.verdict().problems, []);
}

#[tokio::test]
async fn whoever_leaves_leaves_no_request_unmarked_that_their_token_began() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, lea, .. } = &leaked;
    test.add("bot", "agent", json!({ "team": "team:ops", "owner": "ben", "trust": "observe" })).await;
    let id = leaked.in_a_run(lea).await;
    let left = test.post("/actors/lea/offboard", &test.admin, json!({ "reason": "stolen", "successor": "ben" })).await;
    assert_eq!(left.status, 200, "{}", left.text());
    let told = leaked.events(ben, "&type=approval_token_revoked").await;
    assert_eq!(told.iter().map(|one| one["event"]["id"].clone()).collect::<Vec<_>>(), [json!(id)]);
}

#[tokio::test]
async fn a_vote_that_was_given_with_a_token_that_was_revoked_says_so() {
    let leaked = Leaked::of(Test::with_policies(two_admins()).await).await;
    let Leaked { test, ben, own, .. } = &leaked;
    let id = leaked.add("new", &own.0).await;
    let vote = test.post("/tokens", ben, json!({})).await.json();
    let agreed =
        test.post(&format!("/approvals/{id}"), vote["token"].as_str().unwrap(), json!({ "decision": "approve" })).await;
    assert_eq!(agreed.json()["status"], "pending", "{}", agreed.text());
    let revoked = leaked.revoke(&format!("/tokens/id/{}", vote["id"].as_str().unwrap())).await.json();
    assert_eq!(revoked, json!({ "revoked": 1, "requests": [id] }));
    let shown = test.get(&format!("/approvals/{id}"), &test.admin).await.json();
    assert!(
        shown["decisions"][0]["token_revoked_at"].is_string() && shown.get("token_revoked_at").is_none(),
        "{shown}"
    );
    let kind = &shown["approvers"][0];
    assert_eq!((&kind["held"], &kind["token_revoked"]), (&json!(["ben"]), &json!(["ben"])));
    // Who is said to have voted is told, too, and may vote anew.
    for token in [ben, &leaked.lea] {
        assert!(test.get("/inbox", token).await.text().contains("was requested or decided with was revoked"));
    }
    assert_eq!(test.get("/approvals?mine=true", ben).await.json()[0]["id"], json!(id));
    let anew = test.post(&format!("/approvals/{id}"), ben, json!({ "decision": "approve" })).await;
    assert_eq!(
        (&anew.json()["status"], anew.json()["decisions"][0].get("token_revoked_at")),
        (&json!("pending"), None)
    );
    let again = test.post(&format!("/approvals/{id}"), ben, json!({ "decision": "approve" })).await;
    assert_eq!(again.error(), "409 conflict you have decided already");
    // Whoever still has to agree is told, and ends it.
    let alert = test.get("/inbox", &test.admin).await.text();
    assert!(alert.contains("was requested or decided with was revoked"), "{alert}");
    let rejected = test.post(&format!("/approvals/{id}"), &test.admin, json!({ "decision": "reject" })).await.json();
    assert_eq!(rejected["status"], "rejected");
}

#[tokio::test]
async fn whoever_finds_a_value_asks_whose_token_it_is_also_once_it_has_ended() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, stolen, .. } = &leaked;
    let max = test.add("max", "person", json!({})).await;
    let sha256 = hex::encode(Sha256::digest(&stolen.0));
    let path = format!("/tokens?sha256={sha256}");
    let found = async |token: &str, query: &str| test.get(&format!("{path}{query}"), token).await.json();
    for status in ["active", "revoked"] {
        let listed = found(ben, "&actor=lea").await;
        assert_eq!(
            (&listed[0]["id"], &listed[0]["actor"], &listed[0]["status"]),
            (&json!(stolen.1), &json!("lea"), &json!(status))
        );
        assert_eq!([found(&max, "").await, found(ben, "&actor=ben").await], [json!([]), json!([])]);
        leaked.revoke(&format!("/tokens/id/{}", stolen.1)).await;
    }
    let wrong = test.get("/tokens?sha256=00", ben).await.error();
    assert_eq!(wrong, "400 bad_request sha256: must be 64 hexadecimal digits");
}

#[tokio::test]
async fn a_change_says_that_it_was_proposed_and_reviewed_with_tokens_that_were_revoked() {
    let leaked = Leaked::new().await;
    let Leaked { test, ben, .. } = &leaked;
    let cem = test.add("cem", "person", json!({ "role": "admin" })).await;
    let issue = async |holder: &str| {
        let issued = test.post("/tokens", holder, json!({})).await.json();
        (issued["token"].as_str().unwrap().to_owned(), format!("/tokens/id/{}", issued["id"].as_str().unwrap()))
    };
    let (proposes, reviews) = (issue(&test.admin).await, issue(&cem).await);
    let change = propose(test, &proposes.0, &stricter("closed")).await;
    let approve = json!({ "verdict": "approve" });
    let reviewed = step(test, &reviews.0, &change, "review", approve.clone()).await.json();
    assert_eq!(reviewed["reviews"][0].get("token_revoked_at"), None, "{reviewed}");
    for (_, path) in [&proposes, &reviews] {
        assert_eq!(leaked.revoke(path).await.json(), json!({ "revoked": 1, "changes": [change["id"]] }));
    }
    let shown = async || {
        let listed = test.get("/changes", ben).await.json()[0].clone();
        let by_id =
            test.get(&format!("/changes/{}/diff?semantic=false", listed["id"].as_str().unwrap()), ben).await.json();
        assert_eq!(listed, by_id["change"]);
        listed
    };
    let now = shown().await;
    let revoked = |of: &Value| of["token_revoked_at"].is_string();
    assert!(revoked(&now) && revoked(&now["reviews"][0]) && now["state"] == "approved", "{now}");
    // Of what one person says, the last counts.
    let anew = step(test, &cem, &change, "review", approve).await.json();
    assert!(revoked(&anew["reviews"][0]) && !revoked(&anew["reviews"][1]), "{anew}");
    let counts =
        |of: &Value| [&of["reviews"][0]["counts"], &of["reviews"][1]["counts"]].map(|one| one.as_bool().unwrap());
    assert_eq!((counts(&anew), counts(&shown().await)), ([false, true], [false, true]));
    assert_eq!(test.verdict().problems, []);
    // What has ended goes on no more.
    step(test, ben, &change, "reject", json!({ "reason": "stolen" })).await;
    assert_eq!(leaked.revoke(&proposes.1).await.json(), json!({ "revoked": 0 }));
}
