//! One function for every route: it identifies the caller, reads the request, asks the gate and answers.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use super::connections::Connection;
use super::face::Face;
use super::gather::{self, Failed};
use super::{hosts, reply, stream};
use crate::gate::Request as GateRequest;
use crate::gate::declare::operation::{Answer, Effect};
use crate::gate::write::work::Idem;
use crate::types::caller::{Channel, Credential, Presented, Who};
use crate::types::refusal::{Code, Fault, Refusal, Stop};

/// Where a request comes from, put into it by the connection that it came over.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// What is counted of the address.
    pub address: IpAddr,
    pub connection: Arc<Connection>,
}

/// Path parameters, unless one is no text.
type Params = Result<RawPathParams, RawPathParamsRejection>;

pub(super) async fn dispatch(face: Arc<Face>, params: Params, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let id = reply::request_id(&parts);
    let name = face.entry.spec.name;
    match answer(face, params, parts, body).await {
        Ok(response) => response,
        Err(Failed::Rejected(rejected)) => rejected.into_response(),
        Err(Failed::Stop(Stop::Refused(refusal))) => reply::refusal(&refusal),
        Err(Failed::Stop(Stop::Failed(Fault::Pool(_)))) => {
            let busy = Refusal::new(Code::Unavailable, "too many questions at once; try again");
            reply::refusal(&Refusal { retry_after: Some(1), ..busy })
        }
        Err(Failed::Stop(Stop::Failed(fault))) => {
            tracing::error!(request = id, operation = name, "{fault}");
            reply::internal(Some(&id))
        }
    }
}

async fn answer(face: Arc<Face>, params: Params, parts: Parts, body: axum::body::Body) -> Result<Response, Failed> {
    one_delegation(&parts)?;
    let presented = presented(&face, &parts);
    // Who is calling comes first: a stranger learns nothing about what a right request would look like.
    let caller = face.gate.admit(&presented, &face.entry.spec)?;
    let connection = parts.extensions.get::<Client>().map(|client| Arc::clone(&client.connection));
    let connection = connection.filter(|_| matches!(caller.who, Who::Token { .. }));
    connection.iter().for_each(|connection| connection.begins_for(&caller.actor()));
    hosts::is_served(&parts)?;
    not_older(&face, &parts)?;
    let idem = idempotency(&face, &parts)?;
    let params = params.map_err(|_| Refusal::not_found())?;
    // Its place is held until there is an answer.
    let (gather::Gathered { call, streaming }, _place) = gather::call(&face, &caller, &params, &parts, body).await?;
    connection.iter().for_each(|connection| connection.has_come());
    let follower = streaming.is_some().then(|| caller.clone());
    let reply = face.gate.perform(GateRequest { caller, call, idem }).await?;
    match streaming.zip(follower) {
        Some((filter, caller)) => {
            let place = face.gate.stream(&caller).await?;
            Ok(stream::follow(&face, presented, (filter, place), &reply))
        }
        None => Ok(reply::done(&face, reply)),
    }
}

fn presented(face: &Face, parts: &Parts) -> Presented {
    let header = parts.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default().to_owned());
    // The stream's token may stand in the address, because browsers cannot send a header with an EventSource.
    let in_address = || match face.entry.spec.route.answer {
        Answer::Events => gather::query_value(parts, "token").map(|token| format!("Bearer {token}")),
        Answer::Json | Answer::Partial | Answer::Secret(_) | Answer::Text => None,
    };
    let credential = header.or_else(in_address).map_or(Credential::Nothing, Credential::Header);
    let address = parts.extensions.get::<Client>().map(|client| client.address);
    // What cannot be an id names no delegation.
    let under = parts.headers.get("ok-delegation").map(|id| String::from_utf8_lossy(id.as_bytes()).trim().to_owned());
    Presented { credential, channel: Channel::Http, address, under }
}

/// Which of two delegations was meant is not for the server to guess.
fn one_delegation(parts: &Parts) -> Result<(), Refusal> {
    let count = parts.headers.get_all("ok-delegation").iter().count();
    if count > 1 { Err(Refusal::bad_request("ok-delegation: must be given once")) } else { Ok(()) }
}

/// `ok-min-policy`: whoever has seen a version in force is never answered by one before it.
fn not_older(face: &Face, parts: &Parts) -> Result<(), Refusal> {
    let Some(value) = parts.headers.get("ok-min-policy") else { return Ok(()) };
    let text = value.to_str().ok().filter(|text| text.len() <= super::version::LONGEST);
    let least: Option<i64> = text.and_then(|text| text.parse().ok());
    let least = least.ok_or_else(|| Refusal::bad_request("ok-min-policy: must be the number of a policy version"))?;
    let stands = face.gate.stands();
    if stands.policy < least {
        let message = format!("version {least} of the policies is not in force here; version {} is", stands.policy);
        return Err(Refusal { stands: Some(Box::new(stands)), ..Refusal::conflict(message) });
    }
    Ok(())
}

/// `Idempotency-Key`: a quoted string as in draft-ietf-httpapi-idempotency-key-header, or the bare text.
fn idempotency(face: &Face, parts: &Parts) -> Result<Option<Idem>, Refusal> {
    let mut values = parts.headers.get_all("idempotency-key").iter().filter(|_| face.entry.effect == Effect::Change);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refusal::bad_request("Idempotency-Key: must be given once"));
    }
    let bad = || Refusal::bad_request("Idempotency-Key: must have 1 to 255 visible ASCII characters");
    let text = value.to_str().map_err(|_| bad())?.trim();
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if key.is_empty() || key.len() > 255 {
        return Err(bad());
    }
    Ok(Some(Idem { key: key.to_owned(), path: parts.uri.path().to_owned() }))
}
