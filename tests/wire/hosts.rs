//! Under which names the server is asked, and from which pages.

use ok::http::{Front, Hosts};

use super::{Wire, status};
use crate::harness::Test;

async fn front(hosts: Hosts, proxies: &str) -> Wire {
    Wire::of(Test::new().await, Front { hosts, proxies: proxies.parse().unwrap(), tenant: None }, |_| {}).await
}

async fn asked(wire: &Wire, target: &str, lines: &str) -> String {
    let answer = wire.connect().await.ask(&format!("GET {target} HTTP/1.1\r\n{lines}\r\n")).await;
    status(&answer).to_owned()
}

#[tokio::test]
async fn what_only_this_machine_reaches_answers_to_names_of_this_machine() {
    let here = || Hosts::usual([127, 0, 0, 1].into());
    let wire = front(here(), "none").await;
    for (host, expected) in [
        ("127.0.0.1:8080", "200"),
        ("[::1]", "200"),
        ("localhost:1", "200"),
        ("LocalHost.", "200"),
        ("app.localhost", "200"),
        ("evil.example", "400"),
        ("localhost.evil.example", "400"),
        ("127.0.0.1.evil.example", "400"),
        ("ana@localhost", "400"),
        ("a b", "400"),
        ("", "400"),
    ] {
        assert_eq!(asked(&wire, "/api/health", &format!("host: {host}\r\n")).await, expected, "{host}");
        assert_eq!(asked(&wire, "/", &format!("host: {host}\r\n")).await == "400", expected == "400", "{host}");
    }
    // A target in absolute form is taken at its word, whatever stands in `Host`.
    assert_eq!(asked(&wire, "http://localhost/api/health", "host: evil.example\r\n").await, "200");
    assert_eq!(asked(&wire, "http://evil.example/api/health", "host: localhost\r\n").await, "400");
    let behind = front(here(), "127.0.0.1").await;
    assert_eq!(asked(&behind, "/api/health", "host: backend\r\n").await, "200", "its proxy's own name for it");
}

#[tokio::test]
async fn names_that_are_set_are_the_only_ones() {
    let wire = front("ok.example, ok.internal".parse().unwrap(), "127.0.0.1").await;
    for (host, expected) in
        [("OK.example:443", "200"), ("ok.internal", "200"), ("10.0.0.1", "200"), ("evil.example", "400")]
    {
        assert_eq!(asked(&wire, "/api/health", &format!("host: {host}\r\n")).await, expected, "{host}");
    }
    let any = front("any".parse().unwrap(), "none").await;
    assert_eq!(asked(&any, "/api/health", "host: whatever.example\r\n").await, "200");
    assert_eq!("ok.example, a/b".parse::<Hosts>().unwrap_err(), "a/b");
}

#[tokio::test]
async fn a_page_of_another_place_is_refused() {
    let wire = front("ok.example".parse().unwrap(), "none").await;
    for (origin, expected) in [
        ("http://127.0.0.1:8080", "200"),
        ("https://ok.example", "200"),
        ("http://127.0.0.1:9090", "403"),
        ("https://evil.example", "403"),
        ("https://ok.example.evil.example", "403"),
        ("null", "403"),
        ("file://127.0.0.1:8080", "403"),
    ] {
        let lines = format!("host: 127.0.0.1:8080\r\norigin: {origin}\r\n");
        assert_eq!(asked(&wire, "/api/health", &lines).await, expected, "{origin}");
    }
    // A proxy says under which name it was asked; nobody else does.
    let lines = "host: 127.0.0.1:8080\r\norigin: https://evil.example\r\n";
    let answer = wire.connect().await.ask(&format!("GET /api/health HTTP/1.1\r\n{lines}\r\n")).await;
    for lacks_never in ["x-request-id: ", "x-content-type-options: nosniff", "cache-control: no-store"] {
        assert!(answer.contains(lacks_never), "{answer}");
    }
    let lines = "host: backend\r\nx-forwarded-host: ok.example\r\norigin: https://ok.example\r\n";
    assert_eq!(asked(&front(Hosts::Any, "127.0.0.1").await, "/api/health", lines).await, "200");
    assert_eq!(asked(&front(Hosts::Any, "none").await, "/api/health", lines).await, "403");
    // And it may hand on whatever name it was asked under.
    let lines = "host: ok.example\r\nx-forwarded-host: evil.example\r\norigin: https://evil.example\r\n";
    assert_eq!(asked(&front("ok.example".parse().unwrap(), "127.0.0.1").await, "/api/health", lines).await, "403");
}

#[tokio::test]
async fn after_a_name_comes_a_port_or_nothing() {
    let wire = front(Hosts::Any, "none").await;
    for (host, expected) in [
        ("localhost", "200"),
        ("localhost:", "200"),
        ("localhost:8080", "200"),
        ("[::1]:80", "200"),
        ("localhost:abc", "400"),
        ("localhost:99999", "400"),
        ("[::1]:x", "400"),
    ] {
        assert_eq!(asked(&wire, "/api/health", &format!("host: {host}\r\n")).await, expected, "{host}");
    }
}

/// A server has one company; what names another was meant for somewhere else.
#[tokio::test]
async fn a_request_for_another_company_is_refused() {
    let wire = front(Hosts::Any, "none").await;
    let front = Front { tenant: Some("acme".into()), ..Front::default() };
    let named = Wire::of(Test::new().await, front, |_| {}).await;
    for (wire, lines, expected) in [
        (&wire, "", "200"),
        (&wire, "x-ok-tenant: nix\r\n", "404"),
        (&wire, "x-ok-tenant:\r\n", "404"),
        (&named, "x-ok-tenant: acme\r\n", "200"),
        (&named, "x-ok-tenant: nix\r\n", "404"),
        (&named, "x-ok-tenant: acme\r\nx-ok-tenant: nix\r\n", "404"),
    ] {
        assert_eq!(asked(wire, "/api/health", &format!("host: localhost\r\n{lines}")).await, expected, "{lines}");
    }
    let lines = "host: localhost\r\nx-ok-tenant: nix\r\n";
    let told = wire.connect().await.ask(&format!("GET /api/health HTTP/1.1\r\n{lines}\r\n")).await;
    assert!(told.contains("x-ok-tenant: no company `nix` is served at this address"), "{told}");
    assert_eq!(asked(&wire, "/api/me", lines).await, "401", "a stranger is told nothing");
}
