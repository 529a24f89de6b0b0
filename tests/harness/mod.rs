//! A company in a folder of its own, with a clock that stands still and seeded randomness, so that what it says can be
//! compared to the letter.

mod answer;
pub mod contract;
pub mod counted;
pub mod fake;
pub mod history;
pub mod journal;
pub mod mailbox;
pub mod pages;
pub mod postgres;
pub mod prove;
mod refold;
mod work;

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use ok::adapters::{Embedder, Systems};
use ok::background::models::Setup;
use ok::background::tools::Tools;
use ok::gate::declare::schema::schema;
use ok::gate::state::open::{Company, Options};
use ok::log::journal::{InFile, Journal};
use ok::log::verify::{Ask, Report, verify_sqlite};
use ok::policy::{Bundle, Snapshot};
use ok::store::open::Mode;
use ok::types::caller::{Channel, Credential, Presented};
use ok::types::entropy::Entropy;
use ok::types::time::{Clock, Time};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

pub use answer::Answer;
use history::Recorder;
pub use refold::refolded;

/// 2026-11-20T09:00:00Z
pub const START: i64 = 1_795_165_200_000;

/// A clock that moves only when told to.
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }
}

/// Bytes that repeat from run to run.
pub struct TestEntropy(AtomicU64);

impl Entropy for TestEntropy {
    fn bytes32(&self) -> [u8; 32] {
        use sha2::Digest as _;
        sha2::Sha256::digest(self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes()).into()
    }
}

pub struct Test {
    _recorder: Recorder,
    pub dir: TempDir,
    pub clock: Arc<TestClock>,
    pub company: Company,
    app: axum::Router,
    pub admin: String,
    with: With,
    /// Where its log is kept.
    journal: Arc<dyn Journal>,
    /// How often it was opened: each time with other randomness.
    opened: u64,
}

/// The tokens of those whom `Test::cast` adds. `lea` leads `team:ops`, in which `mia` and her agent `bot` are; `liv` leads
/// `team:dev`, in which `max` is.
pub struct Cast {
    pub lea: String,
    pub liv: String,
    /// A steward.
    pub sam: String,
    /// An auditor.
    pub aud: String,
    pub mia: String,
    pub max: String,
    pub bot: String,
}

/// What a company is opened with.
#[derive(Clone)]
struct With {
    policies: Bundle,
    models: Setup,
    /// Who carries out what tools from elsewhere are to do, where there are any.
    hands: Option<Arc<dyn Tools>>,
    systems: Arc<Systems>,
    embedder: Option<Arc<dyn Embedder>>,
}

impl With {
    fn policies(policies: Bundle) -> With {
        With { policies, models: Setup::default(), hands: None, systems: Arc::default(), embedder: None }
    }
}

/// The default policies, compiled once for all companies here.
fn compiled(policies: &Bundle) -> Arc<Snapshot> {
    static DEFAULT: OnceLock<Arc<Snapshot>> = OnceLock::new();
    let compile = || Arc::new(Snapshot::load(&schema(&ok::nouns::OPERATIONS), policies).unwrap());
    Arc::clone(DEFAULT.get_or_init(compile))
}

pub fn options(path: PathBuf, clock: Arc<TestClock>, seed: u64) -> Options {
    let policies = Bundle::built_in();
    Options {
        path,
        entries: &ok::nouns::OPERATIONS,
        compiled: vec![compiled(&policies)],
        policies,
        dev_auth: false,
        tools: Arc::default(),
        loopback: false,
        secrets: None,
        ports: vec![443],
        systems: Arc::default(),
        embedder: None,
        models: Arc::default(),
        journal: Arc::new(InFile),
        low_water: None,
        clock,
        entropy: Arc::new(TestEntropy(AtomicU64::new(seed << 32))),
    }
}

impl Test {
    /// A new company whose first admin is `ana`.
    pub async fn new() -> Test {
        Test::with_policies(Bundle::built_in()).await
    }

    /// The same with other policies.
    pub async fn with_policies(policies: Bundle) -> Test {
        Test::begun(Test::uninitialised(policies)).await
    }

    async fn begun(mut test: Test) -> Test {
        let first = test.local(Credential::Server, "company.init", json!({ "id": "ana" })).await;
        test.admin = first["token"].as_str().unwrap().to_owned();
        test
    }

    /// A company that nobody is in yet.
    pub fn uninitialised(policies: Bundle) -> Test {
        Test::founded(With::policies(policies), Arc::new(InFile))
    }

    fn founded(with: With, journal: Arc<dyn Journal>) -> Test {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock(AtomicI64::new(START)));
        Test::opened(dir, clock, with, journal, 1)
    }

    fn opened(dir: TempDir, clock: Arc<TestClock>, with: With, journal: Arc<dyn Journal>, opened: u64) -> Test {
        let company = work::opened(&with, &journal, (dir.path(), &clock, opened));
        let (app, admin) = (router(&company), String::new());
        let _recorder = Recorder(dir.path().join("state.db"));
        Test { _recorder, app, dir, clock, company, admin, with, journal, opened }
    }

    /// The same company after its server was stopped and started again.
    pub async fn reopened(self) -> Test {
        let Test { dir, clock, company, admin, app, with, journal, opened, .. } = self;
        drop(app);
        company.close().await;
        Test { admin, ..Test::opened(dir, clock, with, journal, opened + 1) }
    }

    /// The same, started again by a version of the program that brings other defaults.
    pub async fn upgraded(self, policies: Bundle) -> Test {
        Test { with: With { policies, ..self.with.clone() }, ..self }.reopened().await
    }

    /// The folder that a stopped server leaves behind.
    pub async fn closed(self) -> TempDir {
        let Test { dir, company, app, .. } = self;
        drop(app);
        company.close().await;
        dir
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("state.db")
    }

    /// Performs an operation as the holder of the state file would.
    pub async fn local(&self, credential: Credential, operation: &str, input: Value) -> Value {
        let gate = &self.company.gate;
        let entry = gate.entry(operation).unwrap();
        let presented = Presented { credential, channel: Channel::Cli, address: None, under: None };
        let caller = gate.admit(&presented, &entry.spec).unwrap();
        let call = entry.prepare(input).unwrap();
        let reply = gate.perform(ok::gate::Request { caller, call, idem: None }).await.unwrap();
        serde_json::from_slice(&reply.body).unwrap()
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        // A stream has no end to wait for.
        let streams = parts.headers.get("content-type").is_some_and(|media| media == "text/event-stream");
        let body = if streams { Vec::new() } else { body.collect().await.unwrap().to_bytes().to_vec() };
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        // What is packed is the same answer as without.
        if answer.header("content-encoding").is_empty() {
            contract::check(&method, &path, &answer);
        }
        answer
    }

    pub async fn call(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(address(path));
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let sent = body.as_ref().map_or_else(Body::empty, |value| Body::from(value.to_string()));
        let answer = self.send(request.body(sent).unwrap()).await;
        contract::check_request(method, &address(path), body.as_ref(), &answer);
        answer
    }

    /// A request of any shape, by the admin unless a header says otherwise.
    pub async fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let mut request = Request::builder().method(method).uri(address(path));
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", format!("Bearer {}", self.admin));
        }
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request.body(body.into()).unwrap()).await
    }

    /// The admin's request with an `Idempotency-Key`.
    pub async fn once(&self, path: &str, key: &str, body: Value) -> Answer {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        self.raw("POST", path, &headers, body.to_string()).await
    }

    pub async fn get(&self, path: &str, token: &str) -> Answer {
        self.call("GET", path, token, None).await
    }

    pub async fn post(&self, path: &str, token: &str, body: Value) -> Answer {
        self.call("POST", path, token, Some(body)).await
    }

    /// Adds an actor and, unless it is a team, gives it a token.
    pub async fn add(&self, id: &str, kind: &str, more: Value) -> String {
        let mut body = json!({ "id": id, "kind": kind });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let added = self.joins(body).await;
        assert_eq!(added.status, 201, "{}", added.text());
        if kind == "team" { String::new() } else { self.token(id, json!({})).await }
    }

    /// The same as somebody in particular.
    pub async fn local_as(&self, id: &str, operation: &str, input: Value) -> Value {
        self.local(Credential::Holder(id.parse().unwrap()), operation, input).await
    }

    /// A new token for somebody: people issue their own, so that nobody else could be calling with it.
    pub async fn token(&self, id: &str, more: Value) -> String {
        let mut body = json!({ "for": id });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if self.get(&format!("/actors/{id}"), &self.admin).await.json()["kind"] == "person" {
            let issued = self.local_as(id, "token.issue", body).await;
            return issued["token"].as_str().unwrap().to_owned();
        }
        let issued = self.post("/tokens", &self.admin, body).await;
        assert_eq!(issued.status, 201, "{}", issued.text());
        issued.json()["token"].as_str().unwrap().to_owned()
    }

    /// The types of the newest events, oldest first.
    pub async fn newest(&self, count: usize) -> Vec<String> {
        let events = self.get(&format!("/events?limit={count}"), &self.admin).await.json();
        let kind = |event: &Value| event["event"]["type"].as_str().unwrap().to_owned();
        events["events"].as_array().unwrap().iter().map(kind).collect()
    }

    /// The newest event.
    pub async fn event(&self) -> Value {
        self.get("/events?limit=1", &self.admin).await.json()["events"][0].clone()
    }

    /// A connection that reads the state file.
    pub fn file(&self) -> Connection {
        ok::store::open::connect(&self.path(), Mode::Read).unwrap()
    }

    /// What the verifier says of the state file. Its events do what they declare.
    pub fn verdict(&self) -> Report {
        refolded(&self.file());
        verify_sqlite(&self.file(), &Ask::default()).unwrap()
    }

    /// Two teams and somebody of every kind.
    pub async fn cast(&self) -> Cast {
        let lea = self.add("lea", "person", json!({ "role": "lead" })).await;
        let liv = self.add("liv", "person", json!({ "role": "lead" })).await;
        self.add("team:ops", "team", json!({ "lead": "lea" })).await;
        self.add("team:dev", "team", json!({ "lead": "liv" })).await;
        Cast {
            lea,
            liv,
            sam: self.add("sam", "person", json!({ "role": "steward" })).await,
            aud: self.add("aud", "person", json!({ "role": "auditor" })).await,
            mia: self.add("mia", "person", json!({ "team": "team:ops" })).await,
            max: self.add("max", "person", json!({ "team": "team:dev" })).await,
            bot: self.add("bot", "agent", json!({ "team": "team:ops", "owner": "mia" })).await,
        }
    }

    pub async fn last_seq(&self) -> i64 {
        self.get("/events?limit=1", &self.admin).await.json()["last_seq"].as_i64().unwrap()
    }
}

/// `/v1` and a standard's addresses are not below `/api`.
fn address(path: &str) -> String {
    let from_root = ["/v1/", "/access/", "/.well-known/"].iter().any(|start| path.starts_with(start));
    if from_root { path.to_owned() } else { format!("/api{path}") }
}

fn router(company: &Company) -> axum::Router {
    ok::http::router(company.gate.clone(), ok::http::Limits::default(), CancellationToken::new())
}

/// Snapshots in a folder of `snapshots/`.
pub fn snapshots(folder: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{}/snapshots/{folder}", env!("CARGO_MANIFEST_DIR")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// The path with its parameters, and the fields that are left.
pub fn fill(path: &str, input: &Value) -> (String, serde_json::Map<String, Value>) {
    let mut rest = input.as_object().unwrap().clone();
    let mut filled = path.to_owned();
    for name in input.as_object().unwrap().keys() {
        if path.contains(&format!("{{{name}}}")) {
            let value = rest.remove(name).unwrap();
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            filled = filled.replace(&format!("{{{name}}}"), &text);
        }
    }
    (filled, rest)
}

/// What hires an agent that answers to ana.
pub fn hiring(name: &str, team: Option<&str>) -> Value {
    let labels = team.map_or(json!({}), |team| json!({ "team": team }));
    let metadata = json!({ "name": name, "labels": labels });
    json!({ "definition": { "apiVersion": "ok/v1", "kind": "Agent", "metadata": metadata, "spec": { "owner": "ana" } } })
}

/// Polls all of them side by side.
pub async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in pending.iter_mut().filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                *done = Some(output);
            }
        }
        if pending.iter().all(|(_, done)| done.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    pending.into_iter().map(|(_, done)| done.unwrap()).collect()
}
