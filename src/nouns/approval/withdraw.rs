//! Withdraws a request: it will not be carried out, whoever would still approve it.

use super::APPROVAL;
use super::shown::{ShownApproval, now_is, shown};
use super::{OneApproval, find};
use gate::{Change, Draft, Permit, Reader, Spec, Target, delete};
use store::approvals::events::ApprovalCancelled;
use types::approval::ApprovalStatus;
use types::id::Id;
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// Withdraw a request.
pub enum Withdraw {}

impl Change for Withdraw {
    const SPEC: Spec = Spec {
        name: "approval.withdraw",
        doc: "Withdraw one's own request, as long as it has not been performed.",
        scope: Reach::Full,
        route: delete("/approvals/{id}").stops().denied_as(Code::NotOwner),
        about: &[&APPROVAL],
        events: &[ApprovalCancelled::KIND],
    };
    const SAYS: &'static str = "withdraws {id}";
    type Input = OneApproval;
    type Output = ShownApproval;

    fn target(input: &OneApproval, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneApproval, draft: &mut Draft<'_>) -> Result<ShownApproval, Stop> {
        let read = draft.read();
        let approval = find(&input.id, read)?;
        let status = now_is(&approval, read.now());
        if !matches!(status, ApprovalStatus::Pending | ApprovalStatus::Approved) {
            return Err(Refusal::conflict(format!("the approval is {status} already")).into());
        }
        let (id, requester) = (Id::stored(&approval.id), approval.actor.clone());
        draft.record(ApprovalCancelled { id, requester })?;
        let ended_at = Some(read.now());
        Ok(ShownApproval { status: ApprovalStatus::Cancelled, ended_at, ..shown(approval, read)? })
    }
}
