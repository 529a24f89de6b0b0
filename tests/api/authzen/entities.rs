//! Entities that the company keeps: questions and searches that say nothing of them, and what is left of one that is erased.

use serde_json::{Value, json};

use super::published::search_company;
use super::{ask, company, doc, question, record, user};
use crate::harness::{Answer, Test, refolded};

pub async fn keep(test: &Test, entities: Value) -> Answer {
    test.call("PUT", "/access/v1/entities", &test.admin, Some(json!({ "entities": entities }))).await
}

async fn remove(test: &Test, removed: Value) -> Answer {
    test.call("PUT", "/access/v1/entities", &test.admin, Some(json!({ "removed": removed }))).await
}

pub async fn find(test: &Test, what: &str, body: Value) -> Answer {
    test.post(&format!("/access/v1/search/{what}"), &test.admin, body).await
}

pub fn plan() -> Value {
    json!({ "type": "Docs::Doc", "id": "plan" })
}

/// The tables, and what is in memory of them, are what the log says.
pub fn assert_folds(test: &Test) {
    assert!(test.verdict().ok);
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
    refolded(&test.file());
}

#[tokio::test]
async fn a_question_that_says_nothing_of_an_entity_takes_it_as_it_is_kept() {
    let test = company().await;
    let kept = keep(&test, json!([doc("plan", json!({ "open": true })), doc("draft", json!({ "open": false }))])).await;
    assert_eq!(kept.json(), json!({ "kept": 2, "unchanged": 0, "removed": 0 }), "{}", kept.text());
    assert_eq!(ask(&test, question("view", plan())).await.json()["decision"], true);
    // What a question says is all that counts.
    assert_eq!(ask(&test, question("view", doc("plan", json!({ "open": false })))).await.json()["decision"], false);
    let said = ask(&test, question("view", doc("plan", json!({})))).await.error();
    assert_eq!(said, "400 bad_request resource.properties.open: is missing");
    let both = json!({ "subject": user("ann"), "action": { "name": "view" },
                       "evaluations": [{ "resource": plan() }, { "resource": { "type": "Docs::Doc", "id": "draft" } }] });
    let answers = test.post("/access/v1/evaluations", &test.admin, both).await.json();
    assert_eq!(
        (&answers["evaluations"][0]["decision"], &answers["evaluations"][1]["decision"]),
        (&json!(true), &json!(false))
    );
    let explained = test.post("/policy/explain", &test.admin, json!({ "evaluation": question("view", plan()) })).await;
    assert_eq!(explained.json()["decision"], "allow", "{}", explained.text());
    // The question is kept whole, so that other policies can be asked it.
    record(&test, "all").await;
    ask(&test, question("view", plan())).await;
    let asked: String = test
        .file()
        .query_row("SELECT body FROM log_entry ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok(String::from_utf8(row.get(0)?).unwrap())
        })
        .unwrap();
    assert!(asked.contains("\"open\":true"), "{asked}");
    // Kept again, otherwise: the same again changes nothing.
    let again =
        keep(&test, json!([doc("plan", json!({ "open": false })), doc("draft", json!({ "open": false }))])).await;
    assert_eq!(again.json(), json!({ "kept": 1, "unchanged": 1, "removed": 0 }));
    assert_eq!(ask(&test, question("view", plan())).await.json()["decision"], false);
    let gone = remove(&test, json!([plan(), { "type": "Docs::Doc", "id": "never" }])).await;
    assert_eq!(gone.json(), json!({ "kept": 0, "unchanged": 0, "removed": 1 }));
    let told = ask(&test, question("view", plan())).await.error();
    assert_eq!(told, "400 bad_request resource.properties: of `Docs::Doc::\"plan\"`, open: is missing");
    assert_folds(&test);
    let test = test.reopened().await;
    let listed = test.get("/access/v1/entities?type=Docs::Doc", &test.admin).await.json();
    assert_eq!((listed[0]["id"].as_str(), listed.as_array().unwrap().len()), (Some("draft"), 1));
    assert_eq!(test.get("/access/v1/entities?type=Docs::User", &test.admin).await.json(), json!([]));
    assert_eq!(
        ask(&test, question("view", json!({ "type": "Docs::Doc", "id": "draft" }))).await.json()["decision"],
        false
    );
}

#[tokio::test]
async fn the_past_is_explained_by_what_was_kept_then() {
    let test = company().await;
    let begun = test.last_seq().await;
    keep(&test, json!([doc("plan", json!({ "open": true }))])).await;
    let open = test.last_seq().await;
    keep(&test, json!([doc("plan", json!({ "open": false })), doc("draft", json!({ "open": false }))])).await;
    let closed = test.last_seq().await;
    remove(&test, json!([plan()])).await;
    let gone = test.last_seq().await;
    keep(&test, json!([doc("plan", json!({ "open": true }))])).await;
    let again = test.last_seq().await;
    let explained = async |at: i64| {
        let asked = json!({ "evaluation": question("view", plan()), "at": at });
        let answer = test.post("/policy/explain", &test.admin, asked).await;
        if answer.status == 200 { answer.json()["decision"].clone() } else { json!(answer.error()) }
    };
    let missing = json!("400 bad_request resource.properties: of `Docs::Doc::\"plan\"`, open: is missing");
    for (at, expected) in [
        (open, json!("allow")),
        (closed - 1, json!("deny")),
        (closed, json!("deny")),
        (gone, missing.clone()),
        (again, json!("allow")),
    ] {
        assert_eq!(explained(at).await, expected, "{at}");
    }
    assert_eq!(explained(begun).await, missing);
    // What has been forgotten since is known of no time.
    test.post("/context/forget", &test.admin, json!({ "events": [open], "reason": "asked" })).await;
    assert_eq!(explained(open).await, missing);
    assert_eq!(explained(again).await, json!("allow"));
}

#[tokio::test]
async fn whom_a_question_only_names_is_taken_as_kept_and_whom_it_describes_as_it_says() {
    let test = search_company().await;
    let named = |id: &str| json!({ "type": "user", "id": id });
    let described = json!({ "type": "user", "id": "bob", "properties": { "role": "manager", "department": "Sales" } });
    let of = |owner: Value| json!({ "type": "record", "id": "new", "properties": { "title": "", "department": "Sales", "owner": owner } });
    let asked = |subject: &Value, resource: &Value| json!({ "subject": subject, "action": { "name": "edit" }, "resource": resource });
    let (bob, carol) = (named("bob"), named("carol"));
    let cases = [
        (asked(&bob, &of(bob.clone())), true),
        (asked(&bob, &of(carol.clone())), false),
        // What is said of him anywhere in the question counts everywhere in it.
        (asked(&described, &of(carol.clone())), true),
        (asked(&described, &of(bob.clone())), true),
        (asked(&bob, &of(described.clone())), true),
    ];
    for (question, expected) in &cases {
        let answer = ask(&test, question.clone()).await;
        assert_eq!(answer.json()["decision"], *expected, "{question}: {}", answer.text());
    }
    let resources: Vec<Value> =
        [of(carol), of(bob.clone()), of(described)].iter().map(|resource| json!({ "resource": resource })).collect();
    let batch = json!({ "subject": bob, "action": { "name": "edit" }, "evaluations": resources });
    let answers = test.post("/access/v1/evaluations", &test.admin, batch).await.json();
    let decisions: Vec<&Value> =
        answers["evaluations"].as_array().unwrap().iter().map(|one| &one["decision"]).collect();
    assert_eq!(decisions, [&json!(false), &json!(true), &json!(true)], "{answers}");
}

#[tokio::test]
async fn what_does_not_fit_is_not_kept_and_nothing_beside_it() {
    let test = company().await;
    let long = json!({ "open": true, "tags": ["x".repeat(17_000)] });
    let some = json!([
        doc("a", json!({ "open": true })), doc("b", json!({ "open": 1 })), doc("c", long),
        { "type": "Ok::Actor", "id": "ana" }, doc("a", json!({ "open": true })),
    ]);
    let refused = keep(&test, some).await;
    assert_eq!(refused.status, 422);
    let problems = json!([
        "entities.1.properties.open: must be true or false",
        "entities.2.properties: must be at most 16384 bytes of JSON, not 17025",
        "entities.3.type: `Ok::Actor` is the product's own and cannot be asked about here",
        "entities: `Docs::Doc::a` is named twice",
    ]);
    assert_eq!(refused.json()["problems"], problems);
    let many: Vec<Value> = (0..1_001).map(|number| doc(&number.to_string(), json!({ "open": true }))).collect();
    for (wrong, status) in [(json!(many), 422), (json!([{ "type": "Docs::Doc" }]), 400)] {
        assert_eq!(keep(&test, wrong).await.status, status);
    }
    let misspelt = json!([{ "type": "Docs::User", "id": "ann", "propertys": {} }]);
    assert_eq!(keep(&test, misspelt).await.status, 400);
    assert_eq!(test.get("/access/v1/entities", &test.admin).await.json(), json!([]));
    let cast = test.cast().await;
    let by_agent = test.call("PUT", "/access/v1/entities", &cast.bot, Some(json!({ "entities": [user("ann")] }))).await;
    assert_eq!(by_agent.error(), "403 denied policy denied entity.keep: no policy permits it");
    assert_eq!(test.get("/access/v1/entities", &cast.bot).await.status, 403);
}

#[tokio::test]
async fn an_entity_that_is_forgotten_is_gone_with_all_that_was_told_before() {
    let test = company().await;
    let level =
        |level: i64| json!([{ "type": "Docs::User", "id": "zoe@example.com", "properties": { "level": level } }]);
    let seq = async |test: &Test| test.last_seq().await;
    let forget = async |test: &Test, events: &[i64]| {
        let erased =
            test.post("/context/forget", &test.admin, json!({ "events": events, "reason": "she asked" })).await;
        assert_eq!(erased.status, 200, "{}", erased.text());
        assert_folds(test);
    };
    keep(&test, level(1)).await;
    let first = seq(&test).await;
    keep(&test, level(2)).await;
    let second = seq(&test).await;
    forget(&test, &[first]).await;
    let listed = test.get("/access/v1/entities", &test.admin).await.json();
    assert_eq!((&listed[0]["properties"]["level"], &listed[0]["event"]), (&json!(2), &json!(second)));
    keep(&test, level(3)).await;
    let third = seq(&test).await;
    forget(&test, &[third]).await;
    assert_eq!(test.get("/access/v1/entities", &test.admin).await.json(), json!([]));
    forget(&test, &[second]).await;
    keep(&test, level(4)).await;
    let fourth = seq(&test).await;
    remove(&test, json!([{ "type": "Docs::User", "id": "zoe@example.com" }])).await;
    forget(&test, &[fourth]).await;
    let bytes: Vec<Vec<u8>> =
        std::fs::read_dir(test.dir.path()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    let named = |bytes: &Vec<u8>| bytes.windows(4).any(|window| window == b"zoe@");
    assert!(!bytes.iter().any(named), "what names her is still in a file");
}

#[tokio::test]
async fn a_search_goes_on_from_page_to_page() {
    let test = search_company().await;
    let asked = |page: Value| {
        json!({ "subject": { "type": "user", "id": "erin" }, "action": { "name": "view" },
                                      "resource": { "type": "record" }, "page": page })
    };
    let ids = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        results.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = find(&test, "resource", asked(json!({ "limit": 3 }))).await.json();
    assert_eq!(ids(&first), ["105", "111", "115"]);
    assert_eq!((&first["page"]["count"], &first["page"]["total"]), (&json!(3), &Value::Null));
    let token = first["page"]["next_token"].as_str().unwrap();
    // As the standard's own example, the limit need not be said again.
    let second = find(&test, "resource", asked(json!({ "token": token }))).await.json();
    assert_eq!((ids(&second), &second["page"]["next_token"]), (vec!["117".to_owned()], &json!("")));
    let whole = find(&test, "resource", asked(json!({ "limit": 4 }))).await.json();
    assert_eq!(whole["page"], json!({ "next_token": "", "count": 4, "total": 4 }));
    let other = |field: &str, value: Value| {
        let mut asked = asked(json!({ "token": token }));
        asked[field] = value;
        asked
    };
    for (wrong, told) in [
        (other("subject", json!({ "type": "user", "id": "bob" })), "page.token: does not belong to this search"),
        (other("action", json!({ "name": "edit" })), "page.token: does not belong to this search"),
        (other("page", json!({ "token": "x" })), "page.token: does not belong to this search"),
        (other("page", json!({ "token": token, "limit": 2 })), "page.limit: must be the same as on the previous page"),
    ] {
        assert_eq!(find(&test, "resource", wrong).await.error(), format!("400 bad_request {told}"));
    }
    assert_eq!(find(&test, "resource", asked(json!({ "limit": -1 }))).await.status, 400);
    // Actions, and candidates that the request brings, come in pages too.
    let mut actions = json!({ "subject": { "type": "user", "id": "erin" }, "resource": { "type": "record", "id": "105" },
                              "page": { "limit": 2 } });
    let first = find(&test, "action", actions.clone()).await.json();
    assert_eq!(first["page"]["count"], 2);
    actions["page"]["token"] = first["page"]["next_token"].clone();
    let second = find(&test, "action", actions).await.json();
    assert_eq!((&second["page"]["count"], &second["page"]["next_token"]), (&json!(1), &json!("")));
    let department = |name: &str| json!({ "title": "", "department": name, "owner": { "type": "user", "id": "bob" } });
    let candidates = json!([{ "id": "a", "properties": department("Finance") }, { "id": "b", "properties": department("Legal") },
                            { "id": "c", "properties": department("Finance") }]);
    let mut brought = asked(json!({ "limit": 1 }));
    brought["options"] = json!({ "candidates": candidates });
    let first = find(&test, "resource", brought.clone()).await.json();
    brought["page"]["token"] = first["page"]["next_token"].clone();
    let second = find(&test, "resource", brought).await.json();
    assert_eq!((ids(&first), ids(&second)), (vec!["a".to_owned()], vec!["c".to_owned()]));
    assert_eq!(second["page"]["next_token"], "");
}

#[tokio::test]
async fn a_page_of_a_long_search_ends_after_so_many_decisions() {
    let test = company().await;
    for chunk in 0..6 {
        let docs = (0..1_000).map(|number| doc(&format!("{chunk}-{number:04}"), json!({ "open": chunk == 5 })));
        assert_eq!(keep(&test, docs.collect()).await.json()["kept"], 1_000);
    }
    let asked = |page: Value| {
        json!({ "subject": user("ann"), "action": { "name": "view" },
                                      "resource": { "type": "Docs::Doc" }, "page": page })
    };
    let first = find(&test, "resource", asked(json!({}))).await.json();
    let token = &first["page"]["next_token"];
    assert_eq!((&first["page"]["count"], token == ""), (&json!(0), false));
    let second = find(&test, "resource", asked(json!({ "token": token }))).await.json();
    assert_eq!(second["page"], json!({ "next_token": "", "count": 1_000 }));
}

#[tokio::test]
async fn a_comparison_tells_which_kept_entities_a_schema_would_not_take() {
    let test = company().await;
    keep(&test, json!([doc("plan", json!({ "open": true })), doc("draft", json!({ "open": false }))])).await;
    let mut files = test.get("/policy/export", &test.admin).await.json()["files"].clone();
    for file in files.as_object_mut().unwrap().values_mut() {
        *file = Value::from(file.as_str().unwrap().replace("resource.open", "resource.public"));
    }
    let schema = files["schema.cedarschema"].as_str().unwrap();
    assert!(schema.contains("open: Bool"), "{schema}");
    files["schema.cedarschema"] = Value::from(schema.replace("open: Bool", "public: Bool"));
    let compared = test.post("/policy/diff", &test.admin, json!({ "files": files, "semantic": false })).await.json();
    let told = &compared["warnings"][0];
    assert_eq!(
        (&told["code"], told["message"].as_str().unwrap()),
        (
            &json!("entities_unfit"),
            "of the newest 1000 kept entities, 2 of the type `Docs::Doc` would not fit the schema (properties.open: the schema has no such attribute of `Docs::Doc`): questions that depend on them are refused until they are stored again"
        ),
        "{compared}"
    );
}
