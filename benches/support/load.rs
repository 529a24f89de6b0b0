//! Clients over real sockets, each with a connection of its own, and what they are compared to.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on should stop"
)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::routing::{MethodRouter, any};
use ok::gate::state::open::Company;
use ok::http::Limits;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Serves a company until `stop`.
pub fn serve(runtime: &Runtime, company: &Company, stop: &CancellationToken) -> SocketAddr {
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(ok::http::serve(
            Arc::clone(&company.gate),
            listener,
            Limits::default(),
            ok::http::Front::default(),
            stop.clone(),
        ));
        at
    })
}

/// A handler that takes any body and answers `size` bytes.
pub fn bare(runtime: &Runtime, path: &str, size: usize) -> SocketAddr {
    let body: &'static str = "x".repeat(size).leak();
    let handler: MethodRouter = any(move |_: bytes::Bytes| async move { body });
    let app = axum::Router::new().route(path, handler);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        at
    })
}

/// The body of the answer to one request, which must be done.
pub fn one(at: SocketAddr, request: &str) -> String {
    let mut line = Line::open(at);
    assert!(line.ask(request), "{}", line.answer());
    line.body()
}

/// Requests a second over so many connections; each asks again as soon as it is answered.
pub fn rate_of(at: SocketAddr, request: &str, connections: usize, length: Duration) -> f64 {
    let start = Instant::now();
    let client = || {
        let mut line = Line::open(at);
        let mut done = 0u64;
        while start.elapsed() < length {
            assert!(line.ask(request), "{}", line.answer());
            done += 1;
        }
        done
    };
    let done: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections).map(|_| scope.spawn(client)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    done as f64 / start.elapsed().as_secs_f64()
}

/// Answers a second over so many connections, whatever they say; each connection sends the requests in turn.
pub fn answers(at: SocketAddr, requests: &[&str], connections: usize, length: Duration) -> f64 {
    let start = Instant::now();
    let client = || {
        let mut line = Line::open(at);
        let mut done = 0u64;
        for request in requests.iter().cycle() {
            if start.elapsed() >= length {
                break;
            }
            line.ask(request);
            done += 1;
        }
        done
    };
    let done: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections).map(|_| scope.spawn(client)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    done as f64 / start.elapsed().as_secs_f64()
}

/// What came of requests at a fixed pace.
#[derive(Default)]
pub struct Paced {
    pub done: u64,
    pub failed: u64,
    /// Until each answer from the moment at which it was due, in microseconds, sorted.
    pub waits: Vec<u64>,
}

/// So many requests a second over so many connections, until `stop`.
pub fn paced(at: SocketAddr, request: &str, connections: usize, a_second: u32, stop: &AtomicBool) -> Paced {
    let gap = Duration::from_secs(1) * u32::try_from(connections).unwrap() / a_second;
    let client = |number: usize| {
        let mut line = Line::open(at);
        let mut paced = Paced::default();
        let mut due = Instant::now() + gap * u32::try_from(number).unwrap() / u32::try_from(connections).unwrap();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if line.ask(request) {
                paced.done += 1
            } else {
                paced.failed += 1
            }
            paced.waits.push(u64::try_from(due.elapsed().as_micros()).unwrap());
            due += gap;
        }
        paced
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections).map(|number| scope.spawn(move || client(number))).collect();
        let mut all = Paced::default();
        for client in clients {
            let paced = client.join().unwrap();
            all.done += paced.done;
            all.failed += paced.failed;
            all.waits.extend(paced.waits);
        }
        all.waits.sort_unstable();
        all
    })
}

struct Line {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: usize,
    read: usize,
}

impl Line {
    fn open(at: SocketAddr) -> Line {
        let stream = TcpStream::connect(at).unwrap();
        stream.set_nodelay(true).unwrap();
        Line { stream, buffer: vec![0; 16 * 1024], head: 0, read: 0 }
    }

    /// Whether the answer is 200.
    fn ask(&mut self, request: &str) -> bool {
        self.stream.write_all(request.as_bytes()).unwrap();
        self.read = self.stream.read(&mut self.buffer).unwrap();
        let (head, body) = split(&self.buffer[..self.read]);
        self.head = head;
        while self.read < head + body {
            self.read += self.stream.read(&mut self.buffer[self.read..]).unwrap();
        }
        self.buffer.starts_with(b"HTTP/1.1 200")
    }

    fn answer(&self) -> String {
        String::from_utf8_lossy(&self.buffer[..self.read]).into_owned()
    }

    fn body(&self) -> String {
        String::from_utf8_lossy(&self.buffer[self.head..self.read]).into_owned()
    }
}

/// Lengths of head and body.
fn split(answer: &[u8]) -> (usize, usize) {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head") + 4;
    let text = std::str::from_utf8(&answer[..head]).unwrap().to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    (head, length.parse().unwrap())
}
