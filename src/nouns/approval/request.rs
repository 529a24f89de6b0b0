//! Finds somebody's open request for the call that is asked about.

use serde_json::Value;

use super::shown::{needed_of, now_is};
use gate::{Inquiry, Reader};
use store::approvals::Approval;
use types::approval::ApprovalStatus;
use types::id::ActorId;
use types::refusal::Stop;

/// A pending request that the caller may see.
pub struct OpenRequest(Approval);

impl OpenRequest {
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns who has given a kind of approval.
    pub fn held(&self, kind: &str, read: &Reader<'_>) -> Vec<ActorId> {
        needed_of(&self.0, kind, read).held
    }

    /// Returns who may give it now, given how long the request has waited.
    pub fn approvers(&self, kind: &str, read: &Reader<'_>) -> Vec<ActorId> {
        needed_of(&self.0, kind, read).any_of
    }
}

/// Returns the caller's newest open request for the same operation, target and, if known, input.
pub fn open_request(
    inquiry: &Inquiry<'_>,
    input: Option<&Value>,
    read: &Reader<'_>,
) -> Result<Option<OpenRequest>, Stop> {
    let target = inquiry.target().id();
    let mut newest: Option<Approval> = None;
    for id in read.open_requests_of(&inquiry.caller().actor())? {
        let Some(approval) = read.approval(&id)? else { continue };
        let open = matches!(now_is(&approval, read.now()), ApprovalStatus::Pending | ApprovalStatus::Approved);
        let same = approval.operation == inquiry.operation()
            && approval.target == target
            && input.is_none_or(|input| *input == approval.whole_input());
        let later = newest.as_ref().is_none_or(|newest| newest.created_at <= approval.created_at);
        if open && same && later && read.sees(&read.approval_target(&approval)) {
            newest = Some(approval);
        }
    }
    Ok(newest.map(OpenRequest))
}
