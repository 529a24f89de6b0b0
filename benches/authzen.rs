//! Decisions for other programs over HTTP, beside a bare axum handler that reads the same body and answers a constant of
//! the same size: one at a time and fifty at a time, with few and with many policies of the company's own; and recorded
//! ones, durable before they are answered. Clients and server share the machine.
//!
//! `cargo bench --bench authzen [-- <seconds per line>]`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on should stop"
)]

mod support;

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ok::gate::open::{Company, open};
use ok::policy::Bundle;
use ok::types::caller::Credential;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const CONNECTIONS: usize = 8;
const RECORDING: usize = 64;
const BATCH: usize = 50;

const SCHEMA: &str = "namespace Docs {
  entity User = { level: Long };
  entity Folder;
  entity Doc in [Folder] = { open: Bool };
  action view appliesTo { principal: [User], resource: [Doc], context: {} };
}
";

fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("policies  single/s  bare/s  ratio  decisions/s of batches of {BATCH}  of single");
    for policies in [10, 10_000] {
        let served = Served::new(&runtime, policies);
        served.record(&runtime, "none");
        let (one, many) = (served.request("evaluation", &question(1)), served.request("evaluations", &batch()));
        let bare = runtime.block_on(bare(answer(served.at, &one)));
        // Turn about, so that neither has the quieter half of the run.
        let mut rates = [0.0; 3];
        for _ in 0..2 {
            for (rate, (at, request)) in rates.iter_mut().zip([(served.at, &one), (bare, &one), (served.at, &many)]) {
                *rate += rate_of(at, request, CONNECTIONS, length / 2) / 2.0;
            }
        }
        let [single, bare, batches] = rates;
        let decisions = batches * BATCH as f64;
        println!(
            "{policies:>8}  {single:>8.0}  {bare:>6.0}  {:>5.2}  {decisions:>27.0}  {:>9.1}",
            single / bare,
            decisions / single
        );
        if policies == 10 {
            served.record(&runtime, "all");
            let recorded = rate_of(served.at, &one, RECORDING, length);
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
        options.policies = bundle(policies);
        let company = open(&options).unwrap();
        let perform = |credential, operation, input| {
            runtime.block_on(support::perform(&company.gate, credential, operation, input))
        };
        perform(Credential::Server, "company.init", json!({ "id": "ana" }));
        let issued = perform(ana(), "token.issue", json!({}));
        let token = issued["token"].as_str().unwrap().to_owned();
        let stop = CancellationToken::new();
        let at = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let at = listener.local_addr().unwrap();
            let limits = ok::http::Limits::default();
            tokio::spawn(ok::http::serve(Arc::clone(&company.gate), listener, limits, stop.clone()));
            at
        });
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

/// The default policies, and so many of the company's own: one for each of as many folders.
fn bundle(policies: usize) -> Bundle {
    let mut text = String::new();
    for number in 0..policies {
        write!(
            text,
            "@id(\"folder-{number}\")\npermit (\n  principal is Docs::User,\n  action == Docs::Action::\"view\",\n  \
             resource in Docs::Folder::\"{number}\"\n)\nwhen {{ principal.level > 1 && resource.open }};\n\n"
        )
        .unwrap();
    }
    let mut bundle = Bundle::built_in();
    bundle.files.insert("schema.cedarschema".into(), SCHEMA.into());
    bundle.files.insert("docs.cedar".into(), text);
    bundle
}

fn subject() -> Value {
    json!({ "type": "Docs::User", "id": "ann", "properties": { "level": 3 } })
}

fn document(number: usize) -> Value {
    let parents = json!([{ "type": "Docs::Folder", "id": (number % 10).to_string() }]);
    json!({ "type": "Docs::Doc", "id": number.to_string(), "properties": { "open": true, "parents": parents } })
}

fn question(number: usize) -> Value {
    json!({ "subject": subject(), "action": { "name": "view" }, "resource": document(number) })
}

fn batch() -> Value {
    let documents: Vec<Value> = (0..BATCH).map(|number| json!({ "resource": document(number) })).collect();
    json!({ "subject": subject(), "action": { "name": "view" }, "evaluations": documents })
}

/// A handler that answers `size` bytes to any body.
async fn bare(size: usize) -> SocketAddr {
    let body: &'static str = "x".repeat(size).leak();
    let handler = axum::routing::post(move |_: bytes::Bytes| async move { body });
    let app = axum::Router::new().route("/access/v1/evaluation", handler);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    at
}

/// The body's length in the answer to one request, which is a yes.
fn answer(at: SocketAddr, request: &str) -> usize {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut buffer = [0; 16 * 1024];
    let read = stream.read(&mut buffer).unwrap();
    let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
    assert!(text.ends_with("{\"decision\":true}"), "{text}");
    split(&buffer[..read]).1
}

/// Lengths of head and body.
fn split(answer: &[u8]) -> (usize, usize) {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head") + 4;
    let text = std::str::from_utf8(&answer[..head]).unwrap().to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    (head, length.parse().unwrap())
}

fn rate_of(at: SocketAddr, request: &str, connections: usize, length: Duration) -> f64 {
    let start = Instant::now();
    let clients: Vec<_> = (0..connections)
        .map(|_| {
            let request = request.to_owned();
            std::thread::spawn(move || client(at, &request, start, length))
        })
        .collect();
    let done: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
    done as f64 / start.elapsed().as_secs_f64()
}

fn client(at: SocketAddr, request: &str, start: Instant, length: Duration) -> u64 {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut buffer = [0; 16 * 1024];
    let mut done = 0;
    while start.elapsed() < length {
        stream.write_all(request.as_bytes()).unwrap();
        let mut read = stream.read(&mut buffer).unwrap();
        let (head, body) = split(&buffer[..read]);
        while read < head + body {
            read += stream.read(&mut buffer[read..]).unwrap();
        }
        assert!(buffer.starts_with(b"HTTP/1.1 200"));
        done += 1;
    }
    done
}
