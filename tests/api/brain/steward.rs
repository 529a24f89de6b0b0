//! Looking over collections: what is proposed, what is only told, and to whom.

use serde_json::{Value, json};

use super::{accounted_for, apply, company, create, typed, with_policies};
use crate::harness::{Answer, Test};

async fn parts(test: &Test) {
    let text = json!({ "type": "text" });
    let fields = json!({
        "code": { "type": "text", "required": true },
        "place": text, "site": text, "maker": text, "nobody": text,
        "world": { "type": "text", "default": "earth" },
        "secret": { "type": "text", "label": "confidential" },
    });
    create(test, "parts", json!({ "key": ["code"], "fields": fields })).await;
    let record = |number: usize| {
        let place = ["north", "south", "west"][number % 3];
        let maker = if number.is_multiple_of(7) { "ACME  Ltd." } else { "Acme Ltd" };
        let secret = ["hush", "quiet"][number % 2];
        json!({ "code": number.to_string(), "place": place, "site": place, "maker": format!("{maker} {}", number % 20), "secret": secret })
    };
    let records: Vec<Value> = (0..60).map(record).collect();
    let written = test.post("/brain/collections/parts/import", &test.admin, json!({ "records": records })).await;
    assert_eq!(written.status, 200, "{}", written.text());
}

async fn steward(test: &Test, token: &str) -> Answer {
    let answer = test.post("/schema/steward", token, json!({ "collections": ["parts"] })).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer
}

fn reasons(answer: &Value) -> Vec<&str> {
    answer["proposals"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_steward_is_proposed_what_could_be_better_once() {
    let (test, cast) = company().await;
    parts(&test).await;
    let told = steward(&test, &cast.sam).await.json();
    assert_eq!(
        reasons(&told),
        [
            "`nobody` has no value in any of 60 records",
            "`world` has the same value in all of 60 records",
            "`site` has the same value as `place` in all of 60 records",
            "`place` is a text with 3 values in 60 records",
            "`site` is a text with 3 values in 60 records",
        ]
    );
    assert_eq!(told["seen"], json!([{ "collection": "parts", "records": 60, "all": true }]));
    let noticed = told["noticed"].as_array().unwrap();
    assert_eq!((noticed.len(), &noticed[0]["field"]), (1, &json!("maker")), "{noticed:?}");
    assert!(noticed[0]["what"].as_str().unwrap().contains("`ACME  Ltd. 1`, `Acme Ltd 1`"), "{noticed:?}");
    // What is proposed is not proposed again, nor what was rejected.
    let path = |at: usize| format!("/schema/proposals/{}", told["proposals"][at]["id"].as_str().unwrap());
    assert_eq!(test.post(&format!("{}/reject", path(0)), &cast.sam, json!({ "reason": "soon" })).await.status, 200);
    assert_eq!(reasons(&steward(&test, &cast.sam).await.json()), Vec::<&str>::new());
    // One is applied like any other, and the rest is proposed anew.
    let applied = test.post(&format!("{}/apply", path(3)), &cast.sam, json!({})).await;
    assert_eq!(applied.status, 200, "{}", applied.text());
    let shown = test.get("/brain/collections/parts", &cast.sam).await.json();
    assert_eq!(shown["fields"]["place"]["options"], json!(["north", "south", "west"]));
    assert_eq!(reasons(&steward(&test, &cast.sam).await.json()).len(), 3);
    assert_eq!(test.post("/schema/steward", &cast.mia, json!({})).await.status, 403);
    let unknown = test.post("/schema/steward", &cast.sam, json!({ "collections": ["nothing"] })).await.error();
    assert_eq!(unknown, "422 invalid collections: there is no collection `nothing` that you may know");
    accounted_for(&test);
}

#[tokio::test]
async fn nothing_is_told_by_what_the_steward_may_not_read() {
    let (test, cast) = with_policies(typed()).await;
    parts(&test).await;
    // Every record, but no confidential field; then fewer records.
    const ALL: &str = "@id(\"all\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::parts);\n\
                       @id(\"kept\") @reason(\"kept\") forbid (principal == Ok::Actor::\"sam\", action == Ok::Action::\"field.read\", resource);";
    assert_eq!(apply(&test, ALL).await.status, 200);
    let told = steward(&test, &cast.sam).await;
    assert!(!told.text().contains("secret") && !told.text().contains("hush"), "{}", told.text());
    assert_eq!(told.json()["proposals"].as_array().unwrap().len(), 5);
    const SOME: &str = "@id(\"some\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::parts)\n\
                        when { resource has place && resource.place == \"north\" };";
    assert_eq!(apply(&test, SOME).await.status, 200);
    let told = steward(&test, &cast.sam).await;
    let answer = told.json();
    assert_eq!(answer["seen"], json!([{ "collection": "parts", "records": 20, "all": false }]));
    assert!(!told.text().contains("south"), "{}", told.text());
    assert_eq!(reasons(&answer), Vec::<&str>::new(), "of some of the records nothing follows for all");
    assert!(answer["noticed"][0]["what"].as_str().unwrap().contains("you may not read all records"), "{answer}");
}

/// Neither how many records there are that somebody may not read, nor what is in them.
#[tokio::test]
async fn a_proposal_and_a_dry_run_tell_nothing_of_records_that_the_caller_may_not_read() {
    let (test, cast) = with_policies(typed()).await;
    parts(&test).await;
    const SOME: &str = "@id(\"some\") @reason(\"hidden\") forbid (principal in Ok::Role::\"steward\", action == Ok::Action::\"record.read\", resource);";
    assert_eq!(apply(&test, SOME).await.status, 200);
    let propose = async |token: &str, op: Value| {
        test.post("/schema/proposals", token, json!({ "collection": "parts", "ops": [op], "reason": "r" })).await
    };
    let retire = json!({ "retire": {} });
    let required = json!({ "add_field": { "name": "more", "field": { "type": "text", "required": true } } });
    let unique =
        json!({ "add_field": { "name": "more", "field": { "type": "integer", "unique": true, "default": 1 } } });
    for op in [retire, required, unique] {
        let proposed = propose(&cast.sam, op.clone()).await;
        assert_eq!(proposed.status, 201, "{op}: {}", proposed.text());
        let path = format!("/schema/proposals/{}", proposed.json()["id"].as_str().unwrap());
        let impact = test.get(&path, &cast.sam).await.json()["impact"].clone();
        assert_eq!((&impact["rows"], &impact["problems"]), (&Value::Null, &json!([])), "{op}");
        let dry = test.post(&format!("{path}/apply"), &cast.sam, json!({ "dry_run": true })).await;
        assert_eq!(dry.status, 200, "{op}: {}", dry.text());
        assert_eq!(dry.json()["rows"], Value::Null, "{op}");
        // What is really applied has to fit.
        assert_eq!(test.post(&format!("{path}/apply"), &cast.sam, json!({})).await.status, 422, "{op}");
    }
    // What hangs on values is not for whoever may not read them, whether they fit or not.
    let told =
        "whether the records fit is shown only to somebody who may read `place` of all of them: have them apply it";
    for options in [json!(["nowhere"]), json!(["here", "there"])] {
        let op = json!({ "retype_field": { "name": "place", "type": "choice", "options": options } });
        let path = format!("/schema/proposals/{}", propose(&cast.sam, op).await.json()["id"].as_str().unwrap());
        assert_eq!(test.get(&path, &cast.sam).await.json()["impact"]["problems"], json!([told]));
        for body in [json!({}), json!({ "dry_run": true })] {
            let refused = test.post(&format!("{path}/apply"), &cast.sam, body).await;
            assert_eq!(refused.error(), format!("409 conflict {told}"));
        }
    }
    accounted_for(&test);
}

/// Which field a policy looks at is told to whoever may read the policies.
#[tokio::test]
async fn a_proposal_does_not_tell_members_what_policies_look_at() {
    let (test, cast) = with_policies(typed()).await;
    parts(&test).await;
    const LOOKS: &str = "@id(\"looks\") @reason(\"r\") forbid (principal, action == Ok::Action::\"record.read\", resource is Brain::parts) when { resource has place && resource.place == \"vault\" };";
    assert_eq!(apply(&test, LOOKS).await.status, 200);
    let body = json!({ "collection": "parts", "ops": [{ "retire_field": { "name": "place" } }], "reason": "r" });
    let proposed = test.post("/schema/proposals", &cast.mia, body.clone()).await;
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    let told = test.post("/schema/proposals", &test.admin, body).await.error();
    assert!(told.contains("policies use `place`: `looks`"), "{told}");
    let path = format!("/schema/proposals/{}/apply", proposed.json()["id"].as_str().unwrap());
    let refused = test.post(&path, &test.admin, json!({})).await.error();
    assert!(refused.contains("policies use `place`: `looks`"), "{refused}");
    accounted_for(&test);
}

#[tokio::test]
async fn a_text_becomes_a_choice_where_every_record_has_one_of_its_options() {
    let (test, cast) = company().await;
    parts(&test).await;
    let retype =
        |options: Value| json!([{ "retype_field": { "name": "place", "type": "choice", "options": options } }]);
    let propose = async |token: &str, ops: Value| {
        let proposal = json!({ "collection": "parts", "ops": ops, "reason": "r" });
        test.post("/schema/proposals", token, proposal).await
    };
    let few = propose(&test.admin, retype(json!(["north"]))).await.json();
    let path = format!("/schema/proposals/{}", few["id"].as_str().unwrap());
    let why = "ops: records have values of `place` that are not among the options";
    assert_eq!(test.get(&path, &test.admin).await.json()["impact"]["problems"], json!([why]));
    for body in [json!({}), json!({ "dry_run": true })] {
        assert_eq!(test.post(&format!("{path}/apply"), &test.admin, body).await.error(), format!("422 invalid {why}"));
    }
    // Whoever may read them all is told, too, who only proposes.
    let guess = propose(&cast.mia, retype(json!(["north"]))).await.json();
    let guess = test.get(&format!("/schema/proposals/{}", guess["id"].as_str().unwrap()), &cast.mia).await.json();
    assert_eq!(guess["impact"]["problems"], json!([why]));
    for (ops, why) in [
        (retype(json!([])), "a `choice` has options, and no other type has"),
        (
            json!([{ "retype_field": { "name": "secret", "type": "choice", "options": ["x"] } }]),
            "everybody can read a choice's options",
        ),
        (
            json!([{ "retype_field": { "name": "place", "type": "long_text", "options": ["x"] } }]),
            "a `choice` has options, and no other type has",
        ),
    ] {
        let refused = propose(&test.admin, ops).await.error();
        assert!(refused.starts_with("422 invalid ops[0]: ") && refused.contains(why), "{refused}");
    }
}

#[tokio::test]
async fn what_a_field_with_a_label_has_is_told_to_whoever_may_read_it_and_proposed_to_nobody() {
    let (test, cast) = company().await;
    let fields = json!({
        "code": { "type": "text", "required": true },
        "grade": { "type": "text" },
        "bonus": { "type": "text", "label": "confidential" },
    });
    create(&test, "parts", json!({ "key": ["code"], "fields": fields })).await;
    let record = |number: usize| {
        let grade = ["junior", "senior"][number % 2];
        json!({ "code": number.to_string(), "grade": grade, "bonus": grade })
    };
    let records: Vec<Value> = (0..30).map(record).collect();
    let written = test.post("/brain/collections/parts/import", &test.admin, json!({ "records": records })).await;
    assert_eq!(written.status, 200, "{}", written.text());
    let told = steward(&test, &cast.sam).await.json();
    assert_eq!(reasons(&told), Vec::<&str>::new());
    let what = "`grade` has the same value as `bonus` in all of 30 records; not proposed: `bonus` has a label, but others read a proposal";
    assert_eq!(told["noticed"], json!([{ "collection": "parts", "field": "grade", "what": what }]));
    let listed = test.get("/schema/proposals", &cast.mia).await;
    assert!(!listed.text().contains("bonus"), "{}", listed.text());
}
