//! Many questions in one request.

use serde_json::{Value, json};

use super::{ask, company, doc, question, user};

#[tokio::test]
async fn a_batch_goes_as_far_as_its_semantic_says() {
    let test = company().await;
    let batch = |semantic: &str| {
        json!({
            "subject": user("ann"), "action": { "name": "view" }, "resource": { "type": "Docs::Doc" },
            "options": { "evaluations_semantic": semantic },
            "evaluations": [
                { "resource": doc("1", json!({ "open": true })) },
                { "resource": doc("2", json!({ "open": false })) },
                { "resource": doc("3", json!({ "open": true })) },
                { "resource": { "type": "Docs::Doc", "id": "4" } },
            ],
        })
    };
    let decisions = async |body: Value| {
        let answer = test.post("/access/v1/evaluations", &test.admin, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answers = answer.json()["evaluations"].as_array().unwrap().clone();
        answers.iter().map(|answer| answer["decision"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(decisions(batch("execute_all")).await, [true, false, true, false]);
    assert_eq!(decisions(batch("deny_on_first_deny")).await, [true, false]);
    assert_eq!(decisions(batch("permit_on_first_permit")).await, [true]);
    let path = "/access/v1/evaluations";
    let all = test.post(path, &test.admin, batch("execute_all")).await.json();
    let error = json!({ "status": 400, "message": "resource.properties: of `Docs::Doc::\"4\"`, open: is missing" });
    assert_eq!(all["evaluations"][3], json!({ "decision": false, "context": { "error": error } }));
    let one = test.post(path, &test.admin, question("view", doc("1", json!({ "open": true })))).await;
    assert_eq!(one.json(), json!({ "decision": true }));
    let other = test.post(path, &test.admin, batch("some")).await;
    assert!(other.error().starts_with("400 bad_request options.evaluations_semantic: unknown variant `some`"));
    let many = test.post(path, &test.admin, json!({ "evaluations": vec![json!({}); 1001] })).await;
    assert_eq!(many.error(), "422 invalid evaluations: must be at most 1000");
}

/// The items of an array are not the fields of an object in their order.
#[tokio::test]
async fn an_array_is_no_object_wherever_it_stands() {
    let test = company().await;
    let (user, doc, view) = (user("ann"), doc("1", json!({ "open": true })), json!({ "name": "view" }));
    let array = json!(["Docs::User", "ann", {}]);
    for (path, question) in [
        ("evaluation", json!({ "subject": array, "action": view, "resource": doc })),
        ("evaluation", json!({ "subject": user, "action": ["view", null], "resource": doc })),
        ("evaluations", json!({ "subject": array, "evaluations": [{ "action": view, "resource": doc }] })),
        ("evaluations", json!({ "evaluations": [[user, view, doc, null]] })),
        ("evaluations", json!({ "evaluations": [{ "subject": array, "action": view, "resource": doc }] })),
        (
            "search/subject",
            json!({ "subject": { "type": "Docs::User" }, "action": view, "resource": doc, "options": { "candidates": [array] } }),
        ),
    ] {
        let answer = test.post(&format!("/access/v1/{path}"), &test.admin, question.clone()).await;
        assert!(answer.status == 400 && answer.text().contains("expected an object"), "{question}: {}", answer.text());
    }
}

/// What a question says of an entity is all that is known of it: a default stands in for a part that is left out, and
/// never completes one that is given.
#[tokio::test]
async fn an_entity_given_in_a_question_replaces_the_default_whole() {
    let test = company().await;
    let open = doc("1", json!({ "open": true }));
    for (question, told) in [
        (json!({ "subject": {} }), "subject.type: is required"),
        (json!({ "subject": { "id": "bob" } }), "subject.type: is required"),
        (json!({ "subject": { "type": "Docs::User" } }), "subject.id: is required"),
        (json!({ "action": {} }), "action.name: is required"),
        (json!({ "action": { "properties": { "mfa": true } } }), "action.name: is required"),
        (json!({ "resource": {} }), "resource.type: is required"),
        (json!({ "resource": { "id": "1" } }), "resource.type: is required"),
        (
            json!({ "resource": { "type": "Docs::Doc", "id": "1" } }),
            "resource.properties: of `Docs::Doc::\"1\"`, open: is missing",
        ),
    ] {
        let mut batch = question_with_defaults(&open);
        batch["evaluations"] = json!([question, {}]);
        let answer = test.post("/access/v1/evaluations", &test.admin, batch).await;
        let error = json!({ "status": 400, "message": told });
        let expected = json!([{ "decision": false, "context": { "error": error } }, { "decision": true }]);
        assert_eq!(answer.json()["evaluations"], expected, "{question}");
    }
    for part in ["subject", "action", "resource", "context"] {
        let mut batch = question_with_defaults(&open);
        batch["evaluations"] = json!([{ part: null }]);
        let answer = test.post("/access/v1/evaluations", &test.admin, batch).await;
        assert!(answer.error().starts_with(&format!("400 bad_request evaluations[0].{part}: ")), "{}", answer.text());
    }
}

fn question_with_defaults(resource: &Value) -> Value {
    let mut batch = question("view", resource.clone());
    batch["context"] = json!({ "mfa": true });
    batch
}

#[tokio::test]
async fn a_question_in_which_a_member_stands_twice_is_refused() {
    let test = company().await;
    let [ann, bob] = ["ann", "bob"].map(|id| user(id).to_string());
    let open = doc("1", json!({ "open": true }));
    let rest = format!(r#""action":{{"name":"view"}},"resource":{open}"#);
    let batched = format!(r#"{{"subject":{ann},{rest},"evaluations":[{{"subject":{bob},"subject":{ann}}}]}}"#);
    for (path, body) in [
        ("evaluation", format!(r#"{{"subject":{ann},"subject":{bob},{rest}}}"#)),
        ("evaluation", format!(r#"{{"subject":{{"type":"Docs::User","id":"bob","id":"ann"}},{rest}}}"#)),
        ("evaluation", format!(r#"{{"subject":{ann},{rest},"later":{{"a":1,"a":2}}}}"#)),
        ("evaluations", batched),
        ("search/action", format!(r#"{{"subject":{ann},"subject":{bob},"resource":{open}}}"#)),
    ] {
        let headers = [("content-type", "application/json")];
        let told = test.raw("POST", &format!("/access/v1/{path}"), &headers, body.clone()).await.error();
        assert!(
            told.starts_with("400 bad_request Failed to parse") && told.contains("is given twice"),
            "{body}: {told}"
        );
    }
}

/// What is gathered once for several questions is what each would gather alone.
#[tokio::test]
async fn a_batch_answers_as_its_questions_would_be_alone() {
    let test = company().await;
    let editor = |level: i64| {
        let parents = json!([{ "type": "Docs::Team", "id": "editors" }]);
        json!({ "type": "Docs::User", "id": "bob", "properties": { "level": level, "parents": parents } })
    };
    let owned = |owner: Value| doc("1", json!({ "open": false, "owner": owner }));
    let resources = [
        doc("1", json!({ "open": true })),
        doc("1", json!({ "open": false })),
        owned(user("bob")),
        // The subject, described once more: alike, and not alike.
        owned(editor(3)),
        owned(editor(4)),
        owned(user("ann")),
        doc("1", json!({})),
    ];
    let mut questions = Vec::new();
    for (action, context) in [("view", json!({})), ("edit", json!({ "mfa": true })), ("edit", json!({}))] {
        let mut each = |more: Value| {
            for resource in &resources {
                let mut question = json!({ "action": { "name": action }, "resource": resource, "context": context });
                question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                questions.push(question);
            }
        };
        each(json!({}));
        each(json!({ "subject": user("ann") }));
    }
    // Said once for all of them, and with each.
    let described = json!({ "subject": editor(3) });
    let named = json!({ "subject": user("bob"), "context": { "mfa": true } });
    // An action of their own is in place of the common one, with all its properties.
    let edit = json!({ "name": "edit", "properties": { "mfa": true } });
    let acting = json!({ "subject": editor(3), "resource": resources[1], "action": edit });
    let plain = json!({ "name": "edit" });
    let turns =
        [json!({ "action": plain }), json!({}), json!({ "action": plain }), json!({ "action": edit }), json!({})];
    let described = (described, &questions, (14, 9));
    for (common, questions, expected) in [described, (named, &questions, (14, 6)), (acting, &turns.to_vec(), (3, 0))] {
        let whole = |question: &Value| {
            let mut whole = common.clone();
            whole.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
            whole
        };
        let mut batch = common.clone();
        batch["evaluations"] = questions.clone().into();
        let answers = test.post("/access/v1/evaluations", &test.admin, batch).await.json();
        let (mut yes, mut told) = (0, 0);
        for (question, answer) in questions.iter().zip(answers["evaluations"].as_array().unwrap()) {
            let alone = ask(&test, whole(question)).await;
            if alone.status == 200 {
                assert_eq!(*answer, alone.json(), "{question}");
                yes += usize::from(answer["decision"] == true);
            } else {
                let error = &answer["context"]["error"];
                assert_eq!(format!("400 bad_request {}", error["message"].as_str().unwrap()), alone.error());
                told += 1;
            }
        }
        assert_eq!((yes, told), expected);
    }
}
