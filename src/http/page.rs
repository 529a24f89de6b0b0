//! What is not under `/api`: one page that says what this server is. It needs no script and no other file.

use axum::http::header::{ALLOW, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

const PAGE: &str = include_str!("page.html");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The page for every address that a person may have typed; 404 for files, which this server does not have.
pub(super) async fn serve(method: Method, uri: Uri) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET,HEAD")]).into_response();
    }
    let is_file = uri.path().rsplit('/').next().is_some_and(|name| name.contains('.'));
    if is_file {
        return StatusCode::NOT_FOUND.into_response();
    }
    ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)], PAGE).into_response()
}
