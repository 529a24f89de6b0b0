//! Ends tokens that somebody issued for others, once the issuer has left or lost their role.

use std::collections::BTreeSet;

use super::MOST_ISSUED;
use super::ending::revoke;
use gate::{Change, Draft, Permit};
use types::id::ActorId;
use types::refusal::{Refusal, Stop};

/// Revokes the tokens an actor issued for others, except for these holders, unless they are to be kept. Returns the holders.
///
/// # Errors
/// Conflict where there are more than [`MOST_ISSUED`]; where the caller's own token is one of them, who would be locked out
/// by their own call; and where break-glass would keep them, since whoever skips the others hands on no power.
pub fn end_issued<C: Change>(
    issuer: &ActorId,
    keep: bool,
    spared: &dyn Fn(&ActorId) -> bool,
    permit: &Permit<C>,
    draft: &mut Draft<'_>,
) -> Result<Vec<ActorId>, Stop> {
    if keep && permit.is_break_glass() {
        return Err(Refusal::conflict(
            "keep_issued: not under break-glass: tokens issued for others are always revoked",
        )
        .into());
    }
    if keep {
        return Ok(Vec::new());
    }
    let read = draft.read();
    let issued = read.live_tokens_by(issuer, MOST_ISSUED + 1)?;
    if issued.len() > MOST_ISSUED {
        let message = format!(
            "{issuer} issued more than {MOST_ISSUED} tokens for others that are still live: revoke some first, or keep them with `keep_issued`"
        );
        return Err(Refusal::conflict(message).into());
    }
    let ended: Vec<_> = issued.into_iter().filter(|(_, holder)| !spared(holder)).collect();
    let is_by_theirs = read.caller().issuer.as_ref() == Some(issuer);
    if is_by_theirs && ended.iter().any(|(_, holder)| *holder == permit.actor()) {
        let message = format!(
            "the token that you call with was issued by {issuer} and would end with them: call with another, or keep them with `keep_issued`"
        );
        return Err(Refusal::conflict(message).into());
    }
    revoke(&ended, false, draft)?;
    let holders: BTreeSet<ActorId> = ended.into_iter().map(|(_, holder)| holder).collect();
    Ok(holders.into_iter().collect())
}
