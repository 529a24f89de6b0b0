//! Streams the log: finds the event that a stream begins with.

use schemars::JsonSchema;
use serde::Serialize;

use super::only::log_of;
use super::{Followed, Which};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use types::refusal::Stop;
use types::scope::Reach;

/// Where a stream begins.
#[derive(Serialize, JsonSchema)]
pub struct Begun {
    /// Events after this number follow.
    pub since: i64,
}

/// Follow events as they happen.
pub enum Stream {}

impl Query for Stream {
    const SPEC: Spec = Spec {
        name: "event.stream",
        doc: "Follow the event log as server-sent events, from the newest event or from `since`: the number of the last \
              event received. The header `Last-Event-ID` is ignored.",
        scope: Reach::READ,
        route: get("/events/stream").stream(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Followed;
    type Output = Begun;

    fn target(input: &Followed, read: &Reader<'_>) -> Result<Target, Stop> {
        log_of(&input.only, read)
    }

    fn run(_: Permit<Self>, input: Followed, read: &Reader<'_>) -> Result<Begun, Stop> {
        let Followed { since, only } = input;
        let input = Which { since, limit: None, only };
        input.filter()?;
        input.order()?;
        Ok(Begun { since: input.since.map_or_else(|| read.last_seq(), Ok)? })
    }
}
