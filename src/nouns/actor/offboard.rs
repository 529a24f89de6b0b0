//! Offboards an actor in one transaction. Tokens, open requests and delegations end; agents, teams, webhook subscriptions and
//! open tasks pass to the successor; an agent left without an owner is stopped by a kill switch. A team is removed once it has
//! no members.

use std::ops::Not;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resource::{ACTOR, TEAM};
use super::standing::stays_governed;
use crate::token;
use gate::{Change, Draft, Entry, Permit, Reader, Spec, Target, post};
use store::actors::events::{ActorOffboarded, LeadChanged, OwnerChanged};
use store::actors::{Actor, Status};
use store::approvals::events::{ApprovalCancelled, ApprovalTokenRevoked};
use store::delegations::events::DelegationRevoked;
use store::event::Event;
use store::kills::events::KillSwitch;
use store::runs::events::RunResumed;
use store::tasks::events::TaskAssigned;
use store::tokens::events::TokenRevoked;
use store::webhooks::events::{WebhookDisabled, WebhookHandedOn};
use types::actor::{ActorKind, KillScope};
use types::id::{ActorId, Id};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

pub const ALL: &[Entry] = &[Entry::change::<Offboard>()];

/// Who leaves.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Leaving {
    /// The actor who leaves, or an empty team.
    pub id: ActorId,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub reason: String,
    /// The person who takes over their agents, teams, webhooks and open tasks; by default the lead of their team, or of the nearest team above it with another lead. There is none by break-glass.
    #[arg(long, value_name = "ID")]
    pub successor: Option<ActorId>,
    /// Keep the tokens that they issued for others. By default these are revoked, too, because they may have kept copies.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[arg(long)]
    pub keep_issued: bool,
}

/// What the leaving of an actor brought about.
#[derive(Serialize, JsonSchema)]
pub struct Left {
    pub tokens_revoked: u64,
    /// Holders of revoked tokens that the leaving actor had issued: they need new ones.
    pub issued_revoked: Vec<ActorId>,
    pub approvals_cancelled: u64,
    /// Delegations from and to them that ended, with those that depended on them.
    pub delegations_revoked: u64,
    /// Agents that have another owner now.
    pub agents_handed_on: Vec<ActorId>,
    /// Agents without an owner, stopped by a kill switch.
    pub agents_stopped: Vec<ActorId>,
    /// Webhooks that the successor answers for now.
    pub webhooks_handed_on: Vec<String>,
    /// Webhooks that were disabled.
    pub webhooks_disabled: Vec<String>,
    /// Teams that the successor leads now.
    pub teams_handed_on: Vec<ActorId>,
    /// Teams that nobody leads any more.
    pub teams_without_lead: Vec<ActorId>,
    /// Open tasks that the successor has now.
    pub tasks_reassigned: Vec<String>,
    /// Open tasks that now have no owner, to be assigned again.
    pub tasks_left: Vec<String>,
    pub successor: Option<ActorId>,
}

/// Offboard an actor.
pub enum Offboard {}

impl Change for Offboard {
    const SPEC: Spec = Spec {
        name: "actor.offboard",
        doc: "Offboard a person or an agent: revoke their tokens and delegations, cancel their requests, and hand \
              over their agents, teams, webhooks and open tasks. Tokens that they issued for others are revoked, too, \
              unless `keep_issued` is set. Also removes a team without members.",
        scope: Reach::Full,
        route: post("/actors/{id}/offboard").stops(),
        about: &[&ACTOR, &TEAM],
        events: &[
            ActorOffboarded::KIND,
            TokenRevoked::KIND,
            ApprovalTokenRevoked::KIND,
            ApprovalCancelled::KIND,
            DelegationRevoked::KIND,
            OwnerChanged::KIND,
            LeadChanged::KIND,
            KillSwitch::KIND,
            WebhookHandedOn::KIND,
            WebhookDisabled::KIND,
            TaskAssigned::KIND,
            RunResumed::KIND,
        ],
    };
    const SAYS: &'static str =
        "offboards {id}[ and hands on to {successor}]{keep_issued?, and keeps the tokens that they issued|}";
    type Input = Leaving;
    type Output = Left;

    fn target(input: &Leaving, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.id)?;
        Ok(Target::Actor(input.id.clone()))
    }

    fn run(permit: Permit<Self>, input: Leaving, draft: &mut Draft<'_>) -> Result<Left, Stop> {
        if input.reason.chars().count() > 1000 {
            return Err(Refusal::field("reason", "must have at most 1000 characters").into());
        }
        let read = draft.read();
        let actor = read.actor(&input.id)?.actor.clone();
        may_leave(&actor, read)?;
        // By break-glass nothing is handed on: neither to a named successor (by policy), nor to the lead, who may be the
        // caller.
        let successor = if permit.is_break_glass() { None } else { successor(&actor, input.successor, read)? };
        let tokens = read.live_tokens_of(&actor.id)?;
        let requests = read.open_requests_of(&actor.id)?;
        // Their own requests end; those of agents in runs that they started keep waiting.
        token::doubt(&tokens, &requests, draft)?;
        let tokens_revoked = token::end_all(&tokens, draft)?;
        let issued_revoked = token::end_issued(&actor.id, input.keep_issued, &|_| false, &permit, draft)?;
        for id in &requests {
            draft.record(ApprovalCancelled { id: Id::stored(id), requester: actor.id.clone() })?;
        }
        let delegations_revoked = crate::delegation::end_all_of(&actor.id, draft)?;
        let is_followed = successor.is_some();
        let (teams_handed_on, teams_without_lead) =
            parted(hand_on_teams(&actor, successor.as_ref(), draft)?, is_followed);
        let (agents_handed_on, agents_stopped) =
            parted(hand_on_agents(&actor, successor.as_ref(), draft)?, is_followed);
        let webhooks = crate::webhook::hand_on(&actor.id, successor.as_ref(), draft)?;
        let (tasks_reassigned, tasks_left) = parted(hand_on_tasks(&actor, successor.as_ref(), draft)?, is_followed);
        let reason = input.reason;
        draft.record(ActorOffboarded { id: actor.id.clone(), reason, successor: successor.clone() })?;
        let_runs_go_on(&actor.id, draft)?;
        if actor.lead.is_some() {
            draft.record(LeadChanged { id: actor.id, lead: None })?;
        }
        Ok(Left {
            tokens_revoked,
            issued_revoked,
            approvals_cancelled: requests.len() as u64,
            delegations_revoked,
            agents_handed_on,
            agents_stopped,
            webhooks_handed_on: webhooks.on,
            webhooks_disabled: webhooks.disabled,
            teams_handed_on,
            teams_without_lead,
            tasks_reassigned,
            tasks_left,
            successor,
        })
    }
}

fn may_leave(actor: &Actor, read: &Reader<'_>) -> Result<(), Refusal> {
    if actor.status != Status::Active {
        return Err(Refusal::conflict(format!("{} has left already", actor.id)));
    }
    let mut within = read.within(&actor.id);
    if actor.kind == ActorKind::Team && within.any(|card| card.actor.status == Status::Active) {
        let message = format!("{} is not empty: move or offboard its members and the teams below it first", actor.id);
        return Err(Refusal::conflict(message));
    }
    stays_governed(&Actor { status: Status::Offboarded, lead: None, ..actor.clone() }, read)
}

/// Returns the successor: the person named, or the lead of the team.
fn successor(leaving: &Actor, named: Option<ActorId>, read: &Reader<'_>) -> Result<Option<ActorId>, Refusal> {
    let person = |id: &ActorId| {
        let fits = |actor: &Actor| actor.kind == ActorKind::Person && actor.status == Status::Active;
        *id != leaving.id && read.known(id).is_ok_and(|card| fits(&card.actor))
    };
    match named {
        Some(_) if leaving.kind == ActorKind::Team => Err(Refusal::field("successor", "a team has none")),
        None if leaving.kind == ActorKind::Team => Ok(None),
        Some(id) if person(&id) => Ok(Some(id)),
        Some(id) => Err(Refusal::field("successor", format!("{id} is not a person who could take over"))),
        None => {
            // For somebody without a team, the successor is the lead above the teams that they lead.
            let led = read.led_by(&leaving.id).map(|card| &card.actor.id);
            let teams = leaving.team.iter().chain(led).filter_map(|team| read.card(team));
            let above = teams.flat_map(|card| std::iter::once(&card.actor.id).chain(read.teams(card)));
            let mut leads = above.filter_map(|team| read.card(team)?.actor.lead.as_ref());
            Ok(leads.find(|lead| person(lead)).cloned())
        }
    }
}

/// Splits into what was handed on and what could not be.
fn parted<T>(all: Vec<T>, is_handed_on: bool) -> (Vec<T>, Vec<T>) {
    if is_handed_on { (all, Vec::new()) } else { (Vec::new(), all) }
}

fn hand_on_teams(leaving: &Actor, successor: Option<&ActorId>, draft: &mut Draft<'_>) -> Result<Vec<ActorId>, Stop> {
    let teams: Vec<ActorId> = draft.read().led_by(&leaving.id).map(|card| card.actor.id.clone()).collect();
    for id in &teams {
        draft.record(LeadChanged { id: id.clone(), lead: successor.cloned() })?;
    }
    Ok(teams)
}

/// Reassigns their open tasks to the successor. Without one they stay where they are, for anybody who sees them to assign.
fn hand_on_tasks(leaving: &Actor, successor: Option<&ActorId>, draft: &mut Draft<'_>) -> Result<Vec<String>, Stop> {
    let tasks = draft.read().open_tasks_of(&leaving.id)?;
    let Some(owner) = successor else { return Ok(tasks.into_iter().map(|task| task.id).collect()) };
    for task in &tasks {
        let (id, from, creator) = (Id::stored(&task.id), Some(leaving.id.clone()), task.creator.clone());
        draft.record(TaskAssigned { id, owner: owner.clone(), from, creator })?;
    }
    Ok(tasks.into_iter().map(|task| task.id).collect())
}

/// Hands their agents to the successor; without one, stops the agents by kill switch.
fn hand_on_agents(leaving: &Actor, successor: Option<&ActorId>, draft: &mut Draft<'_>) -> Result<Vec<ActorId>, Stop> {
    let owned = draft.read().owned_by(&leaving.id).map(|card| &card.actor);
    let active = owned.filter(|agent| agent.status == Status::Active);
    let agents: Vec<ActorId> = active.map(|agent| agent.id.clone()).collect();
    for id in &agents {
        let event: Event = match successor {
            Some(owner) => OwnerChanged { id: id.clone(), owner: owner.clone() }.into(),
            None => KillSwitch {
                scope: KillScope::Actor(id.clone()),
                engaged: true,
                reason: format!("{} left, and nobody is responsible for it", leaving.id),
            }
            .into(),
        };
        draft.record(event)?;
    }
    Ok(agents)
}

/// The maximum number of open runs that are examined when their agent leaves.
const MOST_RUNS: usize = 10_000;

/// Resumes runs that wait because of the leaving actor: their own runs end, and a run that asked them something learns that
/// they are gone.
fn let_runs_go_on(actor: &ActorId, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let mut runs = draft.read().open_runs_of(actor, MOST_RUNS)?;
    runs.extend(draft.read().runs_asking(actor)?);
    crate::run::resume(runs, draft)
}
