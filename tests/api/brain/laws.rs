//! The rows that policies let somebody see are the same, whether the database is asked once or the gate about each record.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{apply, create, typed};
use crate::harness::Test;
use crate::harness::prove::law;

/// Something that a policy may say of a record.
fn part() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "resource.created_by == principal",
        "principal == resource.created_by",
        "resource.version > 1",
        "2 > resource.version",
        "(resource has team && principal in resource.team)",
        "(resource has team && resource.team == Ok::Team::\"team:ops\")",
        "(resource has owner && resource.owner == principal)",
        "(resource has owner && resource.owner != principal)",
        "(resource has text && resource.text like \"a*\")",
        "(resource has text && [\"a\", \"b*\"].contains(resource.text))",
        "(resource has number && resource.number <= 2)",
        "(resource has number && resource.number + 1 > 2)",
        "(resource has amount && resource.amount.greaterThan(decimal(\"1.5\")))",
        "(resource has day && resource.day < datetime(\"2026-02-01\"))",
        "(resource has day && context.now > resource.day)",
        "(resource has flag && resource.flag)",
        "(resource has tags && resource.tags.containsAny([\"x\", \"y\"]))",
        "(resource has tags && resource.tags.contains(\"x\"))",
        "(resource has tags && resource.tags.containsAll([\"x\", \"y\"]))",
        "(resource has owner && resource.owner has team && principal in resource.owner.team)",
        "resource.collection == \"things\"",
        "resource is Brain::things",
        "principal in Ok::Role::\"lead\"",
        "(if resource has number then resource.number == 1 else principal.kind == \"person\")",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(one, other)| format!("({one} && {other})")),
            two.prop_map(|(one, other)| format!("({one} || {other})")),
            inner.prop_map(|one| format!("!({one})")),
        ]
    })
}

pub fn policy() -> impl Strategy<Value = String> {
    (prop::collection::vec(part(), 1..4), prop::collection::vec(part(), 0..3)).prop_map(|(permits, forbids)| {
        let rule = |(number, condition): (usize, &String), effect: &str| {
            let reason = if effect == "forbid" { "@reason(\"no\") " } else { "" };
            format!(
                "@id(\"{effect}-{number}\") {reason}{effect} (principal is Ok::Actor, action == Ok::Action::\"record.read\", \
                 resource is Brain::things) when {{ {condition} }};\n"
            )
        };
        let permits = permits.iter().enumerate().map(|one| rule(one, "permit"));
        permits.chain(forbids.iter().enumerate().map(|one| rule(one, "forbid"))).collect()
    })
}

pub fn filter() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({ "number": { "gte": 1 } }),
        json!({ "not": { "text": { "starts_with": "a" } } }),
        json!({ "or": [{ "flag": true }, { "amount": { "lt": "2" } }, { "tags": { "contains": "y" } }] }),
        json!({ "day": { "has": false } }),
        json!({ "owner": { "ne": "mia" }, "created_by": "mia" }),
    ])
}

fn sort() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![json!([]), json!(["number"]), json!(["-day", "text"]), json!(["-created_by", "-number"])])
}

async fn company() -> (Test, Vec<String>) {
    let test = Test::with_policies(typed()).await;
    let cast = test.cast().await;
    let fields = json!({
        "text": { "type": "text" }, "number": { "type": "integer" }, "amount": { "type": "decimal" },
        "day": { "type": "date" }, "flag": { "type": "flag" }, "owner": { "type": "actor" }, "team": { "type": "team" },
        "tags": { "type": "choices", "options": ["x", "y", "z"] },
    });
    create(&test, "things", json!({ "fields": fields })).await;
    let some = |number: usize, of: &[Value]| of[number % of.len()].clone();
    for number in 0..48 {
        let fields = json!({
            "text": some(number, &[json!("a"), json!("ab"), json!("b*"), Value::Null, json!("ä")]),
            "number": some(number / 2, &[json!(1), Value::Null, json!(3), json!(-1)]),
            "amount": some(number / 3, &[json!("1.5"), json!("1.5001"), Value::Null]),
            "day": some(number / 5, &[json!("2026-01-31"), json!("2030-01-01"), Value::Null]),
            "flag": some(number, &[json!(true), json!(false), Value::Null]),
            "owner": some(number, &[json!("mia"), Value::Null, json!("max"), json!("bot")]),
            "team": some(number / 2, &[json!("team:ops"), json!("team:dev"), Value::Null]),
            "tags": some(number, &[json!(["x"]), json!([]), json!(["y", "x"]), Value::Null, json!(["z"])]),
        });
        let by = if number % 3 == 0 { &cast.mia } else { &test.admin };
        let written = test.post("/brain/collections/things/records", by, json!({ "fields": fields })).await;
        assert_eq!(written.status, 200, "{}", written.text());
    }
    (test, vec![cast.mia, cast.lea, cast.bot])
}

/// All pages of a query, and whether a record came twice.
async fn pages(test: &Test, token: &str, query: &Value) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut query = query.clone();
        (query["limit"], query["cursor"]) = (json!(7), cursor);
        let page = test.post("/brain/collections/things/query", token, query).await;
        assert_eq!(page.status, 200, "{}", page.text());
        seen.extend(page.json().as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()));
        if page.header("x-next-cursor").is_empty() {
            return seen;
        }
        cursor = json!(page.header("x-next-cursor"));
    }
}

#[test]
fn the_database_finds_the_records_that_the_gate_would_show() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (test, callers) = runtime.block_on(company());
    let mut runner = TestRunner::new(law(12));
    let strategy = (policy(), filter(), sort());
    runner
        .run(&strategy, |(policy, filter, sort)| {
            runtime.block_on(async {
                let applied = apply(&test, &policy).await;
                // A condition that can never hold is refused before it comes into force.
                prop_assume!(applied.status == 200);
                for token in &callers {
                    let query = json!({ "filter": filter, "sort": sort });
                    let found = pages(&test, token, &query).await;
                    let once: BTreeSet<&String> = found.iter().collect();
                    prop_assert_eq!(once.len(), found.len(), "a record came twice");
                    // As the records were just now, each is asked about alone.
                    let mut alone = json!({ "filter": filter });
                    alone["as_of"] = json!(ok::types::time::Clock::now(&*test.clock));
                    let alone = pages(&test, token, &alone).await;
                    prop_assert_eq!(once, alone.iter().collect::<BTreeSet<_>>(), "{}", policy);
                }
                Ok(())
            })
        })
        .unwrap();
}
