//! The metadata of the policy decision point: where its endpoints are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// The maximum bytes of a host.
const MOST_HOST: usize = 255;

#[derive(Deserialize, JsonSchema)]
pub struct AskedOf {
    /// The `Host` that was asked.
    #[schemars(skip)]
    pub host: Option<String>,
}

/// The decision point, by the name under which it was asked.
#[derive(Serialize, JsonSchema)]
pub struct Configuration {
    pub policy_decision_point: String,
    pub access_evaluation_endpoint: String,
    pub access_evaluations_endpoint: String,
    pub search_subject_endpoint: String,
    pub search_resource_endpoint: String,
    pub search_action_endpoint: String,
}

/// Show the decision point's metadata.
pub enum Metadata {}

impl Query for Metadata {
    const SPEC: Spec = Spec {
        name: "access.metadata",
        doc: "Discover the AuthZEN endpoints of this server: its `authzen-configuration` metadata.",
        scope: Reach::READ,
        route: get("/.well-known/authzen-configuration").standard().with_host().open(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = AskedOf;
    type Output = Configuration;

    fn target(_: &AskedOf, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: AskedOf, _: &Reader<'_>) -> Result<Configuration, Stop> {
        let base = base(input.host.as_deref().unwrap_or("localhost"))?;
        Ok(Configuration {
            access_evaluation_endpoint: format!("{base}/access/v1/evaluation"),
            access_evaluations_endpoint: format!("{base}/access/v1/evaluations"),
            search_subject_endpoint: format!("{base}/access/v1/search/subject"),
            search_resource_endpoint: format!("{base}/access/v1/search/resource"),
            search_action_endpoint: format!("{base}/access/v1/search/action"),
            policy_decision_point: base,
        })
    }
}

/// Returns the base URL of a host: HTTPS, except on this machine.
fn base(host: &str) -> Result<String, Refusal> {
    let part = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    if host.is_empty() || host.len() > MOST_HOST || !host.chars().all(part) {
        return Err(Refusal::bad_request("Host: must be a name and a port"));
    }
    let name = if host.starts_with('[') { host.split_inclusive(']').next() } else { host.split(':').next() };
    let name = name.unwrap_or_default();
    let near = name.eq_ignore_ascii_case("localhost") || name == "[::1]" || name.starts_with("127.");
    Ok(format!("{}://{host}", if near { "http" } else { "https" }))
}
