//! Durable events a second through the whole gate, beside bare group commits of rows of the same size.
//!
//! All three use the same pragmas, the same bounded queue, one writer thread and the same grouping. `log` is the log alone,
//! `gate` is everything: a change here is
//! `actor.trust`: admitted, decided by policy, folded into a table, hashed, signed, committed with an fsync, answered.
//!
//! `cargo bench --bench append [-- <seconds per line>]`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench that cannot go on should stop"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use ok::gate::writer::gather;
use ok::gate::{Gate, Request};
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use rusqlite::Connection;
use serde_json::json;
use tokio::sync::oneshot;

const LEAF: usize = 480;
const PAYLOAD: usize = 260;

fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("clients  bare rows/s  log events/s  ratio  gate events/s  ratio");
    for clients in [1, 8, 64] {
        let bare = runtime.block_on(bare(clients, length));
        let log = runtime.block_on(through_the_log(clients, length));
        let gate = runtime.block_on(through_the_gate(clients, length));
        println!("{clients:>7}  {bare:>11.0}  {log:>12.0}  {:>5.2}  {gate:>13.0}  {:>5.2}", log / bare, gate / bare);
    }
    support::conditions();
}

async fn through_the_gate(clients: usize, length: Duration) -> f64 {
    let dir = support::folder();
    let company = support::company(dir.path()).await;
    support::perform(
        &company.gate,
        Credential::Holder("ana".parse().unwrap()),
        "actor.add",
        json!({ "id": "bot", "kind": "agent", "owner": "ana" }),
    )
    .await;
    support::perform(&company.gate, Credential::Server, "tick", json!({})).await;
    let gate = Arc::clone(&company.gate);
    let rate = load(clients, length, move || change(Arc::clone(&gate))).await;
    company.close().await;
    rate
}

async fn change(gate: Arc<Gate>) {
    let entry = gate.entry("actor.trust").unwrap();
    let caller = support::admit(&gate, Credential::Holder("lena".parse().unwrap()), entry);
    let call = entry.prepare(json!({ "id": "bot", "tier": "assist", "reason": "measured" })).unwrap();
    gate.perform(Request { caller, call, idem: None }).await.expect("allowed");
}

/// A writer thread that inserts a row for each job.
async fn bare(clients: usize, length: Duration) -> f64 {
    let dir = support::folder();
    let conn = connect(&dir.path().join("bare.db"), Mode::Write).unwrap();
    conn.execute_batch("CREATE TABLE entry (seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, body BLOB NOT NULL) STRICT")
        .unwrap();
    let (leaf, body) = (vec![7_u8; LEAF], vec![9_u8; PAYLOAD]);
    let insert = move |conn: &Connection, count: usize| {
        for _ in 0..count {
            let mut insert = conn.prepare_cached("INSERT INTO entry (leaf, body) VALUES (?, ?)").unwrap();
            insert.execute((&leaf, &body)).unwrap();
        }
    };
    group_commit(conn, clients, length, insert).await
}

/// A writer thread that appends an event for each job: leaf, payload, index, tree, signed head.
async fn through_the_log(clients: usize, length: Duration) -> f64 {
    let dir = support::folder();
    support::company(dir.path()).await.close().await;
    let conn = connect(&dir.path().join("state.db"), Mode::Write).unwrap();
    let mut log = support::Log::open(&conn, dir.path());
    let append = move |conn: &Connection, count: usize| log.append(conn, count);
    group_commit(conn, clients, length, append).await
}

async fn group_commit(
    conn: Connection,
    clients: usize,
    length: Duration,
    mut write: impl FnMut(&Connection, usize) + Send + 'static,
) -> f64 {
    let (sender, jobs) = sync_channel::<oneshot::Sender<()>>(1024);
    let writer = std::thread::spawn(move || {
        let mut expected = 1;
        while let Ok(first) = jobs.recv() {
            let batch = gather(&jobs, first, &mut expected);
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            write(&conn, batch.len());
            conn.execute_batch("COMMIT").unwrap();
            batch.into_iter().for_each(|answer| {
                let _ = answer.send(());
            });
        }
    });
    let rate = load(clients, length, move || {
        let (answer, done) = oneshot::channel();
        sender.try_send(answer).unwrap();
        async move { done.await.unwrap() }
    })
    .await;
    writer.join().unwrap();
    rate
}

/// Calls of `clients` tasks a second.
async fn load<F: Future<Output = ()> + Send + 'static>(
    clients: usize,
    length: Duration,
    call: impl Fn() -> F + Send + Sync + 'static,
) -> f64 {
    let (call, done) = (Arc::new(call), Arc::new(AtomicU64::new(0)));
    let start = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let (call, done) = (Arc::clone(&call), Arc::clone(&done));
            tokio::spawn(async move {
                while start.elapsed() < length {
                    call().await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}
