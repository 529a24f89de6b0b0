//! Decisions for other programs over HTTP, beside a bare axum handler that reads the same body and answers a constant of
//! the same size: one at a time and fifty at a time, with few and with many policies of the company's own; and recorded
//! ones, durable before they are answered. Clients and server share the machine.
//!
//! `cargo bench -- authzen [<seconds per line>]`
use std::net::SocketAddr;
use std::time::Duration;

use crate::support;
use crate::support::load;
use ok::gate::state::open::{Company, open};
use ok::types::caller::Credential;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const CONNECTIONS: usize = 8;
const RECORDING: usize = 64;
const BATCH: usize = 50;
const TURNS: u32 = 10;
/// Entities of a large question: its subject, its resource, and the folders that this is in.
const ENTITIES: usize = 8;

pub fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!(
        "policies  single/s  bare/s  ratio  decisions/s of batches of {BATCH}  of single  with {ENTITIES} entities each"
    );
    for policies in [10, 10_000] {
        let served = Served::new(&runtime, policies);
        served.record(&runtime, "none");
        let (one, many) = (served.request("evaluation", &question(1)), served.request("evaluations", &batch(1)));
        let answer = load::one(served.at, &one);
        assert_eq!(answer, "{\"decision\":true}");
        let bare = load::bare(&runtime, "/access/v1/evaluation", answer.len());
        // Turn about, so that none has the quieter part of the run.
        let large = served.request("evaluations", &batch(ENTITIES - 2));
        let mut rates = [0.0; 4];
        let asked = [(served.at, &one), (bare, &one), (served.at, &many), (served.at, &large)];
        for _ in 0..TURNS {
            for (rate, (at, request)) in rates.iter_mut().zip(asked) {
                *rate += load::rate_of(at, request, CONNECTIONS, length / TURNS) / f64::from(TURNS);
            }
        }
        let [single, bare, batches, large] = rates;
        let decisions = batches * BATCH as f64;
        println!(
            "{policies:>8}  {single:>8.0}  {bare:>6.0}  {:>5.2}  {decisions:>27.0}  {:>9.1}  {:>24.0}",
            single / bare,
            decisions / single,
            large * BATCH as f64
        );
        if policies == 10 {
            served.record(&runtime, "all");
            let recorded = load::rate_of(served.at, &one, RECORDING, length);
            println!("{recorded:.0} recorded decisions/s at {RECORDING} connections");
        }
        served.end(&runtime);
    }
    support::conditions();
}

struct Served {
    company: Company,
    at: SocketAddr,
    token: String,
    stop: CancellationToken,
    _dir: tempfile::TempDir,
}

impl Served {
    fn new(runtime: &Runtime, policies: usize) -> Served {
        let dir = support::folder();
        let mut options = support::options(dir.path());
        options.policies = support::docs(policies);
        let company = open(&options).unwrap();
        let perform = |credential, operation, input| {
            runtime.block_on(support::perform(&company.gate, credential, operation, input))
        };
        perform(Credential::Server, "company.init", json!({ "id": "ana" }));
        let issued = perform(ana(), "token.issue", json!({}));
        let token = issued["token"].as_str().unwrap().to_owned();
        let stop = CancellationToken::new();
        let at = load::serve(runtime, &company, &stop);
        Served { company, at, token, stop, _dir: dir }
    }

    fn record(&self, runtime: &Runtime, what: &str) {
        let settings = json!({ "decisions": { "record": what } });
        runtime.block_on(support::perform(&self.company.gate, ana(), "company.update", settings));
    }

    fn request(&self, path: &str, body: &Value) -> String {
        let (token, body) = (&self.token, body.to_string());
        format!(
            "POST /access/v1/{path} HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    fn end(self, runtime: &Runtime) {
        self.stop.cancel();
        runtime.block_on(self.company.close());
    }
}

fn ana() -> Credential {
    Credential::Holder("ana".parse().unwrap())
}

fn subject() -> Value {
    json!({ "type": "Docs::User", "id": "ann", "properties": { "level": 3 } })
}

/// A document in so many folders.
fn document(number: usize, folders: usize) -> Value {
    let folder = |more: usize| json!({ "type": "Docs::Folder", "id": ((number + more) % 10).to_string() });
    let parents: Vec<Value> = (0..folders).map(folder).collect();
    json!({ "type": "Docs::Doc", "id": number.to_string(), "properties": { "open": true, "parents": parents } })
}

fn question(number: usize) -> Value {
    json!({ "subject": subject(), "action": { "name": "view" }, "resource": document(number, 1) })
}

fn batch(folders: usize) -> Value {
    let documents: Vec<Value> = (0..BATCH).map(|number| json!({ "resource": document(number, folders) })).collect();
    json!({ "subject": subject(), "action": { "name": "view" }, "evaluations": documents })
}
