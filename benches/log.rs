//! Checking a log, beside bare SHA-256 over the same bytes; how long a server takes to start with it, and to explain what it
//! would have decided half a log ago.
//!
//! `cargo bench -- log [<events>]`
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support;
use ok::gate::state::open::{Company, open};
use ok::log::verify::{Ask, verify_sqlite};
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;

pub fn main() {
    let events = support::argument(1_000_000.0) as u64;
    let dir = support::folder();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { support::company(dir.path()).await.close().await });
    let path = dir.path().join("state.db");
    grow(dir.path(), events);

    let start = Instant::now();
    let company = open(&support::options(dir.path())).unwrap();
    let started = start.elapsed();
    let explained = explained(&runtime, &company, json!({ "op": "tick", "at": events / 2 }));
    runtime.block_on(company.close());
    let looked_back = looked_back(&runtime, events);

    let conn = connect(&path, Mode::Read).unwrap();
    let start = Instant::now();
    let report = verify_sqlite(&conn, &Ask::default()).unwrap();
    let verified = start.elapsed();
    assert!(report.ok, "{report:?}");

    let start = Instant::now();
    let bytes = hash_all(&conn);
    let hashed = start.elapsed();

    let rate = |time: std::time::Duration| report.size as f64 / time.as_secs_f64();
    println!("events in the log          {:>12}", report.size);
    println!("start, milliseconds        {:>12.0}", started.as_secs_f64() * 1e3);
    println!("explain --at, milliseconds {:>11.1}", explained.as_secs_f64() * 1e3);
    for (who, took) in looked_back {
        println!("  by what {who} had done    {:>12.1}", took.as_secs_f64() * 1e3);
    }
    println!("verify, events/s           {:>12.0}", rate(verified));
    println!(
        "bare SHA-256, events/s     {:>12.0}   ({:.0} bytes an event)",
        rate(hashed),
        bytes as f64 / report.size as f64
    );
    println!("ratio                      {:>12.2}", rate(verified) / rate(hashed));
    support::conditions();
}

/// How long a question as of an event takes, once the policies are compiled.
fn explained(runtime: &Runtime, company: &Company, question: Value) -> Duration {
    let explain = || {
        let ana = Credential::Holder("ana".parse().unwrap());
        runtime.block_on(support::perform(&company.gate, ana, "policy.explain", question.clone()))
    };
    explain();
    let start = Instant::now();
    explain();
    start.elapsed()
}

/// The same under policies that look at what actors have done: of ana, who is behind every event, and of lena, who did nothing.
fn looked_back(runtime: &Runtime, events: u64) -> [(&'static str, Duration); 2] {
    let dir = support::folder();
    let mut options = support::options(dir.path());
    let seldom = r#"@id("seldom") @reason("three an hour") forbid (principal, action == Ok::Action::"task.create", resource)
        when { principal.kind == "person" && context.hist["task.create"].hour >= 3 };"#;
    options.policies.files.insert("seldom.cedar".into(), seldom.into());
    runtime.block_on(async { support::company_by(options).await.close().await });
    grow(dir.path(), events);
    let company = open(&support::options(dir.path())).unwrap();
    let took = ["ana", "lena"].map(|who| {
        let question = json!({ "actor": who, "op": "task.create", "input": { "title": "t" }, "at": events / 2 });
        (who, explained(runtime, &company, question))
    });
    runtime.block_on(company.close());
    took
}

/// Appends in large transactions.
fn grow(dir: &Path, events: u64) {
    let conn = connect(&dir.join("state.db"), Mode::Write).unwrap();
    let mut log = support::Log::open(&conn, dir);
    while log.size() < events {
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        log.append(&conn, 10_000.min((events - log.size()) as usize));
        conn.execute_batch("COMMIT").unwrap();
    }
}

/// Hashes every leaf and payload once, and does nothing else.
fn hash_all(conn: &Connection) -> usize {
    let mut statement = conn.prepare("SELECT leaf, salt, body FROM log_entry ORDER BY seq").unwrap();
    let mut rows = statement.query([]).unwrap();
    let (mut bytes, mut check) = (0, 0_u8);
    while let Some(row) = rows.next().unwrap() {
        let [leaf, salt, body] = [0, 1, 2].map(|column| row.get_ref(column).unwrap().as_blob().unwrap());
        check ^= Sha256::digest(leaf).as_slice().first().unwrap()
            ^ Sha256::new().chain_update(salt).chain_update(body).finalize().as_slice().first().unwrap();
        bytes += leaf.len() + salt.len() + body.len();
    }
    std::hint::black_box(check);
    bytes
}
