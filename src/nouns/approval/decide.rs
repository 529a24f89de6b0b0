//! Decides a request: one person, one vote. The vote that completes a request carries it out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::APPROVAL;
use super::find;
use super::shown::{ShownApproval, entry, frozen, frozen_by, now_is, shown};
use gate::{Change, Draft, Lane, Permit, Reader, Redeemed, Spec, Target, post};
use policy::Ruling;
use store::approvals::events::{ApprovalDecided, ApprovalStale, ApprovalUsed};
use store::approvals::{Approval, Decided};
use types::approval::{ApprovalStatus, Verdict};
use types::caller::{Caller, Who};
use types::id::{ActorId, Id};
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;

/// What a person decides.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    pub id: String,
    pub decision: Verdict,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    pub note: String,
    /// Which kind it counts for; the first that is still open unless given.
    pub kind: Option<String>,
}

/// Checks whether the policies let the caller approve or reject a request in any way. The issuer of their token counts, its
/// scopes do not, because they may have another token.
pub fn may_decide(approval: &Approval, target: &Target, read: &Reader<'_>) -> bool {
    let caller = Caller { who: Who::Holder(read.caller().actor()), ..read.caller().clone() };
    let may = |(kind, decision): (Option<&String>, Verdict)| {
        let (id, note) = (approval.id.clone(), "a note".to_owned());
        let input = Decision { id, decision, note, kind: kind.cloned() };
        let ruling = read.ruling_on(&caller, Decide::SPEC.name, target, &json!(input));
        !matches!(ruling, Ruling::Deny { .. })
    };
    let kinds = std::iter::once(None).chain(approval.kinds.iter().map(Some));
    kinds.flat_map(|kind| [(kind, Verdict::Approve), (kind, Verdict::Reject)]).any(may)
}

/// Decide an approval.
pub enum Decide {}

impl Change for Decide {
    const SPEC: Spec = Spec {
        name: "approval.decide",
        doc: "Approve or reject a request. The decision that completes the approval performs the operation at once. Until \
              it is performed, a request can be rejected, also by those who have approved it.",
        scope: Reach::Full,
        route: post("/approvals/{id}").denied_as(Code::NotApprover).slow_among(Lane::Approvals),
        about: &[&APPROVAL],
        events: &[ApprovalDecided::KIND, ApprovalUsed::KIND, ApprovalStale::KIND],
    };
    const SAYS: &'static str = "decides {id}: {decision}";
    type Input = Decision;
    type Output = ShownApproval;

    fn target(input: &Decision, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    /// Prepares what takes long to make for the call, which the approval that completes the request carries out.
    fn prepare(input: &Decision, read: &Reader<'_>) -> Result<(), Stop> {
        let approval = find(&input.id, read)?;
        let call = entry(&approval).and_then(|entry| entry.prepare(approval.whole_input()).ok());
        match call.map(|call| call.make_ready(&read.acting_as(&approval.requester()))) {
            // If preparing is refused, `run` finds the request stale.
            Some(Err(Stop::Failed(fault))) => Err(fault.into()),
            Some(Ok(()) | Err(Stop::Refused(_))) | None => Ok(()),
        }
    }

    /// Drops the result from a repeated answer: whether the caller may still read it, only the operation that shows it can say.
    fn shown_again(mut answer: Value, _: &Reader<'_>) -> Result<Value, Stop> {
        if let Some(fields) = answer.as_object_mut() {
            fields.remove("result");
        }
        Ok(answer)
    }

    fn run(permit: Permit<Self>, input: Decision, draft: &mut Draft<'_>) -> Result<ShownApproval, Stop> {
        let (me, read) = (permit.actor(), draft.read());
        let mut approval = find(&input.id, read)?;
        if input.note.chars().count() > 1000 {
            return Err(Refusal::field("note", "must have at most 1000 characters").into());
        }
        can_be_decided(&approval, &me, input.decision, read)?;
        // A repeated decision counts for the same kind, unless another is given.
        let earlier = approval.decisions.iter().find(|decided| decided.by == me).map(|decided| decided.kind.clone());
        let earlier = earlier.filter(|kind| read.approvers(kind, &approval).contains(&me));
        let kind = counts_for(&approval, &me, input.kind.as_ref().or(earlier.as_ref()).map(String::as_str), read)?;
        let (note, at) = (input.note, read.now());
        let Caller { token, issuer, .. } = read.caller().clone();
        // A new decision replaces the earlier one: each person has one vote.
        approval.decisions.retain(|decided| decided.by != me);
        approval.decisions.push(Decided {
            by: me,
            kind: kind.clone(),
            verdict: input.decision,
            note: note.clone(),
            at,
            token_id: token.as_ref().map(Id::to_string),
            issuer: issuer.clone(),
        });
        let complete = approval.kinds.iter().all(|kind| read.is_met(&approval, kind));
        approval.status = match input.decision {
            Verdict::Reject => ApprovalStatus::Rejected,
            Verdict::Approve if complete => ApprovalStatus::Approved,
            Verdict::Approve => ApprovalStatus::Pending,
        };
        let id = Id::stored(&approval.id);
        let requester = approval.actor.clone();
        draft.record(ApprovalDecided {
            id: id.clone(),
            requester: requester.clone(),
            kind,
            verdict: input.decision,
            note,
            outcome: approval.status,
            repeat: approval.status == ApprovalStatus::Approved && is_repeated(&approval),
            token_id: token,
            issuer,
        })?;
        let outcome = match approval.status {
            ApprovalStatus::Approved => Some(draft.redeem(&crate::OPERATIONS, &approval, &approval.kinds)?),
            // A request that can only become stale need not be seen by further approvers.
            ApprovalStatus::Pending => draft.stale(&crate::OPERATIONS, &approval)?.map(Redeemed::Stale),
            _ => None,
        };
        if matches!(approval.status, ApprovalStatus::Rejected) {
            approval.ended_at = Some(at);
        }
        let mut answer = shown(approval, read)?;
        match outcome {
            Some(Redeemed::Done(result)) => {
                draft.record(ApprovalUsed { id, requester })?;
                answer = ShownApproval { status: ApprovalStatus::Used, ended_at: Some(at), result, ..answer };
            }
            Some(Redeemed::Stale(reason)) => {
                draft.record(ApprovalStale { id, requester, reason: reason.clone() })?;
                answer =
                    ShownApproval { status: ApprovalStatus::Stale, ended_at: Some(at), stale: Some(reason), ..answer };
            }
            Some(Redeemed::AtNextCall) | None => {}
        }
        Ok(answer)
    }
}

/// Checks whether the requester has to repeat the call, because only they may have its answer. A run does so by itself.
fn is_repeated(approval: &Approval) -> bool {
    approval.run.is_none() && entry(approval).is_some_and(|entry| entry.spec.route.once().is_some())
}

fn can_be_decided(approval: &Approval, me: &ActorId, verdict: Verdict, read: &Reader<'_>) -> Result<(), Refusal> {
    let status = now_is(approval, read.now());
    let rejects = verdict == Verdict::Reject;
    // An approved run proceeds by itself: to stop it, cancel the run.
    let is_uncollected = status == ApprovalStatus::Approved && approval.run.is_none();
    let is_open = status == ApprovalStatus::Pending || is_uncollected && rejects;
    if !is_open {
        let decided = matches!(status, ApprovalStatus::Approved | ApprovalStatus::Used | ApprovalStatus::Rejected);
        // If it was used later than the last decision, its requester used it.
        let is_by = |last: &&Decided| status != ApprovalStatus::Used || approval.ended_at == Some(last.at);
        let last = approval.decisions.last().filter(|last| decided && !read.hides(last.by.as_str())).filter(is_by);
        let by = last.map(|last| format!(", by {}", last.by)).unwrap_or_default();
        return Err(Refusal::conflict(format!("the approval is {status} already{by}")));
    }
    // A rejection grants nothing: it needs no kill switch to be released, and an approver can change their mind.
    if rejects {
        return Ok(());
    }
    // Approvals suspended by a kill switch may count again: then any approver completes the request by approving again.
    let is_complete = || approval.kinds.iter().all(|kind| read.is_met(approval, kind));
    // An approver whose token was revoked may decide again.
    let is_own = |decided: &Decided| !read.is_revoked(decided.token_id.as_deref());
    let stands = |decided: &Decided| decided.by == *me && read.decision_stands(decided) && is_own(decided);
    if approval.decisions.iter().any(stands) && !is_complete() {
        return Err(Refusal::conflict("you have decided already"));
    }
    frozen_by(approval, read).map_or(Ok(()), |by| Err(Refusal::conflict(frozen(&by, read))))
}

/// Returns the kind of approval that a person's decision counts for: each person counts once per request.
fn counts_for(approval: &Approval, me: &ActorId, asked: Option<&str>, read: &Reader<'_>) -> Result<String, Refusal> {
    if asked.is_some_and(|asked| !approval.kinds.iter().any(|kind| kind == asked)) {
        return Err(Refusal::field("kind", format!("must be one that it waits for: {}", approval.kinds.join(", "))));
    }
    let mine: Vec<&String> = approval.kinds.iter().filter(|kind| read.approvers(kind, approval).contains(me)).collect();
    let open = |kind: &&&String| !read.is_met(approval, kind);
    let kind = match asked {
        Some(asked) => mine.iter().find(|kind| kind.as_str() == asked),
        None => mine.iter().find(open).or_else(|| mine.first()),
    };
    let none = || Refusal::new(Code::NotApprover, "you may not give this approval");
    kind.map(|kind| (*kind).clone()).ok_or_else(none)
}
