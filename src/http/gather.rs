//! From path, query and body to one JSON value, typed by the operation's own schema. The four answers that are not in
//! the error shape (400, 413 apart: 400, 405, 415, 422 as text) are made here, as the specification has them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::RawPathParams;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::body::{self, Taken};
use super::face::{Face, ParamKind};
use super::{hosts, version};
use crate::gate::admit::shares::Place;
use crate::gate::declare::operation::{Answer, Body as Carries, Method, Prepared};
use crate::types::caller::Caller;
use crate::types::id::Kind;
use crate::types::json;
use crate::types::refusal::{Refusal, Stop};
use crate::types::token::masked;

/// An answer in plain text.
pub(super) struct Rejected(StatusCode, String);

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        (self.0, masked(&self.1).into_owned()).into_response()
    }
}

/// Why no answer came of a request.
pub(super) enum Failed {
    Stop(Stop),
    /// One of the answers that are not in the error shape.
    Rejected(Rejected),
}

impl<S: Into<Stop>> From<S> for Failed {
    fn from(stop: S) -> Failed {
        Failed::Stop(stop.into())
    }
}

/// What a request asks of the operation.
pub(super) struct Gathered {
    pub call: Prepared,
    /// For a stream: what it filters by.
    pub streaming: Option<Value>,
}

/// What a request says beside its body.
struct Said {
    params: Vec<(String, String)>,
    query: Map<String, Value>,
    is_json: bool,
    /// It names no media type at all.
    is_bare: bool,
    host: Option<String>,
    /// The version in `If-Match`.
    version: Option<i64>,
}

/// What a request asks; a long body keeps its place.
pub(super) async fn call(
    face: &Arc<Face>,
    caller: &Caller,
    params: &RawPathParams,
    parts: &Parts,
    body: Body,
) -> Result<(Gathered, Option<Place>), Failed> {
    let in_query = matches!(face.entry.spec.route.method, Method::Get | Method::Delete);
    let said = Said {
        params: params.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        query: query(face, parts, in_query)?,
        is_json: is_json(parts),
        version: version::wanted(face, parts)?,
        is_bare: !parts.headers.contains_key(CONTENT_TYPE),
        host: match face.entry.spec.route.body {
            Carries::Host => hosts::authority(&parts.uri, &parts.headers)?.map(|host| host.to_string()),
            _ => None,
        },
    };
    if in_query {
        return Ok((gathered(face, said, None)?, None));
    }
    let Taken { bytes, place } = body::take(face, caller, body).await?;
    if place.is_none() {
        return Ok((gathered(face, said, Some(bytes))?, None));
    }
    // Reading much takes long: it is done where nobody waits for it.
    let face = Arc::clone(face);
    let read = tokio::task::spawn_blocking(move || gathered(&face, said, Some(bytes)));
    let read = read.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    Ok((read?, place))
}

fn gathered(face: &Face, said: Said, body: Option<Bytes>) -> Result<Gathered, Failed> {
    if let Some(call) = body.as_ref().and_then(|body| straight(face, &said, body)) {
        return Ok(Gathered { call, streaming: None });
    }
    let bytes = body.as_ref().map_or(0, Bytes::len);
    let input = input(face, said, body)?;
    let streaming = (face.entry.spec.route.answer == Answer::Events).then(|| input.clone());
    Ok(Gathered { call: prepare(face, input)?.from_bytes(bytes), streaming })
}

/// A standard's question, read straight into its type. Whatever is unusual about it goes the long way.
fn straight(face: &Face, said: &Said, body: &Bytes) -> Option<Prepared> {
    let route = &face.entry.spec.route;
    let is_object = body.trim_ascii_start().first() == Some(&b'{');
    let plain =
        route.is_standard() && route.body != Carries::Host && !route.path.contains('{') && is_object && said.is_json;
    plain.then(|| face.entry.read(body)).flatten()
}

/// One value of everything that a request says.
fn input(face: &Face, said: Said, body: Option<Bytes>) -> Result<Value, Failed> {
    let route = &face.entry.spec.route;
    let mut fields = said.query;
    // Who has nothing to say need not say it in JSON, whatever their client says that it is.
    let is_silent = |body: &Bytes| body.is_empty() && (said.is_bare || said.is_json) && !face.form.needs_body;
    if let Some(body) = body.filter(|body| !is_silent(body)) {
        match parsed(said.is_json, &body).map_err(|failed| malformed(face, failed))? {
            Value::Object(object) => fields = object,
            other => return Err(malformed(face, Failed::Rejected(not_an_object(&other)))),
        }
    }
    if route.body == Carries::Host {
        fields.insert("host".to_owned(), said.host.into());
    }
    version::fill(face, &mut fields, said.version)?;
    for (name, text) in said.params {
        // What cannot be an id names nothing.
        let kind = face.form.params.get(&name).copied().unwrap_or(ParamKind::Text);
        let value = kind.read(&text).map_err(|_| Refusal::not_found())?;
        fields.insert(name, value);
    }
    Ok(Value::Object(fields))
}

/// A standard knows one answer to whatever it cannot read.
fn malformed(face: &Face, failed: Failed) -> Failed {
    match failed {
        Failed::Rejected(Rejected(_, text)) if face.entry.spec.route.is_standard() => Refusal::bad_request(text).into(),
        failed => failed,
    }
}

/// Fields have names: an array would fill them by their order, and pass over those in the path.
fn not_an_object(value: &Value) -> Rejected {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let text =
        format!("Failed to deserialize the JSON body into the target type: invalid type: {kind}, expected an object");
    Rejected(StatusCode::UNPROCESSABLE_ENTITY, text)
}

/// Parses an input for the operation.
fn prepare(face: &Face, value: Value) -> Result<Prepared, Failed> {
    face.entry.prepare(value).map_err(|bad| {
        let in_query = matches!(face.entry.spec.route.method, Method::Get | Method::Delete);
        match &bad.field {
            Some(field) if face.in_path(field) => Refusal::not_found().into(),
            _ if in_query || face.entry.spec.route.is_standard() => Refusal::bad_request(bad.to_string()).into(),
            _ => {
                let text = format!("Failed to deserialize the JSON body into the target type: {bad}");
                Failed::Rejected(Rejected(StatusCode::UNPROCESSABLE_ENTITY, text))
            }
        }
    })
}

/// The first value of a query parameter.
pub(super) fn query_value(parts: &Parts, name: &str) -> Option<String> {
    let query = parts.uri.query()?;
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Query parameters by the input's fields. A misspelt filter must not widen a list, so an unknown one is an error;
/// `token` alone is passed over, and means nothing here, unless it holds the id of one.
fn query(face: &Face, parts: &Parts, in_query: bool) -> Result<Map<String, Value>, Refusal> {
    let mut fields = Map::new();
    let Some(query) = parts.uri.query() else { return Ok(fields) };
    // (Whoever looks for what was done with a token means its id, which is no credential.)
    let is_credential = |name: &str, text: &str| name == "token" && !text.starts_with(Kind::Token.prefix());
    let given = form_urlencoded::parse(query.as_bytes()).filter(|(name, text)| !is_credential(name, text));
    for (name, text) in given {
        let known = face.form.params.get(name.as_ref()).filter(|_| in_query && !face.in_path(&name));
        let kind = *known.ok_or_else(|| unknown(face, &name, in_query))?;
        let value = kind.read(&text).map_err(|what| Refusal::bad_request(format!("{name}: {what}")))?;
        match (fields.get_mut(name.as_ref()), value) {
            (Some(Value::Array(all)), Value::Array(more)) => all.extend(more),
            (Some(_), _) => return Err(Refusal::bad_request(format!("{name}: is given twice"))),
            (None, value) => drop(fields.insert(name.into_owned(), value)),
        }
    }
    Ok(fields)
}

fn unknown(face: &Face, name: &str, in_query: bool) -> Refusal {
    let known: Vec<&str> =
        face.form.params.keys().map(String::as_str).filter(|name| in_query && !face.in_path(name)).collect();
    let takes = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Refusal::bad_request(format!("unknown query parameter `{name}`; this route takes {takes}"))
}

fn parsed(is_json: bool, body: &Bytes) -> Result<Value, Failed> {
    if !is_json {
        let text = "Expected request with `Content-Type: application/json`".to_owned();
        return Err(Failed::Rejected(Rejected(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)));
    }
    json::read(body).map_err(|error| {
        let text = format!("Failed to parse the request body as JSON: {error}");
        Failed::Rejected(Rejected(StatusCode::BAD_REQUEST, text))
    })
}

fn is_json(parts: &Parts) -> bool {
    let media = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media == "application/json" || (media.starts_with("application/") && media.ends_with("+json"))
}
