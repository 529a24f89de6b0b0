//! What the log keeps of a decision: enough to ask the same question of other policies later.

use serde_json::Value;

use crate::admit::chain;
use crate::decide::world::World;
use crate::declare::operation::Entry;
use crate::declare::target::Target;
use crate::write::idempotency::Keyed;
use crate::write::record::{self, By, GateRecord, RecordedQuestion};
use log::record::Decision;
use policy::Ruling;
use types::caller::{Caller, Who};
use types::time::Time;

/// What everything that one call records has in common.
pub(crate) struct Record<'a> {
    pub caller: &'a Caller,
    pub decision: Decision,
    pub gate: GateRecord,
    pub idem: Option<Keyed>,
    pub now: Time,
}

impl<'a> Record<'a> {
    pub(crate) fn allowed(caller: &'a Caller, gate: GateRecord, idem: Option<Keyed>, now: Time) -> Record<'a> {
        let decision = if matches!(caller.who, Who::Server) { Decision::System } else { Decision::Allow };
        Record { caller, decision, gate, idem, now }
    }
}

/// How the gate decided one call. `granted` are the kinds of approval that were given.
pub(crate) fn gate_record(
    world: &World,
    entry: &Entry,
    caller: &Caller,
    (target, input): (&Target, &Value),
    granted: &[String],
    ruling: &Ruling,
) -> GateRecord {
    let by = match &caller.who {
        Who::Visitor => By::Visitor,
        Who::Server => By::Server,
        Who::Token { .. } | Who::Holder(_) => By::Actor,
    };
    let scopes = match &caller.who {
        Who::Token { scopes, .. } => scopes.clone(),
        Who::Visitor | Who::Server | Who::Holder(_) => Default::default(),
    };
    GateRecord {
        operation: entry.spec.name.to_owned(),
        channel: caller.channel.name().to_owned(),
        policies: ruling.because().iter().map(|policy| policy.id.clone()).collect(),
        token_id: caller.token.clone(),
        on_behalf_of: chain::behalf(world, caller),
        answer: None,
        asked: Some(RecordedQuestion {
            by,
            scopes,
            issuer: caller.issuer.clone(),
            target: target.clone(),
            input: entry.arguments().kept(input),
            granted: granted.to_vec(),
            under: caller.under.clone(),
            break_glass: caller.break_glass.clone(),
            run: caller.run.as_deref().cloned(),
        }),
    }
}

/// Leaves each question on the first of its events alone: one decision is counted once.
pub(crate) fn ask_once(entries: &mut [record::Entry]) {
    let mut asked: Vec<GateRecord> = Vec::new();
    for entry in entries {
        if asked.contains(&entry.gate) {
            entry.gate.asked = None;
        } else {
            asked.push(entry.gate.clone());
        }
    }
}
