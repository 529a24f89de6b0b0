//! What a webhook can be, who sees it, and how they are listed.

use serde_json::{Value, json};

use crate::harness::Test;

fn new(url: &str) -> Value {
    json!({ "url": url, "events": ["agent.gate.pending"] })
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let test = Test::new().await;
    let long = format!("https://hooks.example.com/{}", "x".repeat(2048));
    let good = "https://hooks.example.com/ok";
    let with = |field: &str, value: Value| {
        let mut body = new(good);
        body[field] = value;
        body
    };
    let many: Vec<String> = (0..101).map(|number| format!("bot{number}")).collect();
    let called = |url: &str| format!("url: must be written as it is called: {url}");
    let [torn, turned, other, decoded] = [
        "hooks.example.com/xX-Evil:%201",
        "hooks.example.com/%E2%80%AEko",
        "example.com/hooks.example.com/",
        "xn--exmple-4nf.com/",
    ]
    .map(|url| called(&format!("https://{url}")));
    for (body, told) in [
        (new("http://hooks.example.com/"), "url: must be an https address"),
        (new("ftp://hooks.example.com/"), "url: must be an https address"),
        (new("hooks.example.com"), "url: must be an https address: relative URL without a base"),
        (new("https://169.254.169.254/latest/meta-data"), "url: `169.254.169.254` is not a public address"),
        (new("https://0x7f.1/"), "url: `127.0.0.1` is not a public address"),
        (new("https://[::ffff:10.0.0.1]/"), "url: `[::ffff:a00:1]` is not a public address"),
        (new("https://hooks.example.com:8443/"), "url: must use port 443, not 8443"),
        (new("https://me:secret@hooks.example.com/"), "url: must not contain a user name or a password"),
        (new(&long), "url: must have at most 2048 bytes"),
        (new("https://hooks.example.com/x\r\nX-Evil: 1"), &torn),
        (new("https://hooks.example.com/\u{202e}ko"), &turned),
        (new("https://example.com\\hooks.example.com/"), &other),
        (new("https://ex%D0%B0mple.com/"), &decoded),
        (with("events", json!([])), "events: must name at least one"),
        (with("description", json!("x".repeat(257))), "description: must have at most 256 characters"),
        (with("agents", json!(["nobody"])), "agents: there is no agent `nobody`"),
        (with("agents", json!(["ana"])), "agents: there is no agent `ana`"),
        (with("agents", json!(many)), "agents: must name at most 100; agents: there is no agent `bot0`"),
    ] {
        let refused = test.post("/v1/webhooks", &test.admin, body).await;
        assert_eq!(refused.error(), format!("422 invalid {told}"));
    }
    for (body, told) in [
        (with("events", json!(["agent.run.begun"])), "events[0]: `agent.run.begun` is not a kind of webhook event"),
        (with("agnets", json!([])), "unknown field `agnets`"),
        (json!({ "events": [] }), "missing field `url`"),
    ] {
        let refused = test.post("/v1/webhooks", &test.admin, body).await;
        assert_eq!(refused.status, 422);
        assert!(refused.text().contains(told), "{}", refused.text());
    }
    let made = test.post("/v1/webhooks", &test.admin, new(good)).await.json();
    let path = format!("/v1/webhooks/{}", made["id"].as_str().unwrap());
    let moved = test.call("PATCH", &path, &test.admin, Some(json!({ "url": "https://localhost/" }))).await;
    assert_eq!(moved.error(), "422 invalid url: `localhost` is not a public address");
    assert_eq!(test.get(&path, &test.admin).await.json()["url"], good);
}

#[tokio::test]
async fn a_list_comes_in_an_envelope_and_in_pages() {
    let test = Test::new().await;
    let mut made = Vec::new();
    for number in 0..3 {
        test.clock.advance(1);
        let answer = test.post("/v1/webhooks", &test.admin, new(&format!("https://h{number}.example.com/"))).await;
        assert_eq!(answer.header("ok-policy"), "1");
        made.push(answer.json()["id"].clone());
    }
    let first = test.get("/v1/webhooks?limit=2", &test.admin).await;
    let cursor = first.header("x-next-cursor").to_owned();
    let page = first.json();
    let ids =
        |page: &Value| -> Vec<Value> { page["data"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect() };
    assert_eq!(
        (ids(&page), &page["has_more"], &page["next_cursor"]),
        (vec![made[2].clone(), made[1].clone()], &json!(true), &json!(cursor))
    );
    assert!(page["data"][0].get("secret").is_none());
    let last = test.get(&format!("/v1/webhooks?limit=2&cursor={cursor}"), &test.admin).await.json();
    assert_eq!(
        (ids(&last), &last["has_more"], &last["next_cursor"]),
        (vec![made[0].clone()], &json!(false), &json!(null))
    );
    for limit in ["0", "101"] {
        let refused = test.get(&format!("/v1/webhooks?limit={limit}"), &test.admin).await;
        assert_eq!(refused.error(), format!("400 bad_request limit: must be 1 to 100, not {limit}"));
    }
    let sent = format!("/v1/webhooks/{}/deliveries?cursor={cursor}", made[0].as_str().unwrap());
    assert_eq!(test.get(&sent, &test.admin).await.error(), "400 bad_request invalid cursor");
}

#[tokio::test]
async fn a_limited_token_reaches_nothing_of_it_and_there_are_never_too_many() {
    let test = Test::new().await;
    let limited = test.token("ana", json!({ "scopes": ["read"] })).await;
    let refused = test.get("/v1/webhooks", &limited).await;
    assert_eq!(refused.error(), "403 token_scope this token's scopes do not reach GET /v1/webhooks");
    for _ in 0..100 {
        assert_eq!(test.post("/v1/webhooks", &test.admin, new("https://hooks.example.com/")).await.status, 201);
    }
    let refused = test.post("/v1/webhooks", &test.admin, new("https://hooks.example.com/")).await;
    assert_eq!(refused.error(), "409 conflict there are 100 webhooks already; delete one first");
    let first = test.get("/v1/webhooks?limit=1", &test.admin).await.json()["data"][0]["id"].clone();
    let gone = test.call("DELETE", &format!("/v1/webhooks/{}", first.as_str().unwrap()), &test.admin, None).await;
    assert_eq!(gone.json(), json!({ "id": first, "deleted": true }));
    assert_eq!(test.get(&format!("/v1/webhooks/{}", first.as_str().unwrap()), &test.admin).await.status, 404);
    assert_eq!(test.post("/v1/webhooks", &test.admin, new("https://hooks.example.com/")).await.status, 201);
}

#[tokio::test]
async fn one_that_names_agents_is_told_of_what_they_ask_for() {
    let more = r#"
        @id("agents-stop-tools") permit (principal is Ok::Actor, action == Ok::Action::"kill", resource);
        @id("with-approval") @reason("an admin looks at it")
        forbid (principal is Ok::Actor, action == Ok::Action::"kill", resource)
        unless { context.approvals.contains(Ok::ApprovalKind::"admin") };
    "#;
    let mut policies = ok::policy::Bundle::built_in();
    policies.files.insert("more.cedar".into(), more.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let mut body = new("https://hooks.example.com/");
    body["agents"] = json!(["bot"]);
    let id = test.post("/v1/webhooks", &test.admin, body).await.json()["id"].as_str().unwrap().to_owned();
    let other = json!({ "url": "https://hooks.example.com/", "events": ["agent.run.failed"] });
    test.post("/v1/webhooks", &test.admin, other).await;
    for (token, scope) in [(&cast.mia, "tool:mail.send"), (&cast.bot, "tool:task.create")] {
        assert_eq!(test.post("/kill", token, json!({ "scope": scope })).await.status, 202);
    }
    let intended = test.get("/events?type=delivery_intended", &test.admin).await.json();
    let intended = intended["events"].as_array().unwrap();
    assert_eq!(intended.len(), 1);
    assert_eq!(intended[0]["event"]["webhook"], id);
    // What it tells is for whom it is told: somebody else may not see all that it names.
    assert_eq!(intended[0]["event"]["body"], Value::Null);
    // Who asked sees nothing of where it is told.
    let seen = test.get("/events?type=delivery_intended", &cast.bot).await.json();
    assert_eq!(seen["events"], json!([]));
}
