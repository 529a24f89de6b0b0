//! Who calls, and what everybody is told.

use serde_json::json;

use crate::harness::Test;

#[tokio::test]
async fn the_caller_reads_their_own_entry() {
    let test = Test::new().await;
    let bot = test.add("bot", "agent", json!({ "skills": ["invoices"] })).await;
    let entry = test.get("/me", &bot).await.json();
    assert_eq!(test.get("/tokens", &bot).await.json()[0]["id"], entry["token_id"]);
    assert_eq!(
        entry,
        json!({
            "id": "bot", "kind": "agent", "name": "bot", "role": "agent", "team": null, "lead": null, "owner": "ana",
            "admin": false, "skills": ["invoices"], "trust": "observe", "status": "active",
            "created_at": "2026-11-20T09:00:00Z", "token_id": entry["token_id"],
        })
    );
    assert_eq!(test.get("/me", &test.admin).await.json()["admin"], true);
}

#[tokio::test]
async fn health_needs_no_token_and_minds_no_bad_one() {
    let test = Test::new().await;
    for token in ["", "nonsense"] {
        let health = test.get("/health", token).await;
        assert_eq!((health.status.as_u16(), health.json()), (200, json!({ "ok": true, "dev_auth": false })));
    }
}

#[tokio::test]
async fn a_missing_or_bad_credential_says_which() {
    let test = Test::new().await;
    assert_eq!(test.get("/me", "").await.error(), "401 unauthorized missing bearer token");
    assert_eq!(test.get("/me", "").await.header("www-authenticate"), "Bearer");
    assert_eq!(test.get("/me", "nonsense").await.error(), "401 unauthorized invalid token");
    for scheme in ["Basic YW5hOnB3", "Bearer", "Bearer ", ""] {
        let answer = test.raw("GET", "/me", &[("authorization", scheme)], "").await;
        assert_eq!(answer.error(), "401 unauthorized not a bearer token", "{scheme:?}");
    }
    let lower = test.raw("GET", "/me", &[("authorization", &format!("bearer {}", test.admin))], "").await;
    assert_eq!(lower.status, 200, "the scheme's name is written in any case");
}

#[tokio::test]
async fn an_api_path_with_no_route_is_not_found() {
    let test = Test::new().await;
    for path in ["", "/", "/nothing", "/me/", "/health/x", "/../me"] {
        for token in ["", &test.admin] {
            let answer = test.get(path, token).await;
            assert_eq!(answer.status, 404, "{path:?}");
            assert_eq!(answer.error(), "404 not_found no such API route", "{path:?}");
        }
    }
}

#[tokio::test]
async fn every_answer_has_an_id_and_is_not_cached() {
    let test = Test::new().await;
    for path in ["/me", "/nothing", "/health"] {
        let answer = test.get(path, &test.admin).await;
        assert!(!answer.header("x-request-id").is_empty());
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let decided = test.get("/me", &test.admin).await;
    assert_eq!(decided.header("ok-policy"), "1");
    assert!(decided.header("ok-audit").contains(&format!(" {} ", test.last_seq().await)), "it names the log's size");
}

#[tokio::test]
async fn the_page_links_what_needs_no_token_and_nothing_else() {
    let test = Test::new().await;
    let page = include_str!("../../src/http/unbuilt.html");
    let linked: Vec<&str> = page.split("href=\"").skip(1).map(|rest| rest.split_once('"').expect("an end").0).collect();
    let open = ok::nouns::OPERATIONS.iter().map(|entry| entry.spec.route);
    let open: Vec<String> =
        open.filter(|route| route.is_open() && !route.is_standard()).map(|route| route.address()).collect();
    assert_eq!(linked, open);
    assert_eq!(test.get("/openapi.json", "").await.status, 401);
    assert_eq!(test.get("/openapi.json", &test.admin).await.status, 200);
}
