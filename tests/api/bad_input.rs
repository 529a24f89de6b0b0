//! What is asked wrongly is refused with words, and nothing that is asked makes the server fail.

use serde_json::json;

use crate::harness::{Answer, Test, fill};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn put(test: &Test, body: impl Into<axum::body::Body>) -> Answer {
    test.raw("POST", "/actors", &[JSON], body).await
}

fn is_text(answer: &Answer) -> bool {
    answer.header("content-type").starts_with("text/plain")
}

#[tokio::test]
async fn a_body_that_is_not_json_is_400_in_plain_text() {
    let test = Test::new().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["", "{", "nonsense", "{\"id\":}", "\u{feff}{}", "{} {}", "{\"id\":\"\\ud800\"}", "1e999", "NaN", &deep]
    {
        let answer = put(&test, body.to_owned()).await;
        assert!(answer.status == 400 && is_text(&answer), "{body:.20}: {} {}", answer.status, answer.text());
        assert!(answer.text().starts_with("Failed to parse the request body as JSON: "), "{}", answer.text());
    }
    let bytes = put(&test, &b"{\"id\":\"\xff\"}"[..]).await;
    assert_eq!(bytes.status, 400);
}

#[tokio::test]
async fn a_body_without_a_required_field_or_of_a_wrong_type_is_422_in_plain_text_naming_the_field() {
    let test = Test::new().await;
    for (body, what) in [
        (json!({ "id": "new" }), "missing field `kind`"),
        (json!({ "id": 7, "kind": "person" }), "id: invalid type: integer `7`"),
        (
            json!({ "id": "new", "kind": "person", "skills": [1] }),
            "skills[0]: invalid type: integer `1`, expected a string",
        ),
        (
            json!({ "id": "new", "kind": "person", "skills": "all" }),
            "skills: invalid type: string \"all\", expected an array",
        ),
        (json!({ "id": "new", "kind": "ghost" }), "kind: `ghost` is not a kind of actor"),
        (json!({ "id": "New!", "kind": "person" }), "id: `New!` is not an actor id"),
        (json!([]), "invalid type: array, expected an object"),
        (json!(["new", "person"]), "invalid type: array, expected an object"),
        (json!("text"), "invalid type: string"),
        (json!(null), "invalid type: null"),
        (json!({ "id": { "id": "new" }, "kind": "person" }), "id: invalid type: object"),
    ] {
        let answer = put(&test, body.to_string()).await;
        let text = answer.text();
        assert!(answer.status == 422 && is_text(&answer), "{body}: {} {text}", answer.status);
        assert!(text.starts_with("Failed to deserialize the JSON body into the target type: "), "{text}");
        assert!(text.contains(what), "{body}: {text}");
    }
}

#[tokio::test]
async fn a_member_that_stands_twice_is_refused_wherever_it_stands() {
    let test = Test::new().await;
    let many: String = (0..40).map(|number| format!("\"a{number}\":0,")).collect();
    for (body, name) in [
        (r#"{"id":"old","kind":"person","id":"new"}"#.to_owned(), "id"),
        (r#"{"id":"a","kind":"person","ki\u006ed":"agent"}"#.to_owned(), "kind"),
        (r#"{"id":"a","kind":"agent","definition":{"metadata":[{"name":"a","name":"b"}]}}"#.to_owned(), "name"),
        (format!("{{{many}\"a39\":1}}"), "a39"),
    ] {
        let answer = put(&test, body.clone()).await;
        let told = format!("Failed to parse the request body as JSON: `{name}` is given twice at line 1");
        assert!(answer.status == 400 && answer.text().starts_with(&told), "{body}: {}", answer.text());
    }
    let twice = "apiVersion: ok/v1\nkind: Agent\nmetadata: {name: a, name: b}\n";
    let hired = test.post("/actors/hire", &test.admin, json!({ "definition": twice })).await;
    assert!(hired.error().contains("definition: line 3: metadata: `name` is given twice"), "{}", hired.text());
}

#[tokio::test]
async fn an_unknown_field_is_refused_by_name() {
    let test = Test::new().await;
    let less = test.post("/tokens", &test.admin, json!({ "days": -1 })).await;
    let why = "days: invalid value: integer `-1`, expected a whole number from 0 to 4294967295";
    assert!(less.text().ends_with(why), "{}", less.text());
    // Misspelt, it would give a token without any limit.
    let misspelt = test.post("/tokens", &test.admin, json!({ "scope": ["read"] })).await;
    assert_eq!(misspelt.status, 422);
    assert_eq!(
        misspelt.text(),
        "Failed to deserialize the JSON body into the target type: unknown field `scope`, \
         expected one of `days`, `for`, `label`, `scopes`, `ttl`"
    );
}

#[tokio::test]
async fn a_role_is_for_people() {
    let test = Test::new().await;
    for (id, kind, role) in [("team:x", "team", "admin"), ("bot", "agent", "admin"), ("max", "person", "agent")] {
        let refused = test.post("/actors", &test.admin, json!({ "id": id, "kind": kind, "role": role })).await;
        assert_eq!(
            refused.error(),
            "422 invalid role: people have any role but an agent's, agents only their own, teams none"
        );
    }
    for reserved in ["ok", "company", "global", "hidden", "server", "visitor"] {
        let refused = test.post("/actors", &test.admin, json!({ "id": reserved, "kind": "person" })).await;
        assert_eq!(
            refused.error(),
            "422 invalid id: `ok`, `company`, `global`, `hidden`, `hire`, `server` and `visitor` are reserved"
        );
    }
}

#[tokio::test]
async fn a_body_may_have_a_mebibyte_and_no_more() {
    let test = Test::new().await;
    let body = |bytes: usize| format!("{{\"id\":\"new\",\"kind\":\"person\"{}}}", " ".repeat(bytes - 28));
    assert_eq!(body(1 << 20).len(), 1 << 20);
    let over = put(&test, body((1 << 20) + 1)).await;
    assert_eq!(over.error(), "413 too_large the request's body is over 1048576 bytes");
    assert_eq!(put(&test, body(2 << 20)).await.status, 413);
    assert_eq!(put(&test, body(1 << 20)).await.status, 201);
}

#[tokio::test]
async fn where_nothing_has_to_be_said_no_body_is_needed() {
    let test = Test::new().await;
    for path in ["/tick", "/audit/verify", "/tokens"] {
        let answer = test.raw("POST", path, &[], "").await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text());
    }
    assert_eq!(test.raw("POST", "/actors", &[], "").await.status, 415, "some fields are required");
    assert_eq!(test.raw("POST", "/tick", &[], "{}").await.status, 415);
    assert_eq!(test.raw("POST", "/tick", &[("content-type", "text/plain")], "").await.status, 415);
    let json = [("content-type", "application/json")];
    assert_eq!(test.raw("POST", "/tick", &json, "").await.status, 200, "whatever a client library sends along");
    assert_eq!(test.raw("POST", "/actors", &json, "").await.status, 400);
}

#[tokio::test]
async fn a_body_needs_a_json_content_type() {
    let test = Test::new().await;
    let body = json!({ "id": "new", "kind": "person" }).to_string();
    for media in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "json"] {
        let answer = test.raw("POST", "/actors", &[("content-type", media)], body.clone()).await;
        assert!(answer.status == 415 && is_text(&answer), "{media}: {}", answer.text());
    }
    assert_eq!(test.raw("POST", "/actors", &[], body.clone()).await.status, 415);
    let media = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(test.raw("POST", "/actors", &media, body).await.status, 201);
}

#[tokio::test]
async fn a_wrong_method_is_405_and_says_which_are_right() {
    let test = Test::new().await;
    for (method, path, right) in [
        ("DELETE", "/actors", &["GET", "POST"][..]),
        ("POST", "/me", &["GET"]),
        ("GET", "/tick", &["POST"]),
        ("PUT", "/tokens/id/x", &["DELETE", "GET", "PATCH"]),
        ("OPTIONS", "/company", &["GET", "PATCH", "PUT"]),
        ("BREW", "/company", &["GET", "PATCH", "PUT"]),
    ] {
        let answer = test.raw(method, path, &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.text()), (405, String::new()), "{method} {path}");
        let mut allowed: Vec<&str> = answer.header("allow").split(',').filter(|one| *one != "HEAD").collect();
        allowed.sort_unstable();
        assert_eq!(allowed, right, "{method} {path}");
    }
}

#[tokio::test]
async fn an_unknown_query_parameter_is_refused() {
    let test = Test::new().await;
    let list = test.get("/actors?temas=team:ops", &test.admin).await;
    assert_eq!(
        list.error(),
        "400 bad_request unknown query parameter `temas`; this route takes cursor, kind, limit, team"
    );
    let none = test.get("/me?x", &test.admin).await;
    assert_eq!(none.error(), "400 bad_request unknown query parameter `x`; this route takes none");
    let change = test.raw("POST", "/actors?id=new", &[JSON], json!({ "kind": "person" }).to_string()).await;
    assert_eq!(change.error(), "400 bad_request unknown query parameter `id`; this route takes none");
    let path = test.get("/actors/ana?id=bea", &test.admin).await;
    assert_eq!(path.status, 400, "what stands in the path is not asked for twice");
}

#[tokio::test]
async fn a_cursor_is_good_only_as_issued_and_where_it_was_issued() {
    let test = Test::new().await;
    test.cast().await;
    let first = test.get("/actors?limit=2", &test.admin).await;
    let cursor = first.header("x-next-cursor").to_owned();
    assert_eq!(test.get(&format!("/actors?limit=2&cursor={cursor}"), &test.admin).await.status, 200);
    assert_eq!(test.get(&format!("/actors?limit=5&cursor={cursor}"), &test.admin).await.status, 200, "any limit");
    let invalid = "400 bad_request invalid cursor";
    for path in
        ["/tokens?", "/directory/cards?", "/audit/checkpoints?", "/actors?kind=person&", "/actors?team=team:ops&"]
    {
        let elsewhere = test.get(&format!("{path}cursor={cursor}"), &test.admin).await;
        assert_eq!(elsewhere.error(), invalid, "{path}");
    }
    for at in 0..cursor.len() {
        let mut altered = cursor.clone().into_bytes();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        assert_eq!(test.get(&format!("/actors?cursor={altered}"), &test.admin).await.error(), invalid, "at {at}");
    }
    for made_up in ["", "x", "%00", "0", "bnVsbA", &cursor[1..], &cursor[..cursor.len() - 1], &"A".repeat(10_000)] {
        assert_eq!(test.get(&format!("/actors?cursor={made_up}"), &test.admin).await.error(), invalid, "{made_up:.20}");
    }
    let other = Test::new().await;
    let theirs = other.get(&format!("/actors?cursor={cursor}"), &other.admin).await;
    assert_eq!(theirs.status, 200, "the same seed, so the same key");
}

#[tokio::test]
async fn an_id_that_cannot_be_names_nothing() {
    let test = Test::new().await;
    let long = "a".repeat(300);
    for id in [
        "..%2f..%2fetc",
        "%2e%2e",
        "a%00b",
        "%00",
        &long,
        "%d0%b0na",
        "ana%20",
        "ANA",
        "team:",
        "team:%2e",
        "ana;x",
        "%ff",
        "a%2Fb",
        "'--",
    ] {
        let absent = test.get("/actors/nobody", &test.admin).await;
        let answer = test.get(&format!("/actors/{id}"), &test.admin).await;
        assert_eq!((answer.status, answer.text()), (absent.status, absent.text()), "{id:.30}");
        let token = test.call("DELETE", &format!("/tokens/id/{id}"), &test.admin, None).await;
        assert_eq!(token.text(), absent.text(), "{id:.30}");
    }
}

#[tokio::test]
async fn numbers_beyond_their_type_are_refused() {
    let test = Test::new().await;
    for days in ["-1", "4294967296", "18446744073709551616", "1.5", "1e3", "\"7\""] {
        let answer = test.raw("POST", "/tokens", &[JSON], format!("{{\"days\":{days}}}")).await;
        assert!(answer.status == 422 && answer.text().contains("days: invalid"), "{days}: {}", answer.text());
    }
    for query in ["limit=99999999999999999999", "limit=4294967297", "limit=0x10", "limit=1.0", "limit=", "limit=-1"] {
        let answer = test.get(&format!("/actors?{query}"), &test.admin).await;
        let names =
            ["limit: invalid value", "limit: must be a whole number"].iter().any(|it| answer.text().contains(it));
        assert!(answer.status == 400 && names, "{query}: {}", answer.text());
    }
}

/// Each body as the OpenAPI document describes it: with a field that is none, without a content type, as no JSON.
#[tokio::test]
async fn what_is_wrong_with_a_body_is_answered_as_the_document_says() {
    let test = Test::new().await;
    let document = test.get("/openapi.json", &test.admin).await.json();
    let mut bodies = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            if schema.is_null() || path.starts_with("/access/") {
                continue;
            }
            bodies += 1;
            let named = schema["$ref"].as_str().map(|name| document.pointer(&name[1..]).unwrap());
            let schema = named.unwrap_or(schema);
            assert_eq!(schema["additionalProperties"], false, "{method} {path}");
            let at = path.replace(['{', '}'], "");
            let at = at.strip_prefix("/api").unwrap_or(&at);
            let answer = test.call(&method.to_uppercase(), at, &test.admin, Some(json!({ "no such field": 1 }))).await;
            assert_eq!(answer.status, 422, "{method} {path}: {}", answer.text());
            let told = &operation["responses"];
            assert!(told["422"]["content"]["text/plain"].is_object(), "{method} {path}");
            assert!(told["400"]["content"]["text/plain"].is_object() && told["413"].is_object(), "{method} {path}");
            assert!(told["415"].is_object(), "{method} {path}");
            let header = |name: &str| operation["parameters"].as_array().unwrap().iter().any(|one| one["name"] == name);
            assert!(header("ok-min-policy") && header("ok-delegation"), "{method} {path}");
        }
    }
    assert!(bodies > 25, "{bodies}");
}

#[tokio::test]
async fn whoever_has_nothing_to_say_needs_neither_a_body_nor_a_content_type() {
    let test = Test::new().await;
    let ids = json!({ "id": "nobody", "collection": "c", "message": "m", "reservation": "r", "seq": 1 });
    let mut tried = 0;
    for entry in ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.route.is_served() && !entry.needs_body()) {
        let (name, route) = (entry.spec.name, entry.spec.route);
        if !matches!(route.method.name(), "POST" | "PUT" | "PATCH") {
            continue;
        }
        let (path, _) = fill(route.path, &ids);
        for headers in [&[][..], &[JSON][..]] {
            let answer = test.raw(route.method.name(), &path, headers, "").await;
            let (status, text) = (answer.status.as_u16(), answer.text());
            // What the operation itself misses it tells in its own words.
            assert!(status != 415 && !is_text(&answer) && status < 500, "{name} {headers:?}: {status} {text}");
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
}
