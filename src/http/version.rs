//! Versions of records in HTTP: an answer with a version carries it in `ETag`, and a change may state in `If-Match` on
//! which version it is based, instead of in the field for it.

use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::face::Face;
use crate::gate::declare::operation::Effect;
use crate::types::refusal::Refusal;

#[derive(Deserialize)]
struct Versioned {
    version: i64,
}

/// The version in an answer, for its `ETag`.
pub(super) fn tag(headers: &mut HeaderMap, body: &[u8]) {
    let version = serde_json::from_slice::<Versioned>(body).ok().map(|answer| answer.version);
    if let Some(value) = version.and_then(|version| HeaderValue::from_str(&format!("\"{version}\"")).ok()) {
        headers.insert(ETAG, value);
    }
}

/// The most digits of a version.
pub(super) const LONGEST: usize = 19;

/// Returns the version that a request states in `If-Match`. None for `*`, which matches everything that exists.
pub(super) fn wanted(face: &Face, parts: &Parts) -> Result<Option<i64>, Refusal> {
    let header = parts.headers.get(IF_MATCH).filter(|header| face.entry.effect == Effect::Change && *header != "*");
    let Some(header) = header else { return Ok(None) };
    if face.entry.spec.route.precondition.field().is_none() {
        let message = format!("If-Match: {} takes no version; omit the header", face.entry.spec.name);
        return Err(Refusal::bad_request(message));
    }
    let text = header.to_str().unwrap_or_default();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let bad = || Refusal::bad_request("If-Match: must be one version, as `ETag` has it");
    if text.len() > LONGEST { Err(bad()) } else { text.parse().map(Some).map_err(|_| bad()) }
}

/// Puts the version into the field where the operation expects it.
pub(super) fn fill(face: &Face, fields: &mut Map<String, Value>, wanted: Option<i64>) -> Result<(), Refusal> {
    let (Some(field), Some(version)) = (face.entry.spec.route.precondition.field(), wanted) else { return Ok(()) };
    let before = fields.insert(field.to_owned(), version.into());
    if before.is_some_and(|before| !before.is_null() && before != version) {
        return Err(Refusal::bad_request(format!("If-Match: names another version than `{field}`")));
    }
    Ok(())
}
