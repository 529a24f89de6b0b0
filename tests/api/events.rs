//! The event log as its readers see it.

use serde_json::{Value, json};

use super::brain;
use crate::harness::{Answer, Test};

fn seqs(answer: &Answer) -> Vec<i64> {
    let body = answer.json();
    body["events"].as_array().unwrap().iter().map(|event| event["seq"].as_i64().unwrap()).collect()
}

async fn list(test: &Test, query: &str) -> Vec<i64> {
    seqs(&test.get(&format!("/events{query}"), &test.admin).await)
}

#[tokio::test]
async fn without_parameters_the_newest_200_come_oldest_first() {
    let test = Test::new().await;
    for number in 0..205 {
        test.post("/kill", &test.admin, json!({ "scope": "tool:mail.send", "reason": number.to_string() })).await;
    }
    let last = test.last_seq().await;
    assert_eq!(list(&test, "").await, (last - 199..=last).collect::<Vec<_>>());
    assert_eq!(list(&test, "?limit=3").await, (last - 2..=last).collect::<Vec<_>>());
    assert_eq!(list(&test, "?since=2&limit=3").await, [3, 4, 5]);
    assert_eq!(list(&test, "?since=0").await.len(), 200);
    assert_eq!(list(&test, "?since=0&limit=1000").await, (1..=last).collect::<Vec<_>>());
    assert_eq!(list(&test, &format!("?since={last}")).await, [0; 0]);
    assert_eq!(list(&test, "?since=9223372036854775807").await, [0; 0]);
    let one = test.get("/events?since=1&limit=1", &test.admin).await;
    assert_eq!((one.fields(), &one.json()["last_seq"]), (vec!["events".into(), "last_seq".into()], &json!(last)));
}

#[tokio::test]
async fn a_record_names_its_number_actor_and_typed_event() {
    let test = Test::new().await;
    test.post("/kill", &test.admin, json!({ "scope": "tool:mail.send" })).await;
    let record = test.event().await;
    let hash = test.get("/policy", &test.admin).await.json()["hash"].clone();
    assert_eq!(
        record,
        json!({
            "seq": test.last_seq().await, "token_id": record["token_id"], "at": "2026-11-20T09:00:00Z", "actor": "ana", "decision": "allow",
            "policy": { "version": 1, "hash": hash }, "policies": ["admins-do-everything"],
            "event": { "type": "kill_switch", "scope": "tool:mail.send", "engaged": true, "reason": "" },
        })
    );
}

#[tokio::test]
async fn bounds_and_filters_that_mean_nothing_are_refused() {
    let test = Test::new().await;
    for query in [
        "limit=0",
        "limit=1001",
        "limit=x",
        "limit=-1",
        "since=-1",
        "since=x",
        "type=nothing",
        "type=denied,x",
        "sinse=1",
        "limit=1&limit=2",
        "run=",
        "actor=",
        "token_id=",
    ] {
        let answer = test.get(&format!("/events?{query}"), &test.admin).await;
        assert!(answer.error().starts_with("400 bad_request "), "{query}");
    }
}

#[tokio::test]
async fn filters_narrow_together() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.post("/kill", &cast.mia, json!({ "scope": "tool:mail.send" })).await;
    test.post("/kill", &cast.max, json!({ "scope": "tool:mail.send" })).await;
    let last = test.last_seq().await;
    assert_eq!(list(&test, "?type=denied").await, [last - 1, last]);
    assert_eq!(list(&test, "?type=denied&actor=max").await, [last]);
    assert_eq!(list(&test, "?actor=max").await, [18, last], "their token, and the refusal");
    assert_eq!(list(&test, "?actor=nobody").await, [0; 0]);
    assert_eq!(list(&test, "?type=company_created,denied").await, [1, last - 1, last]);
    assert_eq!(list(&test, "?type=company_created&type=denied").await, [1, last - 1, last]);
    assert_eq!(list(&test, &format!("?type=company_created,denied&since={}", last - 1)).await, [last]);
    assert_eq!(list(&test, "?type=denied&limit=1").await, [last]);
    for about in ["run", "thread", "task"] {
        assert_eq!(list(&test, &format!("?{about}=run_1")).await, [0; 0]);
    }
}

#[tokio::test]
async fn everybody_sees_what_they_did_and_what_is_about_them() {
    let test = Test::new().await;
    let cast = test.cast().await;
    test.post("/kill", &cast.mia, json!({ "scope": "tool:mail.send" })).await;
    test.post("/kill", &cast.max, json!({ "scope": "tool:mail.send" })).await;
    let all = test.get("/events?since=0&limit=1000", &test.admin).await.json();
    let (ops, dev) = (["mia", "bot", "team:ops"], ["max", "team:dev"]);
    let about = |event: &Value, ids: &[&str]| {
        let named = ["id", "holder", "owner", "lead", "team"].map(|field| &event["event"][field]);
        ids.iter().any(|id| event["actor"] == *id || named.iter().any(|field| *field == id))
    };
    let expect = |ids: &[&str]| -> Vec<i64> {
        let seen = all["events"].as_array().unwrap().iter().filter(|event| about(event, ids));
        seen.map(|event| event["seq"].as_i64().unwrap()).collect()
    };
    for (token, ids) in [
        (&cast.mia, &["mia"][..]),
        (&cast.bot, &["bot"]),
        (&cast.lea, &[&["lea"], &ops[..]].concat()),
        (&cast.liv, &[&["liv"], &dev[..]].concat()),
    ] {
        assert_eq!(seqs(&test.get("/events?since=0&limit=1000", token).await), expect(ids), "{ids:?}");
    }
    let auditor = test.get("/events?since=0&limit=1000", &cast.aud).await.json();
    assert_eq!(auditor, all, "an auditor sees everything");
}

#[tokio::test]
async fn no_reader_is_shown_a_hash_or_the_text_of_policies() {
    let test = Test::new().await;
    let all = test.get("/events?since=0", &test.admin).await.json();
    for event in all["events"].as_array().unwrap() {
        let kind = event["event"]["type"].as_str().unwrap();
        assert!(kind != "token_issued" || event["event"].get("hash").is_none());
        assert!(kind != "policy_applied" || event["event"].get("files").is_none());
    }
    assert_eq!(list(&test, "?type=token_issued,policy_applied").await.len(), 2);
}

#[tokio::test]
async fn an_event_says_under_which_version_it_was_decided_and_by_which_policies() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    assert_eq!(test.post("/actors", &mia, json!({ "id": "x", "kind": "person" })).await.status, 403);
    let newest = async |token: &str| test.get("/events?limit=1", token).await.json()["events"][0].clone();
    let event = newest(&test.admin).await;
    let in_force = test.get("/policy", &test.admin).await.json();
    assert_eq!(event["policy"], json!({ "version": in_force["version"], "hash": in_force["hash"] }));
    let added = test.get("/events?type=actor_added", &test.admin).await.json()["events"][1].clone();
    assert!(!added["policies"].as_array().unwrap().is_empty(), "{added}");
    // Texts of policies are for whoever may export them, and so are their names.
    let own = newest(&mia).await;
    assert_eq!((&own["policy"], own.get("policies")), (&event["policy"], None), "{own}");
}

#[tokio::test]
async fn every_decision_names_the_log_that_it_stands_in() {
    let test = Test::new().await;
    let mia = test.add("mia", "person", json!({})).await;
    let size = |answer: &crate::harness::Answer| answer.header("ok-audit").split(' ').nth(1).unwrap().to_owned();
    let denied = test.post("/actors", &mia, json!({ "id": "x", "kind": "person" })).await;
    assert_eq!((denied.status.as_u16(), size(&denied)), (403, test.last_seq().await.to_string()));
    let absent = test.get("/actors/nobody", &mia).await;
    assert_eq!((absent.status.as_u16(), size(&absent)), (404, test.last_seq().await.to_string()));
    let stranger = test.get("/actors", "ok_nobody").await;
    assert!(stranger.status == 401 && !stranger.headers.contains_key("ok-audit"));
    // Whatever came of it, and whoever decided it: policies, the gate itself, the operation.
    let narrow = test.token("mia", json!({ "scopes": ["read"] })).await;
    let ghost = test.add("ghost", "outside_agent", json!({ "owner": "mia" })).await;
    let lea = test.add("lea", "person", json!({ "role": "lead" })).await;
    test.add("team:ops", "team", json!({ "lead": "lea" })).await;
    let question = json!({ "subject": { "type": "x", "id": "y" } });
    for (method, path, token, body, status) in [
        ("GET", "/me", &mia, None, 200),
        ("POST", "/tick", &narrow, Some(json!({})), 403),
        ("GET", "/me", &ghost, None, 403),
        ("POST", "/actors", &lea, Some(json!({ "id": "x", "kind": "person", "team": "team:ops" })), 202),
        ("PUT", "/company", &test.admin, Some(json!({ "version": 99 })), 409),
        ("POST", "/actors", &test.admin, Some(json!({ "id": "y", "kind": "agent", "role": "admin" })), 422),
        ("GET", "/inbox?cursor=x", &mia, None, 400),
        ("POST", "/access/v1/evaluation", &mia, Some(question.clone()), 403),
        ("POST", "/access/v1/evaluation", &test.admin, Some(question), 400),
    ] {
        let answer = test.call(method, path, token, body).await;
        assert_eq!((answer.status.as_u16(), size(&answer)), (status, test.last_seq().await.to_string()), "{path}");
    }
}

#[tokio::test]
async fn an_answer_names_the_event_of_its_decision_and_none_where_nothing_is_recorded() {
    let mut policies = ok::policy::Bundle::built_in();
    policies.files.insert("agents.cedar".into(), super::webhooks::AGENTS_ADD.into());
    let test = Test::with_policies(policies).await;
    let cast = test.cast().await;
    let new = json!({ "url": "https://hooks.example.com/ok", "events": ["agent.gate.pending"] });
    test.post("/v1/webhooks", &test.admin, new).await;
    // The request is recorded with what is told outside of it.
    let before = test.last_seq().await;
    let waits = test.post("/actors", &cast.bot, json!({ "id": "x", "kind": "person", "team": "team:ops" })).await;
    assert!(test.last_seq().await > before + 1, "{}", waits.text());
    assert_eq!((waits.status.as_u16(), waits.header("ok-decision")), (202, (before + 1).to_string().as_str()));
    let recorded = test.get(&format!("/events?since={before}&limit=1"), &test.admin).await.json();
    assert_eq!(recorded["events"][0]["event"]["type"], "approval_requested");
    let quiet = test.post("/tick", &test.admin, json!({})).await;
    assert!(quiet.status == 200 && !quiet.headers.contains_key("ok-decision"), "{:?}", quiet.headers);
}

#[tokio::test]
async fn which_records_were_written_is_told_and_not_what_stands_in_them() {
    let (test, cast) = brain::company().await;
    let one = brain::write(&test, &cast.mia, json!({ "number": "1", "total": 12.5 })).await;
    let told = test.get("/events?type=record_written", &test.admin).await.json()["events"][0]["event"].clone();
    assert_eq!(
        told,
        json!({ "type": "record_written", "collection": "invoices", "run": null, "count": 1,
            "rows": [{ "id": one["id"], "version": 1 }] })
    );
    let told = test.get("/events?type=record_written", &cast.mia).await.json()["events"][0]["event"].clone();
    assert_eq!(told, json!({ "type": "record_written", "collection": "invoices", "run": null }), "not to everybody");
    let rows: Vec<Value> = (2..30).map(|number| json!({ "number": number.to_string() })).collect();
    let path = format!("{}/import", brain::INVOICES);
    assert_eq!(test.post(&path, &cast.mia, json!({ "records": rows })).await.status, 200);
    let told = test.get("/events?type=record_written&limit=1", &test.admin).await.json()["events"][0]["event"].clone();
    assert_eq!((&told["count"], told["rows"].as_array().unwrap().len()), (&json!(28), 20), "the first of many");
}
