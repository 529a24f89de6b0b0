//! Stopping gracefully.

use std::time::Duration;

use tokio::time::timeout;

use super::{FOREVER, Wire, status};

#[tokio::test]
async fn open_requests_finish_and_open_streams_end_when_the_server_stops() {
    let wire = Wire::new(|_| {}).await;
    let mut stream = wire.connect().await;
    stream.say(&(wire.head("GET /api/events/stream?since=0") + "\r\n")).await;
    stream.0.readable().await.unwrap();
    let mut idle = wire.connect().await;
    assert_eq!(status(&idle.ask("GET /api/health HTTP/1.1\r\nhost: ok\r\n\r\n").await), "200");
    let body = r#"{"id":"new","kind":"person"}"#;
    let mut open = wire.connect().await;
    let head = wire.head("POST /api/actors") + "content-type: application/json\r\n";
    open.say(&format!("{head}content-length: {}\r\n\r\n{}", body.len(), &body[..10])).await;
    // The request's head must have arrived before the server is told.
    tokio::time::sleep(Duration::from_millis(200)).await;
    wire.stop.cancel();
    tokio::time::sleep(Duration::from_millis(100)).await;
    open.say(&body[10..]).await;
    assert_eq!(status(&open.rest().await), "201", "what was begun is finished and answered");
    let told = stream.rest().await;
    assert!(told.contains("event: company_created") && told.ends_with("0\r\n\r\n"), "the stream ends in order: {told}");
    assert_eq!(idle.rest().await, "");
    timeout(FOREVER, wire.server).await.expect("the server never stopped").unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(wire.address).await.is_err(), "it takes no more connections");
    assert_eq!(wire.test.get("/actors/new", &wire.test.admin).await.status, 200);
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_keep_the_server() {
    let wire = Wire::new(|limits| limits.stopping = Duration::from_millis(300)).await;
    let mut open = wire.connect().await;
    let head = wire.head("POST /api/actors") + "content-type: application/json\r\ncontent-length: 99\r\n\r\n{";
    open.say(&head).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    wire.stop.cancel();
    timeout(Duration::from_secs(8), wire.server).await.expect("the server waited on").unwrap().unwrap();
}
