//! Over real sockets: what the service does with connections that are slow, large, many or crooked, and its stream.

mod approvals;
mod bodies;
mod bombs;
mod connections;
mod failures;
mod hosts;
pub mod models;
mod stopping;
mod stream;
mod webhooks;

use std::net::SocketAddr;
use std::time::Duration;

use ok::http::{Front, Limits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::harness::Test;

/// Longer than any limit set here; only what hangs takes so long.
const FOREVER: Duration = Duration::from_secs(20);

struct Wire {
    test: Test,
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<std::io::Result<()>>,
}

impl Wire {
    async fn new(change: impl FnOnce(&mut Limits)) -> Wire {
        Wire::behind("none", change).await
    }

    /// The same, behind proxies.
    async fn behind(proxies: &str, change: impl FnOnce(&mut Limits)) -> Wire {
        let front = Front { proxies: proxies.parse().unwrap(), ..Front::default() };
        Wire::of(Test::new().await, front, change).await
    }

    /// A company, and what stands before its server.
    async fn of(test: Test, front: Front, change: impl FnOnce(&mut Limits)) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let mut limits = Limits::default();
        change(&mut limits);
        let server = tokio::spawn(ok::http::serve(test.company.gate.clone(), listener, limits, front, stop.clone()));
        Wire { test, address, stop, server }
    }

    async fn connect(&self) -> Line {
        Line(TcpStream::connect(self.address).await.unwrap())
    }

    /// A connection from another address of this machine.
    async fn connect_from(&self, ip: [u8; 4]) -> Line {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((ip, 0))).unwrap();
        Line(socket.connect(self.address).await.unwrap())
    }

    /// The head of a request by the admin, without its last line end.
    fn head(&self, request: &str) -> String {
        format!("{request} HTTP/1.1\r\nhost: ok\r\nauthorization: Bearer {}\r\n", self.test.admin)
    }
}

/// One connection, as bytes.
struct Line(TcpStream);

impl Line {
    async fn say(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Everything until the server hangs up.
    async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = timeout(FOREVER, self.0.read_to_end(&mut bytes)).await.expect("the server never hung up");
        // A reset is a way of hanging up, too.
        drop(read);
        String::from_utf8(bytes).unwrap()
    }

    /// One answer with a body of known length; nothing where the server hangs up instead.
    async fn heard(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
                if body.len() >= length.parse::<usize>().unwrap() {
                    return Some(text);
                }
            }
            let mut some = [0; 4096];
            let read = timeout(FOREVER, self.0.read(&mut some)).await.expect("no answer came").unwrap_or(0);
            bytes.extend_from_slice(some.get(..read).filter(|some| !some.is_empty())?);
        }
    }

    async fn answer(&mut self) -> String {
        self.heard().await.expect("the server hung up")
    }

    async fn ask(&mut self, text: &str) -> String {
        self.say(text).await;
        self.answer().await
    }
}

/// The status of an answer.
fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}
