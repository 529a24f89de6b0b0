//! Scopes are only ever narrowed.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::run;
use crate::harness::Test;
use crate::harness::prove::law;

const SCOPES: [&str; 3] = ["read", "changes", "policy"];

/// What a token reaches, tried on routes of which no two have the same scopes.
async fn reach(test: &Test, token: &str) -> [bool; 2] {
    let reached = |status: u16| status != 403;
    [
        reached(test.get("/me", token).await.status.as_u16()),
        reached(test.post("/policy/explain", token, json!({ "op": "tick" })).await.status.as_u16()),
    ]
}

async fn narrowed(asked: Vec<BTreeSet<&'static str>>) {
    let test = Test::new().await;
    let issued = test.post("/tokens", &test.admin, json!({})).await.json();
    let (token, id) = (issued["token"].as_str().unwrap(), issued["id"].as_str().unwrap());
    let mut scopes: BTreeSet<&str> = BTreeSet::new();
    let mut reached = reach(&test, token).await;
    for wanted in asked {
        let body = json!({ "scopes": wanted });
        let answer = test.call("PATCH", &format!("/tokens/id/{id}"), &test.admin, Some(body)).await;
        let narrows = !wanted.is_empty() && (scopes.is_empty() || wanted.is_subset(&scopes));
        assert_eq!(answer.status, if narrows { 200 } else { 422 }, "{scopes:?} -> {wanted:?}: {}", answer.text());
        if narrows {
            scopes = wanted;
        }
        let now = reach(&test, token).await;
        assert!(now.iter().zip(&reached).all(|(now, before)| *before || !now), "it reaches more than before");
        assert_eq!(now, [scopes.is_empty() || scopes.contains("read"), scopes.is_empty()]);
        reached = now;
    }
}

proptest! {
    #![proptest_config(law(24))]

    #[test]
    fn no_sequence_of_changes_lets_a_token_reach_more(
        asked in prop::collection::vec(prop::sample::subsequence(SCOPES.to_vec(), 0..=3).prop_map(BTreeSet::from_iter), 1..8)
    ) {
        run(narrowed(asked));
    }
}
