//! What the benches share: a company on a real disk, and a line that says under which conditions was measured.
#![allow(dead_code, reason = "each bench uses some of it")]

pub mod commits;
pub mod load;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use ok::gate::state::open::{Company, Options, open};
use ok::gate::write::record::{By, Entry as LogEntry, GateRecord, RecordedQuestion};
use ok::gate::{Entry, Gate, Request};
use ok::log::append::Tail;
use ok::log::checkpoint::Signer;
use ok::log::journal::InFile;
use ok::log::record::{Decision, PolicyStamp};
use ok::policy::Bundle;
use ok::store::decisions::events::Denied;
use ok::types::caller::{Caller, Channel, Credential, Presented};
use ok::types::entropy::SystemEntropy;
use ok::types::target::Target;
use ok::types::time::{SystemClock, Time};
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The first number on the command line.
pub fn argument(default: f64) -> f64 {
    std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(default)
}

/// A folder beside the build, because the system's temporary folder may be in memory.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

pub fn options(dir: &Path) -> Options {
    Options {
        path: dir.join("state.db"),
        entries: &ok::nouns::OPERATIONS,
        policies: Bundle::built_in(),
        compiled: Vec::new(),
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
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    }
}

/// A company with the admins `ana` and `lena`.
pub async fn company(dir: &Path) -> Company {
    company_by(options(dir)).await
}

/// The same under other policies.
pub async fn company_by(options: Options) -> Company {
    let company = company_of_one_by(options).await;
    let lena = json!({ "id": "lena", "kind": "person", "role": "admin" });
    perform(&company.gate, Credential::Holder("ana".parse().unwrap()), "actor.add", lena).await;
    company
}

/// A company whose only admin is `ana`: what she proposes comes into force without anybody else.
pub async fn company_of_one(dir: &Path) -> Company {
    company_of_one_by(options(dir)).await
}

async fn company_of_one_by(options: Options) -> Company {
    let company = open(&options).unwrap();
    perform(&company.gate, Credential::Server, "company.init", json!({ "id": "ana" })).await;
    company
}

pub fn admit(gate: &Gate, credential: Credential, entry: &Entry) -> Caller {
    gate.admit(&Presented { credential, channel: Channel::Cli, address: None, under: None }, &entry.spec).unwrap()
}

pub async fn perform(gate: &Arc<Gate>, credential: Credential, operation: &str, input: Value) -> Value {
    let entry = gate.entry(operation).unwrap();
    let caller = admit(gate, credential, entry);
    let call = entry.prepare(input).unwrap();
    let reply = gate.perform(Request { caller, call, idem: None }).await.expect(operation);
    serde_json::from_slice(&reply.body).unwrap()
}

/// What `docs` are about.
const SCHEMA: &str = "namespace Docs {
  entity User = { level: Long };
  entity Folder;
  entity Doc in [Folder] = { open: Bool };
  action view appliesTo { principal: [User], resource: [Doc], context: {} };
}
";

/// The default policies, and so many of the company's own: one for each of as many folders.
pub fn docs(policies: usize) -> Bundle {
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

/// Says how busy the machine is, because the figures depend on it.
pub fn conditions() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\n{cores} cores; load average {}", load.trim());
}

/// The log of a company, to be appended to without the gate.
pub struct Log {
    tail: Tail,
    entry: LogEntry,
    salt: [u8; 32],
    begun: Time,
    appended: i64,
}

impl Log {
    pub fn open(conn: &Connection, dir: &Path) -> Log {
        let secret = std::fs::read_to_string(dir.join("state.db.key")).unwrap();
        let mut key = [0; 32];
        hex::decode_to_slice(secret.trim(), &mut key).unwrap();
        let origin: String = conn.query_row("SELECT origin FROM log_head", [], |row| row.get(0)).unwrap();
        let tail = Tail::resume(conn, Signer::new(origin, &key)).unwrap();
        let policies = vec!["tick-by-admins".into()];
        let (by, scopes, target) = (By::Actor, Default::default(), Target::Company);
        let asked = Some(RecordedQuestion {
            by,
            scopes,
            issuer: None,
            target,
            input: None,
            granted: Vec::new(),
            under: None,
            break_glass: None,
            run: None,
        });
        let entry = LogEntry {
            actor: "ana".parse().unwrap(),
            event: Denied {
                operation: "tick".into(),
                target: "company".into(),
                reason: "admins only".into(),
                fault: None,
                count: None,
                first_at: None,
                last_at: None,
            }
            .into(),
            decision: Decision::Deny,
            policy: PolicyStamp { hash: hex::encode([7; 32]), seq: 1 },
            idem: None,
            gate: GateRecord {
                operation: "tick".into(),
                channel: "http".into(),
                on_behalf_of: Vec::new(),
                policies,
                token_id: Some(ok::types::id::Id::stored("tok_01M7W2Y7M0PW0JKFV7R48HR6ZK")),
                answer: None,
                asked,
            },
        };
        let begun = tail.ts();
        Log { tail, entry, salt: [0; 32], begun, appended: 0 }
    }

    pub fn size(&self) -> u64 {
        self.tail.size()
    }

    /// Appends refusals, as the gate records them, and seals the head.
    pub fn append(&mut self, conn: &Connection, count: usize) {
        self.append_each(conn, count, |_, _| {});
    }

    /// The same; `each` makes of a refusal what it likes, by its number.
    pub fn append_each(&mut self, conn: &Connection, count: usize, each: impl Fn(u64, &mut LogEntry)) {
        for _ in 0..count {
            each(self.tail.size(), &mut self.entry);
            self.salt = Sha256::digest(self.salt).into();
            self.appended += 1;
            let now = Time(self.begun.0 + self.appended / 20);
            self.tail.append(conn, &self.entry.for_log().unwrap(), now, self.salt).unwrap();
        }
        self.tail.commit(&InFile, conn, self.tail.ts()).unwrap();
    }
}
