//! Nobody is listened to at length whom every policy refuses.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::Frame;
use serde_json::json;

use crate::harness::Test;

/// A body without an end that counts what is taken of it.
struct Endless(Arc<AtomicUsize>);

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;
    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.fetch_add(16 << 10, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 16 << 10])))))
    }
}

#[tokio::test]
async fn a_body_is_read_no_further_than_64_kib_from_whom_every_policy_refuses() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let kill = json!({ "scope": "actor:lea" });
    let read = async |path: &str, token: &str| {
        let taken = Arc::new(AtomicUsize::new(0));
        let token = format!("Bearer {token}");
        let headers = [("authorization", token.as_str()), ("content-type", "application/json")];
        let answer = test.raw("POST", path, &headers, Body::new(Endless(taken.clone()))).await;
        (answer, taken.load(Ordering::SeqCst))
    };
    // An agent may neither check policies nor add anybody, whoever it would be.
    for path in ["/policy/check", "/actors"] {
        let before = test.last_seq().await;
        let (answer, taken) = read(path, &cast.bot).await;
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert!(taken <= 80 << 10, "{taken}");
        // It is a refusal as any other: recorded before it is told.
        assert_eq!(answer.header("ok-decision"), (before + 1).to_string());
        assert_eq!(test.event().await["event"]["type"], "denied");
    }
    // Who may, if only with approval or only of some, is heard to the end of what is allowed.
    for (path, token, most) in [("/policy/check", &cast.mia, 32 << 20), ("/actors", &cast.lea, 1 << 20)] {
        let (answer, taken) = read(path, token).await;
        assert_eq!(answer.error(), format!("413 too_large the request's body is over {most} bytes"));
        assert!(taken > most);
    }
    test.post("/kill", &test.admin, kill).await;
    let (answer, taken) = read("/actors", &cast.lea).await;
    assert!(answer.status == 403 && taken <= 80 << 10, "{} {taken}", answer.text());
    assert!(test.verdict().ok);
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}
