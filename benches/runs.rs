//! Agents at work, through the whole gate.
//!
//! Durable steps a second of runs of 20 small steps, each recorded before the next is begun, beside bare group commits of as many
//! rows of the same size; the time from asking an agent to asking its model, and from a model's saying something to a follower's
//! hearing it; how long a kill switch takes to hold 1,000 runs at work; runs that wait: what they take in memory, how long a server with them takes to start, and one of them to go on once its
//! call is approved.
//!
//! `cargo bench -- runs [<seconds per line> [<waiting runs>]]`
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::commits::{bare, load};
use crate::support::load::serve as serve_http;
use crate::support::{self, perform};
use ok::background::models::{Asking, Chat, Hear};
use ok::background::runner;
use ok::gate::Gate;
use ok::gate::state::open::{Company, Options, open};
use ok::store::open::{Mode, connect};
use ok::types::caller::Credential;
use ok::types::chat::{Answer, Prompt};
use ok::types::models::{Capability, Catalog, Model, Price, Provider, ProviderKind};
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_util::sync::{CancellationToken, DropGuard};

const STEPS: usize = 20;
/// Each has a part of the agents; so nobody's runs wait for others of theirs.
const PEOPLE: [&str; 2] = ["ana", "lena"];
const AGENTS: usize = 8;
/// How often a model is asked for the time that it takes.
const ASKED: usize = 50;
/// What a model says piece by piece.
const PIECES: usize = 200;
/// Runs at work when everything is stopped.
const AT_WORK: usize = 1_000;

pub fn main() {
    let length = Duration::from_secs_f64(support::argument(5.0));
    let numbers = std::env::args().skip(1).filter_map(|text| text.parse::<f64>().ok());
    let waiting = numbers.skip(1).map(|waiting| waiting as usize).next().unwrap_or(100_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("runs  steps/s  entries a step  bytes a step  bare rows: steps/s  ratio");
    for runs in [1, 8, 64] {
        let Steps { rate, entries, bytes } = runtime.block_on(steps(runs, length));
        let row = (480, ((bytes / entries) as usize).saturating_sub(480));
        let limit = runtime.block_on(bare(row, entries.round() as usize, runs, length));
        println!("{runs:>4}  {rate:>7.0}  {entries:>14.1}  {bytes:>12.0}  {limit:>18.0}  {:>5.2}", rate / limit);
    }
    let mut took = runtime.block_on(first_bytes());
    took.sort();
    let at = |share: usize| took[(took.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("\nasked to asking the model: median {:.1} ms, 95 % {:.1} ms, worst {:.1} ms", at(50), at(95), at(100));
    let mut took = streamed(&runtime);
    took.sort();
    let at = |share: usize| took[(took.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("said to heard over HTTP, {} pieces: median {:.2} ms, 95 % {:.2} ms", took.len(), at(50), at(95));
    runtime.block_on(held(AT_WORK));
    runtime.block_on(waits(waiting));
    support::conditions();
}

/// A company with its agents and, beside it, what lets their runs go on.
async fn company(options: &Options, models: Arc<dyn Chat>) -> (Company, DropGuard) {
    let company = open(options).unwrap();
    perform(&company.gate, Credential::Server, "company.init", json!({ "id": "ana" })).await;
    let ana = || Credential::Holder("ana".parse().unwrap());
    perform(&company.gate, ana(), "actor.add", json!({ "id": "lena", "kind": "person", "role": "admin" })).await;
    for number in 0..AGENTS {
        let agent = json!({ "id": agent(number), "kind": "agent", "owner": PEOPLE[number % PEOPLE.len()] });
        perform(&company.gate, ana(), "actor.add", agent).await;
    }
    let server = serve(&company, models);
    (company, server)
}

fn serve(company: &Company, models: Arc<dyn Chat>) -> DropGuard {
    let stop = CancellationToken::new();
    tokio::spawn(runner::run(company.gate.clone(), models, stop.clone()));
    stop.drop_guard()
}

fn agent(number: usize) -> String {
    format!("bot{}", number % AGENTS)
}

/// Asks one of the agents; its run.
async fn ask(gate: &Arc<Gate>, number: usize, plan: Option<Value>) -> String {
    let asker = Credential::Holder(PEOPLE[number % PEOPLE.len()].parse().unwrap());
    let wish = json!({ "agent": agent(number), "text": "go", "plan": plan });
    perform(gate, asker, "agent.ask", wish).await["run"].as_str().unwrap().to_owned()
}

/// The rows of a company, to look at.
fn rows(dir: &Path) -> Arc<Mutex<Connection>> {
    Arc::new(Mutex::new(connect(&dir.join("state.db"), Mode::Read).unwrap()))
}

/// Waits until a run has ended: by a look at its row, which takes next to nothing of what is measured.
async fn ended(file: &Mutex<Connection>, id: &str) {
    loop {
        let status = {
            let file = file.lock().unwrap();
            let mut ended =
                file.prepare_cached("SELECT status FROM run WHERE id = ?1 AND ended_at IS NOT NULL").unwrap();
            ended.query_row([id], |row| row.get::<_, String>(0)).optional().unwrap()
        };
        if let Some(status) = status {
            assert_eq!(status, "completed", "{id}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Steps a second, and what one of them leaves in the log.
struct Steps {
    rate: f64,
    entries: f64,
    bytes: f64,
}

async fn steps(runs: usize, length: Duration) -> Steps {
    let dir = support::folder();
    let (company, server) = company(&support::options(dir.path()), Arc::new(Quick::default())).await;
    let small = |number: usize| match number % 2 {
        0 => json!({ "say": "so far, so good" }),
        _ => json!({ "call": { "tool": "me.read" } }),
    };
    let plan = json!({ "steps": (0..STEPS).map(small).collect::<Vec<_>>() });
    let file = connect(&dir.path().join("state.db"), Mode::Read).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap().unwrap_or(0) as f64;
    let log = || {
        let bytes = "SELECT sum(length(leaf) + coalesce(length(body), 0)) FROM log_entry";
        (count("SELECT count(*) FROM log_entry"), count(bytes))
    };
    let before = log();
    let (gate, number, rows) = (company.gate.clone(), Mutex::new(0), rows(dir.path()));
    let rate = load(runs, length, move || {
        let (gate, plan, rows) = (gate.clone(), plan.clone(), rows.clone());
        let number = {
            let mut number = number.lock().unwrap();
            *number += 1;
            *number
        };
        async move {
            let id = ask(&gate, number, Some(plan)).await;
            ended(&rows, &id).await;
        }
    })
    .await;
    let (after, steps) = (log(), count("SELECT count(*) FROM step"));
    drop(server);
    company.close().await;
    Steps { rate: rate * STEPS as f64, entries: (after.0 - before.0) / steps, bytes: (after.1 - before.1) / steps }
}

/// A model that answers at once, and knows when it was asked.
#[derive(Default)]
struct Quick(Mutex<Option<Instant>>);

impl Chat for Quick {
    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        *self.0.lock().unwrap() = Some(Instant::now());
        Box::pin(async { Ok(Answer { text: "so".into(), calls: Vec::new(), input_tokens: 1, output_tokens: 1 }) })
    }
}

async fn first_bytes() -> Vec<Duration> {
    let dir = support::folder();
    let options = Options { models: Arc::new(catalog()), ..support::options(dir.path()) };
    let quick = Arc::new(Quick::default());
    let (company, server) = company(&options, quick.clone()).await;
    let (mut took, rows) = (Vec::new(), rows(dir.path()));
    for number in 0..ASKED {
        let began = Instant::now();
        let id = ask(&company.gate, number, None).await;
        ended(&rows, &id).await;
        took.push(quick.0.lock().unwrap().take().unwrap() - began);
    }
    drop(server);
    company.close().await;
    took
}

/// A model that says when it says something.
struct Talker(Instant);

impl Chat for Talker {
    fn ask<'a>(&'a self, _: &'a Prompt, hear: &'a Hear<'a>) -> Asking<'a> {
        Box::pin(async move {
            for _ in 0..PIECES {
                tokio::time::sleep(Duration::from_millis(5)).await;
                hear(&format!(" {}", self.0.elapsed().as_micros()));
            }
            Ok(Answer { text: "so".into(), calls: Vec::new(), input_tokens: 1, output_tokens: 1 })
        })
    }
}

/// How long each piece of an answer takes from the model to somebody who follows the run.
fn streamed(runtime: &Runtime) -> Vec<Duration> {
    let (dir, began, stop) = (support::folder(), Instant::now(), CancellationToken::new());
    let options = Options { models: Arc::new(catalog()), ..support::options(dir.path()) };
    let (company, server) = runtime.block_on(company(&options, Arc::new(Talker(began))));
    let at = serve_http(runtime, &company, &stop);
    let took = runtime.block_on(async {
        let ana = Credential::Holder(PEOPLE[0].parse().unwrap());
        let token = perform(&company.gate, ana, "token.issue", json!({})).await["token"].as_str().unwrap().to_owned();
        let id = ask(&company.gate, 0, None).await;
        let mut stream = TcpStream::connect(at).await.unwrap();
        let head = format!("GET /api/runs/{id}/stream HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut took, mut some) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let read = stream.read(&mut some).await.unwrap();
            let (now, heard) = (began.elapsed(), String::from_utf8_lossy(&some[..read]).into_owned());
            let said = heard.split("\"text\":\"").skip(1).filter_map(|rest| rest.split('"').next());
            let said = said.flat_map(str::split_whitespace).filter_map(|micros| micros.parse().ok());
            took.extend(said.map(|micros| now.saturating_sub(Duration::from_micros(micros))));
            if read == 0 || heard.contains("run.completed") {
                break took;
            }
        }
    });
    assert!(took.len() > PIECES / 2, "{took:?}");
    stop.cancel();
    drop(server);
    runtime.block_on(company.close());
    took
}

/// One model that costs nothing.
fn catalog() -> Catalog {
    let provider = Provider { kind: ProviderKind::Ollama, base_url: "http://127.0.0.1:1/".into(), available: true };
    let model = Model {
        provider: "here".into(),
        name: "m".into(),
        context: 100_000,
        max_output: 1_000,
        capabilities: vec![Capability::Tools],
        price: Price { input: 0, output: 0 },
        fallbacks: Vec::new(),
    };
    Catalog {
        providers: [("here".into(), provider)].into(),
        models: [("m".into(), model)].into(),
        defaults: [("default".into(), "m".into())].into(),
        ..Catalog::default()
    }
}

/// Asks so many times for the same, 64 at once; the runs.
async fn ask_all(gate: &Arc<Gate>, count: usize, plan: Option<Value>) -> Vec<String> {
    let mut runs = Vec::new();
    for chunk in (0..count).collect::<Vec<_>>().chunks(64) {
        let ask_one = |number: &usize| {
            let (gate, plan, number) = (gate.clone(), plan.clone(), *number);
            tokio::spawn(async move { ask(&gate, number, plan).await })
        };
        let asked: Vec<_> = chunk.iter().map(ask_one).collect();
        for one in asked {
            runs.push(one.await.unwrap());
        }
    }
    runs
}

/// Waits until there is nothing that a query counts.
async fn none(file: &Connection, counted: &str) {
    while file.query_row(counted, [], |row| row.get::<_, i64>(0)).unwrap() > 0 {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// A model that never answers, and knows how many calls are under way.
#[derive(Default)]
struct Silent(Arc<AtomicUsize>);

/// A call that is under way.
struct Call(Arc<AtomicUsize>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Chat for Silent {
    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        self.0.fetch_add(1, Relaxed);
        let call = Call(self.0.clone());
        Box::pin(async move {
            let _call = call;
            std::future::pending().await
        })
    }
}

/// From engaging the switch for all until no model is asked any more and every run is told as held.
async fn held(count: usize) {
    let dir = support::folder();
    let options = Options { models: Arc::new(catalog()), ..support::options(dir.path()) };
    let silent = Arc::new(Silent::default());
    let (company, server) = company(&options, silent.clone()).await;
    let runs = ask_all(&company.gate, count, None).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = silent.0.load(Relaxed);
    let began = Instant::now();
    let ana = || Credential::Holder("ana".parse().unwrap());
    perform(&company.gate, ana(), "kill", json!({ "scope": "global", "reason": "all of it" })).await;
    let engaged = began.elapsed();
    while silent.0.load(Relaxed) > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let stopped = began.elapsed();
    for id in &runs {
        let run = perform(&company.gate, ana(), "run.read", json!({ "id": id })).await;
        assert_eq!(run["status"], "held", "{run}");
    }
    let [engaged, stopped, read] = [engaged, stopped, began.elapsed()].map(|time| time.as_secs_f64() * 1e3);
    println!(
        "{count} active runs, {asked} of them asking a model: engaged after {engaged:.0} ms, no model asked after {stopped:.0} ms, every run read as held after {read:.0} ms"
    );
    drop(server);
    company.close().await;
}

async fn waits(count: usize) {
    let dir = support::folder();
    let options = support::options(dir.path());
    let (company, server) = company(&options, Arc::new(Quick::default())).await;
    let before = memory();
    ask_all(&company.gate, count, Some(json!({ "steps": [{ "wait": { "seconds": 86_400 } }] }))).await;
    // An agent that only observes: another person lets it.
    let creates = json!({ "call": { "tool": "task.create", "with": { "title": "t" } } });
    let id = ask(&company.gate, 0, Some(json!({ "steps": [creates, { "say": "done" }] }))).await;
    let file = connect(&dir.path().join("state.db"), Mode::Read).unwrap();
    none(&file, "SELECT count(*) FROM run WHERE wait IS NULL AND ended_at IS NULL").await;
    let (more, threads) = (memory().saturating_sub(before), threads());
    drop(server);
    company.close().await;
    let began = Instant::now();
    let company = open(&options).unwrap();
    let _server = serve(&company, Arc::new(Quick::default()));
    let started = began.elapsed();
    // Whoever asked for the run approves nothing in it.
    let lena = || Credential::Holder("lena".parse().unwrap());
    let pending = perform(&company.gate, lena(), "approval.list", json!({ "status": "pending" })).await;
    let approval = pending[0]["id"].as_str().unwrap().to_owned();
    let began = Instant::now();
    perform(&company.gate, lena(), "approval.decide", json!({ "id": approval, "decision": "approve" })).await;
    ended(&rows(dir.path()), &id).await;
    let approved = began.elapsed();
    println!(
        "{count} waiting runs: {:.1} MiB more, {threads} threads; start {:.0} ms; one approved and ended after {:.0} ms",
        more as f64 / 1024.0,
        started.as_secs_f64() * 1e3,
        approved.as_secs_f64() * 1e3
    );
    company.close().await;
}

/// What this process holds in memory, in KiB.
fn memory() -> u64 {
    status("VmRSS:")
}

fn threads() -> u64 {
    status("Threads:")
}

fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
