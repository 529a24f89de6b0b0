//! What is not the API: the workspace's page and its files, and what stands in for them in a build without it.

use axum::body::Body;
use axum::http::Request;

use crate::harness::{Answer, Test};

async fn get(test: &Test, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = Request::builder().uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    test.send(request.body(Body::empty()).unwrap()).await
}

fn nonce(answer: &Answer) -> Option<String> {
    let policy = answer.header("content-security-policy");
    policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).map(str::to_owned)
}

#[tokio::test]
async fn every_page_is_the_same_and_runs_nothing_that_it_does_not_name() {
    let test = Test::new().await;
    for path in ["/", "/approvals", "/people/max.okafor", "/log/17?type=denied"] {
        let answer = get(&test, path, &[("accept", "text/html,*/*;q=0.8")]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        let policy = answer.header("content-security-policy");
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("script-src 'unsafe"), "{policy}");
    }
}

#[tokio::test]
async fn a_page_with_the_workspace_has_a_fresh_nonce_and_one_without_says_how_to_build_it() {
    let test = Test::new().await;
    let (one, two) = (get(&test, "/", &[]).await, get(&test, "/", &[]).await);
    if !ok::http::is_built() {
        assert!(one.text().contains("make web"), "{}", one.text());
        return;
    }
    let (first, second) = (nonce(&one).unwrap(), nonce(&two).unwrap());
    assert_ne!(first, second);
    assert!(one.text().contains(&format!("nonce=\"{first}\"")), "{}", one.text());
    assert!(one.header("content-security-policy").contains("require-trusted-types-for 'script'"));
    assert!(one.text().contains("<noscript>"));
}

#[tokio::test]
async fn a_file_is_packed_tagged_and_kept() {
    let test = Test::new().await;
    if !ok::http::is_built() {
        return;
    }
    let page = get(&test, "/", &[]).await.text();
    let script = page.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let plain = get(&test, &script, &[]).await;
    assert_eq!((plain.status.as_u16(), plain.header("content-encoding")), (200, ""));
    assert_eq!(plain.header("content-type"), "text/javascript; charset=utf-8");
    assert!(plain.header("cache-control").contains("immutable"));
    let packed = get(&test, &script, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(packed.header("content-encoding"), "br");
    assert!(packed.body.len() < plain.body.len() / 2);
    assert_ne!(packed.header("etag"), plain.header("etag"), "two forms, two tags");
    let known = get(&test, &script, &[("accept-encoding", "br"), ("if-none-match", packed.header("etag"))]).await;
    assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
    let refused = get(&test, &script, &[("accept-encoding", "br;q=0")]).await;
    assert_eq!(refused.header("content-encoding"), "");
}

#[tokio::test]
async fn a_long_answer_is_packed_for_whoever_takes_it_so() {
    let test = Test::new().await;
    let long = test.raw("GET", "/policy/export", &[], "").await;
    assert_eq!((long.header("content-encoding"), long.header("vary")), ("", "accept-encoding"));
    let packed = test.raw("GET", "/policy/export", &[("accept-encoding", "br, gzip")], "").await;
    assert_eq!((packed.status.as_u16(), packed.header("content-encoding")), (200, "gzip"));
    assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < long.body.len() / 4);
    for (what, path) in [("short", "/me"), ("so long that it would hold up others", "/openapi.json")] {
        let plain = test.raw("GET", path, &[("accept-encoding", "gzip")], "").await;
        assert_eq!((plain.status.as_u16(), plain.header("content-encoding")), (200, ""), "{what}");
    }
    let short = test.raw("GET", "/me", &[("accept-encoding", "gzip")], "").await;
    assert!(short.json()["id"].is_string());
}

#[tokio::test]
async fn an_absent_file_is_not_found_and_nothing_outside_is_reached() {
    let test = Test::new().await;
    for path in [
        "/assets/nothing.js",
        "/app.js",
        "/favicon.ico",
        "/index.html",
        "/assets/../index.html",
        "/assets/..%2f..%2fapp%2fpackage.json",
        "/assets/../../app/package.json",
        "/assets/.vite/manifest.json",
        "/assets/",
    ] {
        assert_eq!(get(&test, path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn pages_are_only_read() {
    let test = Test::new().await;
    let posted = Request::builder().method("POST").uri("/approvals").body(Body::empty()).unwrap();
    let answer = test.send(posted).await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "GET,HEAD"));
}
