//! What `limits.yaml` sets: how often each actor may ask, and how much a change of the policies may change.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use serde_json::json;

use crate::harness::Test;

fn with(limits: &str) -> Bundle {
    let mut bundle = Bundle::built_in();
    bundle.files.insert("limits.yaml".into(), limits.into());
    bundle
}

#[tokio::test]
async fn over_a_rate_limit_an_actor_is_told_when_to_come_back_and_nobody_else_is() {
    let limits = "rates:\n  reads:\n    roles: [member]\n    operations: [query]\n    most: 3\n    seconds: 60\n";
    let test = Test::with_policies(with(limits)).await;
    let (mia, max) = (test.add("mia", "person", json!({})).await, test.add("max", "person", json!({})).await);
    for _ in 0..2 {
        assert_eq!(test.get("/me", &mia).await.status, 200);
    }
    test.clock.advance(20_500);
    let explained = test.post("/policy/explain", &test.admin, json!({ "actor": "mia", "op": "me.read" })).await.json();
    assert_eq!(explained["limits"], json!([{ "id": "reads", "most": 3, "seconds": 60, "left": 1 }]));
    // Another kind of query counts for the same limit; a change does not.
    assert_eq!(test.get("/inbox", &mia).await.status, 200);
    assert_eq!(test.post("/tokens", &mia, json!({})).await.status, 201);
    let before = test.last_seq().await;
    let over = test.get("/me", &mia).await;
    assert_eq!(over.error(), "429 rate_limited over the limit reads: 3 calls in 60 s; try again in 40 s");
    assert_eq!((over.header("retry-after"), over.header("ok-policy")), ("40", "1"));
    assert_eq!(test.last_seq().await, before, "what is not even asked is not recorded");
    assert_eq!(
        (test.get("/me", &max).await.status, test.get("/me", &test.admin).await.status),
        (200.try_into().unwrap(), 200.try_into().unwrap())
    );
    test.clock.advance(40_000);
    assert_eq!(test.get("/me", &mia).await.status, 200);
}

#[tokio::test]
async fn nobody_fills_the_log_with_what_they_may_not_do() {
    let test = Test::new().await;
    let (mia, max) = (test.add("mia", "person", json!({})).await, test.add("max", "person", json!({})).await);
    let refused = async |who: &str| test.post("/kill", who, json!({ "scope": "global", "reason": "r" })).await;
    let before = test.last_seq().await;
    for _ in 0..300 {
        assert_eq!(refused(&mia).await.status, 403);
    }
    assert_eq!(test.last_seq().await, before + 300);
    test.clock.advance(20_000);
    let over = refused(&mia).await;
    assert!(over.error().starts_with("429 rate_limited refused, as 300 calls were in this minute"), "{}", over.error());
    assert!(over.header("retry-after").parse::<u64>().unwrap() <= 40);
    assert_eq!(test.last_seq().await, before + 300, "what is refused beyond is not recorded");
    assert_eq!(test.get("/me", &mia).await.status, 200, "what is allowed goes on");
    assert_eq!(refused(&max).await.status, 403, "others have their own");
    test.clock.advance(40_000);
    assert_eq!(refused(&mia).await.status, 403);
}

#[tokio::test]
async fn a_mistake_in_the_limits_names_its_place() {
    let test = Test::new().await;
    let told = async |limits: &str| {
        let files: BTreeMap<String, String> = with(limits).files;
        let checked = test.post("/policy/check", &test.admin, json!({ "files": files })).await.json();
        let problem = checked["problems"][0].clone();
        format!(
            "{}:{} {} {}",
            problem["file"].as_str().unwrap(),
            problem["line"],
            problem["code"].as_str().unwrap(),
            problem["message"].as_str().unwrap()
        )
    };
    assert_eq!(
        told("rates:\n  a:\n    most: 0\n").await,
        "limits.yaml:3 limits_invalid rates.a.most: must be 1 to 1000000"
    );
    assert_eq!(
        told("rates:\n  a:\n    most: 1\n    operations: [token.isue]\n").await,
        "limits.yaml:4 limits_invalid rates.a.operations: there is no operation `token.isue`"
    );
    assert!(told("rates:\n  a:\n    mots: 1\n").await.contains("unknown field `mots`"));
}

#[tokio::test]
async fn a_change_keeps_the_budget_that_is_in_force_not_one_of_its_own() {
    let test = Test::with_policies(with("impact: {newly_denied: 0}\n")).await;
    test.post("/tokens", &test.admin, json!({})).await;
    let mut files = with("impact: {newly_denied: 1000}\n").files;
    files.retain(|path, _| !path.starts_with("tests/"));
    let stop = "@id(\"no-tokens\")\n@reason(\"no more\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"token.issue\",\n  resource\n);\n";
    files.insert("extra.cedar".into(), stop.into());
    files.insert(
        "tests/a.yaml".into(),
        "cases:\n  - {actor: zoe, op: me.read, expect: allow}\nactors:\n  - {id: zoe}\n".into(),
    );
    let change = test.post("/policy/proposals", &test.admin, json!({ "files": files, "reason": "r" })).await.json();
    let path = format!("/changes/{}", change["id"].as_str().unwrap());
    let evals = test.post(&format!("{path}/evals"), &test.admin, json!({})).await.json();
    let impact = evals["evals"]["last"].as_array().unwrap().iter().find(|eval| eval["case"] == "impact").unwrap();
    assert_eq!(
        (&impact["status"], &impact["problems"][0]),
        (&json!("failed"), &json!("newly_denied is 1, of at most 0"))
    );
    let promoted = test.post(&format!("{path}/promote"), &test.admin, json!({})).await.json();
    assert_eq!((&promoted["error"], &promoted["evals"]), (&json!("evals_failing"), &json!(["impact"])));
}
