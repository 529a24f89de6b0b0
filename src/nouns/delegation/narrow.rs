//! Limits a delegation that is passed on to the terms of the one that it was granted under.

use gate::Reader;
use store::delegations::Delegation;
use types::delegation::{DEEPEST, Terms};
use types::refusal::{Refusal, Stop};

/// The maximum number of sub-delegations of one delegation.
const MOST_CHILDREN: usize = 20;

/// The parent: the delegation under which the giver acts.
pub(super) struct Above(Delegation);

impl Above {
    /// Returns `None` if the giver acts in their own right.
    pub fn of(read: &Reader<'_>) -> Result<Option<Above>, Stop> {
        let Some(above) = read.acting_under()? else { return Ok(None) };
        if above.terms.to != read.caller().actor() {
            let message =
                format!("only {} can pass {} on, not an agent that works for them", above.terms.to, above.terms.id);
            return Err(Refusal::conflict(message).into());
        }
        if read
            .resting_on(above.clone())?
            .iter()
            .filter(|row| row.terms.parent.as_ref() == Some(&above.terms.id))
            .count()
            >= MOST_CHILDREN
        {
            let message = format!("{} was handed on {MOST_CHILDREN} times; revoke some first", above.terms.id);
            return Err(Refusal::conflict(message).into());
        }
        Ok(Some(Above(above)))
    }

    pub fn terms(&self) -> &Terms {
        &self.0.terms
    }
}

/// Returns in which ways a delegation exceeds its parent.
pub(super) fn narrower(new: &Delegation, above: &Above, read: &Reader<'_>) -> Vec<String> {
    let (terms, given) = (&new.terms, above.terms());
    let mut problems = Vec::new();
    if terms.depth > DEEPEST {
        problems.push(format!("to: delegations are handed on at most {} times", DEEPEST - 1));
    }
    if terms.chain.contains(&terms.to) {
        problems.push(format!("to: {} is already in the chain", terms.to));
    }
    let (ours, theirs) = (read.operations_in(&terms.scope), read.operations_in(&given.scope));
    if let Some(wider) = ours.keys().find(|name| !theirs.contains_key(*name)) {
        problems.push(format!("scope: you were not given `{wider}`; you act under `{}`", given.scope));
    }
    if terms.authority > given.authority {
        problems.push(format!("authority: must be at most `{}`, as you act under", given.authority));
    }
    if let Some(tool) = terms.tools.difference(&given.tools).next() {
        problems.push(format!("tools: you were not given `{tool}`"));
    }
    if terms.expires_at > given.expires_at {
        problems.push(format!("expires_at: must not be after {}, when what you act under ends", given.expires_at));
    }
    match (new.budget_cents, above.0.left_cents()) {
        (None, Some(left)) => problems.push(format!("budget_cents: must be given, at most {left}: that much is left")),
        (Some(budget), Some(left)) if budget > left => {
            problems.push(format!("budget_cents: must be at most {left}: that much is left"));
        }
        _ => {}
    }
    problems
}
