//! What nests too deep to be recorded and read again is refused, wherever it comes from: a log that holds it could not be read
//! any more.

use ok::types::models::ProviderKind;
use serde_json::{Value, json};

use super::thinking::{asked, company as thinking, steps};
use super::{brain, runs};
use crate::harness::Test;
use crate::harness::fake::{Fake, Reply};

/// Brackets in brackets.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, number| if number % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
}

async fn is_readable(test: &Test) {
    assert!(test.verdict().ok);
    assert_eq!(test.get("/events?limit=500", &test.admin).await.status, 200);
}

#[tokio::test]
async fn an_input_may_nest_so_deep_and_no_deeper() {
    let (test, cast) = brain::company().await;
    let field = json!({ "fields": { "name": { "type": "text" }, "blob": { "type": "json" } } });
    brain::create(&test, "blobs", field).await;
    let records = "/brain/collections/blobs/records";
    let record = |depth| json!({ "fields": { "blob": nested(depth) } });
    let written = test.post(records, &cast.mia, record(62)).await;
    assert_eq!(written.status, 200, "{}", written.text());
    let path = format!("{records}/{}", written.json()["id"].as_str().unwrap());
    assert_eq!(test.get(&path, &cast.mia).await.json()["fields"]["blob"], nested(62));
    let proposal = |depth| {
        let spec = json!({ "fields": { "j": { "type": "json", "default": nested(depth) } } });
        json!({ "collection": "more", "ops": [{ "create": { "spec": spec } }], "reason": "x" })
    };
    let question = |depth| {
        json!({
            "subject": { "type": "Ok::Actor", "id": "mia" }, "action": { "name": "actor.list" },
            "resource": { "type": "Ok::Company", "id": "company" }, "context": { "a": nested(depth) },
        })
    };
    for depth in [63, 90, 120, 124] {
        let refused = test.post(records, &cast.mia, record(depth)).await;
        assert_eq!(refused.status, 422, "{depth}: {}", refused.text());
        assert!(refused.text().ends_with("fields: nests more than 64 deep"), "{}", refused.text());
        let refused = test.post("/schema/proposals", &cast.bot, proposal(depth.min(118))).await;
        assert!(refused.text().ends_with("ops: nests more than 64 deep"), "{}", refused.text());
        let refused = test.post("/access/v1/evaluation", &test.admin, question(depth)).await;
        assert!(
            refused.status == 400 && refused.text().contains("context: nests more than 64 deep"),
            "{}",
            refused.text()
        );
        let body = json!({ "filter": { "blob": nested(depth) } });
        let refused = test.post("/brain/collections/blobs/query", &cast.mia, body).await;
        assert_eq!(refused.status, 422, "{depth}: {}", refused.text());
    }
    // Brackets in a text are none.
    let text = json!({ "fields": { "name": "[\"\\".repeat(200), "blob": { "[[\"{\\": "[".repeat(500) } } });
    assert_eq!(test.post(records, &cast.mia, text).await.status, 200);
    is_readable(&test).await;
}

#[tokio::test]
async fn a_model_that_nests_the_arguments_of_a_call_too_deep_is_told_so() {
    let deep = |depth| Box::leak(json!({ "title": nested(depth) }).to_string().into_boxed_str()) as &'static str;
    let calls: Vec<_> = [60, 70, 110, 125].into_iter().map(|depth| ("task_create", deep(depth))).collect();
    let fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Call(Vec::leak(calls)), Reply::Say("done")]);
    let (test, cast) = thinking(&fake).await;
    let id = asked(&test, &cast, json!({})).await;
    let done = runs::run(&test, &id).await;
    let made = steps(&done);
    assert_eq!((&done["status"], made.len()), (&json!("completed"), 6), "{made:?}");
    assert!(made[2..5].iter().all(|step| step.contains("at most 64 deep")), "{made:?}");
    runs::accounted_for(&test);
    is_readable(&test).await;
}
