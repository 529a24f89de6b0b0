//! Explains why an approval is needed, who may decide, and what happens then.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::APPROVAL;
use super::effect::{Changed, difference, effect};
use super::shown::{Needed, arguments, entry, frozen, frozen_by, needed, now_is, requester, summary};
use super::{OneApproval, find};
use gate::{Entry, Permit, Query, Reader, Spec, Target, get};
use policy::{PolicyMeta, Ruling};
use store::approvals::Approval;
use types::actor::KillScope;
use types::approval::ApprovalStatus;
use types::caller::Caller;
use types::id::ActorId;
use types::impact::Decision;
use types::refusal::Stop;
use types::scope::Reach;
use types::time::Time;

/// How many similar requests are shown; below, how many are examined for them.
const SIMILAR: usize = 5;
const LOOKED_AT: usize = 50;

/// Why an approval is needed, and what happens next.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ExplainedApproval {
    pub id: String,
    pub status: ApprovalStatus,
    /// What would be done, as a sentence.
    pub summary: String,
    /// On whose behalf, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<ActorId>,
    /// The delegation that it was asked under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// When the token used for it was revoked: if it was stolen, somebody else may have made the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_revoked_at: Option<Time>,
    /// The input of the call, as the approval itself shows it.
    pub args: Value,
    /// The arguments that are not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// The target as it is now, as far as the caller may see it.
    pub about: Vec<Detail>,
    /// What the gate would answer to the call now: `allow`, `needs_approval` or `deny`.
    pub decision: Decision,
    /// Why approval was needed when it was asked for.
    pub reason: String,
    /// The policies that determine the answer now.
    pub because: Vec<InTheWay>,
    pub who_may_decide: Vec<Needed>,
    pub what_happens: WhatHappens,
    /// Requests for the same operation that people have decided, newest first; at most five.
    #[schemars(length(max = 5))]
    pub similar: Vec<Similar>,
    /// What an update would change, by field: current and new value. Empty if the caller may not read the target, or
    /// once the request has ended or become stale.
    #[schemars(extend("x-names" = "json"))]
    pub effect: BTreeMap<String, Changed>,
    /// What has changed since the request, by field: old and current value. Any change makes it stale. Empty once it
    /// has ended.
    #[schemars(extend("x-names" = "json"))]
    pub diff: BTreeMap<String, Changed>,
    /// For a step of a run that was requested before: the stale request that this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anew: Option<Anew>,
}

/// The request of the same step of the same run that became stale.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Anew {
    pub approval: String,
    /// Why it became stale.
    #[schemars(extend("x-names" = "text"))]
    pub why: String,
    /// What changed between the two requests, by field: old and new value.
    #[schemars(extend("x-names" = "json"))]
    pub changed: BTreeMap<String, Changed>,
}

/// Something to know about what a call is about.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    pub what: String,
    #[schemars(extend("x-names" = "text"))]
    pub said: String,
}

/// A policy behind the answer.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct InTheWay {
    pub policy: String,
    /// Where it stands.
    pub file: String,
    pub line: usize,
    pub reason: Option<String>,
    /// Its text, for approvers and for those who may read the policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// An earlier request for the same operation.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Similar {
    pub approval: String,
    pub actor: ActorId,
    pub summary: String,
    pub decision: ApprovalStatus,
    pub at: Option<Time>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct WhatHappens {
    pub on_approve: String,
    pub on_reject: String,
    pub on_expiry: String,
}

/// Explain an approval.
pub enum Explain {}

impl Query for Explain {
    const SPEC: Spec = Spec {
        name: "approval.explain",
        doc: "Explain an approval: what is requested, why it needs approval, who may decide, and what happens on each \
              outcome.",
        scope: Reach::READ,
        route: get("/approvals/{id}/explain"),
        about: &[&APPROVAL],
        events: &[],
    };
    type Input = OneApproval;
    type Output = ExplainedApproval;

    fn target(input: &OneApproval, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneApproval, read: &Reader<'_>) -> Result<ExplainedApproval, Stop> {
        let approval = find(&input.id, read)?;
        let call = Call::of(&approval, read)?;
        let status = now_is(&approval, read.now());
        let ruling = call.ruling(&approval, status, read);
        let is_open = matches!(status, ApprovalStatus::Pending | ApprovalStatus::Approved);
        let diff =
            if is_open { difference(&approval.resource, &call.state(&approval, read)?) } else { BTreeMap::new() };
        let has_changed = !diff.is_empty();
        // The target's states are only for those who may read it.
        let is_seen = call.target.as_ref().is_some_and(|target| read.sees(target));
        let seen = |diff| if is_seen { diff } else { BTreeMap::new() };
        let decides = read.deciders(&approval).contains(&read.caller().actor());
        let (args, withheld) = arguments(&approval, read);
        let summary = summary(&approval, &args, read);
        let what_happens = WhatHappens::of((&approval, &summary), status, (ruling.as_ref(), has_changed), read);
        // If it has changed meanwhile, the call has no effect.
        let effect = call.effect((&approval, &args, &withheld), is_open && !has_changed, read)?;
        let with_text = decides || read.may("policy.read", &Target::Company);
        Ok(ExplainedApproval {
            status,
            summary,
            on_behalf_of: approval.behalf.clone(),
            under: approval.under.clone(),
            token_revoked_at: read.revoked_at(approval.token_id.as_deref())?,
            args,
            withheld,
            about: call.about(read)?,
            decision: ruling.as_ref().map_or(Decision::Deny, Ruling::decision),
            because: ruling.iter().flat_map(Ruling::because).map(|policy| InTheWay::of(policy, with_text)).collect(),
            who_may_decide: needed(&approval, read),
            what_happens,
            similar: similar(&approval, read)?,
            effect,
            anew: anew(&approval, read)?.map(|anew| Anew { changed: seen(anew.changed), ..anew }),
            diff: seen(diff),
            id: approval.id,
            reason: approval.reason,
        })
    }
}

impl WhatHappens {
    /// Describes the outcomes. `ruling` is the gate's current ruling on the call, and whether its target has changed.
    fn of(
        (approval, call): (&Approval, &str),
        status: ApprovalStatus,
        (ruling, has_changed): (Option<&Ruling>, bool),
        read: &Reader<'_>,
    ) -> WhatHappens {
        let (whose, until) = (requester(approval, read), approval.expires_at);
        let by_all = frozen_by(approval, read).filter(|by| *by == KillScope::Global);
        let nobody =
            by_all.map(|by| format!("nobody can reject it until the switch is released: {}", frozen(&by, read)));
        let on_reject = nobody.clone().unwrap_or_else(|| "one rejection ends it; nothing is done".to_owned());
        let on_expiry = format!("undecided by {until}, it is rejected; nothing is done");
        if status == ApprovalStatus::Approved {
            let on_approve = match frozen_by(approval, read) {
                None => format!("it is approved: the next identical call of {whose} carries it out"),
                Some(by) => {
                    format!("it is approved, but not carried out until the switch is released: {}", frozen(&by, read))
                }
            };
            let on_expiry = format!("unused by {until}, it expires; nothing is done");
            let on_reject = match approval.run {
                None => nobody.unwrap_or_else(|| "it is rejected after all; nothing is done".to_owned()),
                Some(_) => "nothing: its run carries it out, unless somebody who may cancels the run".to_owned(),
            };
            return WhatHappens { on_approve, on_reject, on_expiry };
        }
        if status != ApprovalStatus::Pending {
            let why = approval.stale.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let nothing = || format!("nothing: it is {status} already{why}");
            return WhatHappens { on_approve: nothing(), on_reject: nothing(), on_expiry: nothing() };
        }
        if let Some(by) = frozen_by(approval, read) {
            let on_approve = format!("nobody can approve it until the switch is released: {}", frozen(&by, read));
            return WhatHappens { on_approve, on_reject, on_expiry };
        }
        let on_approve = match ruling {
            None => "nothing is done: its target is gone, or can no longer be changed this way".to_owned(),
            Some(ruling @ Ruling::Deny { .. }) => {
                format!("nothing is done, because the policies now answer: {}", ruling.reason())
            }
            Some(_) if has_changed => {
                "nothing is done: its target has changed since the request; its requester may request it again".into()
            }
            Some(Ruling::Allow { .. }) => {
                format!("the call is carried out for {whose}: the policies now allow it without approval: {call}")
            }
            Some(_) if approval.kinds.iter().all(|kind| read.is_met(approval, kind)) => format!(
                "every approval has been given; as soon as somebody who may approve it does so, whether again or not, the call is decided again and, if it is still the same, performed for {whose}: {call}"
            ),
            Some(_) => format!(
                "once everybody needed has approved, the call is decided again and, if it is still the same, performed for {whose}: {call}"
            ),
        };
        WhatHappens { on_approve, on_reject, on_expiry }
    }
}

impl InTheWay {
    fn of(policy: &PolicyMeta, with_text: bool) -> InTheWay {
        InTheWay {
            policy: policy.id.clone(),
            file: policy.file.clone(),
            line: policy.line,
            reason: policy.reason.clone(),
            text: with_text.then(|| policy.text.clone()),
        }
    }
}

/// The pending call, as it would be made now.
struct Call {
    caller: Caller,
    /// `None` if the operation no longer exists.
    entry: Option<&'static Entry>,
    /// `None` if the target is gone or can no longer be found.
    target: Option<Target>,
}

impl Call {
    fn of(approval: &Approval, read: &Reader<'_>) -> Result<Call, Stop> {
        let caller = approval.requester();
        let entry = entry(approval);
        let call = entry.and_then(|entry| entry.prepare(approval.whole_input()).ok());
        let target = match call.map(|call| call.target(&read.acting_as(&caller))) {
            Some(Ok(target)) => Some(target),
            Some(Err(Stop::Failed(fault))) => return Err(fault.into()),
            Some(Err(Stop::Refused(_))) | None => None,
        };
        Ok(Call { caller, entry, target })
    }

    /// Returns the gate's current ruling; for a pending call, with the rulings on its parts.
    fn ruling(&self, approval: &Approval, status: ApprovalStatus, read: &Reader<'_>) -> Option<Ruling> {
        let (entry, target, input) = (self.entry?, self.target.as_ref()?, approval.whole_input());
        let ruling = read.ruling_on(&self.caller, entry.spec.name, target, &input);
        Some(match status {
            ApprovalStatus::Pending => read.acting_as(&self.caller).with_parts(entry, &input, ruling, &|_| true),
            _ => ruling,
        })
    }

    /// Returns the target's details for the reader.
    fn about(&self, read: &Reader<'_>) -> Result<Vec<Detail>, Stop> {
        let Some(target) = &self.target else { return Ok(Vec::new()) };
        if !read.sees(target) {
            return Ok(vec![Detail { what: "about".into(), said: "you may not read its target".into() }]);
        }
        let brief = read.brief_of(target)?;
        Ok(brief.into_iter().map(|(what, said)| Detail { what: what.to_owned(), said }).collect())
    }

    /// Returns what the call would change, while it is pending.
    fn effect(
        &self,
        asked: (&Approval, &Value, &[String]),
        is_open: bool,
        read: &Reader<'_>,
    ) -> Result<BTreeMap<String, Changed>, Stop> {
        let (Some(entry), Some(target), true) = (self.entry, &self.target, is_open) else {
            return Ok(BTreeMap::new());
        };
        effect(asked, (entry, target), read)
    }

    /// Returns the target's current state.
    fn state(&self, approval: &Approval, read: &Reader<'_>) -> Result<Value, Stop> {
        let (Some(entry), Some(target)) = (self.entry, &self.target) else { return Ok(Value::Null) };
        Ok(read.state_for(&entry.spec.route, target, &approval.whole_input())?)
    }
}

/// Returns decided requests for the same operation that the caller may see.
fn similar(approval: &Approval, read: &Reader<'_>) -> Result<Vec<Similar>, Stop> {
    let seen = read.decided_like(approval, LOOKED_AT)?.into_iter();
    let seen = seen.filter(|other| read.sees(&read.approval_target(other)));
    let shown = |other: Approval| Similar {
        summary: summary(&other, &arguments(&other, read).0, read),
        actor: other.actor,
        approval: other.id,
        decision: other.status,
        at: other.ended_at,
    };
    Ok(seen.take(SIMILAR).map(shown).collect())
}

/// Returns the stale request that this one replaces, if there is one and the caller may see it.
fn anew(approval: &Approval, read: &Reader<'_>) -> Result<Option<Anew>, Stop> {
    let step = |one: &Approval| one.run.as_ref().map(|run| (run.run.clone(), run.step()));
    if approval.run.is_none() {
        return Ok(None);
    }
    let is_same = |other: &Approval| other.actor == approval.actor && step(other) == step(approval);
    let before = read.requests_about(&approval.operation, &approval.target)?.into_iter();
    let is_before = |other: &Approval| other.ended_at.is_some_and(|at| at <= approval.created_at);
    let before = before.filter(|other| is_same(other) && is_before(other)).max_by_key(|other| other.created_at);
    let stale = before.filter(|other| other.status == ApprovalStatus::Stale && read.sees(&read.approval_target(other)));
    Ok(stale.map(|other| Anew {
        changed: difference(&other.resource, &approval.resource),
        approval: other.id,
        why: other.stale.unwrap_or_default(),
    }))
}
