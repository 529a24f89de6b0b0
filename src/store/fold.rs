//! What each event does to the tables. Deterministic: the log alone decides, so folding it again rebuilds everything.

use rusqlite::Connection;

use super::kills::Kill;
use super::policies::{Applied, PolicySource};
use super::{
    actors, approvals, changes, company, delegations, glass, inbox, kills, outbox, policies, tokens, webhooks,
};
use crate::types::approval::{ApprovalStatus, Notice};
use crate::types::event::Event;
use crate::types::id::{ActorId, Id};
use crate::types::time::Time;

/// What the directory in memory must read again after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    Nothing,
    Actor(ActorId),
    Token(Id),
    Kills,
    Policy,
    /// The company's settings.
    Company,
    /// A candidate is tried, or no longer.
    Trial,
    /// These delegations.
    Delegations(Vec<String>),
    /// Break-glass grants.
    Glass,
    /// The places outside that are told of some things.
    Webhooks,
}

/// Folds one event into the tables.
pub fn fold(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<Touched> {
    inbox::fold(conn, at, by, event)?;
    let touched = |touched| move |()| touched;
    match event {
        Event::CompanyCreated { name, .. } => company::created(conn, at, name).map(touched(Touched::Nothing)),
        Event::CompanyUpdated { version, settings } => {
            company::updated(conn, *version, settings).map(touched(Touched::Company))
        }
        Event::PolicyApplied { .. } | Event::PolicySourceChanged { .. } => {
            policy(conn, at, by, event).map(touched(Touched::Policy))
        }
        Event::ChangeProposed { .. }
        | Event::ChangeReviewed { .. }
        | Event::EvalsRun { .. }
        | Event::CanaryMeasured { .. } => changes::fold(conn, at, by, event).map(touched(Touched::Nothing)),
        Event::CanaryStarted { .. }
        | Event::CanaryAborted { .. }
        | Event::ChangePromoted { .. }
        | Event::ChangeRejected { .. } => changes::fold(conn, at, by, event).map(touched(Touched::Trial)),
        Event::ActorHired { id, definition } => actors::hired(conn, id, definition).map(touched(Touched::Nothing)),
        Event::ActorAdded { id, .. }
        | Event::TrustChanged { id, .. }
        | Event::RoleChanged { id, .. }
        | Event::TeamChanged { id, .. }
        | Event::ActorRenamed { id, .. }
        | Event::ActorOffboarded { id, .. }
        | Event::OwnerChanged { id, .. }
        | Event::LeadChanged { id, .. } => actor(conn, at, event).map(touched(Touched::Actor(id.clone()))),
        Event::TokenIssued { id, .. }
        | Event::TokenRevoked { id, .. }
        | Event::TokenNarrowed { id, .. }
        | Event::TokenExpired { id, .. } => token(conn, at, event).map(touched(Touched::Token(id.clone()))),
        Event::KillSwitch { scope, engaged, reason } => {
            let kill = Kill { scope: scope.clone(), reason: reason.clone(), by: by.to_string(), at };
            kills::switched(conn, &kill, *engaged).map(touched(Touched::Kills))
        }
        Event::ApprovalRequested { .. }
        | Event::ArgumentsKept { .. }
        | Event::ContextForgotten { .. }
        | Event::ApprovalDecided { .. }
        | Event::ApprovalReminded { .. }
        | Event::ApprovalEscalated { .. }
        | Event::ApprovalUsed { .. }
        | Event::ApprovalStale { .. }
        | Event::ApprovalCancelled { .. }
        | Event::ApprovalExpired { .. } => approval(conn, at, by, event).map(touched(Touched::Nothing)),
        Event::DelegationGranted { .. }
        | Event::DelegationRevoked { .. }
        | Event::DelegationExpired { .. }
        | Event::BudgetReserved { .. }
        | Event::BudgetSettled { .. } => delegations::fold(conn, at, event).map(Touched::Delegations),
        Event::GlassBroken { .. }
        | Event::GlassUsed { .. }
        | Event::GlassEnded { .. }
        | Event::GlassReviewed { .. } => glass::fold(conn, at, by, event).map(touched(Touched::Glass)),
        Event::WebhookCreated { .. }
        | Event::WebhookUpdated { .. }
        | Event::WebhookRotated { .. }
        | Event::WebhookHandedOn { .. }
        | Event::WebhookDisabled { .. }
        | Event::WebhookDeleted { .. } => webhooks::fold(conn, at, event).map(touched(Touched::Webhooks)),
        Event::DeliveryIntended { .. } | Event::DeliveryAttempted { .. } | Event::DeliveryRequeued { .. } => {
            let otherwise = outbox::fold(conn, at, event)?;
            Ok(if otherwise { Touched::Webhooks } else { Touched::Nothing })
        }
        // These change no table but the inbox: an answer is its own record, and what a blueprint makes
        // or a test sends has events of its own.
        Event::Denied { .. }
        | Event::AccessDecided { .. }
        | Event::WebhookTested { .. }
        | Event::InboxItemRead { .. }
        | Event::BlueprintInstalled { .. } => Ok(Touched::Nothing),
    }
}

fn policy(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::PolicyApplied { version, hash, source, change, files } => {
            let change = change.as_ref().map(Id::to_string);
            let (version, hash, source) = (*version, hash.clone(), source.clone());
            policies::apply(conn, &Applied { version, hash, source, change, commit: None, by: by.clone(), at }, files)
        }
        Event::PolicySourceChanged { kind, url, r#ref, path, auto } => {
            let (kind, url, r#ref, path) = (*kind, url.clone(), r#ref.clone(), path.clone());
            policies::sourced(conn, &PolicySource { kind, url, r#ref, path, auto: *auto })
        }
        _ => Ok(()),
    }
}

fn actor(conn: &Connection, at: Time, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::ActorAdded { .. } => actors::added(conn, at, event),
        Event::TrustChanged { id, to, .. } => actors::set(conn, id, "trust", Some(to.name())),
        Event::RoleChanged { id, to, .. } => actors::set(conn, id, "role", Some(to.name())),
        Event::TeamChanged { id, to, .. } => actors::set(conn, id, "team", to.as_ref().map(ActorId::as_str)),
        Event::ActorRenamed { id, name } => actors::set(conn, id, "name", Some(name)),
        Event::ActorOffboarded { id, .. } => actors::set(conn, id, "status", Some("offboarded")),
        Event::OwnerChanged { id, owner } => actors::set(conn, id, "owner", Some(owner.as_str())),
        Event::LeadChanged { id, lead } => actors::set(conn, id, "lead", lead.as_ref().map(ActorId::as_str)),
        _ => Ok(()),
    }
}

fn token(conn: &Connection, at: Time, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::TokenIssued { id, holder, hash, label, scopes, issuer, expires_at } => {
            let (issuer, expires_at) = (issuer.as_ref(), *expires_at);
            tokens::issued(conn, at, &tokens::Issued { id, holder, hash, label, scopes, issuer, expires_at })
        }
        Event::TokenRevoked { id, .. } => tokens::ended(conn, at, id.as_str(), "revoked"),
        Event::TokenExpired { id, .. } => tokens::ended(conn, at, id.as_str(), "expired"),
        Event::TokenNarrowed { id, scopes, .. } => tokens::narrowed(conn, id.as_str(), scopes),
        _ => Ok(()),
    }
}

fn approval(conn: &Connection, at: Time, by: &ActorId, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::ApprovalRequested { .. } => approvals::requested(conn, at, by, event),
        Event::ArgumentsKept { id, arguments, .. } => approvals::kept(conn, id.as_str(), arguments),
        Event::ContextForgotten { approvals: of, .. } => {
            of.iter().try_for_each(|id| approvals::forgotten(conn, id.as_str()))
        }
        Event::ApprovalDecided { id, kind, verdict, note, outcome, .. } => {
            let decided =
                approvals::Decided { by: by.clone(), kind: kind.clone(), verdict: *verdict, note: note.clone(), at };
            approvals::decided(conn, id.as_str(), &decided, *outcome)
        }
        Event::ApprovalReminded { id, kind, .. } => approvals::noticed(conn, at, id.as_str(), kind, Notice::Reminded),
        Event::ApprovalEscalated { id, kind, .. } => approvals::noticed(conn, at, id.as_str(), kind, Notice::Escalated),
        Event::ApprovalUsed { id, .. } => approvals::became(conn, at, id.as_str(), ApprovalStatus::Used),
        Event::ApprovalStale { id, reason, .. } => approvals::stale(conn, at, id.as_str(), reason),
        Event::ApprovalCancelled { id, .. } => approvals::became(conn, at, id.as_str(), ApprovalStatus::Cancelled),
        Event::ApprovalExpired { id } => approvals::became(conn, at, id.as_str(), ApprovalStatus::Expired),
        _ => Ok(()),
    }
}
