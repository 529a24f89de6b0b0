//! Where a request ends on its connection, by RFC 9112 §6.

use ok::http::framing::{Crooked, Framing};

/// The number of requests, and the first crooked one, whatever packets they come in.
fn framed(text: &str) -> (u64, bool) {
    let outcome = |step: usize| {
        let crooked = Crooked::default();
        let mut framing = Framing::new(200, crooked.clone());
        text.as_bytes().chunks(step).for_each(|part| framing.read(part));
        (framing.requests, crooked.is(framing.requests))
    };
    let whole = outcome(text.len());
    assert_eq!(outcome(1), whole, "{text}");
    assert_eq!(outcome(3), whole, "{text}");
    whole
}

#[test]
fn requests_are_told_apart_by_their_lengths() {
    let plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let body = "POST / HTTP/1.1\nHost: a\nContent-Length: 30\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\nabc";
    let chunked = "POST / HTTP/1.0\r\nTransfer-Encoding: Chunked\r\n\r\n1b;x=y\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n\r\n0\r\nA: b\r\n\r\n";
    assert_eq!(framed(plain), (1, false));
    assert_eq!(framed(&format!("{plain}\r\n{body}{chunked}{plain}")), (4, false));
}

#[test]
fn what_can_be_read_in_two_ways_is_crooked() {
    for lines in [
        "Content-Length: 1\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1",
        "content-length: 1\r\nContent-Length: 1",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity",
        "Content-Length: 1, 1",
        "Content-Length: +1",
        "Content-Length:",
        "host: a",
        "Authorization: Bearer a\r\nauthorization: Bearer b",
    ] {
        assert_eq!(
            framed(&format!("GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n")),
            (1, true),
            "{lines}"
        );
    }
    assert_eq!(framed("GET / HTTP/1.1\r\n\r\n"), (0, true));
    assert_eq!(framed("GET / HTTP/1.0\r\n\r\n"), (1, false));
    assert_eq!(framed("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\n"), (1, true));
    assert_eq!(framed(&"x".repeat(300)), (0, true));
}
