//! Going on without approval, in the open.

use ok::types::time::SECOND;
use serde_json::{Value, json};

use crate::harness::{Answer, Cast, Test};

const MINUTE: i64 = 60 * SECOND;

async fn opened(test: &Test, token: &str, scope: Value) -> String {
    let grant = json!({ "scope": scope, "reason": "the key is stolen", "minutes": 10 });
    let answer = test.post("/policy/break-glass", token, grant).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

async fn offboard(test: &Test, cast: &Cast, id: &str) -> Answer {
    test.post(&format!("/actors/{id}/offboard"), &cast.lea, json!({ "reason": "stolen" })).await
}

async fn review(test: &Test, token: &str, id: &str) -> Answer {
    let verdict = json!({ "verdict": "justified", "note": "no other way" });
    test.post(&format!("/policy/break-glass/{id}/review"), token, verdict).await
}

/// Kinds and titles of somebody's inbox.
async fn inbox(test: &Test, token: &str) -> Vec<String> {
    let items = test.get("/inbox", token).await.json();
    let line = |item: &Value| format!("{}: {}", item["kind"].as_str().unwrap(), item["title"].as_str().unwrap());
    items.as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn a_call_goes_on_without_its_approval_and_whoever_was_skipped_is_told() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let id = opened(&test, &cast.lea, json!(["actor.offboard"])).await;
    assert_eq!(inbox(&test, &test.admin).await, ["alert: lea opened a break-glass grant: the key is stolen"]);

    let done = offboard(&test, &cast, "mia").await;
    assert_eq!(done.status, 200, "{}", done.text());
    let events = test.get("/events?limit=1", &test.admin).await.json();
    let used = &events["events"][0];
    assert_eq!(
        used["event"],
        json!({
            "type": "break_glass_used", "id": id, "holder": "lea", "operation": "actor.offboard", "target": "mia",
            "kinds": ["admin"], "skipped": ["ana"],
        })
    );
    let mut alerts = inbox(&test, &test.admin).await;
    alerts.sort();
    assert_eq!(
        alerts,
        [
            "alert: lea did actor.offboard of mia without your approval",
            "alert: lea opened a break-glass grant: the key is stolen",
        ]
    );

    // What it is not for still waits; what no approval lifts is still refused.
    let other = test.post("/actors", &cast.lea, json!({ "id": "new", "kind": "agent", "team": "team:ops" })).await;
    assert_eq!(other.status, 202);
    assert_eq!(offboard(&test, &cast, "max").await.status, 403);
    let listed = test.get("/policy/break-glass", &cast.lea).await.json();
    assert_eq!((&listed[0]["uses"], &listed[0]["active"]), (&json!(1), &json!(true)));
    assert_eq!(test.get("/policy/break-glass", &cast.liv).await.json(), json!([]));
}

#[tokio::test]
async fn it_is_over_when_its_time_is_and_when_it_is_ended() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("joe", "person", json!({ "team": "team:ops" })).await;
    let id = opened(&test, &cast.lea, json!(["actor.*"])).await;
    test.clock.advance(10 * MINUTE);
    assert_eq!(offboard(&test, &cast, "joe").await.status, 202);
    assert_eq!(review(&test, &test.admin, &id).await.status, 200);

    let id = opened(&test, &cast.lea, json!(["actor.*"])).await;
    let path = format!("/policy/break-glass/{id}");
    assert_eq!(test.call("DELETE", &path, &cast.mia, None).await.status, 404);
    assert_eq!(test.call("DELETE", &path, &cast.lea, None).await.json()["active"], json!(false));
    assert_eq!(offboard(&test, &cast, "joe").await.status, 202);
    let twice = test.call("DELETE", &path, &cast.lea, None).await;
    assert_eq!(twice.error(), format!("409 conflict {id} has ended already"));
}

#[tokio::test]
async fn without_a_review_there_is_no_other() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let id = opened(&test, &cast.lea, json!(["actor.*"])).await;
    test.clock.advance(60 * MINUTE);
    let test = test.reopened().await;
    let again = json!({ "scope": ["actor.*"], "reason": "again" });
    let locked = test.post("/policy/break-glass", &cast.lea, again).await;
    assert_eq!(locked.error(), format!("409 conflict {id} has not been reviewed yet; until then there is no other"));
    opened(&test, &cast.liv, json!(["actor.*"])).await;

    assert_eq!(
        review(&test, &cast.lea, &id).await.error(),
        "403 not_approver policy denied break_glass.review: nobody reviews their own break-glass"
    );
    assert_eq!(review(&test, &cast.mia, &id).await.status, 404);
    let reviewed = review(&test, &test.admin, &id).await;
    assert_eq!(reviewed.json()["review"]["by"], "ana");
    assert_eq!(review(&test, &test.admin, &id).await.error(), "409 conflict ana has reviewed it already");
    assert_eq!(inbox(&test, &cast.lea).await[0], "decision: your going on without approval was justified");
    opened(&test, &cast.lea, json!(["actor.*"])).await;
}

#[tokio::test]
async fn it_is_for_people_with_all_their_rights_and_for_what_exists() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let grant = |scope: Value, minutes: u32| json!({ "scope": scope, "reason": "r", "minutes": minutes });
    for (token, body, error) in [
        (&cast.bot, grant(json!(["tick"]), 5), "403 denied policy denied break_glass.open: machines wait for approval"),
        (&cast.mia, grant(json!(["tick"]), 5), "403 denied policy denied break_glass.open: no policy permits it"),
        (
            &cast.lea,
            grant(json!(["token.hug"]), 5),
            "422 invalid scope: there is no operation `token.hug`; there are token.*, token.issue, token.list, token.narrow, token.read, token.revoke, token.revoke_all",
        ),
        (&cast.lea, grant(json!(["tick"]), 241), "422 invalid minutes: must be 1 to 240"),
        (&cast.lea, grant(json!(["tick"]), 0), "422 invalid minutes: must be 1 to 240"),
        (&cast.lea, json!({ "scope": ["tick"], "reason": " " }), "422 invalid reason: must have 1 to 1000 characters"),
    ] {
        let answer = test.post("/policy/break-glass", token, body).await;
        assert_eq!(answer.error(), error);
    }
    opened(&test, &cast.lea, json!(["*"])).await;
    let scoped = test.token("lea", json!({ "scopes": ["read"] })).await;
    let refused = test.post("/actors/mia/offboard", &scoped, json!({ "reason": "r" })).await;
    assert_eq!(refused.json()["error"], "token_scope");
}

#[tokio::test]
async fn policies_wait_for_approval_even_then() {
    let test = Test::new().await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    opened(&test, &test.admin, json!(["*"])).await;
    let mut files = ok::policy::Bundle::built_in().files;
    files.insert("note.cedar".into(), "// One more file.\n".into());
    let new = json!({ "files": files, "reason": "because" });
    let proposed = test.post("/policy/proposals", &test.admin, new).await.json();
    let id = proposed["id"].as_str().unwrap_or_else(|| panic!("{proposed}"));
    test.post(&format!("/changes/{id}/evals"), &test.admin, json!({})).await;
    let promoted = test.post(&format!("/changes/{id}/promote"), &test.admin, json!({})).await;
    assert_eq!(promoted.json()["error"], "needs_approval", "{}", promoted.text());
}

#[tokio::test]
async fn each_use_is_told_on_its_own_and_what_waits_already_goes_on() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.add("joe", "person", json!({ "team": "team:ops" })).await;
    let waits = offboard(&test, &cast, "joe").await.json()["approval"].as_str().unwrap().to_owned();
    let id = opened(&test, &cast.lea, json!(["actor.offboard"])).await;
    assert_eq!(offboard(&test, &cast, "joe").await.status, 200);
    let request = test.get(&format!("/approvals/{waits}"), &test.admin).await.json();
    assert_eq!(request["status"], "cancelled", "nothing is left to decide");
    assert_eq!(offboard(&test, &cast, "mia").await.status, 200);
    let told_of_uses =
        |alerts: Vec<String>| alerts.iter().filter(|alert| alert.contains("without your approval")).count();
    assert_eq!(told_of_uses(inbox(&test, &test.admin).await), 2);
    assert_eq!(test.file().query_row("SELECT uses FROM break_glass", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
    review(&test, &test.admin, &id).await;
    assert!(inbox(&test, &test.admin).await.is_empty(), "what is reviewed is over");
}

#[tokio::test]
async fn whoever_issued_the_token_does_not_review_what_was_opened_with_it() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let issue = async |id: &str| {
        let issued = test.post("/tokens", &test.admin, json!({ "for": id })).await.json();
        issued["token"].as_str().unwrap_or_else(|| panic!("{issued}")).to_owned()
    };
    let (kept, bens) = (issue("lea").await, issue("ben").await);
    let id = opened(&test, &kept, json!(["actor.offboard"])).await;
    let shown = test.get("/policy/break-glass", &ben).await.json();
    assert_eq!((&shown[0]["holder"], &shown[0]["issuer"]), (&json!("lea"), &json!("ana")));
    assert_eq!(offboard(&test, &cast, "mia").await.status, 200);

    // Neither in their own name nor in another's.
    let reason =
        "policy denied break_glass.review: who issued the token that broke the glass does not review the grant";
    for token in [&test.admin, &bens] {
        assert_eq!(review(&test, token, &id).await.error(), format!("403 not_approver {reason}"));
    }
    assert_eq!(review(&test, &ben, &id).await.status, 200);

    // Nor does it help them that the holder opened one.
    let id = opened(&test, &cast.lea, json!(["actor.offboard"])).await;
    test.add("joe", "person", json!({ "team": "team:ops" })).await;
    let kept = test.post("/actors/joe/offboard", &kept, json!({ "reason": "stolen" })).await;
    assert_eq!(kept.status, 202, "{}", kept.text());
    assert_eq!(offboard(&test, &cast, "joe").await.status, 200);
    assert_eq!(review(&test, &test.admin, &id).await.status, 200);
}
