//! Pages of the web that agents read: what comes of them, what is refused, and what policies see.

use std::sync::Arc;

use ok::background::models::Setup;
use ok::background::tools::Elsewhere;
use ok::background::web::Web;
use ok::policy::Bundle;
use ok::types::egress::Egress;
use serde_json::{Value, json};

use super::runs::{accounted_for, asked, go_on, run};
use super::thinking::steps;
use crate::harness::pages::{Pages, page};
use crate::harness::{Cast, Test};

async fn company(policy: &str) -> (Test, Cast, Pages) {
    let mut policies = Bundle::built_in();
    if !policy.is_empty() {
        policies.files.insert("more.cedar".into(), policy.into());
    }
    let web = Web::new(Egress { loopback: true, ..Egress::default() }).ok();
    let tools = Elsewhere { web, ..Elsewhere::default() };
    let test = Test::with_tools(Setup::default(), policies, Arc::new(tools)).await;
    let cast = test.cast().await;
    (test, cast, Pages::new(answers))
}

fn answers(path: &str, nth: usize) -> Option<String> {
    match path {
        "/" => page("text/html; charset=utf-8", "<h1>Prices</h1><script>no()</script><p>Beans: 12 €</p>"),
        "/long" => page("text/plain", &long()),
        "/moved" => Some("302 Found\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n".into()),
        "/picture" => page("image/png", "…"),
        "/huge" => page("text/plain", &"x".repeat((1 << 20) + 1)),
        "/busy" if nth < 2 => Some("503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".into()),
        "/busy" => page("application/json", r#"{"open": true}"#),
        "/cut" => {
            Some("200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\nConnection: close\r\n\r\nhalf".into())
        }
        _ => Some("404 Not Found\r\nContent-Length: 0\r\n\r\n".into()),
    }
}

/// A letter of two bytes stands where a part would end.
fn long() -> String {
    format!("- - - {}", "wörter ".repeat(6_000)).trim_end().to_owned()
}

fn read(host: impl ToString, path: &str) -> Value {
    json!({ "call": { "tool": "web.read", "with": { "host": host.to_string(), "path": path } } })
}

#[tokio::test]
async fn a_page_is_read_as_text_and_marks_the_run_as_untrusted() {
    let (test, cast, pages) = company("").await;
    let id = asked(&test, &cast.mia, json!([read(pages.address, "/"), { "say": "read" }])).await;
    let done = run(&test, &id).await;
    assert_eq!((&done["status"], &done["labels"]), (&json!("completed"), &json!(["untrusted"])), "{done}");
    let url = format!("http://{}/", pages.address);
    let whole = json!({ "url": url, "text": "# Prices\n\nBeans: 12 €", "bytes": 23 });
    assert_eq!(done["trace"][0]["output"], whole);
    accounted_for(&test);
}

#[tokio::test]
async fn a_long_page_is_read_part_by_part() {
    let (test, cast, pages) = company("").await;
    let from = |from: u64| json!({ "call": { "tool": "web.read", "with": { "host": pages.address.to_string(), "path": "/long", "from": from } } });
    let id = asked(&test, &cast.mia, json!([from(0), from(32_767), from(99_999), { "say": "read" }])).await;
    let done = run(&test, &id).await;
    let output = |step: usize| done["trace"][step]["output"].clone();
    let (first, second, beyond) = (output(0), output(1), output(2));
    assert_eq!(first["next"], 32_767);
    let both = [&first, &second].map(|part| part["text"].as_str().unwrap()).concat();
    assert!(both == long() && second["next"].is_null());
    assert_eq!((&beyond["text"], &beyond["bytes"]), (&json!(""), &first["bytes"]));
}

#[tokio::test]
async fn what_is_no_page_is_told_and_what_is_not_answered_is_asked_for_again() {
    let (test, cast, pages) = company("").await;
    let at = pages.address;
    for (path, told, times) in [
        ("/moved", format!("it redirects to http://{at}/new, which is not followed: that is a page of its own"), 1),
        ("/picture", "it answers `image/png`, which is not read as text".into(), 1),
        ("/huge", "it answers more than 1048576 bytes".into(), 1),
        ("/none", "it answers 404 Not Found".into(), 1),
        ("/busy", "{\"open\": true}".into(), 3),
        ("/cut", "end of file before message length reached".into(), 3),
    ] {
        let id = asked(&test, &cast.mia, json!([read(at, path), { "say": "so" }])).await;
        let done = run(&test, &id).await;
        let step = &done["trace"][0];
        let came = step["output"]["text"].as_str().or(step["reason"].as_str()).unwrap_or_default();
        assert!(came.contains(&told), "{path}: {step}");
        assert_eq!(pages.asked().iter().filter(|one| *one == path).count(), times, "{path}");
        assert_eq!((&done["output"], &done["labels"]), (&json!("so"), &json!(["untrusted"])), "{path}");
    }
    assert!(!pages.asked().contains(&"/new".to_owned()));
}

#[tokio::test]
async fn only_public_hosts_are_gone_to_each_in_its_one_spelling() {
    let (test, cast, pages) = company("").await;
    for (host, path, why) in [
        ("10.0.0.1", "/", "`10.0.0.1` is not a public address"),
        ("169.254.169.254", "/latest/meta-data", "is not a public address"),
        ("intranet", "/", "is not a public address"),
        ("docs.example.com:8443", "/", "must use port 443, not 8443"),
        ("Docs.example.com", "/", "`Docs.example.com` is written `docs.example.com`"),
        ("a.example/x", "/", "is no host"),
        ("a.example", "/public/../private", "is written `/private`"),
        ("a.example", "x", "must be what follows the host"),
    ] {
        let plan = json!({ "agent": "bot", "text": "do", "plan": { "steps": [read(host, path)] } });
        let answer = test.post("/ask", &cast.mia, plan).await;
        let told = match answer.json()["run"].as_str() {
            Some(id) => {
                go_on(&test).await;
                steps(&run(&test, id).await)[0].clone()
            }
            None => answer.text(),
        };
        assert!(told.contains(why), "{host}{path}: {told}");
    }
    assert_eq!(pages.asked(), [""; 0]);
}

#[tokio::test]
async fn policies_see_the_host_and_a_lead_sees_what_an_assisting_agent_asks_for() {
    let policy = r#"
@id("our-own-pages") @reason("only this machine's pages are read")
forbid (principal is Ok::Actor, action == Ok::Action::"web.read", resource)
unless { context.input.host like "127.0.0.1:*" };"#;
    let (test, cast, pages) = company(policy).await;
    let id = asked(&test, &cast.mia, json!([read("evil.example", "/127.0.0.1:1"), { "say": "so" }])).await;
    let refused = "tool web.read denied policy denied web.read: only this machine's pages are read";
    assert_eq!(steps(&run(&test, &id).await)[0], refused);
    let lowered = json!({ "tier": "assist", "reason": "new here" });
    assert_eq!(test.post("/actors/bot/trust", &test.admin, lowered).await.status, 200);
    let id = asked(&test, &cast.mia, json!([read(pages.address, "/"), { "say": "read" }])).await;
    let waits = run(&test, &id).await;
    assert_eq!((&waits["status"], pages.asked().len()), (&json!("waiting_approval"), 0), "{waits}");
    let approval = waits["waiting"]["approval"].as_str().unwrap();
    let shown = test.get(&format!("/approvals/{approval}"), &cast.lea).await.json();
    assert_eq!(shown["summary"], format!("bot reads {}/ on the web", pages.address));
    let decided = test.post(&format!("/approvals/{approval}"), &cast.lea, json!({ "decision": "approve" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    go_on(&test).await;
    assert_eq!((&run(&test, &id).await["status"], pages.asked().len()), (&json!("completed"), 1));
    accounted_for(&test);
}
