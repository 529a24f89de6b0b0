//! Bodies that nobody reads: a refusal leaves its connection fit for the next request, or says that it is not.

use std::time::Duration;

use super::{Wire, status};

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nhost: ok\r\n\r\n";

/// Heads that are refused before their body is looked at, and with what.
async fn refused(wire: &Wire) -> Vec<(String, &'static str)> {
    let read = wire.test.token("ana", serde_json::json!({ "scopes": ["read"] })).await;
    let head = |line: &str, token: &str| {
        let token = if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
        format!("{line} HTTP/1.1\r\nhost: ok\r\n{token}content-type: application/json\r\n")
    };
    let admin = &wire.test.admin;
    vec![
        (head("POST /api/actors", ""), "401"),
        (head("POST /api/actors", &read), "403"),
        (head("POST /api/nowhere", admin), "404"),
        (head("PUT /api/actors", admin), "405"),
        (head("POST /anywhere", ""), "405"),
        (head("GET /api/actors", admin), "200"),
    ]
}

#[tokio::test]
async fn a_connection_goes_on_after_a_refusal_that_came_before_the_body() {
    let wire = Wire::new(|_| {}).await;
    let body = r#"{"id":"new","kind":"person"}"#;
    let heads = refused(&wire).await;
    let mut line = wire.connect().await;
    for number in 0..60 {
        let (head, expected) = &heads[number % heads.len()];
        let chunked = number % 2 == 0;
        let length =
            if chunked { "transfer-encoding: chunked".into() } else { format!("content-length: {}", body.len()) };
        line.say(&format!("{head}{length}\r\n\r\n")).await;
        tokio::time::sleep(Duration::from_micros(500)).await;
        let sent = if chunked { format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()) } else { body.to_owned() };
        let answer = line.ask(&sent).await;
        assert_eq!(status(&answer), *expected, "{head}");
        assert!(!answer.contains("connection: close"), "{answer}");
        let next = line.ask(HEALTH).await;
        assert!(status(&next) == "200" && next.contains("\"ok\":true"), "{number}: {next}");
    }
}

#[tokio::test]
async fn a_refusal_whose_body_is_too_long_to_read_away_closes_the_connection_and_says_so() {
    let wire = Wire::new(|_| {}).await;
    let post = "POST /api/actors HTTP/1.1\r\nhost: ok\r\n";
    let much = " ".repeat(300 << 10);
    let told = format!("{post}content-length: {}\r\n\r\n{much}", much.len());
    let chunked = format!("{post}transfer-encoding: chunked\r\n\r\n{:x}\r\n{much}\r\n0\r\n\r\n", much.len());
    let mut line = wire.connect().await;
    let large = wire.head("POST /api/actors") + "content-type: application/json\r\n";
    let large = format!("{large}content-length: {}\r\n\r\n{}", 4 << 20, " ".repeat(4 << 20));
    let waiting = format!("{post}expect: 100-continue\r\ncontent-length: 10\r\n\r\n");
    for (request, expected) in [(told, "401"), (chunked, "401"), (large, "413"), (waiting, "401")] {
        line.say(&request).await;
        let answer = line.rest().await;
        assert_eq!(status(&answer), expected, "{answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        line = wire.connect().await;
    }
}

#[tokio::test]
async fn a_refusal_does_not_wait_for_a_body_that_never_comes() {
    let wire = Wire::new(|limits| limits.body_idle = Duration::from_millis(300)).await;
    let mut line = wire.connect().await;
    line.say("POST /api/actors HTTP/1.1\r\nhost: ok\r\ncontent-length: 10\r\n\r\nabc").await;
    let answer = line.rest().await;
    assert!(status(&answer) == "401" && answer.contains("connection: close"), "{answer}");
}
