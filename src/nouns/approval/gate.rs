//! Reads requests for approval, and who may decide them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Reader;
use crate::approve::approvers::{self, Requesting};
use crate::decide::{question, usage};
use crate::declare::target::{Target, Thing};
use policy::Ruling;
use policy::approvals::ApprovalRule;
use store::approvals::{self, Approval};
use types::approval::Notice;
use types::id::ActorId;
use types::refusal::Fault;
use types::time::{HOUR, Time};

/// Default hours until an approval expires, unless the company sets its own.
const DEFAULT_TTL_H: i64 = 72;

impl Reader<'_> {
    pub fn approval(&self, id: &str) -> Result<Option<Approval>, Fault> {
        Ok(approvals::get(self.conn()?, id)?)
    }

    /// Returns the gate's ruling on a call that was approved and counted at this cost, as its requester would make it now: the
    /// call itself is left out of the usage counted before it.
    pub fn ruling_of_approved(&self, approval: &Approval, target: &Target, cents: i64) -> Ruling {
        let input = approval.whole_input();
        let call = question::Call { operation: &approval.operation, target, input: Some(&input) };
        let mut world = self.world.clone();
        if let (Some(histories), Some(at)) = (&mut world.histories, approval.ended_at) {
            usage::uncount(histories, (&approval.actor, &approval.operation), at, cents);
        }
        question::Asker::of(&world, &approval.requester(), call, self.now).ask(call.operation, &approval.kinds)
    }

    /// Returns who may decide the pending requests about a target; nobody if that cannot be read.
    pub fn deciders_about(&self, target: &str) -> Vec<ActorId> {
        let pending = self.conn().ok().and_then(|conn| approvals::pending_about(conn, target, self.now).ok());
        let deciders = |approval: Approval| self.deciders(&approval);
        let all: BTreeSet<ActorId> = pending.into_iter().flatten().flat_map(deciders).collect();
        all.into_iter().collect()
    }

    /// Returns everybody who may decide a request now.
    pub fn deciders(&self, approval: &Approval) -> BTreeSet<ActorId> {
        approval.kinds.iter().flat_map(|kind| self.approvers(kind, approval)).collect()
    }

    /// Returns decided requests for the same operation, newest first.
    pub fn decided_like(&self, approval: &Approval, limit: usize) -> Result<Vec<Approval>, Fault> {
        Ok(approvals::decided_like(self.conn()?, &approval.operation, &approval.id, limit)?)
    }

    /// Returns the newest 100 requests for an operation on a target, whatever their outcome.
    pub fn requests_about(&self, operation: &str, target: &str) -> Result<Vec<Approval>, Fault> {
        Ok(approvals::asked_about(self.conn()?, operation, target, 100)?)
    }

    /// Returns the open requests for an operation on a target: undecided, or approved and not used yet.
    pub fn open_requests_about(&self, operation: &str, target: &str) -> Result<Vec<Approval>, Fault> {
        let open = approvals::open_about(self.conn()?, target, self.now)?.into_iter();
        Ok(open.filter(|approval| approval.operation == operation).collect())
    }

    /// Returns the lifetime in milliseconds of a call that needs these approvals: the shortest of their rules.
    pub(crate) fn approval_life(&self, ruling: &Ruling) -> Result<i64, Fault> {
        let Ruling::NeedsApproval { kinds, .. } = ruling else { return Ok(0) };
        let company = self.approval_hours()?;
        let hours = kinds.iter().map(|kind| self.approval_rule(kind).ttl_hours.map_or(company, i64::from)).min();
        Ok(hours.unwrap_or(company) * HOUR)
    }

    /// How long a request lives, in hours, where no rule says.
    pub fn approval_hours(&self) -> Result<i64, Fault> {
        let settings = self.company()?.settings;
        Ok(settings.pointer("/approvals/default_ttl_h").and_then(Value::as_i64).unwrap_or(DEFAULT_TTL_H))
    }

    /// Returns the rule for a kind of approval.
    pub fn approval_rule(&self, kind: &str) -> ApprovalRule {
        self.world.policy.approvals().rule(kind)
    }

    /// Returns the ids of an actor's own open requests.
    pub fn open_requests_of(&self, actor: &ActorId) -> Result<Vec<String>, Fault> {
        Ok(approvals::open_of(self.conn()?, actor)?)
    }

    /// Returns the open requests made or decided with these tokens, each once.
    pub fn open_requests_with(&self, tokens: &[(String, ActorId)]) -> Result<Vec<Approval>, Fault> {
        let conn = self.conn()?;
        let mut open = BTreeMap::new();
        for (token, _) in tokens {
            open.extend(approvals::open_with(conn, token, self.now)?.into_iter().map(|one| (one.id.clone(), one)));
        }
        Ok(open.into_values().collect())
    }

    /// Returns a kind of approval for which `then` has too few approvers, and fewer than now.
    pub fn kind_that_lacks(&self, then: &Reader<'_>) -> Option<String> {
        let rules = self.world.policy.approvals();
        let named: BTreeSet<&str> =
            self.world.policy.policies().flat_map(|policy| policy.kinds.iter().map(String::as_str)).collect();
        let system = ActorId::system();
        let lacks = |kind: &&str| {
            let rule = rules.rule(kind);
            // Asked for nobody in particular: rules that depend on the requester name nobody here.
            let able = |world, most| approvers::some(world, &rule, &system, (self.now, self.now), most).len();
            let wanted = rule.threshold as usize;
            let left = able(then.world, wanted);
            left < wanted && left < able(self.world, wanted)
        };
        named.into_iter().find(lacks).map(str::to_owned)
    }

    /// Returns who may give a kind of approval to a request now.
    pub fn approvers(&self, kind: &str, approval: &Approval) -> BTreeSet<ActorId> {
        self.approvers_at(kind, approval, self.now)
    }

    /// Same at another time: the longer a request has waited, the more people may.
    pub fn approvers_at(&self, kind: &str, approval: &Approval, at: Time) -> BTreeSet<ActorId> {
        let Approval { actor: requester, behalf, issuer, .. } = approval;
        let request = Requesting { requester, behalf, issuer: issuer.as_ref() };
        approvers::approvers(self.world, &self.approval_rule(kind), request, approval.created_at, at)
    }

    /// Returns undecided calls that have waited long enough by `now` for a reminder or escalation.
    pub fn long_pending(&self, now: Time) -> Result<Vec<Approval>, Fault> {
        let waits = self.world.policy.approvals().kinds.values().flat_map(|rule| rule.waits());
        let Some(hours) = waits.map(|(_, hours)| hours).min() else { return Ok(Vec::new()) };
        Ok(approvals::pending_since(self.conn()?, now.plus_ms(-i64::from(hours) * HOUR), now)?)
    }

    /// Returns the notices already sent for a call, by kind of approval.
    pub fn approval_notices(&self, id: &str) -> Result<BTreeSet<(String, Notice)>, Fault> {
        Ok(approvals::notices(self.conn()?, id)?)
    }

    /// Returns the approval as a target of the gate.
    pub fn approval_target(&self, approval: &Approval) -> Target {
        let deciders = self.deciders(approval);
        Thing::new("Approval", &approval.id)
            .actor("requester", &approval.actor)
            .text("operation", &approval.operation)
            .actors("approvers", deciders)
            .actors("behalf", approval.behalf.iter().cloned())
            .maybe("issuer", approval.issuer.as_ref())
            .into()
    }

    pub fn overdue_approvals(&self, now: Time, limit: usize) -> Result<Vec<String>, Fault> {
        Ok(approvals::overdue(self.conn()?, now, limit)?)
    }
}
