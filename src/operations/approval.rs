//! Approvals: parked calls that people decide. One mechanism for every operation; what was approved is carried out in
//! the transaction of the decision that completes it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::{Change, Draft, Entry, Permit, Query, Reader, Redeemed, ResourceKind, Spec, Target, get, post};
use crate::store::approvals::{self, Approval, Decided};
use crate::types::actor::KillScope;
use crate::types::approval::{ApprovalStatus, Verdict};
use crate::types::event::{Event, EventKind};
use crate::types::id::{ActorId, Id};
use crate::types::page::{Page, PageQuery};
use crate::types::refusal::{Code, Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::time::Time;

pub const ALL: &[Entry] =
    &[Entry::query::<List>(), Entry::query::<Show>(), Entry::query::<Explain>(), Entry::change::<Decide>()];

/// A parked call, as it is shown.
#[derive(Serialize, JsonSchema)]
pub struct ShownApproval {
    pub id: String,
    pub status: ApprovalStatus,
    /// The operation that was asked for.
    pub action: String,
    /// What it is about.
    pub resource: String,
    /// Who asked.
    pub actor: ActorId,
    /// The input of the call.
    pub args: Value,
    /// SHA-256 of exactly what was asked; an approval is good for nothing else.
    pub digest: String,
    /// Why approval is needed.
    pub reason: String,
    /// What is needed, all of it.
    pub approvers: Vec<Needed>,
    pub decisions: Vec<ShownDecision>,
    pub created_at: Time,
    pub expires_at: Time,
    pub ended_at: Option<Time>,
    /// Of a decision that completed it: the answer of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Of a decision that found it stale: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
}

/// One kind of approval that is needed.
#[derive(Serialize, JsonSchema)]
pub struct Needed {
    pub kind: String,
    /// How many people must agree.
    pub threshold: u32,
    /// Who has agreed.
    pub held: Vec<ActorId>,
    /// Who may decide.
    pub any_of: Vec<ActorId>,
}

#[derive(Serialize, JsonSchema)]
pub struct ShownDecision {
    pub by: ActorId,
    pub kind: String,
    pub decision: Verdict,
    pub note: String,
    pub at: Time,
}

/// Who has agreed to a kind. Where people need not be distinct, whoever may give it and has agreed to another counts too.
fn held(approval: &Approval, kind: &str, read: &Reader<'_>) -> Vec<ActorId> {
    let may = if read.approval_rule(kind).distinct { BTreeSet::new() } else { read.approvers(kind, approval) };
    let counts = |decided: &&Decided| decided.kind == kind || may.contains(&decided.by);
    let agreed = approval.decisions.iter().filter(|decided| decided.verdict == Verdict::Approve);
    agreed.filter(counts).map(|decided| decided.by.clone()).collect()
}

fn is_met(approval: &Approval, kind: &str, read: &Reader<'_>) -> bool {
    held(approval, kind, read).len() >= read.approval_rule(kind).threshold as usize
}

fn needed(approval: &Approval, read: &Reader<'_>) -> Vec<Needed> {
    let needed = |kind: &String| Needed {
        kind: kind.clone(),
        threshold: read.approval_rule(kind).threshold,
        held: held(approval, kind, read),
        any_of: read.approvers(kind, approval).into_iter().collect(),
    };
    approval.kinds.iter().map(needed).collect()
}

fn shown(approval: Approval, read: &Reader<'_>) -> ShownApproval {
    let decisions = approval.decisions.iter().cloned().map(|decided| ShownDecision {
        by: decided.by,
        kind: decided.kind,
        decision: decided.verdict,
        note: decided.note,
        at: decided.at,
    });
    ShownApproval {
        approvers: needed(&approval, read),
        decisions: decisions.collect(),
        status: now_is(&approval, read.now()),
        id: approval.id,
        action: approval.operation,
        resource: approval.target,
        actor: approval.actor,
        args: approval.input,
        digest: approval.digest,
        reason: approval.reason,
        created_at: approval.created_at,
        expires_at: approval.expires_at,
        ended_at: approval.ended_at,
        result: None,
        stale: None,
    }
}

/// Its state; what has run out is expired, whether or not the tick has noted it.
fn now_is(approval: &Approval, now: Time) -> ApprovalStatus {
    match approval.status {
        ApprovalStatus::Pending | ApprovalStatus::Approved if now >= approval.expires_at => ApprovalStatus::Expired,
        status => status,
    }
}

fn find(id: &str, read: &Reader<'_>) -> Result<Approval, Stop> {
    Ok(read.approval(id)?.ok_or_else(Refusal::not_found)?)
}

/// Which approvals.
#[derive(Deserialize, JsonSchema)]
pub struct Which {
    /// Only in this state.
    pub status: Option<ApprovalStatus>,
    /// Only those that the caller may decide.
    #[serde(default)]
    pub mine: bool,
    #[serde(flatten)]
    pub page: PageQuery,
}

/// List approvals.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "approval.list",
        doc: "List the approvals that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/approvals"),
        about: &[ResourceKind::Company],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownApproval>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownApproval>, Stop> {
        let me = permit.actor();
        let status = input.status.map(ApprovalStatus::name).unwrap_or_default();
        let what = format!("approval.list {status} {}", if input.mine { me.as_str() } else { "" });
        let wanted = |approval: &Approval| {
            let target = read.approval_target(approval);
            let mine = matches!(&target, Target::Approval { approvers, .. } if approvers.contains(&me));
            input.status.is_none_or(|status| status == now_is(approval, read.now()))
                && (!input.mine || (mine && approval.decisions.iter().all(|decided| decided.by != me)))
                && read.may("approval.read", &target)
        };
        let fetch = |from: &_, limit| read.approvals_after(from, limit);
        let page = read.page(&input.page, what, fetch, wanted, approvals::position)?;
        Ok(Page { rows: page.rows.into_iter().map(|approval| shown(approval, read)).collect(), next: page.next })
    }

    fn next(output: &Page<ShownApproval>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct OneApproval {
    pub id: String,
}

/// Show one approval.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "approval.read",
        doc: "Show one approval: what was asked, who may decide, what was decided.",
        scope: Reach::READ,
        route: get("/approvals/{id}"),
        about: &[ResourceKind::Approval],
        events: &[],
    };
    type Input = OneApproval;
    type Output = ShownApproval;

    fn target(input: &OneApproval, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneApproval, read: &Reader<'_>) -> Result<ShownApproval, Stop> {
        Ok(shown(find(&input.id, read)?, read))
    }
}

/// Why an approval is needed, and what happens next.
#[derive(Serialize, JsonSchema)]
pub struct ExplainedApproval {
    pub id: String,
    pub status: ApprovalStatus,
    /// Why approval is needed.
    pub reason: String,
    pub who_may_decide: Vec<Needed>,
    pub what_happens: WhatHappens,
    /// What has changed since it was asked for, by field: as it was, and as it is. A change makes it stale.
    pub diff: BTreeMap<String, Changed>,
}

#[derive(Serialize, JsonSchema)]
pub struct WhatHappens {
    pub on_approve: String,
    pub on_reject: String,
    pub on_expiry: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Changed {
    pub was: Value,
    pub is: Value,
}

/// Explain an approval.
pub enum Explain {}

impl Query for Explain {
    const SPEC: Spec = Spec {
        name: "approval.explain",
        doc: "Explain an approval: why, who may decide, and what happens on each outcome.",
        scope: Reach::READ,
        route: get("/approvals/{id}/explain"),
        about: &[ResourceKind::Approval],
        events: &[],
    };
    type Input = OneApproval;
    type Output = ExplainedApproval;

    fn target(input: &OneApproval, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneApproval, read: &Reader<'_>) -> Result<ExplainedApproval, Stop> {
        let approval = find(&input.id, read)?;
        let what_happens = WhatHappens {
            on_approve: format!(
                "once everybody needed has agreed, {} of {} is decided again as it stands then, and carried out for {} if it is still the same",
                approval.operation, approval.target, approval.actor
            ),
            on_reject: "one rejection ends it; nothing is done".into(),
            on_expiry: format!("undecided by {}, it is rejected; nothing is done", approval.expires_at),
        };
        Ok(ExplainedApproval {
            status: now_is(&approval, read.now()),
            who_may_decide: needed(&approval, read),
            what_happens,
            diff: difference(&approval, read)?,
            id: approval.id,
            reason: approval.reason,
        })
    }
}

fn difference(approval: &Approval, read: &Reader<'_>) -> Result<BTreeMap<String, Changed>, Stop> {
    let now = match approval.target.parse::<ActorId>() {
        Ok(actor) if read.card(&actor).is_some() => read.state_of(&Target::Actor(actor))?,
        _ if approval.target == "company" => read.state_of(&Target::Company)?,
        _ => approval.resource.clone(),
    };
    let (Value::Object(was), Value::Object(is)) = (&approval.resource, &now) else { return Ok(BTreeMap::new()) };
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let field = |object: &serde_json::Map<String, Value>, name: &String| object.get(name).cloned().unwrap_or_default();
    let changed = names.into_iter().map(|name| (name.clone(), Changed { was: field(was, name), is: field(is, name) }));
    Ok(changed.filter(|(_, changed)| changed.was != changed.is).collect())
}

/// What a person decides.
#[derive(Deserialize, JsonSchema)]
pub struct Decision {
    pub id: String,
    pub decision: Verdict,
    /// Why; at most 1000 characters.
    #[serde(default)]
    pub note: String,
    /// Which kind it counts for; the first that is still open unless given.
    pub kind: Option<String>,
}

/// Decide an approval.
pub enum Decide {}

impl Change for Decide {
    const SPEC: Spec = Spec {
        name: "approval.decide",
        doc: "Approve or reject. The approval that completes it carries the operation out at once.",
        scope: Reach::Full,
        route: post("/approvals/{id}").denied_as(Code::NotApprover),
        about: &[ResourceKind::Approval],
        events: &[EventKind::ApprovalDecided, EventKind::ApprovalUsed, EventKind::ApprovalStale],
    };
    type Input = Decision;
    type Output = ShownApproval;

    fn target(input: &Decision, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Decision, draft: &mut Draft<'_>) -> Result<ShownApproval, Stop> {
        let (me, read) = (permit.actor(), draft.read());
        let mut approval = find(&input.id, read)?;
        if input.note.chars().count() > 1000 {
            return Err(Refusal::field("note", "must have at most 1000 characters").into());
        }
        can_be_decided(&approval, &me, read)?;
        let kind = counts_for(&approval, &me, input.kind.as_deref(), read)?;
        let (note, at) = (input.note, read.now());
        approval.decisions.push(Decided {
            by: me,
            kind: kind.clone(),
            verdict: input.decision,
            note: note.clone(),
            at,
        });
        let complete = approval.kinds.iter().all(|kind| is_met(&approval, kind, read));
        approval.status = match input.decision {
            Verdict::Reject => ApprovalStatus::Rejected,
            Verdict::Approve if complete => ApprovalStatus::Approved,
            Verdict::Approve => ApprovalStatus::Pending,
        };
        let id = Id::stored(&approval.id);
        let requester = approval.actor.clone();
        draft.record(Event::ApprovalDecided {
            id: id.clone(),
            requester: requester.clone(),
            kind,
            verdict: input.decision,
            note,
            outcome: approval.status,
        })?;
        let outcome = match approval.status {
            ApprovalStatus::Approved => Some(draft.redeem(&approval, &approval.kinds)?),
            _ => None,
        };
        if matches!(approval.status, ApprovalStatus::Rejected) {
            approval.ended_at = Some(at);
        }
        let mut answer = ShownApproval { ..shown(approval, read) };
        match outcome {
            Some(Redeemed::Done(result)) => {
                draft.record(Event::ApprovalUsed { id, requester })?;
                answer =
                    ShownApproval { status: ApprovalStatus::Used, ended_at: Some(at), result: Some(result), ..answer };
            }
            Some(Redeemed::Stale(reason)) => {
                draft.record(Event::ApprovalStale { id, requester, reason: reason.clone() })?;
                answer =
                    ShownApproval { status: ApprovalStatus::Stale, ended_at: Some(at), stale: Some(reason), ..answer };
            }
            Some(Redeemed::AtNextCall) | None => {}
        }
        Ok(answer)
    }
}

fn can_be_decided(approval: &Approval, me: &ActorId, read: &Reader<'_>) -> Result<(), Refusal> {
    let status = now_is(approval, read.now());
    if status != ApprovalStatus::Pending {
        return Err(Refusal::conflict(format!("the approval is {status} already")));
    }
    if approval.decisions.iter().any(|decided| decided.by == *me) {
        return Err(Refusal::conflict("you have decided already"));
    }
    let teams = read.card(&approval.actor).map(|card| card.teams()).unwrap_or_default();
    let freezes = |scope: &KillScope| match scope {
        KillScope::Global => true,
        KillScope::Actor(id) => *id == approval.actor,
        KillScope::Team(team) => teams.contains(team),
        KillScope::Tool(_) => false,
    };
    match read.kills().find(|kill| freezes(&kill.scope)) {
        Some(kill) => Err(Refusal::conflict(format!("the kill switch {} freezes it", kill.scope))),
        None => Ok(()),
    }
}

/// The kind that a person's decision counts for: each person counts once in a request.
fn counts_for(approval: &Approval, me: &ActorId, asked: Option<&str>, read: &Reader<'_>) -> Result<String, Refusal> {
    let mine: Vec<&String> = approval.kinds.iter().filter(|kind| read.approvers(kind, approval).contains(me)).collect();
    let open = |kind: &&&String| !is_met(approval, kind, read);
    let kind = match asked {
        Some(asked) => mine.iter().find(|kind| kind.as_str() == asked),
        None => mine.iter().find(open).or_else(|| mine.first()),
    };
    let none = || Refusal::new(Code::NotApprover, "you may not give this approval");
    kind.map(|kind| (*kind).clone()).ok_or_else(none)
}
