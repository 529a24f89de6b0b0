//! Requests a second of an allowed query over HTTP (`GET /api/me`: token, policy decision, answer from memory), beside a
//! bare axum handler that answers a constant of the same size. Clients and server share the machine in both.
//!
//! `cargo bench --bench http [-- <seconds per line>]`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on should stop"
)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ok::types::caller::Credential;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const CONNECTIONS: usize = 8;

fn main() {
    let length = Duration::from_secs_f64(support::argument(3.0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = support::folder();
    let company = runtime.block_on(support::company(dir.path()));
    let issued = runtime.block_on(support::perform(
        &company.gate,
        Credential::Holder("ana".parse().unwrap()),
        "token.issue",
        json!({}),
    ));
    let token = issued["token"].as_str().unwrap().to_owned();
    let stop = CancellationToken::new();
    let gate = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(ok::http::serve(Arc::clone(&company.gate), listener, ok::http::Limits::default(), stop.clone()));
        at
    });
    let request = format!("GET /api/me HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {token}\r\n\r\n");
    let answer = one(gate, &request);
    let bare = runtime.block_on(bare(answer));
    // Turn about, so that neither has the quieter half of the run.
    let mut rates = [0.0, 0.0];
    for _ in 0..2 {
        for (rate, at) in rates.iter_mut().zip([gate, bare]) {
            *rate += rate_of(at, &request, length / 2) / 2.0;
        }
    }
    println!("connections  gate requests/s  bare requests/s  ratio");
    println!("{CONNECTIONS:>11}  {:>15.0}  {:>15.0}  {:>5.2}", rates[0], rates[1], rates[0] / rates[1]);
    stop.cancel();
    runtime.block_on(company.close());
    support::conditions();
}

/// A handler that answers `size` bytes.
async fn bare(size: usize) -> SocketAddr {
    let body: &'static str = "x".repeat(size).leak();
    let app = axum::Router::new().route("/api/me", axum::routing::get(move || async move { body }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    at
}

/// The body's length in the answer to one request.
fn one(at: SocketAddr, request: &str) -> usize {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut buffer = [0; 16 * 1024];
    let read = stream.read(&mut buffer).unwrap();
    let (head, body) = split(&buffer[..read]);
    assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..read]));
    assert_eq!(head + body, read);
    body
}

/// Lengths of head and body.
fn split(answer: &[u8]) -> (usize, usize) {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head") + 4;
    let text = std::str::from_utf8(&answer[..head]).unwrap().to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    (head, length.parse().unwrap())
}

fn rate_of(at: SocketAddr, request: &str, length: Duration) -> f64 {
    let start = Instant::now();
    let clients: Vec<_> = (0..CONNECTIONS)
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
