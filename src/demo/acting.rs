//! Performs operations as an actor of the demo, or as the server, which first names an admin and advances the clock.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::gate::{Change, Gate, Query, Request};
use crate::types::caller::{Channel, Credential, Presented};
use crate::types::id::ActorId;
use crate::types::page::Page;
use crate::types::refusal::{Refusal, Stop};

/// The acting actor; `None` is the server.
#[derive(Clone, Copy)]
pub struct Acting<'a> {
    pub gate: &'a Arc<Gate>,
    pub who: Option<&'a ActorId>,
}

impl Acting<'_> {
    pub async fn change<C>(self, input: &C::Input) -> Result<C::Output, Stop>
    where
        C: Change<Input: Serialize, Output: DeserializeOwned>,
    {
        let answer = self.perform(C::SPEC.name, serde_json::to_value(input)?, None).await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    pub async fn query<Q>(self, input: &Q::Input) -> Result<Q::Output, Stop>
    where
        Q: Query<Input: Serialize, Output: DeserializeOwned>,
    {
        let answer = self.perform(Q::SPEC.name, serde_json::to_value(input)?, None).await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// Returns one page of a list.
    pub async fn rows<Q, T>(self, input: &Q::Input) -> Result<Vec<T>, Stop>
    where
        Q: Query<Input: Serialize, Output = Page<T>>,
        T: DeserializeOwned,
    {
        let answer = self.perform(Q::SPEC.name, serde_json::to_value(input)?, None).await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// Performs an operation by name, as scenes specify it.
    pub async fn named(self, operation: &str, input: Value, under: Option<String>) -> Result<Value, Stop> {
        Ok(serde_json::from_slice(&self.perform(operation, input, under).await?)?)
    }

    async fn perform(self, operation: &str, input: Value, under: Option<String>) -> Result<Vec<u8>, Stop> {
        let entry = self.gate.entry(operation).ok_or_else(Refusal::not_found)?;
        let credential = self.who.cloned().map_or(Credential::Server, Credential::Holder);
        let presented = Presented { credential, channel: Channel::Cli, address: None, under };
        let caller = self.gate.admit(&presented, &entry.spec)?;
        let call = entry.prepare(input).map_err(|bad| Refusal::field("input", bad.to_string()))?;
        Ok(self.gate.perform(Request { caller, call, idem: None }).await?.body)
    }
}
