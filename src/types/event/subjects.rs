//! What each event is about.

use std::collections::BTreeSet;

use super::Event;
use crate::types::actor::KillScope;
use crate::types::id::{ActorId, Id};

impl Event {
    /// The ids of what the event is about: what `GET /events` filters by, and what its visibility hangs on.
    pub fn subjects(&self) -> Vec<String> {
        let ids: Vec<String> = match self {
            // Whom another program asks about is nobody in the directory.
            Event::CompanyCreated { .. }
            | Event::CompanyUpdated { .. }
            | Event::PolicySourceChanged { .. }
            | Event::InboxItemRead { .. }
            | Event::AccessDecided { .. } => vec![],
            Event::PolicyApplied { change, .. } | Event::BlueprintInstalled { change, .. } => texts(change),
            Event::ChangeProposed { id, .. } | Event::GlassBroken { id, .. } => vec![id.to_string()],
            Event::ChangeReviewed { id, author, .. }
            | Event::EvalsRun { id, author, .. }
            | Event::CanaryStarted { id, author, .. }
            | Event::CanaryMeasured { id, author, .. }
            | Event::CanaryAborted { id, author, .. }
            | Event::ChangePromoted { id, author, .. }
            | Event::ChangeRejected { id, author, .. } => vec![id.to_string(), author.to_string()],
            Event::ActorAdded { .. }
            | Event::ActorHired { .. }
            | Event::TrustChanged { .. }
            | Event::RoleChanged { .. }
            | Event::TeamChanged { .. }
            | Event::ActorRenamed { .. }
            | Event::ActorOffboarded { .. }
            | Event::OwnerChanged { .. }
            | Event::LeadChanged { .. } => actors(self).into_iter().map(ActorId::to_string).collect(),
            Event::KillSwitch { scope, .. } => stopped(scope).into_iter().collect(),
            Event::Denied { target, .. } => vec![target.clone()],
            // Not its target: who sees a request is for the approval's own rules.
            Event::ApprovalRequested { id, .. } => vec![id.to_string()],
            Event::ApprovalExpired { id } => vec![id.to_string()],
            Event::TokenIssued { id, holder, .. }
            | Event::TokenRevoked { id, holder }
            | Event::TokenNarrowed { id, holder, .. }
            | Event::TokenExpired { id, holder }
            | Event::GlassUsed { id, holder, .. }
            | Event::GlassEnded { id, holder }
            | Event::GlassReviewed { id, holder, .. } => vec![id.to_string(), holder.to_string()],
            Event::ApprovalDecided { id, requester, .. }
            | Event::ApprovalReminded { id, requester, .. }
            | Event::ApprovalEscalated { id, requester, .. }
            | Event::ApprovalCancelled { id, requester }
            | Event::ApprovalUsed { id, requester }
            | Event::ArgumentsKept { id, requester, .. }
            | Event::ApprovalStale { id, requester, .. } => vec![id.to_string(), requester.to_string()],
            Event::DelegationGranted { id, to, parent, chain, .. } => {
                let ids = [Some(id), parent.as_ref()].into_iter().flatten().map(Id::to_string);
                ids.chain(chain.iter().chain([to]).map(ActorId::to_string)).collect()
            }
            Event::DelegationRevoked { id, from, to, .. }
            | Event::DelegationExpired { id, from, to }
            | Event::WebhookHandedOn { id, from, owner: to } => {
                vec![id.to_string(), from.to_string(), to.to_string()]
            }
            Event::BudgetReserved { id, delegation: of, to, .. }
            | Event::BudgetSettled { id, delegation: of, to, .. }
            | Event::DeliveryIntended { id, webhook: of, owner: to, .. }
            | Event::DeliveryAttempted { id, webhook: of, owner: to, .. }
            | Event::DeliveryRequeued { id, webhook: of, owner: to } => {
                vec![id.to_string(), of.to_string(), to.to_string()]
            }
            Event::WebhookCreated { id, owner, .. }
            | Event::WebhookUpdated { id, owner, .. }
            | Event::WebhookRotated { id, owner, .. }
            | Event::WebhookDisabled { id, owner, .. }
            | Event::WebhookDeleted { id, owner }
            | Event::WebhookTested { id, owner } => vec![id.to_string(), owner.to_string()],
            Event::ContextForgotten { events, .. } => events.iter().map(|seq| format!("event:{seq}")).collect(),
        };
        let sorted: BTreeSet<String> = ids.into_iter().filter(|id| !id.is_empty()).collect();
        sorted.into_iter().collect()
    }
}

/// The actors that a change of the directory is about.
fn actors(event: &Event) -> Vec<&ActorId> {
    match event {
        Event::ActorAdded { id, team, lead, owner, .. } => {
            [Some(id), team.as_ref(), lead.as_ref(), owner.as_ref()].into_iter().flatten().collect()
        }
        Event::TrustChanged { id, .. }
        | Event::ActorHired { id, .. }
        | Event::RoleChanged { id, .. }
        | Event::ActorRenamed { id, .. } => vec![id],
        Event::TeamChanged { id, from, to } => [Some(id), from.as_ref(), to.as_ref()].into_iter().flatten().collect(),
        Event::ActorOffboarded { id, successor: other, .. } | Event::LeadChanged { id, lead: other } => {
            [Some(id), other.as_ref()].into_iter().flatten().collect()
        }
        Event::OwnerChanged { id, owner } => vec![id, owner],
        _ => vec![],
    }
}

/// Whom or what a kill switch stops; nobody in particular where it stops everything.
fn stopped(scope: &KillScope) -> Option<String> {
    match scope {
        KillScope::Global => None,
        KillScope::Actor(id) | KillScope::Team(id) => Some(id.to_string()),
        KillScope::Tool(id) => Some(format!("tool:{id}")),
    }
}

/// The ids that there are.
fn texts<'a>(ids: impl IntoIterator<Item = &'a Id>) -> Vec<String> {
    ids.into_iter().map(Id::to_string).collect()
}
