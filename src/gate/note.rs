//! What the log keeps of a decision: enough to ask the same question of other policies later.

use super::chain;
use super::target::Target;
use super::world::World;
use crate::log::record::{Asked, By, Entry, GateNote};
use crate::policy::Ruling;
use crate::types::caller::{Caller, Who};

/// How the gate decided one call. `granted` are the kinds of approval that were given.
pub(super) fn note(
    world: &World,
    operation: &str,
    caller: &Caller,
    target: &Target,
    granted: &[String],
    ruling: &Ruling,
) -> GateNote {
    let by = match &caller.who {
        Who::Visitor => By::Visitor,
        Who::Server => By::Server,
        Who::Token { .. } | Who::Holder(_) => By::Actor,
    };
    let scopes = match &caller.who {
        Who::Token { scopes, .. } => scopes.clone(),
        Who::Visitor | Who::Server | Who::Holder(_) => Default::default(),
    };
    GateNote {
        operation: operation.to_owned(),
        channel: caller.channel.name().to_owned(),
        policies: ruling.because().iter().map(|policy| policy.id.clone()).collect(),
        on_behalf_of: chain::behalf(world, caller),
        asked: Some(Asked {
            by,
            scopes,
            target: target.clone(),
            granted: granted.to_vec(),
            under: caller.under.clone(),
            glass: caller.glass.clone(),
        }),
    }
}

/// Leaves each question on the first of its events alone: one decision is counted once.
pub(super) fn ask_once(entries: &mut [Entry]) {
    let mut asked: Vec<GateNote> = Vec::new();
    for entry in entries {
        if asked.contains(&entry.gate) {
            entry.gate.asked = None;
        } else {
            asked.push(entry.gate.clone());
        }
    }
}
