//! Everything that can happen, as the log keeps it. An event says what became true; its fold into the tables needs
//! nothing else. No event holds a secret: of a token, only the hash.

mod subjects;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::{ActorKind, KillScope, Role, Trust};
use super::approval::{ApprovalStatus, Verdict};
use super::caller::Channel;
use super::change::{ChangeTarget, EvalCase, ReviewVerdict, SourceKind};
use super::delegation::Authority;
use super::glass::GlassVerdict;
use super::id::{ActorId, Id};
use super::impact::{TrialTerms, Trialled};
use super::operations::Operations;
use super::scope::Scopes;
use super::time::Time;
use super::webhook::{Outcome, SignatureFormat, Topic};

macro_rules! events {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal $(hides $hidden:literal)? {
        $($(#[$fmeta:meta])* $field:ident: $type:ty,)*
    })*) => {
        /// An event with its content.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type")]
        #[allow(clippy::large_enum_variant, reason = "an event is made, folded and logged; few live at once")]
        pub enum Event { $(
            $(#[doc = $doc])+
            #[serde(rename = $name)]
            $variant { $($(#[$fmeta])* $field: $type,)* },
        )* }

        /// An event's type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum EventKind { $(
            $(#[doc = $doc])+
            #[serde(rename = $name)]
            $variant,
        )* }

        impl Event {
            pub const fn kind(&self) -> EventKind { match self { $(Event::$variant { .. } => EventKind::$variant,)* } }
        }

        impl EventKind {
            pub const ALL: &[EventKind] = &[$(EventKind::$variant,)*];
            pub const fn name(self) -> &'static str { match self { $(EventKind::$variant => $name,)* } }
            /// One sentence for the reference.
            pub const fn doc(self) -> &'static str { match self { $(EventKind::$variant => concat!($($doc,)+),)* } }
            /// The field that the log needs and readers do not: left out where events are shown.
            pub const fn hidden(self) -> Option<&'static str> {
                match self { $($(EventKind::$variant => Some($hidden),)?)* #[allow(unreachable_patterns, reason = "not every kind hides a field")] _ => None }
            }
            /// The names of the event's fields.
            pub const fn fields(self) -> &'static [&'static str] {
                match self { $(EventKind::$variant => &[$(stringify!($field),)*],)* }
            }
        }
    };
}

events! {
    /// A company began.
    CompanyCreated = "company_created" hides "seal" { name: String, seal: String, }
    /// The company's settings changed.
    CompanyUpdated = "company_updated" { version: i64, settings: serde_json::Value, }
    /// A policy bundle came into force.
    PolicyApplied = "policy_applied" hides "files" {
        version: i64, hash: String, source: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Id>,
        files: BTreeMap<String, String>,
    }
    /// The company said where it keeps its policies.
    PolicySourceChanged = "policy_source_changed" {
        kind: SourceKind, url: Option<String>, r#ref: Option<String>, path: Option<String>, auto: bool,
    }
    /// Somebody proposed a change.
    ChangeProposed = "change_proposed" hides "files" {
        id: Id, target: ChangeTarget, base_version: i64, hash: String, reason: String, commit: Option<String>,
        rolls_back: Option<i64>, files: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        on_behalf_of: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
        /// Who may review what a pipeline proposed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<ActorId>,
    }
    /// Somebody else reviewed a change.
    ChangeReviewed = "change_reviewed" { id: Id, author: ActorId, verdict: ReviewVerdict, note: String, }
    /// A change was put to its tests.
    EvalsRun = "evals_run" { id: Id, author: ActorId, hash: String, cases: Vec<EvalCase>, }
    /// A change is tried beside what is in force; no answer is changed by it.
    CanaryStarted = "canary_started" { id: Id, author: ActorId, terms: TrialTerms, }
    /// What a trial has shown so far.
    CanaryMeasured = "canary_measured" { id: Id, author: ActorId, trialled: Trialled, }
    /// A trial ended by itself: too many decisions would have come out otherwise.
    CanaryAborted = "canary_aborted" {
        id: Id, author: ActorId, reason: String, trialled: Trialled,
        /// What its author is told: the figures too, where they may read the audit.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        told: String,
    }
    /// A change came into force.
    ChangePromoted = "change_promoted" { id: Id, author: ActorId, version: i64, }
    /// A change was rejected, or taken back by its author.
    ChangeRejected = "change_rejected" { id: Id, author: ActorId, reason: String, withdrawn: bool, }
    /// A person, an agent or a team joined.
    ActorAdded = "actor_added" {
        id: ActorId, kind: ActorKind, name: String, role: Role, team: Option<ActorId>, lead: Option<ActorId>,
        owner: Option<ActorId>, skills: Vec<String>, trust: Trust,
    }
    /// An agent was hired by this definition; it joins with the event before.
    ActorHired = "actor_hired" {
        id: ActorId, #[schemars(extend("x-names" = "json"))] definition: serde_json::Value,
    }
    /// A blueprint was installed: what it made, what was there already, what it still takes.
    BlueprintInstalled = "blueprint_installed" {
        blueprint: String, hash: String,
        #[schemars(extend("x-names" = "reference"))] created: Vec<String>,
        #[schemars(extend("x-names" = "reference"))] skipped: Vec<String>,
        needs: Vec<String>,
        change: Option<Id>,
    }
    /// An actor's trust tier changed.
    TrustChanged = "trust_changed" { id: ActorId, from: Trust, to: Trust, reason: String, }
    /// A person has another role.
    RoleChanged = "role_changed" { id: ActorId, from: Role, to: Role, }
    /// A person, an agent or a team is in another team, or in none.
    TeamChanged = "team_changed" { id: ActorId, from: Option<ActorId>, to: Option<ActorId>, }
    /// A person, an agent or a team has another name.
    ActorRenamed = "actor_renamed" { id: ActorId, name: String, }
    /// Somebody left: none of their tokens and requests lives on. Or a team, which nobody was in any more.
    ActorOffboarded = "actor_offboarded" { id: ActorId, reason: String, successor: Option<ActorId>, }
    /// An agent got another owner.
    OwnerChanged = "owner_changed" { id: ActorId, owner: ActorId, }
    /// A team got another lead, or none.
    LeadChanged = "lead_changed" { id: ActorId, lead: Option<ActorId>, }
    /// An API token was issued.
    TokenIssued = "token_issued" hides "hash" {
        id: Id, holder: ActorId, hash: String, label: String, scopes: Scopes, issuer: Option<ActorId>,
        expires_at: Time,
    }
    /// A token was revoked.
    TokenRevoked = "token_revoked" { id: Id, holder: ActorId, }
    /// A token's scopes were narrowed.
    TokenNarrowed = "token_narrowed" { id: Id, holder: ActorId, scopes: Scopes, }
    /// A token reached its end; the tick notes it.
    TokenExpired = "token_expired" { id: Id, holder: ActorId, }
    /// A kill switch was engaged or released.
    KillSwitch = "kill_switch" { scope: KillScope, engaged: bool, reason: String, }
    /// The gate refused an operation; with a `count`, as often again within a second of the entry before.
    Denied = "denied" {
        operation: String, #[schemars(extend("x-names" = "reference"))] target: String, reason: String,
        fault: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_at: Option<Time>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_at: Option<Time>,
    }
    /// Another program asked for a decision about the company's own types.
    AccessDecided = "access_decided" hides "asked" {
        subject: String, action: String, resource: String, decision: bool, needs_approval: Vec<String>,
        policies: Vec<String>, policy_version: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<serde_json::Value>,
    }
    /// An operation waits for people.
    ApprovalRequested = "approval_requested" {
        id: Id, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        #[schemars(extend("x-names" = "text"))] summary: String,
        #[schemars(extend("x-names" = "json"))] input: serde_json::Value,
        #[schemars(extend("x-names" = "json"))] resource: serde_json::Value,
        kinds: Vec<String>, digest: String, reason: String, channel: Channel, expires_at: Time,
        approvers: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        under: Option<Id>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        on_behalf_of: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
    }
    /// What a call that waits was given beside, in an entry of its own: it can be erased.
    ArgumentsKept = "arguments_kept" hides "arguments" {
        id: Id, requester: ActorId, arguments: serde_json::Map<String, serde_json::Value>,
    }
    /// Somebody approved or rejected.
    ApprovalDecided = "approval_decided" {
        id: Id, requester: ActorId, kind: String, verdict: Verdict, note: String, outcome: ApprovalStatus,
    }
    /// The approved operation was carried out; the approval is spent.
    ApprovalUsed = "approval_used" { id: Id, requester: ActorId, }
    /// What was approved is not what would happen now; it has to be asked for again.
    ApprovalStale = "approval_stale" {
        id: Id, requester: ActorId, #[schemars(extend("x-names" = "text"))] reason: String,
    }
    /// Nobody has decided yet: whoever may is told again. Once for each kind of approval.
    ApprovalReminded = "approval_reminded" {
        id: Id, requester: ActorId, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        kind: String, approvers: Vec<ActorId>,
    }
    /// It has waited so long that more people may decide, and are told. Once for each kind of approval.
    ApprovalEscalated = "approval_escalated" {
        id: Id, requester: ActorId, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        kind: String, approvers: Vec<ActorId>,
    }
    /// The requester took it back or left, or did it under a break-glass grant: nothing will come of the request.
    ApprovalCancelled = "approval_cancelled" { id: Id, requester: ActorId, }
    /// Somebody goes on without approval for a short time; whoever may review it is told.
    GlassBroken = "glass_broken" {
        id: Id, operations: Operations, reason: String, expires_at: Time, told: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
    }
    /// A call went on because of it; whoever would have approved is told.
    GlassUsed = "glass_used" {
        id: Id, holder: ActorId, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        kinds: Vec<String>, skipped: Vec<ActorId>,
    }
    /// A break-glass grant ended before its time.
    GlassEnded = "glass_ended" { id: Id, holder: ActorId, }
    /// Somebody else said whether it was justified; its holder may have another.
    GlassReviewed = "glass_reviewed" { id: Id, holder: ActorId, verdict: GlassVerdict, note: String, }
    /// Nobody decided in time; the operation will not happen.
    ApprovalExpired = "approval_expired" { id: Id, }
    /// Somebody lets another act on their behalf.
    DelegationGranted = "delegation_granted" {
        id: Id, from: ActorId, to: ActorId, scope: Operations, authority: Authority, tools: BTreeSet<String>,
        budget_cents: Option<i64>, expires_at: Time, parent: Option<Id>, depth: u32, chain: Vec<ActorId>,
    }
    /// A delegation was taken back or given back, or what it rested on was.
    DelegationRevoked = "delegation_revoked" { id: Id, from: ActorId, to: ActorId, with: Option<Id>, }
    /// A delegation reached its end; the tick notes it.
    DelegationExpired = "delegation_expired" { id: Id, from: ActorId, to: ActorId, }
    /// A part of a delegation's budget was set aside, before it is spent.
    BudgetReserved = "budget_reserved" { id: Id, delegation: Id, to: ActorId, cents: i64, purpose: String, }
    /// What was set aside came to this.
    BudgetSettled = "budget_settled" { id: Id, delegation: Id, to: ActorId, cents: i64, }
    /// Somebody named a place outside that is told of some things.
    WebhookCreated = "webhook_created" hides "url" {
        id: Id, owner: ActorId, host: String, url: String, topics: BTreeSet<Topic>, agents: BTreeSet<ActorId>,
        description: String, include_output: bool, format: SignatureFormat,
    }
    /// A webhook is told of other things, or at another place; or it was switched on or off.
    WebhookUpdated = "webhook_updated" hides "url" {
        id: Id, owner: ActorId, host: String, url: String, topics: BTreeSet<Topic>, agents: BTreeSet<ActorId>,
        description: String, include_output: bool, enabled: bool,
    }
    /// A webhook got another secret, which is kept nowhere; the one before it holds until this time.
    WebhookRotated = "webhook_rotated" { id: Id, owner: ActorId, generation: u32, both_until: Time, }
    /// A webhook got another owner.
    WebhookHandedOn = "webhook_handed_on" { id: Id, from: ActorId, owner: ActorId, }
    /// Nothing is sent to a webhook any more until it is switched on; whoever answers for it is told.
    WebhookDisabled = "webhook_disabled" { id: Id, owner: ActorId, host: String, reason: String, told: Vec<ActorId>, }
    /// A webhook was deleted; nothing more is sent.
    WebhookDeleted = "webhook_deleted" { id: Id, owner: ActorId, }
    /// Somebody had a message sent to see whether it arrives.
    WebhookTested = "webhook_tested" { id: Id, owner: ActorId, }
    /// A message is to be sent. Recorded with what it tells of, in one transaction.
    DeliveryIntended = "delivery_intended" {
        id: Id, webhook: Id, owner: ActorId, topic: String, body: String,
    }
    /// What came of one attempt to send it.
    DeliveryAttempted = "delivery_attempted" {
        id: Id, webhook: Id, owner: ActorId, attempt: u32, outcome: Outcome, http_status: Option<u16>,
        error: Option<String>, next_at: Option<Time>,
    }
    /// Somebody wants a message sent once more.
    DeliveryRequeued = "delivery_requeued" { id: Id, webhook: Id, owner: ActorId, }
    /// Somebody read an item of their own inbox.
    InboxItemRead = "inbox_item_read" { item: String, }
    /// The content of events was erased. The entry itself names them as `event:<seq>`.
    ContextForgotten = "context_forgotten" {
        events: Vec<i64>, reason: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvals: Vec<Id>,
    }
}

impl EventKind {
    /// Whether it may put something into an inbox or settle it there.
    pub const fn reaches_inboxes(self) -> bool {
        use EventKind as Kind;
        matches!(
            self,
            Kind::ActorAdded
                | Kind::ActorOffboarded
                | Kind::RoleChanged
                | Kind::TeamChanged
                | Kind::OwnerChanged
                | Kind::LeadChanged
                | Kind::KillSwitch
                | Kind::ApprovalRequested
                | Kind::ApprovalDecided
                | Kind::ApprovalUsed
                | Kind::ApprovalStale
                | Kind::ApprovalReminded
                | Kind::ApprovalEscalated
                | Kind::ApprovalCancelled
                | Kind::ApprovalExpired
                | Kind::GlassBroken
                | Kind::GlassUsed
                | Kind::GlassReviewed
                | Kind::DelegationGranted
                | Kind::DelegationRevoked
                | Kind::DelegationExpired
                | Kind::ChangeProposed
                | Kind::ChangeReviewed
                | Kind::ChangeRejected
                | Kind::ChangePromoted
                | Kind::CanaryAborted
                | Kind::WebhookUpdated
                | Kind::WebhookDisabled
                | Kind::WebhookDeleted
        )
    }

    /// Whether the content can be erased without the tables losing anything.
    pub const fn is_forgettable(self) -> bool {
        matches!(self, EventKind::Denied | EventKind::AccessDecided | EventKind::ArgumentsKept)
    }
}
