//! Finds what was begun with a token and outlives it.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resource::{TOKEN, target_of};
use super::{ListedToken, OneToken, find, row};
use gate::{Permit, Query, Reader, Spec, Target, get};
use log::read::{Filter, Logged, Order};
use store::approvals::Approval;
use store::break_glass::events::BreakGlassOpened;
use store::delegations::events::DelegationGranted;
use store::tokens::events::TokenIssued;
use store::webhooks::events::WebhookCreated;
use types::approval::ApprovalStatus;
use types::id::ActorId;
use types::refusal::{Fault, Stop};
use types::scope::Reach;
use types::time::Time;
use types::webhook::WebhookStatus;

/// What goes on of what was begun with tokens, as far as the caller sees it: no revocation ends it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct GoingOn {
    /// The open requests for approval that were made or decided with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// Those of them that are approved, and wait for their requester to repeat the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<String>,
    /// The open changes that were proposed or reviewed with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The runs that were begun with them, the first 1000 of each token.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// Entries before this time may not name their token and are not listed, as an earlier version wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unnamed_before: Option<Time>,
}

impl GoingOn {
    /// Collects it for these tokens; `open` are the open requests made or decided with them.
    pub(super) fn of(tokens: &[(String, ActorId)], open: Vec<Approval>, read: &Reader<'_>) -> Result<GoingOn, Fault> {
        let seen: Vec<Approval> = open.into_iter().filter(|one| read.sees(&read.approval_target(one))).collect();
        let is_approved = |one: &&Approval| one.status == ApprovalStatus::Approved;
        let approved = seen.iter().filter(is_approved).map(|one| one.id.clone()).collect();
        let mut unnamed_before = None;
        for (token, _) in tokens {
            unnamed_before = unnamed_before.max(read.unnamed_before(token)?);
        }
        Ok(GoingOn {
            requests: seen.into_iter().map(|one| one.id).collect(),
            approved,
            changes: read.seen_changes_with(tokens)?,
            runs: read.seen_runs_with(tokens)?,
            unnamed_before,
        })
    }
}

/// What was made with a token, or with one that was issued with it and has ended, and is still in force, as the log tells it and as
/// far as the caller sees it; the newest first of each token. Other changes stand in the log alone.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct Made {
    /// Tokens that were issued with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// Delegations that were granted with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegations: Vec<String>,
    /// Webhook subscriptions that were created with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<String>,
    /// Break-glass grants that were opened with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub break_glass: Vec<String>,
    /// What was made before then is not listed: only the newest 20,000 entries that name the token were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_at_since: Option<Time>,
}

/// The maximum number of log entries examined per answer.
const LOOKED_AT: usize = 20_000;

impl Made {
    /// Collects what was made with a token, and with tokens issued with it that have ended.
    fn with(token: &str, read: &Reader<'_>) -> Result<Made, Stop> {
        let (mut made, mut looked) = (Made::default(), 0);
        let mut tokens = vec![token.to_owned()];
        while let Some(token) = tokens.pop() {
            let filter = Filter { refs: vec![token.clone()], ..Filter::default() };
            read.scan(Order::Newest, &filter, &mut |logged| {
                looked += 1;
                if looked > LOOKED_AT {
                    made.looked_at_since = made.looked_at_since.max(Some(logged.at));
                    return Ok(ControlFlow::Break(()));
                }
                // (An entry about the token may be of a call made with another.)
                if logged.token_id.as_ref() == Some(&token) {
                    made.add(&logged, &mut tokens, read)?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(made)
    }

    /// Adds what an entry made, if that is still in force; adds a token that is not to `ended`.
    fn add(&mut self, logged: &Logged, ended: &mut Vec<String>, read: &Reader<'_>) -> Result<(), Fault> {
        let Some(id) = logged.event.as_ref().and_then(|event| event.get("id")?.as_str()) else { return Ok(()) };
        let now = read.now();
        let (kept, target) = match logged.kind.as_str() {
            kind if kind == TokenIssued::KIND.name => {
                let token = read.token(id)?;
                ended.extend(token.iter().filter(|token| !token.is_live(now)).map(|token| token.id.clone()));
                (&mut self.tokens, token.filter(|token| token.is_live(now)).as_ref().map(target_of))
            }
            kind if kind == DelegationGranted::KIND.name => {
                let given = read.delegation(id)?.filter(|given| given.terms.is_live(now));
                (&mut self.delegations, given.map(|given| read.delegation_target(&given)))
            }
            kind if kind == WebhookCreated::KIND.name => {
                let webhook = read.webhook(id)?.filter(|webhook| webhook.status != WebhookStatus::Disabled);
                (&mut self.webhooks, webhook.map(|webhook| read.webhook_target(&webhook, None)))
            }
            kind if kind == BreakGlassOpened::KIND.name => {
                let grant = read.break_glass(id)?.filter(|grant| grant.is_active(now));
                (&mut self.break_glass, grant.map(|grant| read.break_glass_target(&grant)))
            }
            _ => return Ok(()),
        };
        kept.extend(target.filter(|target| read.sees(target)).map(|_| id.to_owned()));
        Ok(())
    }
}

/// A token, and what goes on that was begun with it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownToken {
    #[serde(flatten)]
    pub token: ListedToken,
    #[serde(flatten)]
    pub going_on: GoingOn,
    #[serde(flatten)]
    pub made: Made,
}

/// Show one token.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "token.read",
        doc: "Show one token, and what outlives it: requests, changes and runs that were begun with it and go on, and the \
              tokens, delegations, webhook subscriptions and break-glass grants that were made with it and hold.",
        scope: Reach::READ,
        route: get("/tokens/id/{id}").listed(),
        about: &[&TOKEN],
        events: &[],
    };
    type Input = OneToken;
    type Output = ShownToken;

    fn target(input: &OneToken, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(target_of(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneToken, read: &Reader<'_>) -> Result<ShownToken, Stop> {
        let token = find(&input.id, read)?;
        let this = [(token.id.clone(), token.holder.clone())];
        let open = read.open_requests_with(&this)?;
        Ok(ShownToken {
            going_on: GoingOn::of(&this, open, read)?,
            made: Made::with(&token.id, read)?,
            token: row(token, read),
        })
    }
}
