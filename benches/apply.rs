//! Policies that come into force under load: a bundle of so many policies is proposed, tested and promoted while clients ask
//! 1,000 times a second. How long it takes, how many answers fail (none may), how long an answer then waits; and the memory
//! that the company takes, beside that of Cedar's own policy set of the same texts.
//!
//! `cargo bench -- apply [<policies>]`
use std::process::Command;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support;
use crate::support::load::{self, Paced};
use cedar_policy::PolicySet;
use ok::types::caller::Credential;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const CONNECTIONS: usize = 4;
const A_SECOND: u32 = 1_000;
/// Only the memory of plain Cedar is measured.
const PLAIN: &str = "plain";

pub fn main() {
    let policies = support::argument(10_000.0) as usize;
    let bundle = support::docs(policies);
    if std::env::args().any(|argument| argument == PLAIN) {
        return print!("{}", plain_cedar(bundle.files.get("docs.cedar").unwrap()));
    }
    let plain = elsewhere(policies);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = support::folder();
    let company = runtime.block_on(support::company_of_one(dir.path()));
    let ana = || Credential::Holder("ana".parse().unwrap());
    let perform =
        |operation: &str, input: Value| runtime.block_on(support::perform(&company.gate, ana(), operation, input));
    let issued = perform("token.issue", json!({}));
    let token = issued["token"].as_str().unwrap();
    let stop = CancellationToken::new();
    let at = load::serve(&runtime, &company, &stop);
    let request = format!("GET /api/me HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {token}\r\n\r\n");
    let before = resident();
    let over = AtomicBool::new(false);
    let (took, paced) = std::thread::scope(|scope| {
        let clients = scope.spawn(|| load::paced(at, &request, CONNECTIONS, A_SECOND, &over));
        std::thread::sleep(Duration::from_secs(1));
        let start = Instant::now();
        let change = perform("policy.propose", json!({ "files": bundle.files, "reason": "a bench" }));
        let proposed = start.elapsed();
        let id = json!({ "id": change["id"] });
        perform("change.evals", id.clone());
        let tested = start.elapsed();
        let promoted = perform("change.promote", id);
        assert_eq!(promoted["state"], "promoted", "{promoted}");
        let took = [proposed, tested, start.elapsed()];
        std::thread::sleep(Duration::from_secs(1));
        over.store(true, Ordering::Relaxed);
        (took, clients.join().unwrap())
    });
    let [proposed, tested, applied] = took.map(|time| time.as_secs_f64());
    println!("policies  proposed, s  tested, s  in force, s  answers  failed  p50, us  p99, us  longest, us");
    println!(
        "{policies:>8}  {proposed:>11.2}  {tested:>9.2}  {applied:>11.2}  {:>7}  {:>6}  {:>7}  {:>7}  {:>11}",
        paced.done,
        paced.failed,
        at_rank(&paced, 50),
        at_rank(&paced, 99),
        at_rank(&paced, 100),
    );
    println!("memory, MiB: {:.0} more than before; plain Cedar's set {plain:.0}", resident() - before);
    stop.cancel();
    runtime.block_on(company.close());
    support::conditions();
}

fn at_rank(paced: &Paced, percent: usize) -> u64 {
    paced.waits[(paced.waits.len() * percent / 100).min(paced.waits.len() - 1)]
}

/// What the same policies take as Cedar's own set, in MiB: in a process of their own, because memory that was used once is
/// kept for later and would be counted to whoever comes next.
fn elsewhere(policies: usize) -> f64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let printed = command.args(["apply", PLAIN, &policies.to_string()]).output().unwrap();
    String::from_utf8(printed.stdout).unwrap().parse().unwrap()
}

fn plain_cedar(text: &str) -> f64 {
    let before = resident();
    let set = PolicySet::from_str(text).unwrap();
    let after = resident();
    assert!(set.policies().count() > 0);
    after - before
}

/// Memory of this process, in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
