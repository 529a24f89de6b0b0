//! Records under a policy that says whose are whose, beside the same condition written by hand for bare SQLite with the same
//! indexes, in one run: a page, a count, a sum, one record, and writing many. The caller is in three of a hundred teams and
//! made some records itself.
//!
//! `cargo bench -- brain [<records>]`
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::support;
use ok::gate::Gate;
use ok::gate::state::open::open;
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const ROUNDS: u32 = 50;
const TEAMS: u64 = 100;
/// One record of so many is the caller's own.
const OWN: u64 = 5_000;
const POLICY: &str = r#"@id("rows") permit (principal is Ok::Actor, action == Ok::Action::"record.read", resource is Brain::invoices)
when { resource.created_by == principal || (resource has team && principal in resource.team) };"#;
const SEEN: &str =
    "(created_by = 'mia' OR (\"f_team\" IS NOT NULL AND \"f_team\" IN ('team:t0', 'team:t1', 'team:t2')))";

pub fn main() {
    let records = support::argument(1_000_000.0) as u64;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = support::folder();
    let company = runtime.block_on(support::company_of_one(dir.path()));
    runtime.block_on(prepare(&company.gate));
    runtime.block_on(company.close());
    fill(dir.path(), records);
    let company = open(&support::options(dir.path())).unwrap();
    let conn = connect(&dir.path().join("state.db"), Mode::Read).unwrap();
    println!("{records} records{:>29}{:>14}{:>14}", "through the gate", "bare SQLite", "times");
    let collection = |more: Value| {
        let mut input = json!({ "collection": "invoices" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let page = "ORDER BY created_at DESC, id LIMIT 201";
    let rows: &[(&str, &str, Value, String)] = &[
        (
            "a page of 200",
            "record.list",
            collection(json!({})),
            format!("SELECT * FROM brain_invoices WHERE {SEEN} {page}"),
        ),
        (
            "a page of what fits a filter",
            "collection.query",
            collection(json!({ "filter": { "total": { "gte": "1" } } })),
            format!("SELECT * FROM brain_invoices WHERE {SEEN} AND \"f_total\" >= 10000 {page}"),
        ),
        (
            "a count",
            "record.aggregate",
            collection(json!({ "measures": ["count"] })),
            format!("SELECT count(*) FROM brain_invoices WHERE {SEEN}"),
        ),
        (
            "sums by team",
            "record.aggregate",
            collection(json!({ "measures": ["sum:total"], "group_by": ["team"] })),
            format!("SELECT \"f_team\", sum(\"f_total\") FROM brain_invoices WHERE {SEEN} GROUP BY 1"),
        ),
        (
            "one record",
            "record.read",
            collection(json!({ "id": "rec_0" })),
            format!("SELECT * FROM brain_invoices WHERE id = 'rec_0' AND {SEEN}"),
        ),
    ];
    for (what, operation, input, sql) in rows {
        let (ours, bare) = (micros(&runtime, &company.gate, operation, input), bare(&conn, sql));
        println!("{what:<30}{ours:>12.0} us{bare:>12.0} us{:>14.2}", ours / bare);
    }
    import(&runtime, &company.gate, dir.path());
    runtime.block_on(company.close());
    support::conditions();
}

async fn call(gate: &Arc<Gate>, by: &str, operation: &str, input: Value) -> Value {
    support::perform(gate, Credential::Holder(by.parse().unwrap()), operation, input).await
}

/// A collection, a policy about it, and somebody in three teams, one within the other.
async fn prepare(gate: &Arc<Gate>) {
    for team in 0..TEAMS {
        let above = (1..3).contains(&team).then(|| format!("team:t{}", team - 1));
        let new = json!({ "id": format!("team:t{team}"), "kind": "team", "team": above });
        call(gate, "ana", "actor.add", new).await;
    }
    call(gate, "ana", "actor.add", json!({ "id": "mia", "kind": "person", "team": "team:t2" })).await;
    let fields = json!({
        "number": { "type": "integer", "required": true }, "total": { "type": "money" }, "team": { "type": "team" },
    });
    let ops = json!([{ "create": { "spec": { "key": ["number"], "fields": fields } } }]);
    let wanted = json!({ "collection": "invoices", "ops": ops, "reason": "a bench" });
    let proposal = call(gate, "ana", "schema.propose", wanted).await;
    call(gate, "ana", "schema.apply", json!({ "id": proposal["id"] })).await;
    let mut files = call(gate, "ana", "policy.export", json!({})).await["files"].clone();
    let base = files["base/brain.cedar"].as_str().unwrap().replace("\"record.read\",\n     Ok::Action::", "");
    files["base/brain.cedar"] = base.into();
    files.as_object_mut().unwrap().retain(|path, _| !path.starts_with("tests/"));
    files["rows.cedar"] = POLICY.into();
    files["tests/one.yaml"] =
        "actors:\n  - {id: ana, role: admin}\ncases:\n  - {actor: ana, op: tick, expect: allow}\n".into();
    let change = call(gate, "ana", "policy.propose", json!({ "files": files, "reason": "a bench" })).await;
    call(gate, "ana", "change.evals", json!({ "id": change["id"] })).await;
    call(gate, "ana", "change.promote", json!({ "id": change["id"] })).await;
}

/// Straight into the table: what is measured is asking, not the log.
fn fill(dir: &Path, records: u64) {
    let conn = connect(&dir.join("state.db"), Mode::Write).unwrap();
    conn.execute_batch("BEGIN").unwrap();
    let sql = "INSERT INTO brain_invoices (id, version, created_by, created_at, updated_by, updated_at, f_number, f_total, \
               f_team) VALUES (?1, 1, ?2, ?3, ?2, ?3, ?4, ?5, ?6)";
    {
        let mut insert = conn.prepare(sql).unwrap();
        for number in 0..records {
            let by = if number % OWN == 0 { "mia" } else { "ana" };
            let team = format!("team:t{}", number * 7_919 % TEAMS);
            let at = 1_800_000_000_000_i64 + number as i64;
            let total = (number % 1_000 * 10_000) as i64;
            insert.execute(rusqlite::params![format!("rec_{number}"), by, at, number as i64, total, team]).unwrap();
        }
    }
    conn.execute_batch("COMMIT; ANALYZE").unwrap();
}

fn micros(runtime: &Runtime, gate: &Arc<Gate>, operation: &str, input: &Value) -> f64 {
    runtime.block_on(async {
        call(gate, "mia", operation, input.clone()).await;
        let start = Instant::now();
        for _ in 0..ROUNDS {
            call(gate, "mia", operation, input.clone()).await;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
    })
}

fn bare(conn: &Connection, sql: &str) -> f64 {
    let once = || {
        let mut query = conn.prepare_cached(sql).unwrap();
        let width = query.column_count();
        let read = |row: &rusqlite::Row<'_>| {
            Ok((0..width).map(|column| row.get::<_, rusqlite::types::Value>(column).unwrap()).collect::<Vec<_>>())
        };
        query.query_map([], read).unwrap().map(Result::unwrap).count()
    };
    once();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        once();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
}

/// Writing 5,000 at once, beside as many bare inserts into a table with the same indexes.
fn import(runtime: &Runtime, gate: &Arc<Gate>, dir: &Path) {
    const COUNT: u64 = 5_000;
    let rows = |from: u64| -> Vec<Value> {
        (from..from + COUNT).map(|number| json!({ "number": number, "total": "5.00", "team": "team:t3" })).collect()
    };
    let from = 1_000_000_000;
    let start = Instant::now();
    let written = json!({ "collection": "invoices", "records": rows(from) });
    runtime.block_on(call(gate, "ana", "record.import", written));
    let ours = COUNT as f64 / start.elapsed().as_secs_f64();
    let conn = connect(&dir.join("bare.db"), Mode::Write).unwrap();
    let made: Vec<String> = connect(&dir.join("state.db"), Mode::Read)
        .unwrap()
        .prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'brain_invoices' AND sql IS NOT NULL")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    made.iter().for_each(|sql| conn.execute_batch(sql).unwrap());
    let sql = "INSERT INTO brain_invoices (id, version, created_by, created_at, updated_by, updated_at, f_number, f_total, f_team) \
               VALUES (?1, 1, 'ana', ?2, 'ana', ?2, ?3, ?4, 'team:t3')";
    let start = Instant::now();
    conn.execute_batch("BEGIN").unwrap();
    for number in 0..COUNT as i64 {
        let mut insert = conn.prepare_cached(sql).unwrap();
        insert.execute(rusqlite::params![format!("rec_{number}"), number, number, 50_000]).unwrap();
    }
    conn.execute_batch("COMMIT").unwrap();
    let bare = COUNT as f64 / start.elapsed().as_secs_f64();
    println!("{:<30}{ours:>10.0} /s{bare:>12.0} /s{:>14.2}", "writing 5,000 at once", ours / bare);
}
