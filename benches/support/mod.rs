//! What the benches share: a company on a real disk, and a line that says under which conditions was measured.
#![allow(dead_code, reason = "each bench uses some of it")]

use std::path::Path;
use std::sync::Arc;

use ok::gate::open::{Company, Options, open};
use ok::gate::{Entry, Gate, Request};
use ok::policy::Bundle;
use ok::types::caller::{Caller, Channel, Credential, Presented};
use ok::types::entropy::SystemEntropy;
use ok::types::time::SystemClock;
use serde_json::{Value, json};

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
        entries: &ok::operations::ALL,
        policies: Bundle::built_in(),
        dev_auth: false,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    }
}

/// A company with the admins `ana` and `lena`.
pub async fn company(dir: &Path) -> Company {
    let company = open(&options(dir)).unwrap();
    perform(&company.gate, Credential::Server, "company.init", json!({ "id": "ana" })).await;
    let lena = json!({ "id": "lena", "kind": "person", "role": "admin" });
    perform(&company.gate, Credential::Holder("ana".parse().unwrap()), "actor.add", lena).await;
    company
}

pub fn admit(gate: &Gate, credential: Credential, entry: &Entry) -> Caller {
    gate.admit(&Presented { credential, channel: Channel::Cli, address: None }, &entry.spec).unwrap()
}

pub async fn perform(gate: &Arc<Gate>, credential: Credential, operation: &str, input: Value) -> Value {
    let entry = gate.entry(operation).unwrap();
    let caller = admit(gate, credential, entry);
    let call = entry.prepare(input).unwrap();
    let reply = gate.perform(Request { caller, call, idem: None }).await.expect(operation);
    serde_json::from_slice(&reply.body).unwrap()
}

/// Says how busy the machine is, because the figures depend on it.
pub fn conditions() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\n{cores} cores; load average {}", load.trim());
}
