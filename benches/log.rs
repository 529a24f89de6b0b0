//! Checking a log, beside bare SHA-256 over the same bytes; and how long a server takes to start with it.
//!
//! `cargo bench --bench log [-- <events>]`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench that cannot go on should stop"
)]

mod support;

use std::path::Path;
use std::time::Instant;

use ok::gate::open::open;
use ok::log::append::Tail;
use ok::log::checkpoint::Signer;
use ok::log::record::{Decision, Entry, GateNote, PolicyStamp};
use ok::log::verify::{Ask, verify_sqlite};
use ok::store::open::{Mode, connect};
use ok::types::event::Event;
use ok::types::time::Time;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

fn main() {
    let events = support::argument(1_000_000.0) as u64;
    let dir = support::folder();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { support::company(dir.path()).await.close().await });
    let path = dir.path().join("state.db");
    grow(&path, events);

    let start = Instant::now();
    let company = open(&support::options(dir.path())).unwrap();
    let started = start.elapsed();
    runtime.block_on(company.close());

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
    println!("verify, events/s           {:>12.0}", rate(verified));
    println!(
        "bare SHA-256, events/s     {:>12.0}   ({:.0} bytes an event)",
        rate(hashed),
        bytes as f64 / report.size as f64
    );
    println!("ratio                      {:>12.2}", rate(verified) / rate(hashed));
    support::conditions();
}

/// Appends refusals, as the gate records them, in large transactions.
fn grow(path: &Path, events: u64) {
    let conn = connect(path, Mode::Write).unwrap();
    let secret = std::fs::read_to_string(path.with_extension("db.key")).unwrap();
    let mut key = [0; 32];
    hex::decode_to_slice(secret.trim(), &mut key).unwrap();
    let origin: String = conn.query_row("SELECT origin FROM log_head", [], |row| row.get(0)).unwrap();
    let mut tail = Tail::resume(&conn, Signer::new(origin, &key)).unwrap();
    let stamp = PolicyStamp { hash: hex::encode([7; 32]), seq: 1 };
    let gate = GateNote { operation: "tick".into(), channel: "http".into(), policies: vec!["tick-by-admins".into()] };
    let mut salt = [0; 32];
    while tail.size() < events {
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        for _ in 0..10_000.min(events - tail.size()) {
            salt = Sha256::digest(salt).into();
            let event = Event::Denied {
                operation: "tick".into(),
                target: "company".into(),
                reason: "admins only".into(),
                fault: None,
            };
            let entry = Entry {
                actor: "ana".parse().unwrap(),
                event,
                decision: Decision::Deny,
                policy: stamp.clone(),
                idem: None,
                gate: gate.clone(),
            };
            let now = Time(tail.ts().0 + 10);
            tail.append(&conn, &entry, now, salt).unwrap();
        }
        tail.seal(&conn, tail.ts()).unwrap();
        conn.execute_batch("COMMIT").unwrap();
    }
}

/// Hashes every leaf and payload once, and does nothing else.
fn hash_all(conn: &Connection) -> usize {
    let mut statement =
        conn.prepare("SELECT leaf, salt, body FROM log_entry JOIN log_payload USING (seq) ORDER BY seq").unwrap();
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
