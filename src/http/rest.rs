//! What is left of a request's body when its answer is ready. A connection can be reused only after the end of the
//! body, so a small rest is read and discarded; otherwise the answer says that the connection closes.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use axum::http::HeaderMap;
use axum::http::header::EXPECT;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::timeout;

use super::limits::Limits;

/// A body that its reader may leave unread.
#[derive(Clone)]
pub(super) struct Rest {
    body: Arc<Mutex<Incoming>>,
    /// The client sends the body only if it is asked to.
    waits: bool,
}

impl Rest {
    pub fn of(headers: &HeaderMap, body: Incoming) -> Rest {
        let waits = headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        Rest { body: Arc::new(Mutex::new(body)), waits }
    }

    fn body(&self) -> MutexGuard<'_, Incoming> {
        self.body.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reads what is left away. False where that is too much, or does not come in time.
    pub async fn read_away(self, limits: &Limits) -> bool {
        let left = self.size_hint();
        if self.is_end_stream() {
            return true;
        }
        if self.waits || left.lower() > limits.rest_bytes {
            return false;
        }
        timeout(limits.body_total, self.discard(limits)).await.unwrap_or(false)
    }

    async fn discard(mut self, limits: &Limits) -> bool {
        let mut left = limits.rest_bytes;
        loop {
            let frame = match timeout(limits.body_idle, self.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => return true,
                Ok(Some(Err(_))) | Err(_) => return false,
            };
            let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
            match left.checked_sub(bytes) {
                Some(less) => left = less,
                None => return false,
            }
        }
    }
}

impl Body for Rest {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut *self.body()).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body().size_hint()
    }
}
