//! Decisions for other programs, asked again: what they were asked is all that there is to know.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;

use super::remembered::{MOST, Remembered};
use super::skipped::{ERASED, NOT_SAID, UNFIT, UNREADABLE};
use log::read::Decided;
use policy::diff::{Answer, Decision, Outcome, Sides};
use policy::own::Said;

#[derive(Deserialize)]
struct Payload {
    event: Recorded,
}

#[derive(Deserialize)]
struct Recorded {
    decision: bool,
    needs_approval: Vec<String>,
    asked: Option<Said>,
}

/// A decision for another program, and what it comes to now.
pub(super) struct Evaluated {
    pub said: Said,
    pub recorded: Decision,
    pub outcome: Arc<Outcome>,
}

/// Asks it again. `Err` says why it cannot be.
pub(super) fn again(
    sides: &Sides<'_>,
    changed: &BTreeSet<String>,
    entry: &Decided,
    remembered: &mut Remembered,
) -> Result<Evaluated, &'static str> {
    let payload = entry.payload.as_ref().ok_or(ERASED)?;
    let Recorded { decision, needs_approval, asked } =
        serde_json::from_slice::<Payload>(payload).map_err(|_| UNREADABLE)?.event;
    let said = asked.ok_or(NOT_SAID)?;
    let recorded = match (decision, needs_approval.is_empty()) {
        (true, _) => Decision::Allow,
        (false, false) => Decision::NeedsApproval,
        (false, true) => Decision::Deny,
    };
    // The time is no part of it: the same question has the same answer.
    let key = format!("asked by a program: {}", serde_json::to_string(&said).map_err(|_| UNREADABLE)?);
    if let Some(outcome) = remembered.get(key.as_bytes()) {
        return Ok(Evaluated { said, recorded, outcome: Arc::clone(outcome) });
    }
    let (before, after) = (sides.before.snapshot, sides.after.snapshot);
    let asked = [before, after].map(|side| said.to_question(side, Vec::new()));
    let [Ok(old), Ok(new)] = asked else { return Err(UNFIT) };
    let (old, new) = (Answer::of(&old.answer(before)), Answer::of(&new.answer(after)));
    let outcome = Arc::new(Outcome::of(old, new, changed));
    if remembered.len() < MOST {
        remembered.insert(key.into_bytes().into(), Arc::clone(&outcome));
    }
    Ok(Evaluated { said, recorded, outcome })
}
