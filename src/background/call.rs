//! How the server acts by itself: through the gate, as `Ok::Server`.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::gate::{Change, Gate, Query, Request};
use crate::nouns::run::{Following, Next, OneRun};
use crate::types::caller::{Channel, Credential, Presented};
use crate::types::refusal::{Refusal, Stop};

/// Performs a change as the server.
pub(super) async fn change<C>(gate: &Arc<Gate>, input: &C::Input) -> Result<C::Output, Stop>
where
    C: Change<Input: Serialize, Output: DeserializeOwned>,
{
    read(&perform(gate, C::SPEC.name, serde_json::to_value(input)?).await?)
}

/// Asks something as the server.
pub(super) async fn query<Q>(gate: &Arc<Gate>, input: &Q::Input) -> Result<Q::Output, Stop>
where
    Q: Query<Input: Serialize, Output: DeserializeOwned>,
{
    read(&perform(gate, Q::SPEC.name, serde_json::to_value(input)?).await?)
}

/// What a run does next.
pub(super) async fn next(gate: &Arc<Gate>, run: &str) -> Result<Next, Stop> {
    query::<Following>(gate, &OneRun { id: run.to_owned() }).await
}

async fn perform(gate: &Arc<Gate>, operation: &str, input: Value) -> Result<Vec<u8>, Stop> {
    let entry = gate.entry(operation).ok_or_else(Refusal::not_found)?;
    let presented = Presented { credential: Credential::Server, channel: Channel::Tick, address: None, under: None };
    let caller = gate.admit(&presented, &entry.spec)?;
    let call = entry.prepare(input).map_err(|bad| Refusal::bad_request(bad.to_string()))?;
    Ok(gate.perform(Request { caller, call, idem: None }).await?.body)
}

/// What an operation answered.
pub(super) fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Stop> {
    Ok(serde_json::from_slice(answer)?)
}

/// Does all of it side by side, begun in this order; the first fault, if any.
pub(super) async fn together<F>(futures: impl Iterator<Item = F>) -> Result<(), Stop>
where
    F: Future<Output = Result<(), Stop>>,
{
    let mut pending: Vec<_> = futures.map(Box::pin).collect();
    let mut outcome = Ok(());
    poll_fn(|context| {
        pending.retain_mut(|future| match future.as_mut().poll(context) {
            Poll::Ready(Err(why)) => {
                outcome = Err(why);
                false
            }
            polled => polled.is_pending(),
        });
        if pending.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outcome
}

pub(super) fn in_words(stop: Stop) -> String {
    match stop {
        Stop::Refused(refusal) => refusal.to_string(),
        Stop::Failed(fault) => fault.to_string(),
    }
}
