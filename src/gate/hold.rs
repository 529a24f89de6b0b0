//! Parking a call that people must approve: what exactly was asked is fixed by a digest, so that nothing else can be
//! done in its name.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::target::Target;
use crate::policy::Ruling;
use crate::types::caller::Caller;
use crate::types::canonical;
use crate::types::event::Event;
use crate::types::id::{ActorId, Id};
use crate::types::refusal::{Code, Fault, Refusal};
use crate::types::time::{DAY, Time};

/// An approval that nobody decides in this time is a rejection.
const LIFE_MS: i64 = 3 * DAY;

/// What was asked.
pub(super) struct Asked<'a> {
    pub operation: &'a str,
    pub input: &'a Value,
}

#[derive(Serialize)]
struct Exact<'a> {
    action: &'a str,
    actor: &'a ActorId,
    arguments: &'a Value,
    on_behalf_of: [&'a str; 0],
    resource: String,
    tenant: &'a str,
}

/// SHA-256 over the canonical JSON (RFC 8785) of everything that the approval is for.
fn digest(tenant: &str, caller: &Caller, call: &Asked<'_>, target: &Target) -> Result<String, Fault> {
    let exact = Exact {
        action: call.operation,
        actor: &caller.actor(),
        arguments: call.input,
        on_behalf_of: [],
        resource: target.id(),
        tenant,
    };
    Ok(hex::encode(Sha256::digest(canonical::to_vec(&exact)?)))
}

/// The event that parks a call, and the answer to its caller.
pub(super) fn park(
    id: Id,
    tenant: &str,
    caller: &Caller,
    call: &Asked<'_>,
    target: &Target,
    ruling: &Ruling,
    now: Time,
) -> Result<(Event, Refusal), Fault> {
    let Ruling::NeedsApproval { kinds, .. } = ruling else {
        return Err(Fault::Broken("only a call that needs approval can be parked".into()));
    };
    let operation = call.operation;
    let message = format!("{operation} needs approval ({}): {}", kinds.join(" and "), ruling.reason());
    let refusal = Refusal { approval: Some(id.to_string()), ..Refusal::new(Code::NeedsApproval, message) };
    let event = Event::ApprovalRequested {
        id,
        operation: operation.to_owned(),
        target: target.id(),
        input: call.input.clone(),
        kinds: kinds.clone(),
        digest: digest(tenant, caller, call, target)?,
        reason: ruling.reason().to_owned(),
        expires_at: now.plus_ms(LIFE_MS),
    };
    Ok((event, refusal))
}
