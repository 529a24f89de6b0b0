//! The tables and the memory are what the log makes of them, after any history.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use super::run;
use crate::harness::prove::law;
use crate::harness::{Test, hiring, refolded};

#[derive(Clone, Debug)]
enum Step {
    Call { by: usize, method: &'static str, path: String, body: Value },
    Advance(i64),
    Reopen,
}

fn id() -> impl Strategy<Value = &'static str> {
    select(vec!["ana", "lea", "mia", "bot", "new1", "new2", "team:ops", "team:new", "nobody"])
}

fn call(method: &'static str, path: impl Into<String>, body: Value) -> Step {
    Step::Call { by: 0, method, path: path.into(), body }
}

fn step() -> impl Strategy<Value = Step> {
    let kind = select(vec!["person", "agent", "outside_agent", "team"]);
    let team = select(vec![Value::Null, json!("team:ops"), json!("team:new")]);
    let add = (id(), kind, team)
        .prop_map(|(id, kind, team)| call("POST", "/actors", json!({ "id": id, "kind": kind, "team": team })));
    let trust = (id(), select(vec!["observe", "assist", "autonomous"]))
        .prop_map(|(id, tier)| call("POST", format!("/actors/{id}/trust"), json!({ "tier": tier, "reason": "a law" })));
    let scopes = prop::sample::subsequence(vec!["read", "changes", "policy"], 0..=3);
    let issue = (id(), scopes, select(vec!["1m", "7d"])).prop_map(|(id, scopes, ttl)| {
        call("POST", "/tokens", json!({ "for": id, "scopes": scopes, "ttl": ttl, "label": "ünï \"\\\u{1f600}" }))
    });
    let revoke = id().prop_map(|id| call("DELETE", format!("/tokens/{id}"), Value::Null));
    let scope = select(vec!["actor:bot", "actor:mia", "team:ops", "tool:mail.send", "global"]);
    let kill =
        (scope, any::<bool>()).prop_map(|(scope, off)| call("POST", "/kill", json!({ "scope": scope, "off": off })));
    let offboard = id().prop_map(|id| call("POST", format!("/actors/{id}/offboard"), json!({ "reason": "a law" })));
    let company = ("[a-z]{1,9}", any::<u32>()).prop_map(|(name, budget)| {
        call("PATCH", "/company", json!({ "name": name, "budget_cents_month": budget, "locale": "de-CH" }))
    });
    let hire = (id(), 0..3_u8).prop_map(|(id, degree)| {
        let mut body = hiring(id, None);
        body["definition"]["spec"]["model"] = json!({ "temperature": f64::from(degree) / 2.0 });
        call("POST", "/actors/hire", body)
    });
    let calls = prop_oneof![
        4 => add,
        1 => hire,
        2 => trust,
        2 => issue,
        1 => revoke,
        2 => kill,
        1 => offboard,
        1 => company,
        1 => Just(call("POST", "/tick", json!({}))),
        1 => Just(call("GET", "/audit/head", Value::Null)),
        1 => select(vec!["approve", "reject"]).prop_map(|verdict| call("POST", "/approvals/{open}", json!({ "decision": verdict }))),
        1 => Just(call("POST", "/context/forget", json!({ "events": "{denied}", "reason": "a law" }))),
    ];
    let by_somebody = (0..4_usize, calls).prop_map(|(somebody, step)| match step {
        Step::Call { method, path, body, .. } => Step::Call { by: somebody, method, path, body },
        other => other,
    });
    prop_oneof![
        16 => by_somebody,
        2 => select(vec![1_000, 120_000, 4 * 86_400_000]).prop_map(Step::Advance),
        1 => Just(Step::Reopen),
    ]
}

/// The steps' placeholders: the newest open approval, and the newest refusal.
async fn fill(test: &Test, path: &str, mut body: Value) -> (String, Value) {
    let open = test.get("/approvals?status=pending&limit=1", &test.admin).await;
    let open = if open.status == 200 { open.json()[0]["id"].as_str().map(str::to_owned) } else { None };
    if body["events"] == "{denied}" {
        let denied = test.get("/events?type=denied&limit=1", &test.admin).await;
        let seq = if denied.status == 200 { denied.json()["events"][0]["seq"].as_i64() } else { None };
        body["events"] = json!([seq.unwrap_or(1)]);
    }
    (path.replace("{open}", &open.unwrap_or_default()), body)
}

/// Every row of every table that the log accounts for.
fn tables(conn: &Connection) -> BTreeMap<String, Vec<Vec<Cell>>> {
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'log\\_%' ESCAPE '\\' \
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ('instance', 'idem')";
    let names: Vec<String> =
        conn.prepare(names).unwrap().query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let rows = |name: &String| {
        let mut statement = conn.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let width = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..width).map(|column| row.get(column)).collect::<Result<Vec<Cell>, _>>();
        let mut rows: Vec<Vec<Cell>> = statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    };
    names.iter().map(|name| (name.clone(), rows(name))).collect()
}

/// What the server answers from memory and from the tables.
async fn answers(test: &Test, tokens: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    for token in tokens {
        for path in
            ["/me", "/company", "/actors", "/tokens", "/approvals", "/events?since=0&limit=1000", "/directory/find"]
        {
            let answer = test.get(path, token).await;
            told.push(format!("{path} {} {} {}", answer.status, answer.header("ok-policy"), answer.text()));
        }
        let explained = test.post("/policy/explain", token, json!({ "op": "actor.add", "target": "team:ops" })).await;
        let mut body = explained.json();
        // What is left of a rate limit is counted in memory alone.
        body.as_object_mut().map(|body| body.remove("limits"));
        told.push(format!("explain {} {body}", explained.status));
    }
    told
}

async fn history(steps: Vec<Step>) {
    let mut test = Test::new().await;
    let cast = test.cast().await;
    let tokens = [test.admin.clone(), cast.lea, cast.mia, cast.bot];
    for step in steps {
        match step {
            Step::Advance(ms) => test.clock.advance(ms),
            Step::Reopen => test = test.reopened().await,
            Step::Call { by, method, path, body } => {
                let (path, body) = fill(&test, &path, body).await;
                let body = (!body.is_null()).then_some(body);
                let answer = test.call(method, &path, &tokens[by], body).await;
                assert!(answer.status.as_u16() < 500, "{method} {path}: {}", answer.text());
            }
        }
    }
    let file = test.file();
    assert_eq!(tables(&file), tables(&refolded(&file)));
    assert_eq!(ok::gate::state::refold::compare(&file).unwrap(), []);
    let report = test.verdict();
    assert!(report.ok, "{report:#?}");
    drop(file);
    // Refusals are recorded, so those of the first round are there in the second: ask until both rounds only read.
    answers(&test, &tokens).await;
    let before: Vec<String> = answers(&test, &tokens).await;
    let test = test.reopened().await;
    let after = answers(&test, &tokens).await;
    for (before, after) in before.iter().zip(&after).filter(|(one, _)| !one.starts_with("/events")) {
        assert_eq!(before, after);
    }
}

proptest! {
    #![proptest_config(law(16))]

    #[test]
    fn folding_the_log_again_gives_every_table_and_every_answer(steps in prop::collection::vec(step(), 1..40)) {
        run(history(steps));
    }
}
