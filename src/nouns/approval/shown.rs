//! A request for approval as it is shown, with its progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::run::inputs;
use crate::token::SeenTokens;
use gate::reader::veil;
use gate::{Entry, Reader};
use store::approvals::{Approval, Decided};
use types::actor::KillScope;
use types::approval::{ApprovalStatus, Verdict};
use types::id::ActorId;
use types::quoted::plain;
use types::refusal::Fault;
use types::time::Time;

/// A parked call, as it is shown.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownApproval {
    pub id: String,
    pub status: ApprovalStatus,
    /// The operation that was asked for.
    pub action: String,
    /// What it is about.
    #[schemars(extend("x-names" = "reference"))]
    pub resource: String,
    /// The target's title, if its id does not say it and the caller may see it: a change's reason, the title of a task
    /// or of a run's task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who asked.
    pub actor: ActorId,
    /// On whose behalf, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<ActorId>,
    /// The delegation that it was asked under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// The run that it is a step of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The token that made the request, or that started its run, for those who may see it; none for the state file's
    /// holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// When that token was revoked: if it was stolen, somebody other than `actor` may have asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_revoked_at: Option<Time>,
    /// What would be done, as a sentence: `lea adds new2 as admin to team:ops`.
    pub summary: String,
    /// The call's input. Erasable values are shown only to approvers and requesters.
    pub args: Value,
    /// Arguments that are not shown, or not in full, because this caller may not see them or they were erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// SHA-256 of the exact call, without erasable values; the approval covers nothing else.
    pub digest: String,
    /// Why approval is needed.
    pub reason: String,
    /// The kinds of approval needed; all are required.
    pub approvers: Vec<Needed>,
    pub decisions: Vec<ShownDecision>,
    pub created_at: Time,
    pub expires_at: Time,
    pub ended_at: Option<Time>,
    /// After the decision that completed it: the operation's answer.
    #[schemars(extend("x-names" = "json"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it went stale.
    #[schemars(extend("x-names" = "text"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
}

/// One kind of approval that is needed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Needed {
    pub kind: String,
    /// How many people must agree.
    pub threshold: u32,
    /// Who has agreed and may still decide; once it has ended, who had agreed.
    pub held: Vec<ActorId>,
    /// Those of them who decided with a token that has since been revoked: they may decide again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_revoked: Vec<ActorId>,
    /// Who may decide, and has not decided otherwise.
    pub any_of: Vec<ActorId>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownDecision {
    pub by: ActorId,
    pub kind: String,
    pub decision: Verdict,
    pub note: String,
    pub at: Time,
    /// When the token used for it was revoked: if it was stolen, somebody else may have decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_revoked_at: Option<Time>,
}

pub(super) fn needed(approval: &Approval, read: &Reader<'_>) -> Vec<Needed> {
    approval.kinds.iter().map(|kind| needed_of(approval, kind, read)).collect()
}

pub(super) fn needed_of(approval: &Approval, kind: &str, read: &Reader<'_>) -> Needed {
    let may = read.approvers(kind, approval);
    let held = read.voices(approval, kind, &may);
    // Each person counts once.
    let stands = |decided: &&Decided| read.decision_stands(decided);
    let has_decided = |id: &ActorId| approval.decisions.iter().filter(stands).any(|decided| decided.by == *id);
    let any_of = may.into_iter().filter(|id| held.contains(id) || !has_decided(id)).collect();
    let doubted = |decided: &&Decided| held.contains(&decided.by) && read.is_revoked(decided.token_id.as_deref());
    let token_revoked = approval.decisions.iter().filter(doubted).map(|decided| decided.by.clone()).collect();
    Needed { kind: kind.to_owned(), threshold: read.approval_rule(kind).threshold, held, token_revoked, any_of }
}

/// Returns the kill switch that prevents deciding a request, if any: of the requester, of those on whose behalf they act, of
/// the issuer of the token used, or of the tool that a run would call.
pub(super) fn frozen_by(approval: &Approval, read: &Reader<'_>) -> Option<KillScope> {
    let theirs = || std::iter::once(&approval.actor).chain(&approval.behalf);
    let is_in = |team: &ActorId| theirs().filter_map(|id| read.card(id)).any(|card| read.teams(card).contains(team));
    let freezes = |scope: &&KillScope| match scope {
        KillScope::Global => true,
        KillScope::Actor(id) => theirs().chain(&approval.issuer).any(|one| one == id),
        KillScope::Team(team) => is_in(team),
        KillScope::Tool(tool) => approval.run.is_some() && *tool == approval.operation,
    };
    read.kills().map(|kill| &kill.scope).find(freezes).cloned()
}

/// Returns the message for a frozen request.
pub(super) fn frozen(by: &KillScope, read: &Reader<'_>) -> String {
    read.veiled(&format!("the kill switch {by} freezes it"))
}

/// Checks whether the caller is an approver, the requester, or somebody on whose behalf it was requested.
pub(super) fn reads_all(approval: &Approval, read: &Reader<'_>) -> bool {
    let me = read.caller().actor();
    let (asked, decided) = (approval.actor == me, approval.decisions.iter().any(|decided| decided.by == me));
    asked || decided || approval.behalf.contains(&me) || read.deciders(approval).contains(&me)
}

/// Returns the arguments that the caller may see, and the names of the others.
pub(super) fn arguments(approval: &Approval, read: &Reader<'_>) -> (Value, Vec<String>) {
    let (mut args, mut withheld) = whole_arguments(approval, read);
    inputs::read_plan(&mut args);
    let mut shown = args.clone();
    entry(approval).into_iter().for_each(|entry| inputs::veil(entry, &mut shown, read));
    // Approvers must know which arguments they do not see completely.
    let all = args.as_object().into_iter().flatten();
    withheld.extend(all.filter(|(name, value)| shown.get(name) != Some(value)).map(|(name, _)| name.clone()));
    (shown, withheld)
}

fn whole_arguments(approval: &Approval, read: &Reader<'_>) -> (Value, Vec<String>) {
    let Some(erasable) = &approval.erasable else {
        let names = entry(approval).into_iter().flat_map(|entry| entry.arguments().erasable()).map(str::to_owned);
        return (approval.input.clone(), names.collect());
    };
    match reads_all(approval, read) {
        true => (approval.whole_input(), Vec::new()),
        false => (approval.input.clone(), erasable.keys().cloned().collect()),
    }
}

/// Returns an approval as shown to the caller.
pub(super) fn shown(approval: Approval, read: &Reader<'_>) -> Result<ShownApproval, Fault> {
    shown_in(&mut SeenTokens::of(read), approval, read)
}

/// Same, within a list.
pub(super) fn shown_in(
    tokens: &mut SeenTokens<'_>,
    approval: Approval,
    read: &Reader<'_>,
) -> Result<ShownApproval, Fault> {
    let decision = |decided: Decided| {
        Ok::<_, Fault>(ShownDecision {
            token_revoked_at: read.revoked_at(decided.token_id.as_deref())?,
            by: decided.by,
            kind: decided.kind,
            decision: decided.verdict,
            note: decided.note,
            at: decided.at,
        })
    };
    let decisions = approval.decisions.iter().cloned().map(decision).collect::<Result<_, _>>()?;
    let (args, withheld) = arguments(&approval, read);
    let summary = summary(&approval, &args, read);
    let token_revoked_at = read.revoked_at(approval.token_id.as_deref())?;
    let token_id = match &approval.token_id {
        Some(id) if tokens.sees(id)? => Some(id.clone()),
        _ => None,
    };
    Ok(ShownApproval {
        approvers: needed(&approval, read),
        title: title(&approval, read).or_else(|| key_of_record(&args, read)),
        decisions,
        status: now_is(&approval, read.now()),
        id: approval.id,
        action: approval.operation,
        resource: approval.target,
        actor: approval.actor,
        on_behalf_of: approval.behalf,
        under: approval.under,
        run: approval.run.map(|facts| facts.run.to_string()),
        token_id,
        token_revoked_at,
        summary,
        args,
        withheld,
        digest: approval.digest,
        reason: approval.reason,
        created_at: approval.created_at,
        expires_at: approval.expires_at,
        ended_at: approval.ended_at,
        result: None,
        stale: approval.stale,
    })
}

/// Describes what the call would do, built from the arguments that the reader may see: actors in them are veiled, and what
/// people wrote is not.
pub(super) fn summary(approval: &Approval, args: &Value, read: &Reader<'_>) -> String {
    let who = requester(approval, read);
    let what = entry(approval).map_or_else(|| read.veiled(&approval.summary), |entry| plain(&entry.summary(args)));
    format!("{who} {what}")
}

/// Returns the requester, as far as the reader may see them.
pub(super) fn requester<'a>(approval: &'a Approval, read: &Reader<'_>) -> &'a str {
    let who = approval.actor.as_str();
    if read.hides(who) { veil::HIDDEN } else { who }
}

/// Returns the requested operation; `None` if it no longer exists.
pub(super) fn entry(approval: &Approval) -> Option<&'static Entry> {
    crate::OPERATIONS.iter().find(|entry| entry.spec.name == approval.operation)
}

/// Returns the title of the target.
fn title(approval: &Approval, read: &Reader<'_>) -> Option<String> {
    let named = entry(approval)?.spec.about.iter().filter_map(|noun| Some((noun, noun.title?)));
    let mut found =
        named.filter_map(|(noun, title)| Some(((noun.find)(&approval.target, read).ok().flatten()?, title)));
    let (target, title) = found.find(|(target, _)| read.sees(target))?;
    title(&target, read).ok().flatten()
}

/// Returns the key of a record to be written, from the values shown to the reader: lists tell requests apart by it.
fn key_of_record(args: &Value, read: &Reader<'_>) -> Option<String> {
    let of = read.collection(args.get("collection")?.as_str()?)?;
    let fields = args.get("fields")?.as_object()?;
    let is_open = |name: &&String| of.spec.fields.get(*name).is_some_and(|field| field.label.is_none());
    let key = of.spec.key.iter().filter(is_open).filter_map(|name| fields.get(name));
    let key: Vec<String> = key.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
    (!key.is_empty()).then(|| key.join(", "))
}

/// Returns the status; an overdue approval is expired, whether or not the tick has recorded that.
pub(super) fn now_is(approval: &Approval, now: Time) -> ApprovalStatus {
    match approval.status {
        ApprovalStatus::Pending | ApprovalStatus::Approved if now >= approval.expires_at => ApprovalStatus::Expired,
        status => status,
    }
}
