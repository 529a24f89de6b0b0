//! The workspace: everything that is not the API. Its files are built from `src/web/app` into `src/web/dist` and
//! embedded in the binary; a debug build reads them from that folder, so that a new build of them takes effect without
//! recompiling.
//!
//! A page contains no secret and calls the API with the reader's own token. Its content security policy lists what it
//! may load and run, and nothing is loaded from elsewhere.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::reply;
use crate::types::entropy::Entropy;
use crate::types::refusal::{Code, Refusal};

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Stands in a binary that was built without the workspace.
const UNBUILT: &str = include_str!("unbuilt.html");
const UNBUILT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Where the built page wants its nonce.
const PLACE: &str = "OK_NONCE";

/// Whether this binary has the workspace.
pub fn is_built() -> bool {
    file("index.html").is_some()
}

#[cfg(not(debug_assertions))]
fn file(name: &str) -> Option<Cow<'static, [u8]>> {
    #[derive(rust_embed::RustEmbed)]
    #[folder = "src/web/dist"]
    #[allow_missing = true]
    struct Files;
    Files::get(name).map(|file| file.data)
}

#[cfg(debug_assertions)]
fn file(name: &str) -> Option<Cow<'static, [u8]>> {
    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/web/dist");
    let is_plain = |part: &str| {
        !part.starts_with('.') && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if !name.split('/').all(is_plain) {
        return None;
    }
    std::fs::read(format!("{FOLDER}/{name}")).ok().map(Cow::Owned)
}

/// Serves a file for an address of a file, and the page for every other address that a browser requests. A program that
/// requests anything else has mistyped a route and gets an error.
pub(super) fn serve(method: &Method, uri: &Uri, headers: &HeaderMap, entropy: &Arc<dyn Entropy>) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET,HEAD")]).into_response();
    }
    let name = uri.path().trim_start_matches('/');
    match (is_asset(name), name.is_empty() || reads_pages(headers)) {
        (true, _) => asset(name, headers),
        (false, true) => page(entropy.as_ref()),
        (false, false) => reply::refusal(&Refusal::new(Code::NotFound, "no such route; the API is under /api")),
    }
}

/// Browsers name HTML when they open an address; other programs take anything.
fn reads_pages(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().filter_map(|kinds| kinds.to_str().ok()).any(|kinds| kinds.contains("text/html"))
}

/// The build puts files into `assets` or, with a dot in their name, at the top. Ids in a page's address may have dots too.
fn is_asset(name: &str) -> bool {
    name.starts_with("assets/") || !name.contains('/') && name.contains('.')
}

fn page(entropy: &dyn Entropy) -> Response {
    let html = [(CONTENT_TYPE, "text/html; charset=utf-8"), (REFERRER_POLICY, "no-referrer")];
    let Some(bytes) = file("index.html") else {
        return (html, [(CONTENT_SECURITY_POLICY, UNBUILT_POLICY)], UNBUILT).into_response();
    };
    let nonce = STANDARD.encode(entropy.bytes32());
    let text = String::from_utf8_lossy(&bytes).replace(PLACE, &nonce);
    // Components set widths and places as style attributes; an element of style needs the nonce.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src-elem 'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; \
         font-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'self'; require-trusted-types-for 'script'"
    );
    (html, [(CONTENT_SECURITY_POLICY, policy)], [(OPENER_POLICY, "same-origin")], text).into_response()
}

fn asset(name: &str, headers: &HeaderMap) -> Response {
    let brotli = file(&format!("{name}.br"));
    let is_packed = takes_brotli(headers) && brotli.is_some();
    let found = if is_packed { brotli } else { file(name).filter(|_| !name.ends_with(".html")) };
    let Some(bytes) = found else { return StatusCode::NOT_FOUND.into_response() };
    // Each form of a file has bytes of its own, and so a tag of its own.
    let tag = format!("\"{}\"", hex::encode(Sha256::digest(&bytes)));
    let is_known =
        headers.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()).is_some_and(|known| names(known, &tag));
    let mut response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { Response::new(body(bytes)) };
    let out = response.headers_mut();
    out.insert(CONTENT_TYPE, HeaderValue::from_static(media(name)));
    out.insert(VARY, HeaderValue::from_static("accept-encoding"));
    // The names of built files say what is in them.
    let keeps = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    out.insert(CACHE_CONTROL, HeaderValue::from_static(keeps));
    if is_packed {
        out.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(ETAG, tag);
    }
    response
}

fn body(bytes: Cow<'static, [u8]>) -> Body {
    match bytes {
        Cow::Borrowed(bytes) => Body::from(bytes),
        Cow::Owned(bytes) => Body::from(bytes),
    }
}

fn names(known: &str, tag: &str) -> bool {
    known.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

/// `br` is named, and not with a weight of nothing.
fn takes_brotli(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().trim_start_matches("q=").parse().unwrap_or(0.0_f32);
        name.trim().eq_ignore_ascii_case("br") && weight > 0.0
    })
}

fn media(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
