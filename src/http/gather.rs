//! From path, query and body to one JSON value, typed by the operation's own schema. The four answers that are not in
//! the error shape (400, 413 apart: 400, 405, 415, 422 as text) are made here, as the specification has them.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::RawPathParams;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use schemars::Schema;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::dispatch::{Face, Failed};
use super::limits::Limits;
use crate::gate::operation::{Media, Method, Prepared};
use crate::types::json;
use crate::types::refusal::{Code, Refusal};

/// How the text of a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamKind {
    Text,
    Integer,
    Boolean,
    /// Separated by commas.
    List,
}

/// An answer in plain text.
pub(super) struct Rejected(StatusCode, String);

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// The fields of an input, by its schema.
pub(super) fn params(schema: &Schema) -> BTreeMap<String, ParamKind> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, schema)| (name.clone(), kind(schema))).collect()
}

fn kind(schema: &Value) -> ParamKind {
    let is = |name: &str| match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(some)) => some.iter().any(|one| one == name),
        _ => false,
    };
    match () {
        () if is("integer") => ParamKind::Integer,
        () if is("boolean") => ParamKind::Boolean,
        () if is("array") => ParamKind::List,
        () => ParamKind::Text,
    }
}

impl ParamKind {
    fn read(self, text: &str) -> Result<Value, &'static str> {
        match self {
            ParamKind::Text => Ok(text.into()),
            ParamKind::Integer => text.parse::<i64>().map(Value::from).map_err(|_| "must be a whole number"),
            ParamKind::Boolean => text.parse::<bool>().map(Value::from).map_err(|_| "must be true or false"),
            ParamKind::List => Ok(text.split(',').filter(|part| !part.is_empty()).map(Value::from).collect()),
        }
    }
}

/// What a request asks of the operation; for a stream, also as a value.
pub(super) async fn call(
    face: &Face,
    params: &RawPathParams,
    parts: &Parts,
    body: Body,
) -> Result<(Prepared, Option<Value>), Failed> {
    let route = &face.entry.spec.route;
    let in_query = matches!(route.method, Method::Get | Method::Delete);
    let said = query(face, parts, in_query)?;
    let body = if in_query { None } else { Some(read(body, &face.limits, face.body_bytes()).await?) };
    if let Some(call) = body.as_ref().and_then(|body| straight(face, parts, body)) {
        return Ok((call, None));
    }
    let input = input(face, params, parts, said, body)?;
    let filter = (route.media == Media::Events).then(|| input.clone());
    Ok((prepare(face, input)?, filter))
}

/// A standard's question, read straight into its type. Whatever is unusual about it goes the long way.
fn straight(face: &Face, parts: &Parts, body: &Bytes) -> Option<Prepared> {
    let route = &face.entry.spec.route;
    let is_object = body.trim_ascii_start().first() == Some(&b'{');
    let plain = route.standard && !route.host && !route.path.contains('{') && is_object && is_json(parts);
    plain.then(|| face.entry.read(body)).flatten()
}

/// One value of everything that a request says.
fn input(
    face: &Face,
    params: &RawPathParams,
    parts: &Parts,
    mut fields: Map<String, Value>,
    body: Option<Bytes>,
) -> Result<Value, Failed> {
    let route = &face.entry.spec.route;
    if let Some(body) = body {
        match parsed(parts, &body).map_err(|failed| malformed(face, failed))? {
            // What a standard may add some day is passed over.
            Value::Object(object) if route.standard => fields = object,
            Value::Object(object) => fields = known(face, object)?,
            other => return Err(malformed(face, Failed::Rejected(not_an_object(&other)))),
        }
    }
    if route.host {
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        fields.insert("host".to_owned(), host.or_else(|| parts.uri.authority().map(|host| host.as_str())).into());
    }
    for (name, text) in params {
        // What cannot be an id names nothing.
        let kind = face.params.get(name).copied().unwrap_or(ParamKind::Text);
        let value = kind.read(text).map_err(|_| Refusal::not_found())?;
        fields.insert(name.to_owned(), value);
    }
    Ok(Value::Object(fields))
}

/// A standard knows one answer to whatever it cannot read.
fn malformed(face: &Face, failed: Failed) -> Failed {
    match failed {
        Failed::Rejected(Rejected(_, text)) if face.entry.spec.route.standard => Refusal::bad_request(text).into(),
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

/// The fields of a body, if the operation has them all: a misspelt one must not leave its default in force.
fn known(face: &Face, fields: Map<String, Value>) -> Result<Map<String, Value>, Failed> {
    let Some(unknown) = fields.keys().find(|name| !face.params.contains_key(*name)) else { return Ok(fields) };
    let known: Vec<String> =
        face.params.keys().filter(|name| !face.in_path(name)).map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() {
        "there are no fields".to_owned()
    } else {
        format!("expected one of {}", known.join(", "))
    };
    let unknown: String = unknown.chars().take(80).collect();
    let text = format!("Failed to deserialize the JSON body into the target type: unknown field `{unknown}`, {known}");
    Err(Failed::Rejected(Rejected(StatusCode::UNPROCESSABLE_ENTITY, text)))
}

/// Parses an input for the operation.
fn prepare(face: &Face, value: Value) -> Result<Prepared, Failed> {
    face.entry.prepare(value).map_err(|bad| {
        let in_query = matches!(face.entry.spec.route.method, Method::Get | Method::Delete);
        match &bad.field {
            Some(field) if face.in_path(field) => Refusal::not_found().into(),
            _ if in_query || face.entry.spec.route.standard => Refusal::bad_request(bad.to_string()).into(),
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
/// `token` alone is passed over, and means nothing here.
fn query(face: &Face, parts: &Parts, in_query: bool) -> Result<Map<String, Value>, Refusal> {
    let mut fields = Map::new();
    let Some(query) = parts.uri.query() else { return Ok(fields) };
    for (name, text) in form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "token") {
        let known = face.params.get(name.as_ref()).filter(|_| in_query && !face.in_path(&name));
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
        face.params.keys().map(String::as_str).filter(|name| in_query && !face.in_path(name)).collect();
    let takes = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Refusal::bad_request(format!("unknown query parameter `{name}`; this route takes {takes}"))
}

async fn read(body: Body, limits: &Limits, most: usize) -> Result<Bytes, Refusal> {
    let slow = || Refusal::new(Code::Timeout, "the request's body took too long");
    timeout(limits.body_total, collect(body, limits, most)).await.map_err(|_| slow())?
}

async fn collect(mut body: Body, limits: &Limits, most: usize) -> Result<Bytes, Refusal> {
    let slow = |_| Refusal::new(Code::Timeout, "the request's body took too long");
    let mut all = BytesMut::new();
    while let Some(frame) = timeout(limits.body_idle, body.frame()).await.map_err(slow)? {
        let frame = frame.map_err(|error| Refusal::bad_request(format!("the request's body broke off: {error}")))?;
        if let Some(data) = frame.data_ref() {
            if all.len() + data.len() > most {
                let message = format!("the request's body is over {most} bytes");
                return Err(Refusal::new(Code::TooLarge, message));
            }
            all.extend_from_slice(data);
        }
    }
    Ok(all.freeze())
}

fn parsed(parts: &Parts, body: &Bytes) -> Result<Value, Failed> {
    if !is_json(parts) {
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
