//! A connection that is slow, idle, too large or one too many.

use std::time::Duration;

use ok::http::Limits;

use super::{FOREVER, Line, Wire, status};

const SHORT: Duration = Duration::from_millis(300);
const HEALTH: &str = "GET /api/health HTTP/1.1\r\nhost: ok\r\n\r\n";

#[tokio::test]
async fn a_head_that_trickles_in_is_cut_off() {
    let wire = Wire::new(|limits| limits.head = SHORT).await;
    let mut line = wire.connect().await;
    for byte in HEALTH.chars().take(30) {
        if tokio::io::AsyncWriteExt::write_all(&mut line.0, &[byte as u8]).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!line.rest().await.contains("200 OK"));
    assert_eq!(status(&wire.connect().await.ask(HEALTH).await), "200", "others are served");
}

#[tokio::test]
async fn a_second_head_on_a_connection_must_keep_pace_too() {
    let wire = Wire::new(|limits| limits.head = SHORT).await;
    let mut line = wire.connect().await;
    assert_eq!(status(&line.ask(HEALTH).await), "200");
    line.say("GET /api/health HTTP/1.1\r\n").await;
    assert!(!line.rest().await.contains("200 OK"));
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let wire = Wire::new(|limits| limits.head = SHORT).await;
    assert!(!wire.connect().await.rest().await.contains("200"));
}

#[tokio::test]
async fn a_connection_is_kept_between_requests_and_closed_when_idle() {
    let wire = Wire::new(|limits| (limits.idle, limits.head) = (SHORT * 2, SHORT)).await;
    let mut line = wire.connect().await;
    assert_eq!(status(&line.ask(HEALTH).await), "200");
    tokio::time::sleep(SHORT + SHORT / 3).await;
    assert_eq!(status(&line.ask(HEALTH).await), "200", "silence between requests is not a slow head");
    assert_eq!(line.rest().await, "");
}

#[tokio::test]
async fn a_body_that_stops_or_crawls_is_timed_out() {
    let wire = Wire::new(|limits| (limits.body_idle, limits.body_total) = (SHORT, SHORT * 2)).await;
    let post = wire.head("POST /api/actors") + "content-type: application/json\r\ncontent-length: 90\r\n\r\n";
    let mut stops = wire.connect().await;
    stops.say(&format!("{post}{{")).await;
    let answer = stops.rest().await;
    assert!(status(&answer) == "408" && answer.contains("\"timeout\""), "{answer}");
    let mut crawls = wire.connect().await;
    crawls.say(&post).await;
    for _ in 0..60 {
        tokio::time::sleep(SHORT / 6).await;
        if tokio::io::AsyncWriteExt::write_all(&mut crawls.0, b" ").await.is_err() {
            break;
        }
    }
    let answer = crawls.rest().await;
    assert!(answer.is_empty() || status(&answer) == "408", "{answer}");
}

#[tokio::test]
async fn a_head_too_large_or_with_too_many_fields_is_431() {
    let wire = Wire::new(|_| {}).await;
    let long = format!("GET /api/health HTTP/1.1\r\nhost: ok\r\nx: {}\r\n\r\n", "y".repeat(40_000));
    let fields = |count: usize| {
        let more: String = (2..=count).map(|number| format!("x-{number}: y\r\n")).collect();
        format!("GET /api/health HTTP/1.1\r\nhost: ok\r\n{more}\r\n")
    };
    assert_eq!(status(&wire.connect().await.ask(&fields(64)).await), "200");
    for head in [long, fields(65)] {
        let mut line = wire.connect().await;
        let _ = tokio::io::AsyncWriteExt::write_all(&mut line.0, head.as_bytes()).await;
        assert_eq!(status(&line.rest().await), "431");
    }
}

#[tokio::test]
async fn a_target_over_8_kib_is_414() {
    let wire = Wire::new(|_| {}).await;
    let mut line = wire.connect().await;
    for (length, expected) in [(8_000, "400"), (9_000, "414"), (8_000, "400")] {
        let ask = wire.head(&format!("GET /api/events?since={}", "x".repeat(length)));
        assert_eq!(status(&line.ask(&format!("{ask}\r\n")).await), expected, "{length}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let wire = Wire::new(|_| {}).await;
    for nonsense in ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n", "GET\r\n\r\n", "\u{1}\u{2}\r\n\r\n"] {
        let mut line = wire.connect().await;
        line.say(nonsense).await;
        assert_eq!(status(&line.rest().await), "400", "{nonsense:?}");
    }
}

#[tokio::test]
async fn a_request_that_can_be_read_in_two_ways_is_refused_and_smuggles_no_other() {
    let wire = Wire::new(|_| {}).await;
    let body = r#"{"id":"one","kind":"person"}"#;
    let hidden = wire.head("POST /api/actors") + "content-type: application/json\r\ncontent-length: 32\r\n\r\n";
    let hidden = format!("{hidden}{}", r#"{"id":"smuggled","kind":"agent"}"#);
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let both = chunked.len() + hidden.len();
    for lines in [
        format!("content-length: {both}\r\ntransfer-encoding: chunked\r\n"),
        format!("transfer-encoding: chunked\r\ncontent-length: {both}\r\n"),
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n".to_owned(),
        format!("content-length: {0}\r\nContent-Length: {0}\r\n", chunked.len()),
        "content-length: 4\r\ncontent-length: 5\r\n".to_owned(),
        "transfer-encoding: chunked, gzip\r\n".to_owned(),
        "transfer-encoding: gzip, chunked\r\n".to_owned(),
        "transfer-encoding: xchunked\r\n".to_owned(),
        "content-length: +4\r\n".to_owned(),
        format!("content-length: {0}, {0}\r\n", chunked.len()),
        format!("content-length: {}\r\nHOST: other\r\n", chunked.len()),
    ] {
        let mut line = wire.connect().await;
        assert_eq!(status(&line.ask(HEALTH).await), "200");
        let head = wire.head("POST /api/actors") + "content-type: application/json\r\n" + &lines;
        line.say(&format!("{head}\r\n{chunked}{hidden}")).await;
        let answer = line.rest().await;
        assert!(status(&answer) == "400" && answer.contains("connection: close"), "{lines}: {answer}");
        for id in ["one", "smuggled"] {
            let made = wire.test.get(&format!("/actors/{id}"), &wire.test.admin).await;
            assert_eq!(made.status, 404, "{lines}");
        }
    }
}

/// Events as they come: a request that is answered for as long as its reader stays.
async fn following(wire: &Wire, line: &mut Line) {
    line.say(&format!("{}\r\n", wire.head("GET /api/events/stream"))).await;
    let mut some = [0; 4096];
    let read = tokio::time::timeout(FOREVER, tokio::io::AsyncReadExt::read(&mut line.0, &mut some)).await;
    assert!(String::from_utf8_lossy(&some[..read.unwrap().unwrap()]).starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn connections_that_are_only_held_open_keep_nobody_out() {
    for change in [|limits: &mut Limits| limits.per_loopback = 2, |limits: &mut Limits| limits.connections = 2] {
        let wire = Wire::new(change).await;
        let (mut silent, mut quiet) = (wire.connect().await, wire.connect().await);
        assert_eq!(status(&quiet.ask(HEALTH).await), "200");
        let mut third = wire.connect().await;
        assert_eq!(status(&third.ask(HEALTH).await), "200", "the oldest that nothing was asked on made room");
        assert_eq!(silent.rest().await, "");
        assert_eq!(status(&quiet.ask(HEALTH).await), "200", "the others stay");
    }
}

#[tokio::test]
async fn strangers_make_room_for_those_who_have_shown_a_token_and_nobody_for_who_is_busy() {
    let wire = Wire::new(|limits| limits.per_loopback = 2).await;
    let (mut known, mut stranger) = (wire.connect().await, wire.connect().await);
    let me = format!("{}\r\n", wire.head("GET /api/me"));
    assert_eq!(status(&known.ask(&me).await), "200");
    assert_eq!(status(&stranger.ask(HEALTH).await), "200");
    following(&wire, &mut wire.connect().await).await;
    assert_eq!(stranger.rest().await, "", "the stranger's was the idler, although the younger");
    assert_eq!(status(&known.ask(&me).await), "200");
}
#[tokio::test]
async fn one_address_has_so_many_connections_and_loopback_more_but_not_all() {
    let wire = Wire::new(|limits| limits.per_loopback = 2).await;
    let mut held = [wire.connect().await, wire.connect().await];
    for line in &mut held {
        following(&wire, line).await;
    }
    let mut third = wire.connect().await;
    let _ = tokio::io::AsyncWriteExt::write_all(&mut third.0, HEALTH.as_bytes()).await;
    assert_eq!(third.rest().await, "", "the third was served beside two that are busy");
    let mut other = wire.connect_from([127, 0, 0, 2]).await;
    assert_eq!(status(&other.ask(HEALTH).await), "200", "another address is not affected");
    drop(held);
    let again = async {
        loop {
            let mut line = wire.connect().await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut line.0, HEALTH.as_bytes()).await;
            match line.heard().await {
                Some(answer) => return assert_eq!(status(&answer), "200"),
                None => tokio::time::sleep(SHORT / 10).await,
            }
        }
    };
    tokio::time::timeout(FOREVER, again).await.expect("a place that was given back is free");
}

#[tokio::test]
async fn requests_that_never_come_whole_keep_nobody_out_whoever_sends_them() {
    let wire = Wire::new(|limits| limits.per_loopback = 2).await;
    let post = wire.head("POST /api/tasks") + "content-type: application/json\r\ncontent-length: 900\r\n\r\n{";
    let mut slow = [wire.connect().await, wire.connect().await];
    for line in &mut slow {
        line.say(&post).await;
    }
    // Both have come as far as their bodies.
    tokio::time::sleep(SHORT).await;
    let me = format!("{}\r\n", wire.head("GET /api/me"));
    assert_eq!(status(&wire.connect().await.ask(&me).await), "200");
}
