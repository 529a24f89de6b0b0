//! Collections that are kept in a PostgreSQL: a real one, where one is installed.

use std::time::{Duration, Instant};

use ok::adapters::Systems;
use ok::policy::Bundle;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::laws::{filter, policy};
use super::{apply, change, create, typed};
use crate::harness::postgres::Postgres;
use crate::harness::prove::law;
use crate::harness::{Cast, Test};

fn systems(port: u16, seconds: u64) -> Systems {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("systems.yaml");
    let tables = "[public.things, public.slow, public.odd, public.times]";
    let text = format!(
        "systems:\n  erp:\n    adapter: postgres\n    host: 127.0.0.1\n    port: {port}\n    database: postgres\n    user: ok\n    \
         password_variable: ERP_PASSWORD\n    tables: {tables}\n    timeout_seconds: {seconds}\n"
    );
    std::fs::write(&path, text).unwrap();
    Systems::read(&path, &|name| (name == "ERP_PASSWORD").then(|| "secret".to_owned().into())).unwrap()
}

async fn kept(test: &Test, table: &str, fields: Value) {
    let spec =
        json!({ "source": { "system": "erp", "table": format!("public.{table}") }, "key": ["id_"], "fields": fields });
    create(test, table, spec).await;
}

async fn query(test: &Test, collection: &str, token: &str, query: Value) -> crate::harness::Answer {
    test.post(&format!("/brain/collections/{collection}/query"), token, query).await
}

/// The same things twice: in a collection that is kept here, and in a table.
async fn company(postgres: &Postgres) -> (Test, Cast) {
    let test = Test::with_systems(typed(), systems(postgres.port, 60)).await;
    let cast = test.cast().await;
    let mut fields = json!({
        "id_": { "type": "integer", "required": true }, "text": { "type": "text" }, "number": { "type": "integer" },
        "amount": { "type": "decimal" }, "day": { "type": "date" }, "at": { "type": "time" }, "flag": { "type": "flag" },
        "owner": { "type": "actor" }, "team": { "type": "team" },
        "tags": { "type": "choices", "options": ["x", "y", "z"] }, "more": { "type": "json" },
    });
    kept(&test, "things", fields.clone()).await;
    fields["id_"]["unique"] = json!(true);
    create(&test, "here", json!({ "key": ["id_"], "fields": fields })).await;
    let mut rows = Vec::new();
    let texts = ["'a'", "'ab'", "'b*'", "NULL", "'ä'", "'A_%'", "''''"];
    let numbers = ["1", "NULL", "3", "-1"];
    let amounts = ["1.5", "1.5001", "NULL"];
    let days = ["'2026-01-31'", "'2030-01-01'", "NULL"];
    let times = ["'2026-01-31T12:00:00.0005Z'", "'2026-01-31T12:00:00Z'", "NULL"];
    let flags = ["true", "false", "NULL"];
    let owners = ["'mia'", "NULL", "'max'", "'bot'"];
    let teams = ["'team:ops'", "'team:dev'", "NULL"];
    let tags = ["ARRAY['x']", "ARRAY[]::text[]", "ARRAY['x', 'y']", "NULL", "ARRAY['z']"];
    for n in 0..60_usize {
        let pick = |of: &[&str], by: usize| of[(n / by) % of.len()].to_owned();
        let row = [
            n.to_string(),
            pick(&texts, 1),
            pick(&numbers, 2),
            pick(&amounts, 3),
            pick(&days, 5),
            pick(&times, 2),
            pick(&flags, 1),
            pick(&owners, 1),
            pick(&teams, 2),
            pick(&tags, 1),
            "'{\"n\": 1}'".into(),
        ];
        rows.push(format!("({})", row.join(", ")));
    }
    postgres.sql(&format!(
        "DROP TABLE IF EXISTS things; CREATE TABLE things (id_ int PRIMARY KEY, text varchar, number bigint, amount numeric(12, 6), \
         day date, at timestamptz, flag bool, owner text, team text, tags text[], more jsonb); INSERT INTO things VALUES {}",
        rows.join(", ")
    ));
    // What is kept here is what is read from there.
    let all = query(&test, "things", &test.admin, json!({ "limit": 1000 })).await;
    assert_eq!(all.status, 200, "{}", all.text());
    let records: Vec<Value> = all.json().as_array().unwrap().iter().map(|one| one["fields"].clone()).collect();
    assert_eq!(records.len(), 60);
    let written = test.post("/brain/collections/here/import", &test.admin, json!({ "records": records })).await;
    assert_eq!(written.status, 200, "{}", written.text());
    (test, cast)
}

fn sort() -> impl Strategy<Value = Value> {
    let sorts = [
        json!(["id_"]),
        json!(["number", "id_"]),
        json!(["-day", "text", "id_"]),
        json!(["-at", "-flag", "id_"]),
        json!(["text", "-id_"]),
    ];
    prop::sample::select(sorts.to_vec())
}

fn more_filters() -> impl Strategy<Value = Value> {
    prop_oneof![
        filter().prop_filter("what is not known of records kept elsewhere", |filter| !filter
            .to_string()
            .contains("created_by")),
        prop::sample::select(vec![
            json!({ "at": { "lte": "2026-01-31T12:00:00Z" } }),
            json!({ "at": "2026-01-31T12:00:00Z" }),
            json!({ "at": { "gt": "2026-01-31T12:00:00Z" } }),
            json!({ "text": { "contains": "_%" } }),
            json!({ "text": { "gte": "a" }, "day": { "lt": "2030-01-01" } }),
            json!({ "text": { "in": ["'", "ä", "x"] } }),
            json!({ "not": { "or": [{ "number": { "has": true } }, { "amount": { "gt": "1.5" } }] } }),
            json!({ "id_": { "in": [3, 5, 59] }, "flag": { "ne": true } }),
            json!({ "more": { "has": true }, "owner": "mia" }),
        ]),
    ]
}

/// All pages of a query, as the fields of what it finds.
async fn pages(test: &Test, collection: &str, token: &str, asked: &Value) -> Vec<Value> {
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut asked = asked.clone();
        (asked["limit"], asked["cursor"]) = (json!(11), cursor);
        let page = query(test, collection, token, asked).await;
        assert_eq!((page.status.as_u16(), page.header("x-ok-partial")), (200, ""), "{}", page.text());
        seen.extend(page.json().as_array().unwrap().iter().map(|one| one["fields"].clone()));
        if page.header("x-next-cursor").is_empty() {
            return seen;
        }
        cursor = json!(page.header("x-next-cursor"));
    }
}

#[test]
fn a_table_elsewhere_answers_as_the_same_records_kept_here() {
    let Some(postgres) = Postgres::shared() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (test, cast) = runtime.block_on(company(postgres));
    let mut runner = TestRunner::new(law(12));
    runner
        .run(&(policy(), more_filters(), sort()), |(policy, filter, sort)| {
            runtime.block_on(async {
                // Who wrote a record, and how often, is not known of what is kept elsewhere.
                prop_assume!(!policy.contains("created_by") && !policy.contains("version") && !policy.contains("\"things\""));
                let here = policy.replace("Brain::things", "Brain::here").replace("@id(\"", "@id(\"here-");
                let applied = apply(&test, &format!("{policy}\n{here}")).await;
                prop_assume!(applied.status == 200);
                for token in [&cast.mia, &cast.lea, &cast.bot] {
                    let asked = json!({ "filter": filter, "sort": sort });
                    let there = pages(&test, "things", token, &asked).await;
                    prop_assert_eq!(&there, &pages(&test, "here", token, &asked).await, "{} {}", policy, asked);
                    let figures = json!({ "measures": ["count", "sum:amount", "max:day"], "group_by": ["team"], "filter": filter });
                    let of = async |name: &str| {
                        test.post(&format!("/brain/collections/{name}/aggregate"), token, figures.clone()).await.json()
                    };
                    prop_assert_eq!(of("things").await, of("here").await, "{}", policy);
                }
                Ok(())
            })
        })
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_read_page_by_page_to_its_end_however_long_it_is() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.sql("CREATE TABLE things AS SELECT n AS id_ FROM generate_series(1, 12000) n");
    let test = Test::with_systems(Bundle::built_in(), systems(postgres.port, 60)).await;
    kept(&test, "things", json!({ "id_": { "type": "integer", "required": true } })).await;
    let (mut found, mut cursor) = (0, Value::Null);
    loop {
        let page = query(&test, "things", &test.admin, json!({ "limit": 1000, "cursor": cursor })).await;
        assert_eq!((page.status.as_u16(), page.header("x-ok-partial")), (200, ""), "{}", page.text());
        found += page.json().as_array().unwrap().len();
        cursor = json!(page.header("x-next-cursor"));
        if cursor == json!("") {
            break;
        }
    }
    assert_eq!(found, 12_000);
    let count = json!({ "measures": ["count"], "filter": { "id_": { "lte": 5000 } } });
    let count = test.post("/brain/collections/things/aggregate", &test.admin, count).await;
    assert_eq!((&count.json()[0]["values"]["count"], count.header("x-ok-partial")), (&json!(5_000), ""));
    let cut = test.post("/brain/collections/things/aggregate", &test.admin, json!({ "measures": ["count"] })).await;
    assert_eq!((cut.header("x-ok-partial"), cut.header("x-ok-partial-from")), ("true", "postgres"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_hangs_up_takes_the_question_back() {
    let Some(postgres) = Postgres::start() else { return };
    postgres
        .sql("CREATE VIEW slow AS SELECT n::text AS id_, pg_sleep(0.1)::text AS nap FROM generate_series(1, 500) n");
    let test = Test::with_systems(Bundle::built_in(), systems(postgres.port, 60)).await;
    kept(&test, "slow", json!({ "id_": { "type": "text", "required": true }, "nap": { "type": "text" } })).await;
    let asks = |how: &str| {
        let at_work =
            "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%nap%' AND pid <> pg_backend_pid()";
        postgres.try_sql(&format!("DO $$ BEGIN IF {how} EXISTS ({at_work}) THEN RAISE 'so it is'; END IF; END $$"))
    };
    let until = async |how: &str| {
        for _ in 0..100 {
            if asks(how) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{how} asked any more");
    };
    {
        let asked = query(&test, "slow", &test.admin, json!({}));
        tokio::select! {
            answer = asked => panic!("{}", answer.text()),
            () = until("NOT") => {}
        }
    }
    until("").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_stops_hangs_or_changes_is_told_and_holds_up_nobody_else() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.sql(
        "CREATE TABLE odd (id_ text PRIMARY KEY, total text); INSERT INTO odd VALUES ('a', '1.50');
         CREATE VIEW slow AS SELECT n::text AS id_, pg_sleep(0.2)::text AS nap FROM generate_series(1, 100) n",
    );
    let test = Test::with_systems(Bundle::built_in(), systems(postgres.port, 1)).await;
    kept(&test, "odd", json!({ "id_": { "type": "text", "required": true }, "total": { "type": "money" } })).await;
    kept(&test, "slow", json!({ "id_": { "type": "text", "required": true }, "nap": { "type": "text" } })).await;
    let odd = async || query(&test, "odd", &test.admin, json!({ "filter": { "total": { "gt": "1" } } })).await;
    // Its own time limit ends a question; what came by then is an answer, and not all.
    let late = query(&test, "slow", &test.admin, json!({})).await;
    assert_eq!(
        (late.status.as_u16(), late.header("x-ok-partial"), late.header("x-ok-partial-from")),
        (200, "true", "postgres")
    );
    // A column of another type.
    let refused = odd().await.error();
    assert!(
        refused.starts_with("503 unavailable odd is kept in erp, which cannot be read: operator does not exist"),
        "{refused}"
    );
    postgres.sql("ALTER TABLE odd ALTER total TYPE numeric USING total::numeric");
    assert_eq!(odd().await.json().as_array().unwrap().len(), 1);
    // It hangs: the others go on.
    postgres.signal("STOP");
    let began = Instant::now();
    let (hung, other) = tokio::join!(odd(), test.get("/me", &test.admin));
    assert_eq!(other.status, 200);
    assert!(hung.status == 503 || hung.header("x-ok-partial") == "true", "{}", hung.text());
    assert!(began.elapsed() < Duration::from_secs(40));
    postgres.signal("CONT");
    // It stops, and is there again.
    postgres.signal("INT");
    let stopped = odd().await;
    assert!(stopped.status == 503 && !stopped.text().contains("127.0.0.1"), "{}", stopped.text());
    tokio::task::block_in_place(|| postgres.run());
    let again = odd().await;
    assert_eq!((again.status.as_u16(), again.json().as_array().unwrap().len()), (200, 1), "{}", again.text());
    let changed = change(&test, "odd", json!([{ "retire": {} }])).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_no_field_can_hold_leaves_its_whole_row_out() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.sql(
        "CREATE TABLE times (id_ text PRIMARY KEY, at timestamptz, day date);
         INSERT INTO times VALUES ('a', '2026-01-31', '2026-01-31'), ('b', 'infinity', NULL), ('c', '-infinity', NULL),
         ('d', '0044-03-15 BC', NULL), ('e', NULL, 'infinity'), ('f', NULL, '0044-03-15 BC'), ('g', NULL, NULL)",
    );
    let test = Test::with_systems(Bundle::built_in(), systems(postgres.port, 10)).await;
    let fields =
        json!({ "id_": { "type": "text", "required": true }, "at": { "type": "time" }, "day": { "type": "date" } });
    kept(&test, "times", fields).await;
    let found = query(&test, "times", &test.admin, json!({ "sort": ["id_"] })).await;
    let ids: Vec<Value> = found.json().as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!((ids, found.header("x-ok-partial")), (vec![json!("a"), json!("g")], "true"));
    assert_eq!(found.json()[0]["fields"]["at"], "2026-01-31T00:00:00Z");
}
