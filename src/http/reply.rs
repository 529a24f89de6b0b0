//! Answers on the wire. An error has the fields of its shape and no others; what belongs to one request or one decision
//! goes into headers.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::face::Face;
use super::version;
use crate::gate::Reply;
use crate::gate::declare::operation::Answer;
use crate::types::refusal::{Code, Refusal};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const PARTIAL_FROM: HeaderName = HeaderName::from_static("x-ok-partial-from");
const PARTIAL: HeaderName = HeaderName::from_static("x-ok-partial");
const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const AUDIT: HeaderName = HeaderName::from_static("ok-audit");
/// The number of the event that records the answer.
const DECISION: HeaderName = HeaderName::from_static("ok-decision");
const POLICY: HeaderName = HeaderName::from_static("ok-policy");

/// A request's number, in its extensions.
#[derive(Clone, Copy)]
struct RequestId(u64);

/// Numbers each request, and sets on every answer what no answer may lack.
pub(super) async fn finish(mut request: Request, next: Next) -> Response {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let id = RequestId(COUNT.fetch_add(1, Ordering::Relaxed));
    // The standards beside `/api` want a client's own name for its request back.
    let theirs = request.headers().get(REQUEST_ID).filter(|_| !request.uri().path().starts_with("/api")).cloned();
    request.extensions_mut().insert(id);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, theirs.unwrap_or_else(|| HeaderValue::from(id.0)));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

pub(super) fn request_id(parts: &Parts) -> String {
    parts.extensions.get::<RequestId>().map(|id| id.0.to_string()).unwrap_or_default()
}

fn response(status: u16, media: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// What the gate carried out.
pub(super) fn done(face: &Face, reply: Reply) -> Response {
    let route = &face.entry.spec.route;
    // An answer that is given again may be a refusal, and those are JSON.
    let media = match route.answer {
        Answer::Text if reply.status < 400 => "text/plain; charset=utf-8",
        _ => "application/json",
    };
    let mut tags = HeaderMap::new();
    if face.form.is_versioned && reply.status < 400 {
        version::tag(&mut tags, &reply.body);
    }
    let mut response = response(reply.status, media, reply.body);
    let headers = response.headers_mut();
    headers.extend(tags);
    // Strangers learn nothing of the log.
    if !route.is_open() {
        set(headers, AUDIT, &reply.audit);
    }
    headers.insert(POLICY, HeaderValue::from(reply.policy));
    if let Some(decision) = reply.decision {
        headers.insert(DECISION, HeaderValue::from(decision));
    }
    if let Some(next) = &reply.next {
        set(headers, NEXT_CURSOR, next);
    }
    if reply.is_partial {
        headers.insert(PARTIAL, HeaderValue::from_static("true"));
    }
    if let Some(adapter) = reply.partial_from {
        headers.insert(PARTIAL_FROM, HeaderValue::from_static(adapter));
    }
    if reply.is_repeated {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

pub(super) fn refusal(refusal: &Refusal) -> Response {
    let mut response = response(refusal.code.status(), "application/json", refusal.body());
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(stands) = &refusal.stands {
        response.headers_mut().insert(POLICY, HeaderValue::from(stands.policy));
        set(response.headers_mut(), AUDIT, &stands.audit);
    }
    if let Some(decision) = refusal.decision {
        response.headers_mut().insert(DECISION, HeaderValue::from(decision));
    }
    if refusal.code == Code::Unauthorized {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Refuses a request whose end or sender can be read in two ways, or that names no host.
pub(super) fn crooked() -> Response {
    let what =
        "required: one host (HTTP/1.1), at most one authorization, and one length: content-length or transfer-encoding";
    refusal(&Refusal::bad_request(what))
}

/// Answers an internal error: only with where to look it up.
pub(super) fn internal(id: Option<&str>) -> Response {
    let message = match id {
        Some(id) => format!("something went wrong here; the server's log has it under request {id}"),
        None => "something went wrong here".into(),
    };
    refusal(&Refusal::new(Code::Internal, message))
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
