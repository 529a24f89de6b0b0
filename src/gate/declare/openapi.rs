//! The OpenAPI 3.1 document, from the list of operations alone: a route cannot exist and be undocumented.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

mod schemas;

use schemas::{Names, Schemas};

use crate::declare::bounds;
use crate::declare::operation::Entry;
use crate::declare::route::{Answer, Method};
use crate::declare::spec::{Effect, Spec};
use store::event::EventKind;
use types::refusal::Code;
use types::scope::{Reach, Scope};

/// The example of each operation by its name: `tests/api/matrix.rs` writes it.
const EXAMPLES: &str = include_str!("openapi/examples.json");

/// What a test has sent of an operation, and what was answered.
#[derive(Default, Deserialize)]
struct Example {
    sent: Value,
    /// Null where the answer is long, or no JSON.
    answered: Value,
}

/// Describes every operation that is served over HTTP.
pub fn document(entries: &[Entry]) -> Value {
    let mut examples: BTreeMap<String, Example> = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let mut schemas = Schemas::new();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.spec.route.is_served()) {
        let (input, reference) = schemas.given(entry.input);
        let output = schemas.answered(entry.output);
        let path = entry.spec.route.address();
        let example = examples.remove(entry.spec.name).unwrap_or_default();
        let described = operation(entry, (&input, &reference), &output, &example);
        paths.entry(path).or_default().insert(method(entry.spec.route.method).to_owned(), described);
    }
    let (mut schemas, names) = schemas.into_parts();
    paths.values_mut().flat_map(Map::values_mut).for_each(|described| lead(described, &names));
    entries.iter().for_each(|entry| once(entry, &paths, &mut schemas));
    schemas.insert("Error".into(), error_schema());
    schemas.sort_keys();
    requests(&mut paths, bounds::write);
    json!({
        "openapi": "3.1.0",
        "info": { "title": "ok", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" } },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }],
        "paths": paths,
        "x-event-sentences": EventKind::all().map(|kind| (kind.name.to_owned(), kind.says.into())).collect::<Map<_, Value>>(),
        "x-minor-events": EventKind::all().filter(|kind| kind.content.minor).map(|kind| kind.name).collect::<Vec<_>>(),
        "components": {
            "schemas": schemas,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

/// What requests carry themselves: parameters, and bodies that are not named.
fn requests(paths: &mut BTreeMap<String, Map<String, Value>>, change: fn(&mut Value)) {
    for described in paths.values_mut().flat_map(Map::values_mut) {
        let parameters = described.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten();
        parameters.filter_map(|one| one.get_mut("schema")).for_each(change);
        described.pointer_mut("/requestBody/content/application~1json/schema").into_iter().for_each(change);
    }
}

/// Sets a field of an object.
fn put(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Patch => "patch",
        Method::Delete => "delete",
    }
}

/// What is shown once is missing where the answer is given again.
fn once(entry: &Entry, paths: &BTreeMap<String, Map<String, Value>>, schemas: &mut Map<String, Value>) {
    let (Some(secret), Some(methods)) = (entry.spec.route.once(), paths.get(&entry.spec.route.address())) else {
        return;
    };
    let place = format!("/responses/{}/content/application~1json/schema/$ref", entry.spec.route.status);
    let reference =
        methods.get(method(entry.spec.route.method)).and_then(|described| described.pointer(&place)?.as_str());
    let schema = reference.and_then(|path| schemas.get_mut(path.rsplit('/').next()?));
    if let Some(required) = schema.and_then(|schema| schema.get_mut("required")?.as_array_mut()) {
        required.retain(|name| name != secret);
    }
}

/// What is given may have another name than what is answered.
fn lead(described: &mut Value, names: &Names) {
    for part in ["parameters", "requestBody"] {
        described.get_mut(part).into_iter().for_each(|part| names.rename(part));
    }
}

fn operation(entry: &Entry, (input, reference): (&Value, &Value), output: &Value, example: &Example) -> Value {
    let (spec, sent) = (&entry.spec, &example.sent);
    let in_path = |name: &str| spec.route.has_in_path(name);
    let in_query = matches!(spec.route.method, Method::Get | Method::Delete);
    let properties = input.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let parameters: Vec<Value> = properties
        .iter()
        .filter(|(name, _)| in_path(name) || in_query)
        .map(|(name, schema)| parameter(name, schema, in_path(name), required.iter().any(|one| one == name)))
        .map(|described| shown(described, sent))
        .chain(idempotency(entry))
        .chain(delegation(&entry.spec))
        .chain(min_policy(&entry.spec))
        .chain(if_match(&entry.spec))
        .collect();
    let mut value = json!({
        "operationId": spec.name,
        "summary": spec.doc,
        "tags": [spec.name.split('.').next()],
        "x-scope": reach(spec.scope),
        "x-events": spec.events.iter().map(|kind| kind.name).collect::<Vec<_>>(),
        "parameters": parameters,
        "responses": responses(entry, output, &example.answered),
    });
    if spec.route.is_open() {
        put(&mut value, "security", json!([]));
    }
    if has_body(spec, input) {
        let schema = body_schema(spec, input, reference);
        let fields = sent.as_object().into_iter().flatten();
        let body: Map<String, Value> = fields
            .filter(|(name, _)| properties.contains_key(*name) && !in_path(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        put(
            &mut value,
            "requestBody",
            json!({ "required": entry.needs_body(), "content": { "application/json": { "schema": schema, "example": body } } }),
        );
    }
    value
}

/// Whether some field is neither in the path nor in the query.
fn has_body(spec: &Spec, input: &Value) -> bool {
    let properties = input.get("properties").and_then(Value::as_object);
    let in_query = matches!(spec.route.method, Method::Get | Method::Delete);
    !in_query && properties.is_some_and(|fields| fields.keys().any(|name| !spec.route.has_in_path(name)))
}

/// The input without what stands in the path, closed but where a standard has it open; what `If-Match` may say need not stand in it.
fn body_schema(spec: &Spec, input: &Value, reference: &Value) -> Value {
    let in_path = |name: &str| spec.route.has_in_path(name);
    let is_elsewhere = |name: &str| in_path(name) || spec.route.precondition.field() == Some(name);
    let mut schema = input.clone();
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| !in_path(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(is_elsewhere));
    }
    if !spec.route.is_standard() {
        put(&mut schema, "additionalProperties", json!(false));
    }
    if schema == *input { reference.clone() } else { schema }
}

/// With the value that the example has for it.
fn shown(mut parameter: Value, example: &Value) -> Value {
    let value = parameter.get("name").and_then(Value::as_str).and_then(|name| example.get(name)).cloned();
    if let Some(value) = value {
        put(&mut parameter, "example", value);
    }
    parameter
}

fn parameter(name: &str, schema: &Value, in_path: bool, required: bool) -> Value {
    let mut schema = schema.clone();
    let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    let mut value = json!({
        "name": name,
        "in": if in_path { "path" } else { "query" },
        "required": in_path || required,
        "schema": schema,
    });
    if let Some(description) = description {
        put(&mut value, "description", description);
    }
    if schema.get("type").is_some_and(|kind| kind == "array") {
        put(&mut value, "style", json!("form"));
        put(&mut value, "explode", json!(false));
    }
    value
}

fn idempotency(entry: &Entry) -> Option<Value> {
    (entry.effect == Effect::Change).then(|| {
        json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A request that is sent again with the same key within a day takes effect once.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
        })
    })
}

fn delegation(spec: &Spec) -> Option<Value> {
    (!spec.route.is_open()).then(|| {
        json!({
            "name": "ok-delegation", "in": "header", "required": false,
            "description": "The id of a delegation to act under, on behalf of its grantor.",
            "schema": { "type": "string", "maxLength": 30 },
        })
    })
}

fn min_policy(spec: &Spec) -> Option<Value> {
    (!spec.route.is_open()).then(|| {
        json!({
            "name": "ok-min-policy", "in": "header", "required": false,
            "description": "A version of the policies that has been seen in force: what would be decided by an earlier one is 409.",
            "schema": { "type": "string", "pattern": "^[0-9]+$", "maxLength": 19 },
        })
    })
}

fn if_match(spec: &Spec) -> Option<Value> {
    spec.route.precondition.field().map(|field| {
        json!({
            "name": "If-Match", "in": "header", "required": false,
            "description": format!("The version that the change was made from, as `ETag` has it: in place of `{field}`."),
            "schema": { "type": "string", "pattern": "^(\\*|\"?[0-9]+\"?)$", "maxLength": 21 },
        })
    })
}

fn reach(reach: Reach) -> Vec<&'static str> {
    match reach {
        Reach::Full => Vec::new(),
        Reach::Scopes(scopes) => scopes.iter().copied().map(Scope::name).collect(),
    }
}

/// What an answer says beside its body.
fn headers(entry: &Entry, output: &Value) -> Value {
    let mut headers = json!({});
    let mut says = |name: &str, what: &str| {
        put(&mut headers, name, json!({ "description": what, "schema": { "type": "string" } }))
    };
    if entry.is_versioned() {
        says("ETag", "The record's version in quotes, for `If-Match`.");
    }
    if output.get("type").is_some_and(|kind| kind == "array") {
        says("x-next-cursor", "The cursor of the next page; absent on the last.");
    }
    if entry.spec.route.answer == Answer::Partial {
        says(
            "x-ok-partial",
            "`true` if the answer omits archived rows, rows kept in another system, or older rows that were not looked at.",
        );
        says("x-ok-partial-from", "The adapter of that system, such as `postgres`.");
    }
    headers
}

fn not_found(spec: &Spec) -> &'static str {
    match spec.route.is_open() {
        true => "`not_found`: `x-ok-tenant` names a company that is not served here",
        false => {
            "`not_found`: it does not exist, or the caller may not see it; or `x-ok-tenant` names a company that is not served here"
        }
    }
}

fn responses(entry: &Entry, output: &Value, answered: &Value) -> Value {
    let spec = &entry.spec;
    let content = match spec.route.answer {
        Answer::Json | Answer::Partial | Answer::Secret(_) if answered.is_null() => {
            json!({ "application/json": { "schema": output } })
        }
        Answer::Json | Answer::Partial | Answer::Secret(_) => {
            json!({ "application/json": { "schema": output, "example": answered } })
        }
        Answer::Text => json!({ "text/plain": { "schema": { "type": "string" } } }),
        Answer::Events => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
    };
    let mut done = json!({ "description": "Done", "content": content });
    if let Some(secret) = spec.route.once() {
        put(
            &mut done,
            "description",
            format!("Done; `{secret}` is shown this once, and left out where the answer is given again").into(),
        );
    }
    let headers = headers(entry, output);
    if headers.as_object().is_some_and(|headers| !headers.is_empty()) {
        put(&mut done, "headers", headers);
    }
    let error = |what: &str| json!({ "description": what, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } } });
    let mut responses = json!({ spec.route.status.to_string(): done });
    put(&mut responses, "400", error("`bad_request`: a bad value in path, query or body"));
    put(&mut responses, "500", error("`internal`: a fault of the server, which its log names"));
    put(&mut responses, "403", error("`denied`: the request comes from a page of another site (`Origin`)"));
    put(&mut responses, "404", error(not_found(spec)));
    if !spec.route.is_open() {
        put(&mut responses, "401", error("`unauthorized`: no token, or a bad one"));
        put(
            &mut responses,
            "403",
            error(
                "`denied` by policy, or from a page of another site (`Origin`); `token_scope`: out of the token's reach",
            ),
        );
        put(&mut responses, "422", error("`invalid`: well-formed but not acceptable"));
        put(&mut responses, "429", error("`rate_limited`"));
        put(&mut responses, "409", error("`conflict`: the policies in force are older than `ok-min-policy`"));
        put(&mut responses, "503", error("`audit_unavailable`: the log cannot be written; nothing was done"));
    }
    if !spec.events.is_empty() {
        let waits = error("`needs_approval`: it waits for people");
        // What answers 202 when it is done answers in one of two shapes.
        put(&mut responses, "202", if spec.route.status == 202 { either(output, &waits) } else { waits });
        let what = "`conflict`: it is in the wrong state or at another version, or the policies in force are older than `ok-min-policy`";
        put(&mut responses, "409", error(what));
        put(
            &mut responses,
            "422",
            error(
                "`invalid`: well-formed but not acceptable; `idempotency_mismatch`: the key was used for another request",
            ),
        );
    }
    if !matches!(spec.route.method, Method::Get | Method::Delete) {
        put(&mut responses, "413", error("`too_large`: the body is too long"));
        put(&mut responses, "408", error("`timeout`: the body took too long"));
        if !spec.route.is_standard() {
            about_body(&mut responses);
        }
    }
    responses
}

/// Both meanings of one status.
fn either(output: &Value, waits: &Value) -> Value {
    let other = waits.pointer("/content/application~1json/schema").cloned().unwrap_or_default();
    let content = json!({ "application/json": { "schema": { "anyOf": [output, other] } } });
    json!({ "description": "Done; or `needs_approval`: it waits for people", "content": content })
}

/// What is wrong with a body is told as text: that it is no JSON, that it is said to be none, that it does not fit.
fn about_body(responses: &mut Value) {
    let text = || json!({ "schema": { "type": "string" } });
    put(
        responses,
        "415",
        json!({ "description": "The body is not said to be JSON", "content": { "text/plain": text() } }),
    );
    for (status, what) in
        [("400", "or, as text, the body is no JSON"), ("422", "or, as text, the body does not fit its schema")]
    {
        let fresh = || json!({ "description": what.trim_start_matches("or, as text, "), "content": {} });
        let mut response = responses.get(status).cloned().unwrap_or_else(fresh);
        if let Some(said) = response.get("description").and_then(Value::as_str).filter(|said| said.starts_with('`')) {
            let said = format!("{said}; {what}");
            put(&mut response, "description", said.into());
        }
        if let Some(content) = response.get_mut("content") {
            put(content, "text/plain", text());
        }
        put(responses, status, response);
    }
}

fn error_schema() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    json!({
        "type": "object",
        "required": ["error", "message"],
        "properties": {
            "error": { "type": "string", "enum": codes },
            "message": { "type": "string" },
            "problems": { "type": "array", "items": { "type": "string" }, "description": "Only with `invalid`." },
            "evals": { "type": "array", "items": { "type": "string" }, "description": "Only with `evals_failing` and `evals_not_run`: the files of tests." },
            "approval": { "type": "string", "description": "Only with `needs_approval`." },
        },
    })
}
