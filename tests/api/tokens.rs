//! API tokens.

use ok::types::time::DAY;
use serde_json::{Value, json};

use crate::harness::Test;

#[tokio::test]
async fn a_token_is_shown_once_and_kept_as_a_hash() {
    let test = Test::new().await;
    test.clock.advance(1_000);
    let answer = test.post("/tokens", &test.admin, json!({ "label": "laptop", "scopes": ["read"] })).await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.fields(), ["access", "actor", "expires_at", "id", "kind", "label", "scopes", "token"]);
    let issued = answer.json();
    assert_eq!(
        (&issued["kind"], &issued["actor"], &issued["access"], &issued["expires_at"]),
        (&json!("api"), &json!("ana"), &json!("limited to read"), &json!("2026-12-20T09:00:01Z"))
    );
    let listed = test.get("/tokens", &test.admin).await;
    assert_eq!(
        listed.json()[0],
        json!({
            "id": issued["id"], "actor": "ana", "issuer": null, "kind": { "type": "api" }, "label": "laptop",
            "scopes": ["read"], "access": "limited to read", "status": "active", "created_at": "2026-11-20T09:00:01Z",
            "expires_at": "2026-12-20T09:00:01Z",
        })
    );
    assert_eq!(listed.json()[1]["access"], "full access");
    let plain = issued["token"].as_str().unwrap().as_bytes();
    assert!(plain.starts_with(b"ok_") && plain.len() == 52);
    for file in std::fs::read_dir(test.dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(plain.len()).any(|window| window == plain));
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once() {
    let test = Test::new().await;
    let issued = test.post("/tokens", &test.admin, json!({})).await.json();
    let (token, id) = (issued["token"].as_str().unwrap(), issued["id"].as_str().unwrap());
    assert_eq!(test.get("/me", token).await.json()["id"], "ana");
    let path = format!("/tokens/id/{id}");
    assert_eq!(test.call("DELETE", &path, &test.admin, None).await.json(), json!({ "revoked": 1 }));
    assert_eq!(test.get("/me", token).await.error(), "401 unauthorized invalid token");
    assert_eq!(test.event().await["event"], json!({ "type": "token_revoked", "id": id, "holder": "ana" }));
    assert_eq!(test.call("DELETE", &path, &test.admin, None).await.json(), json!({ "revoked": 0 }));
    let test = test.reopened().await;
    assert_eq!(test.get("/me", token).await.status, 401);
}

#[tokio::test]
async fn all_tokens_of_somebody_are_revoked_together() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let other = test.token("mia", json!({})).await;
    let refused = test.call("DELETE", "/tokens/ana", &mia, None).await;
    assert_eq!(refused.error(), "403 denied policy denied token.revoke_all: only admins revoke the tokens of others");
    assert_eq!(test.call("DELETE", "/tokens/mia", &mia, None).await.json(), json!({ "revoked": 2 }));
    assert_eq!((test.get("/me", &mia).await.status, test.get("/me", &other).await.status).1, 401);
}

#[tokio::test]
async fn only_an_admin_issues_tokens_for_others() {
    let test = Test::new().await;
    let cast = test.cast().await;
    for token in [&cast.lea, &cast.sam, &cast.aud, &cast.mia, &cast.bot] {
        let answer = test.post("/tokens", token, json!({ "for": "max" })).await;
        assert_eq!(answer.error(), "403 denied policy denied token.issue: only admins issue tokens for others");
    }
    assert_eq!(test.newest(1).await, ["denied"]);
    assert_eq!(test.post("/tokens", &cast.mia, json!({})).await.json()["actor"], "mia");
    let team = test.post("/tokens", &test.admin, json!({ "for": "team:ops" })).await;
    assert_eq!(team.error(), "422 invalid for: teams have no tokens");
    assert_eq!(
        test.post("/tokens", &test.admin, json!({ "for": "nobody" })).await.error(),
        "404 not_found not found, or not yours to see: for `nobody`"
    );
}

#[tokio::test]
async fn everybody_sees_their_own_tokens_and_admins_and_auditors_all() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let holders = async |token: &str, query: &str| -> Vec<String> {
        let list = test.get(&format!("/tokens{query}"), token).await.json();
        list.as_array().unwrap().iter().map(|one| one["actor"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(holders(&cast.mia, "").await, ["mia"]);
    assert_eq!(holders(&cast.mia, "?actor=max").await, [""; 0]);
    assert_eq!(holders(&test.admin, "?actor=max").await, ["max"]);
    assert_eq!(holders(&cast.aud, "").await.len(), 8);
    assert_eq!(holders(&test.admin, "").await.len(), 8);
}

#[tokio::test]
async fn a_token_is_valid_as_long_as_its_issuer_chose() {
    let test = Test::new().await;
    for (validity, until) in [
        (json!({}), "2026-12-20T09:00:00Z"),
        (json!({ "days": 1 }), "2026-11-21T09:00:00Z"),
        (json!({ "days": 7 }), "2026-11-27T09:00:00Z"),
        (json!({ "days": 90 }), "2027-02-18T09:00:00Z"),
        (json!({ "ttl": "12h" }), "2026-11-20T21:00:00Z"),
        (json!({ "ttl": "7d" }), "2026-11-27T09:00:00Z"),
        (json!({ "ttl": "1m" }), "2026-11-20T09:01:00Z"),
    ] {
        assert_eq!(test.post("/tokens", &test.admin, validity).await.json()["expires_at"], until);
    }
    for (wrong, problem) in [
        (json!({ "days": 2 }), "days: must be 1, 7, 30 or 90"),
        (json!({ "days": 0 }), "days: must be 1, 7, 30 or 90"),
        (json!({ "days": 7, "ttl": "7d" }), "ttl: give either days or ttl"),
        (json!({ "ttl": "59s" }), "ttl: `59s` is not a time span from 1m to 366d, such as 12h or 7d"),
        (json!({ "ttl": "367d" }), "ttl: `367d` is not a time span from 1m to 366d, such as 12h or 7d"),
        (json!({ "ttl": "-1d" }), "ttl: `-1d` is not a time span from 1m to 366d, such as 12h or 7d"),
        (
            json!({ "ttl": "99999999999999999999d" }),
            "ttl: `99999999999999999999d` is not a time span from 1m to 366d, such as 12h or 7d",
        ),
        (json!({ "scopes": ["write"] }), "scopes: `write` is not a scope; scopes are read, changes, policy"),
        (json!({ "label": "x".repeat(101) }), "label: must have at most 100 characters"),
        (json!({ "scopes": [] }), "scopes: name at least one, or leave it out for all that its holder may do"),
    ] {
        let answer = test.post("/tokens", &test.admin, wrong).await;
        assert_eq!(answer.error(), format!("422 invalid {problem}"));
        assert_eq!(answer.json()["problems"], json!([problem]));
    }
}

#[tokio::test]
async fn an_expired_token_is_refused_and_no_clock_set_back_revives_it() {
    let test = Test::new().await;
    let short = test.token("ana", json!({ "days": 1 })).await;
    test.clock.advance(DAY - 1);
    assert_eq!(test.get("/me", &short).await.status, 200, "it holds until its end");
    test.clock.advance(1);
    assert_eq!(test.get("/me", &short).await.error(), "401 unauthorized invalid token");
    test.clock.advance(-DAY);
    assert_eq!(test.get("/me", &short).await.status, 401, "in the running server");
    test.post("/kill", &test.admin, json!({ "scope": "tool:mail.send" })).await;
    let test = test.reopened().await;
    assert_eq!(test.get("/me", &short).await.status, 401, "nor after a restart");
    let listed = test.get("/tokens", &test.admin).await.json();
    let ended = listed.as_array().unwrap().iter().find(|one| one["label"] == "").unwrap();
    assert_eq!(ended["status"], "expired");
}

#[tokio::test]
async fn scopes_are_narrowed_and_never_widened() {
    let test = Test::new().await;
    let issued = test.post("/tokens", &test.admin, json!({})).await.json();
    let (token, path) = (issued["token"].as_str().unwrap(), format!("/tokens/id/{}", issued["id"].as_str().unwrap()));
    let narrow = async |scopes: Value| test.call("PATCH", &path, &test.admin, Some(json!({ "scopes": scopes }))).await;
    assert_eq!(test.post("/policy/explain", token, json!({ "op": "tick" })).await.status, 200);
    assert_eq!(narrow(json!(["read", "policy"])).await.json()["access"], "limited to read, policy");
    assert_eq!(test.get("/me", token).await.status, 200);
    assert_eq!(
        test.post("/policy/explain", token, json!({ "op": "tick" })).await.error(),
        "403 token_scope this token's scopes do not reach POST /policy/explain"
    );
    let widened = narrow(json!(["read", "changes"])).await;
    assert_eq!(widened.error(), "422 invalid scopes: scopes can be narrowed, never widened: the token has no changes");
    assert_eq!(narrow(json!([])).await.error(), "422 invalid scopes: name at least one: read, changes, policy");
    assert_eq!(narrow(json!(["policy"])).await.json()["scopes"], json!(["policy"]));
    let seq = test.last_seq().await;
    assert_eq!(narrow(json!(["policy"])).await.status, 200);
    assert_eq!(test.last_seq().await, seq, "the same again is no event");
    assert_eq!(test.get("/me", token).await.status, 403);
    test.call("DELETE", &path, &test.admin, None).await;
    assert_eq!(narrow(json!(["policy"])).await.error(), "409 conflict the token has ended");
}

#[tokio::test]
async fn a_scope_reaches_only_its_routes_whoever_holds_it() {
    let test = Test::new().await;
    let read = test.token("ana", json!({ "scopes": ["read"] })).await;
    let changes = test.token("ana", json!({ "scopes": ["changes"] })).await;
    let policy = test.token("ana", json!({ "scopes": ["policy"] })).await;
    for entry in
        ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served() && !entry.spec.route.is_open())
    {
        let (method, path) = (entry.spec.route.method.name(), entry.spec.route.path);
        let concrete = path.replace("{id}", "ana").replace("{actor}", "ana").replace("{seq}", "1");
        let reached = async |token: &str| {
            let body = (method != "GET").then(|| json!({}));
            let answer = test.call(method, &concrete, token, body).await;
            let refused = format!("403 token_scope this token's scopes do not reach {method} {path}");
            answer.status != 403 || answer.error() != refused
        };
        let route = format!("{method} {path}");
        let own_proposals =
            matches!(route.as_str(), "GET /changes" | "GET /changes/{id}/diff" | "POST /changes/{id}/reject");
        let reads = method == "GET" && !path.starts_with("/audit") && !path.starts_with("/v1/");
        if path != "/events/stream" {
            assert_eq!(reached(&read).await, reads, "read reaches {route}?");
        }
        // Any token will do for the document that describes the routes.
        let own_proposals = own_proposals || route == "GET /openapi.json";
        assert_eq!(reached(&changes).await, own_proposals || route == "POST /changes", "changes reaches {route}?");
        let policies = ["POST /policy/check", "POST /policy/diff", "POST /policy/proposals", "GET /policy/applied"];
        let of_policy = own_proposals || policies.contains(&route.as_str());
        assert_eq!(reached(&policy).await, of_policy, "policy reaches {route}?");
    }
}

#[tokio::test]
async fn a_token_in_the_address_means_nothing() {
    let test = Test::new().await;
    let path = format!("/me?token={}", test.admin);
    assert_eq!(test.get(&path, "").await.error(), "401 unauthorized missing bearer token");
    assert_eq!(test.get("/me?token=nonsense", &test.admin).await.status, 200);
    // Nor is one repeated that stands where none belongs.
    for path in ["priority", "op", "limit", "status"].map(|field| format!("/approvals?{field}={}", test.admin)) {
        assert!(!test.get(&path, &test.admin).await.text().contains(&test.admin), "{path}");
    }
    for body in [json!({ "scopes": [test.admin] }), json!({ "ttl": test.admin }), json!({ "for": test.admin })] {
        let refused = test.post("/tokens", &test.admin, body).await;
        assert!(refused.status.is_client_error() && !refused.text().contains(&test.admin), "{}", refused.text());
    }
    // Whoever means the id of one, for a filter, is not given the whole list instead.
    let unknown = test.get("/events?token=tok_01M7A0000000000000000000000", &test.admin).await;
    assert!(unknown.error().starts_with("400 bad_request unknown query parameter `token`"), "{}", unknown.error());
    let post = format!("/tick?token={}", test.admin);
    assert_eq!(test.post(&post, "", json!({})).await.status, 401);
    assert_eq!(test.post(&post, &test.admin, json!({})).await.status, 200);
}

#[tokio::test]
async fn what_somebody_issued_for_others_is_revoked_by_admins_alone() {
    let test = Test::new().await;
    let ben = test.add("ben", "person", json!({ "role": "admin" })).await;
    let own = test.local_as("ben", "token.issue", json!({})).await["token"].as_str().unwrap().to_owned();
    let issued = test.post("/tokens", &own, json!({ "for": "ana" })).await;
    let anas = issued.json()["token"].as_str().unwrap().to_owned();
    let all = async |token: &str| test.call("DELETE", "/tokens/ben?issued=true", token, None).await;
    let demoted = json!({ "role": "member", "keep_issued": true });
    let demoted = test.call("PATCH", "/actors/ben", &test.admin, Some(demoted)).await;
    assert_eq!(demoted.status, 200, "{}", demoted.text());
    for token in [&ben, &own] {
        let reason = "403 denied policy denied token.revoke_all: only admins revoke the tokens of others";
        assert_eq!(all(token).await.error(), reason);
    }
    assert_eq!(all(&test.admin).await.json(), json!({ "revoked": 1 }));
    assert_eq!(test.get("/me", &anas).await.status, 401);
    let bens = test.call("DELETE", "/tokens/ben", &test.admin, None).await.json();
    assert_eq!(bens["revoked"], 2, "{bens}");
}
