//! Questions that name what is kept: completed alike, however they are put.

use serde_json::{Map, Value, json};

use super::entities::{assert_folds, find, keep, plan};
use super::{ask, company, company_of, doc, user};

#[tokio::test]
async fn a_batch_and_searches_complete_a_question_as_it_would_be_alone() {
    let test = company().await;
    let bob = json!({ "type": "Docs::User", "id": "bob" });
    let level = |level: i64| json!({ "type": "Docs::User", "id": "bob", "properties": { "level": level } });
    keep(&test, json!([level(5), doc("plan", json!({ "open": true, "owner": bob }))])).await;
    let told = async |what: &str, body: Value| find(&test, what, body).await;
    // A default that is replaced describes nobody.
    let batch = json!({ "subject": level(0), "action": { "name": "edit" },
                        "evaluations": [{ "subject": bob, "resource": plan() }] });
    let answers = test.post("/access/v1/evaluations", &test.admin, batch).await.json();
    let alone = json!({ "subject": bob, "action": { "name": "edit" }, "resource": plan() });
    let alone = ask(&test, alone).await.json();
    assert_eq!(answers["evaluations"][0]["decision"], alone["decision"], "{answers}");
    // What a candidate says of the known end counts in its question.
    let owned = json!({ "type": "Docs::Doc", "id": "new", "properties": { "open": false, "owner": level(9) } });
    let search = json!({ "subject": bob, "action": { "name": "edit" }, "resource": { "type": "Docs::Doc" },
                         "options": { "candidates": [owned, plan()] } });
    let found = told("resource", search).await;
    assert_eq!(found.status, 200, "{}", found.text());
    let one = json!({ "subject": bob, "action": { "name": "edit" }, "resource": owned });
    let expected =
        usize::from(ask(&test, one).await.json()["decision"] == true) + usize::from(alone["decision"] == true);
    assert_eq!(found.json()["results"].as_array().unwrap().len(), expected, "{}", found.text());
    // A mistake of the request is told, with candidates or without.
    let wrong = json!({ "subject": { "type": "Docs::Doc", "id": "plan" }, "action": { "name": "edit" },
                        "resource": { "type": "Docs::Doc" } });
    assert_eq!(told("resource", wrong).await.status, 400);
    let none = json!({ "subject": bob, "action": { "name": "view" }, "resource": { "type": "Docs::Doc" },
                       "page": { "limit": 0 } });
    assert_eq!(told("resource", none).await.error(), "400 bad_request page.limit: must be at least 1");
}

#[tokio::test]
async fn a_search_finds_whom_single_questions_allow() {
    let test = company().await;
    let dan = |level: i64| json!({ "type": "Docs::User", "id": "dan", "properties": { "level": level } });
    keep(&test, json!([dan(2), doc("plan", json!({ "open": true }))])).await;
    // The question describes one whom the company keeps too: what the question says counts.
    let owned = doc("new", json!({ "open": false, "owner": dan(5) }));
    let (named, edit) = (json!({ "type": "Docs::User", "id": "dan" }), json!({ "name": "edit" }));
    let alone = ask(&test, json!({ "subject": named, "action": edit, "resource": owned })).await.json();
    assert_eq!(alone["decision"], true);
    let search = json!({ "subject": { "type": "Docs::User" }, "action": edit, "resource": owned });
    let found = find(&test, "subject", search).await.json();
    assert_eq!(found["results"], json!([{ "type": "Docs::User", "id": "dan" }]), "{found}");
    // Of a candidate that is neither described nor kept too little is known, and of the others no less.
    let candidates = json!([{ "id": "gone" }, { "id": "plan" }]);
    let search = json!({ "subject": named, "action": { "name": "view" }, "resource": { "type": "Docs::Doc" },
                         "options": { "candidates": candidates } });
    let found = find(&test, "resource", search).await;
    assert_eq!(found.status, 200, "{}", found.text());
    assert_eq!(found.json()["results"], json!([{ "type": "Docs::Doc", "id": "plan" }]));
    let large = keep(&test, json!([{ "type": "Docs::User", "id": "big", "properties": { "level": i64::MAX } }])).await;
    let told = "entities.0.properties: must not contain a whole number beyond 9007199254740991 (2^53 - 1)";
    assert_eq!(large.json()["problems"], json!([told]));
}

#[tokio::test]
async fn what_is_kept_describes_one_entity_and_names_others() {
    let test = company().await;
    let nested = json!([{ "type": "Docs::Doc", "id": "plan",
                          "properties": { "open": true, "owner": { "type": "Docs::User", "id": "ann", "properties": { "level": 1 } } } }]);
    let refused = keep(&test, nested).await;
    let told = "entities.0.properties: `Docs::User::ann` must be only named here; store its properties as an entity of its own";
    assert_eq!((refused.status.as_u16(), &refused.json()["problems"]), (422, &json!([told])));
    let fields: Map<String, Value> = (0..1_001).map(|field| (format!("f{field}"), json!(1))).collect();
    let many = keep(&test, json!([{ "type": "Docs::Doc", "id": "plan", "properties": { "x": fields } }])).await;
    assert_eq!(many.status, 422, "{}", many.text());
    // However often it is sent, a call counts once: by an entry that nobody can erase.
    keep(&test, json!([doc("plan", json!({ "open": true })), doc("draft", json!({ "open": true }))])).await;
    keep(&test, json!([doc("plan", json!({ "open": true }))])).await;
    let counted: i64 = test
        .file()
        .query_row("SELECT sum(month_times) FROM done WHERE operation = 'entity.keep'", [], |row| row.get(0))
        .unwrap_or(-1);
    assert_eq!(counted, 1);
    assert_folds(&test);
}

#[tokio::test]
async fn whom_a_context_names_is_taken_as_kept_however_the_question_is_put() {
    let schema = super::SCHEMA.replace("{ mfa?: Bool }", "{ mfa?: Bool, via?: User }");
    let forbid = "@id(\"not-via-the-mistrusted\")\n@reason(\"not by this way\")\n\
                  forbid (principal, action == Docs::Action::\"view\", resource is Docs::Doc)\n\
                  when { context has via && context.via has level && context.via.level < 0 };\n";
    let test = company_of(&schema, &format!("{}\n{forbid}", super::POLICIES)).await;
    let level = |level: i64| json!({ "type": "Docs::User", "id": "bob", "properties": { "level": level } });
    keep(&test, json!([level(-1), doc("plan", json!({ "open": true }))])).await;
    let (view, via) = (json!({ "name": "view" }), json!({ "via": { "type": "Docs::User", "id": "bob" } }));
    let decision = async |body: Value| {
        let answer = test.post("/access/v1/evaluations", &test.admin, body).await.json();
        let first = answer["evaluations"].get(0).unwrap_or(&answer);
        first["decision"].clone()
    };
    let (ann, by_way) = (user("ann"), json!({ "name": "view", "properties": via }));
    let denied = [
        json!({ "subject": ann, "action": view, "resource": plan(), "context": via }),
        json!({ "action": view, "evaluations": [{ "subject": ann, "resource": plan(), "context": via }] }),
        json!({ "context": via, "evaluations": [{ "subject": ann, "resource": plan(), "action": view }] }),
        json!({ "subject": ann, "resource": plan(), "evaluations": [{ "action": by_way }] }),
    ];
    for question in denied {
        assert_eq!(decision(question.clone()).await, false, "{question}");
    }
    let said = json!({ "subject": ann, "action": view, "resource": plan(), "context": { "via": level(1) } });
    assert_eq!(decision(said).await, true);
    let search = |what: &str| {
        let mut body = json!({ "subject": ann, "action": view, "resource": plan(), "context": via });
        body[what] = if what == "action" { Value::Null } else { json!({ "type": body[what]["type"] }) };
        body
    };
    for what in ["subject", "resource", "action"] {
        let found = find(&test, what, search(what)).await.json();
        let names = found["results"].to_string();
        assert!(!names.contains("view") && !names.contains("plan") && !names.contains("ann"), "{what}: {found}");
    }
}

#[tokio::test]
async fn whom_a_resource_describes_is_the_same_as_subject() {
    let schema = super::SCHEMA.replace("{ level?: Long }", "{ level?: Long, boss?: User }");
    let permit = "@id(\"bosses-edit\")\n\
                  permit (principal is Docs::User, action == Docs::Action::\"edit\", resource is Docs::Doc)\n\
                  when { principal has boss && principal.boss has level && principal.boss.level > 3 };\n";
    let test = company_of(&schema, &format!("{}\n{permit}", super::POLICIES)).await;
    let eve = json!({ "type": "Docs::User", "id": "eve" });
    keep(&test, json!([{ "type": "Docs::User", "id": "eve", "properties": { "level": 5 } }])).await;
    let bob = json!({ "type": "Docs::User", "id": "bob", "properties": { "boss": eve } });
    let owned_by = |owner: &Value| doc("new", json!({ "open": false, "owner": owner }));
    let asked = [
        json!({ "subject": bob, "action": { "name": "edit" }, "resource": owned_by(&user("ann")) }),
        json!({ "subject": user("bob"), "action": { "name": "edit" }, "resource": owned_by(&bob) }),
        json!({ "subject": bob, "action": { "name": "edit" }, "resource": owned_by(&bob) }),
    ];
    for question in asked {
        let answer = ask(&test, question.clone()).await;
        assert_eq!(answer.json()["decision"], true, "{question}: {}", answer.text());
    }
}
