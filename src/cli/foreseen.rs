//! Asks for the gate's answer before a command tries something of its own accord: a failed attempt would be recorded as
//! a refusal.

use super::Context;
use super::client::Session;
use super::exit::Failure;
use super::operation::query;
use crate::nouns::policy::explain::{Explain, Question};
use crate::types::impact::Decision;

/// Returns none if the caller may not ask.
pub async fn decision(
    session: &mut Session,
    context: &Context,
    operation: &str,
    target: &str,
) -> Result<Option<Decision>, Failure> {
    let asked = Question { op: Some(operation.into()), target: Some(target.into()), ..Question::default() };
    let Ok(answer) = query::<Explain>().within(session, context, &asked).await? else { return Ok(None) };
    Ok(answer.read()?.decision())
}
