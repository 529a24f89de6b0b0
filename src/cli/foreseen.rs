//! Asks for the gate's answer before a command tries something of its own accord: a failed attempt would be recorded as
//! a refusal.

use super::Context;
use super::client::Session;
use super::exit::Failure;
use super::operation::query;
use super::policy::compared::word;
use crate::nouns::policy::explain::{Explain, Question};

/// Returns `allow`, `deny` or `needs_approval`. None if the caller may not ask.
pub async fn decision(
    session: &mut Session,
    context: &Context,
    operation: &str,
    target: &str,
) -> Result<Option<String>, Failure> {
    let asked = Question { op: Some(operation.into()), target: Some(target.into()), ..Question::default() };
    let answer = query::<Explain>().within(session, context, &asked).await?;
    Ok(answer.ok().map(|answer| word(&answer.value, "/decision").to_owned()))
}
