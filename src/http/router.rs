//! Every route, from the list of operations. Nothing is served under `/api` and `/v1` that is not in that
//! list; a standard's addresses stand beside them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, any};
use tokio_util::sync::CancellationToken;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate};

use super::dispatch::dispatch;
use super::face::Face;
use super::limits::Limits;
use super::{body, hosts, reply, web};
use crate::gate::declare::operation::Method as Verb;
use crate::gate::{Entry, Gate};
use crate::types::entropy::{Entropy, SystemEntropy};
use crate::types::refusal::{Code, Refusal};

/// Answers of this size are compressed for clients that accept it. Larger ones are not: nothing bounds how many of them one
/// caller asks for, and compressing them would hold up others.
const COMPRESSED: RangeInclusive<u64> = 4_096..=512 << 10;

/// The whole service. Streams end when `stop` is cancelled.
pub fn router(gate: Arc<Gate>, limits: Limits, stop: CancellationToken) -> Router {
    let bodies = Arc::new(body::room(&limits));
    let mut paths: BTreeMap<(bool, &'static str), MethodRouter> = BTreeMap::new();
    for entry in gate.entries().iter().filter(|entry| entry.spec.route.is_served()) {
        let face = Arc::new(Face::new(entry, Arc::clone(&gate), (limits, Arc::clone(&bodies)), stop.clone()));
        let at = (!entry.spec.route.is_in_api(), entry.spec.route.path);
        let methods = paths.remove(&at).unwrap_or_default();
        paths.insert(
            at,
            methods.on(
                filter(entry),
                move |params: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
                    dispatch(Arc::clone(&face), params, request)
                },
            ),
        );
    }
    let (mut api, mut v1, mut root) = (Router::new(), Router::new(), Router::new());
    for ((from_root, path), methods) in paths {
        let (part, path) = match path.strip_prefix("/v1") {
            Some(path) if from_root => (&mut v1, path),
            _ if from_root => (&mut root, path),
            _ => (&mut api, path),
        };
        *part = std::mem::take(part).route(path, methods);
    }
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    // Of a token that is sent in a header nobody else can make a browser ask, so what is compressed tells of no secret
    // beside it (BREACH).
    let is_worth_it = SizeWithin(COMPRESSED).and(NotForContentType::SSE);
    let gzip = CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(is_worth_it);
    root.nest("/api", api.fallback(no_such_route).layer(gzip.clone()))
        .nest("/v1", v1.fallback(no_such_route).layer(gzip))
        // `nest` leaves these out.
        .route("/api/", any(no_such_route))
        .route("/v1/", any(no_such_route))
        .fallback(move |method: Method, uri: Uri, headers: HeaderMap| {
            let response = web::serve(&method, &uri, &headers, &entropy);
            async move { response }
        })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(axum::middleware::from_fn(hosts::guard))
        .layer(axum::middleware::from_fn(reply::finish))
}

/// Whether an answer is of this size. One that is sent piece by piece, of a size unknown, is compressed.
#[derive(Clone)]
struct SizeWithin(RangeInclusive<u64>);

impl Predicate for SizeWithin {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        response.body().size_hint().exact().is_none_or(|bytes| self.0.contains(&bytes))
    }
}

fn filter(entry: &Entry) -> MethodFilter {
    match entry.spec.route.method {
        Verb::Get => MethodFilter::GET,
        Verb::Post => MethodFilter::POST,
        Verb::Put => MethodFilter::PUT,
        Verb::Patch => MethodFilter::PATCH,
        Verb::Delete => MethodFilter::DELETE,
    }
}

async fn no_such_route() -> Response {
    reply::refusal(&Refusal::new(Code::NotFound, "no such API route"))
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a request panicked");
    reply::internal(None)
}
