//! Requests a second of an allowed query over HTTP (`GET /api/me`: token, policy decision, answer from memory), beside a
//! bare axum handler that answers a constant of the same size. Clients and server share the machine in both.
//!
//! `cargo bench -- http [<seconds per line>]`
use std::time::Duration;

use crate::support;
use crate::support::load;
use ok::types::caller::Credential;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const CONNECTIONS: usize = 8;

pub fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = support::folder();
    let company = runtime.block_on(support::company(dir.path()));
    let ana = Credential::Holder("ana".parse().unwrap());
    let issued = runtime.block_on(support::perform(&company.gate, ana, "token.issue", json!({})));
    let token = issued["token"].as_str().unwrap();
    let stop = CancellationToken::new();
    let gate = load::serve(&runtime, &company, &stop);
    let request = format!("GET /api/me HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {token}\r\n\r\n");
    let bare = load::bare(&runtime, "/api/me", load::one(gate, &request).len());
    // Turn about, so that neither has the quieter half of the run.
    let mut rates = [0.0, 0.0];
    for _ in 0..2 {
        for (rate, at) in rates.iter_mut().zip([gate, bare]) {
            *rate += load::rate_of(at, &request, CONNECTIONS, length / 2) / 2.0;
        }
    }
    println!("connections  gate requests/s  bare requests/s  ratio");
    println!("{CONNECTIONS:>11}  {:>15.0}  {:>15.0}  {:>5.2}", rates[0], rates[1], rates[0] / rates[1]);
    stop.cancel();
    runtime.block_on(company.close());
    support::conditions();
}
