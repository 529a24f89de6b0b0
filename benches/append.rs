//! Durable events a second through the whole gate, beside bare group commits of rows of the same size.
//!
//! Both sides use the same pragmas, the same bounded queue, one writer thread and batches of at most 256. A change here is
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

use ok::gate::{Gate, Request};
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use serde_json::json;
use tokio::sync::oneshot;

const BATCH: usize = 256;
const LEAF: usize = 480;
const PAYLOAD: usize = 260;

fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("clients  gate events/s  bare events/s  ratio");
    for clients in [1, 8, 64] {
        let gate = runtime.block_on(through_the_gate(clients, length));
        let bare = runtime.block_on(bare(clients, length));
        println!("{clients:>7}  {gate:>13.0}  {bare:>13.0}  {:>5.2}", gate / bare);
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

/// A writer thread that inserts a row for each job and commits what it finds in its queue.
async fn bare(clients: usize, length: Duration) -> f64 {
    let dir = support::folder();
    let conn = connect(&dir.path().join("bare.db"), Mode::Write).unwrap();
    conn.execute_batch("CREATE TABLE entry (seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, body BLOB NOT NULL) STRICT")
        .unwrap();
    let (sender, jobs) = sync_channel::<oneshot::Sender<()>>(1024);
    let writer = std::thread::spawn(move || {
        let (leaf, body) = (vec![7_u8; LEAF], vec![9_u8; PAYLOAD]);
        while let Ok(first) = jobs.recv() {
            let batch: Vec<_> = std::iter::once(first).chain(jobs.try_iter().take(BATCH - 1)).collect();
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            for _ in &batch {
                let mut insert = conn.prepare_cached("INSERT INTO entry (leaf, body) VALUES (?, ?)").unwrap();
                insert.execute((&leaf, &body)).unwrap();
            }
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
