//! Why an approval is needed, who may decide, and what happens then.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::shown::{Needed, needed, now_is};
use super::{OneApproval, find};
use crate::gate::{Permit, Query, Reader, ResourceKind, Spec, Target, get};
use crate::store::approvals::Approval;
use crate::types::approval::ApprovalStatus;
use crate::types::id::ActorId;
use crate::types::refusal::Stop;
use crate::types::scope::Reach;

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
