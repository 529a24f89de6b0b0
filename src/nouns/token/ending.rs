//! What a revocation ends, and who is notified of what it leaves in place.

use super::begun::GoingOn;
use super::{Revoke, RevokeAll, Revoked};
use gate::{Change as _, Draft};
use store::approvals::Approval;
use store::approvals::events::{ApprovalCancelled, ApprovalStale, ApprovalTokenRevoked};
use store::event::EventKind;
use store::tokens::events::TokenRevoked;
use types::id::{ActorId, Id};
use types::refusal::Stop;

/// Revokes these tokens, and ends the requests made with them or notifies their approvers.
pub(super) fn revoke(tokens: &[(String, ActorId)], requests: bool, draft: &mut Draft<'_>) -> Result<Revoked, Stop> {
    let ended = if requests { end_requests(tokens, draft)? } else { Vec::new() };
    let open = doubt(tokens, &ended, draft)?;
    let revoked = end_all(tokens, draft)?;
    Ok(Revoked { revoked, ended: ended.len() as u64, issued: None, going_on: GoingOn::of(tokens, open, draft.read())? })
}

/// Repeats that for a token that has ended.
pub(super) fn revoke_again(
    token: &[(String, ActorId)],
    requests: bool,
    draft: &mut Draft<'_>,
) -> Result<Revoked, Stop> {
    let ended = if requests { end_requests(token, draft)? } else { Vec::new() };
    let going_on = GoingOn::of(token, still_open(token, &ended, draft)?, draft.read())?;
    Ok(Revoked { revoked: 0, ended: ended.len() as u64, issued: None, going_on })
}

/// Ends the first 1,000 open requests made with these tokens, whoever may see them, notifies their requesters of the reason,
/// and returns the ids.
fn end_requests(tokens: &[(String, ActorId)], draft: &mut Draft<'_>) -> Result<Vec<String>, Stop> {
    const WHY: &str = "the token that it was made with was revoked";
    let mut open = draft.read().open_requests_with(tokens)?;
    // A request that was only decided with the token is somebody else's; this revocation may be a request, too.
    let is_revocation =
        |request: &Approval| [Revoke::SPEC.name, RevokeAll::SPEC.name].contains(&request.operation.as_str());
    let is_made = |request: &Approval| tokens.iter().any(|(id, _)| request.token_id.as_ref() == Some(id));
    open.retain(|request| is_made(request) && !is_revocation(request));
    open.truncate(MOST_DOUBTED);
    for Approval { id, actor, run, .. } in &open {
        let (id, requester) = (Id::stored(id), actor.clone());
        match run {
            // Cancelled, so that the step counts as refused: after a stale request, a run would ask again.
            Some(_) => draft.record(ApprovalCancelled { id, requester })?,
            None => draft.record(ApprovalStale { id, requester, reason: WHY.to_owned() })?,
        }
    }
    Ok(open.into_iter().map(|request| request.id).collect())
}

/// Returns the open requests made or decided with these tokens, except those that are ending.
fn still_open(tokens: &[(String, ActorId)], ending: &[String], draft: &Draft<'_>) -> Result<Vec<Approval>, Stop> {
    let mut open = draft.read().open_requests_with(tokens)?;
    open.retain(|request| !ending.contains(&request.id));
    Ok(open)
}

/// How many requests are reported at once: revoking a token must not fail because of what was done with it.
const MOST_DOUBTED: usize = 1_000;

/// Notifies the approvers of the first 1,000 open requests made or decided with these tokens that one was revoked, and returns
/// all these requests except those that are ending.
pub fn doubt(tokens: &[(String, ActorId)], ending: &[String], draft: &mut Draft<'_>) -> Result<Vec<Approval>, Stop> {
    let open = still_open(tokens, ending, draft)?;
    for Approval { id, actor, .. } in open.iter().take(MOST_DOUBTED) {
        draft.record(ApprovalTokenRevoked { id: Id::stored(id), requester: actor.clone() })?;
    }
    Ok(open)
}

/// Revokes these tokens, and returns how many they are.
pub fn end_all(tokens: &[(String, ActorId)], draft: &mut Draft<'_>) -> Result<u64, Stop> {
    for (id, holder) in tokens {
        draft.record(TokenRevoked { id: Id::stored(id), holder: holder.clone() })?;
    }
    Ok(tokens.len() as u64)
}

/// The events of a revocation.
pub(super) const ENDING: &[EventKind] =
    &[TokenRevoked::KIND, ApprovalTokenRevoked::KIND, ApprovalStale::KIND, ApprovalCancelled::KIND];
