//! Whether the server is up, without a token; and the description of the API, with one.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Nothing;
use crate::company::COMPANY;
use gate::declare::openapi;
use gate::{Entry, Permit, Query, Reader, Spec, Target, get};
use types::refusal::Stop;
use types::scope::{Reach, Scope};

pub const ALL: &[Entry] = &[Entry::query::<Health>(), Entry::query::<OpenApi>()];

/// Check whether the server is up.
pub enum Health {}

#[derive(Serialize, JsonSchema)]
pub struct Healthy {
    /// The server answers.
    pub ok: bool,
    /// Development mode: plain http to loopback addresses is allowed.
    pub dev_auth: bool,
}

impl Query for Health {
    const SPEC: Spec = Spec {
        name: "health.read",
        doc: "Check whether the server is up. Needs no token.",
        scope: Reach::READ,
        route: get("/health").open(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Healthy;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Healthy, Stop> {
        Ok(Healthy { ok: read.writes(), dev_auth: read.dev_auth() })
    }
}

/// Show the OpenAPI document.
pub enum OpenApi {}

/// It is the same for everybody, and large: made once, and never copied.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Document(#[schemars(with = "Value")] &'static Value);

impl Query for OpenApi {
    const SPEC: Spec = Spec {
        name: "openapi.read",
        doc: "Describe every route as an OpenAPI 3.1 document. Any valid token will do.",
        scope: Reach::Scopes(&Scope::ALL),
        route: get("/openapi.json").slow(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Document;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, _: &Reader<'_>) -> Result<Document, Stop> {
        static DOCUMENT: LazyLock<Value> = LazyLock::new(|| openapi::document(&crate::OPERATIONS));
        Ok(Document(&DOCUMENT))
    }
}
