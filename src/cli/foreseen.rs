//! Asks for the gate's answer before a command tries something of its own accord: a failed attempt would be recorded as
//! a refusal.

use super::Context;
use super::client::Session;
use super::exit::Failure;
use super::operation::query;
use crate::nouns::policy::explain::{Explain, ToExplain};
use crate::types::impact::Decision;

/// Returns none if the caller may not ask, or the answer is one of another version.
pub async fn decision(
    session: &mut Session,
    context: &Context,
    operation: &str,
    target: &str,
) -> Result<Option<Decision>, Failure> {
    let asked = ToExplain { op: Some(operation.into()), target: Some(target.into()), ..ToExplain::default() };
    let Ok(answer) = query::<Explain>().within(session, context, &asked).await? else { return Ok(None) };
    Ok(answer.read().ok().and_then(|explanation| explanation.decision()))
}
