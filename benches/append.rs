//! Durable events a second through the whole gate, beside bare group commits of rows of the same size.
//!
//! All three use the same pragmas, the same bounded queue, one writer thread and the same grouping. `log` is the log alone,
//! `gate` is everything: a change here is
//! `actor.trust`: admitted, decided by policy, folded into a table, hashed, signed, committed with an fsync, answered.
//!
//! `cargo bench -- append [<seconds per line>]`
use std::sync::Arc;
use std::time::Duration;

use crate::support;
use crate::support::commits::{bare, group_commit, load};
use ok::gate::{Gate, Request};
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use rusqlite::Connection;
use serde_json::json;

/// Bytes of a leaf and of a payload.
const ROW: (usize, usize) = (480, 260);

pub fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("clients  bare rows/s  log events/s  ratio  gate events/s  ratio");
    for clients in [1, 8, 64] {
        let bare = runtime.block_on(bare(ROW, 1, clients, length));
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

/// A writer thread that appends an event for each job: leaf, payload, index, tree, signed head.
async fn through_the_log(clients: usize, length: Duration) -> f64 {
    let dir = support::folder();
    support::company(dir.path()).await.close().await;
    let conn = connect(&dir.path().join("state.db"), Mode::Write).unwrap();
    let mut log = support::Log::open(&conn, dir.path());
    let append = move |conn: &Connection, count: usize| log.append(conn, count);
    group_commit(conn, clients, length, append).await
}
