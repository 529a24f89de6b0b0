//! Many live tokens: what issuing one costs beside what it costs where there are none, and what each takes of memory. Then
//! `ok audit verify` over the log that this made, tables and all, and over one of a tenth of it: how fast, and in how much
//! memory.
//!
//! `cargo bench -- tokens [<tokens>]`
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support;
use ok::gate::Gate;
use ok::gate::state::open::open;
use ok::types::caller::Credential;
use serde_json::json;
use tokio::runtime::Runtime;

/// Calls under way at once.
const CLIENTS: usize = 64;
/// What a rate is taken over.
const SAMPLE: usize = 10_000;

pub fn main() {
    let tokens = support::argument(250_000.0) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = support::folder();
    let company = runtime.block_on(support::company(dir.path()));
    // What the allocator and the caches take at first is not the tokens'.
    issue(&runtime, &company.gate, SAMPLE);
    let none = issue(&runtime, &company.gate, SAMPLE);
    issue(&runtime, &company.gate, (tokens / 10).saturating_sub(2 * SAMPLE));
    runtime.block_on(company.close());
    verified(dir.path());
    let few = served(dir.path());
    let company = open(&support::options(dir.path())).unwrap();
    let more = tokens - tokens / 10;
    issue(&runtime, &company.gate, more.saturating_sub(SAMPLE));
    let many = issue(&runtime, &company.gate, SAMPLE);
    println!("issued a second, with none                {none:>12.0}");
    println!("issued a second, with {tokens:<9}           {many:>12.0}   of none {:>5.2}", many / none);
    runtime.block_on(company.close());
    verified(dir.path());
    let bytes = served(dir.path()).saturating_sub(few) as f64 / more as f64;
    println!("memory of a server, bytes a token         {bytes:>12.0}");
    support::conditions();
}

/// Issues tokens to two people, and gives how many a second.
fn issue(runtime: &Runtime, gate: &Arc<Gate>, count: usize) -> f64 {
    let start = Instant::now();
    runtime.block_on(async {
        let mut clients = Vec::new();
        for number in 0..CLIENTS {
            let gate = Arc::clone(gate);
            let holder = if number % 2 == 0 { "ana" } else { "lena" };
            clients.push(tokio::spawn(async move {
                for _ in 0..count / CLIENTS {
                    let credential = Credential::Holder(holder.parse().unwrap());
                    support::perform(&gate, credential, "token.issue", json!({})).await;
                }
            }));
        }
        for client in clients {
            client.await.unwrap();
        }
    });
    (count / CLIENTS * CLIENTS) as f64 / start.elapsed().as_secs_f64()
}

/// What a server that has just started on the file has of memory, in bytes.
fn served(dir: &Path) -> u64 {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_ok"));
    serve.args(["serve", "--bind", "127.0.0.1:0", "--state"]).arg(dir.join("state.db"));
    let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (serve.stdout.take().unwrap(), serve.stderr.take().unwrap());
    let lines = BufReader::new(stderr).lines().chain(BufReader::new(stdout).lines()).map(Result::unwrap);
    lines.into_iter().find(|line| line.contains("listening")).unwrap();
    let bytes = figure(&format!("/proc/{}/status", serve.id()), "RssAnon:").unwrap();
    serve.kill().unwrap();
    serve.wait().unwrap();
    bytes
}

/// Has the program check the file, tables and all.
fn verified(dir: &Path) {
    let start = Instant::now();
    let mut verify = Command::new(env!("CARGO_BIN_EXE_ok"));
    let state = dir.join("state.db");
    verify.args(["--format", "json", "audit", "verify", "--state"]).arg(&state).stdout(Stdio::piped());
    let mut verify = verify.spawn().unwrap();
    let (mut most, status) = (0, format!("/proc/{}/status", verify.id()));
    while verify.try_wait().unwrap().is_none() {
        most = most.max(figure(&status, "VmHWM:").unwrap_or_default());
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = start.elapsed().as_secs_f64();
    let told: serde_json::Value = serde_json::from_reader(verify.stdout.take().unwrap()).unwrap();
    assert_eq!((&told["ok"], &told["tables"]), (&json!(true), &json!([])), "{told}");
    let events = told["log"]["size"].as_f64().unwrap();
    println!(
        "ok audit verify, {events:>8} events: events/s {:>10.0}   peak memory, MB {:>6.1}",
        events / took,
        most as f64 / 1e6
    );
}

/// A figure of a process, in bytes.
fn figure(status: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}
