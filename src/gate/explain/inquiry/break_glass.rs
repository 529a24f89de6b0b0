//! What a break-glass grant of the caller does to a call: one that the gate would use, or one that could be opened.

use super::Inquiry;
use crate::decide::question::{self, Asker};
use crate::declare::operation::Entry;
use crate::declare::spec::Effect;
use crate::declare::target::{Target, Thing};
use policy::Ruling;
use types::caller::{Caller, Who};
use types::id::Id;
use types::time::Time;

/// A way past the approvals that a call needs.
pub enum BreakGlass {
    /// The caller holds a grant for it until then; this is the answer with it.
    Held { id: Id, until: Time, ruling: Ruling },
    /// There is none, but the caller could open one, and the call would go on.
    Possible,
}

impl Inquiry<'_> {
    /// Returns what the asker learns of a break-glass grant, if they may see the caller's grants.
    pub fn break_glass(&self, entry: &Entry, ruling: &Ruling) -> Option<BreakGlass> {
        let Who::Holder(holder) = &self.caller.who else { return None };
        let oneself = Target::Actor(holder.clone());
        // As a grant of theirs would be asked about.
        let theirs = Thing::new("BreakGlass", "").actor("holder", holder).number("peers", 0).into();
        if !self.asker.may("break_glass.list", &theirs) {
            return None;
        }
        // Only what is parked goes on: a query never waits for approval.
        let kinds = match ruling {
            Ruling::NeedsApproval { kinds, .. } if entry.effect == Effect::Change => Some(kinds.as_slice()),
            _ => None,
        };
        let with = |kinds: &[String], id: Id| {
            let caller = Caller { break_glass: Some(id), ..self.caller.clone() };
            Asker::of(self.world, &caller, self.call(), self.now).ask(self.operation, kinds)
        };
        if let Some(held) = self.world.break_glass_for(&self.caller, self.operation, self.now) {
            let ruling = kinds.map_or_else(|| ruling.clone(), |kinds| with(kinds, held.id.clone()));
            return Some(BreakGlass::Held { id: held.id.clone(), until: held.expires_at, ruling });
        }
        // The policies see that there is a grant, not which.
        let helps = kinds.is_some_and(|kinds| with(kinds, Id::stored("")).is_allowed());
        (helps && self.may_open(&oneself)).then_some(BreakGlass::Possible)
    }

    fn opens(&self, oneself: &Target) -> bool {
        let call = question::Call { operation: "break_glass.open", target: oneself, input: None };
        question::decide(self.world, &self.caller, call, self.now).is_allowed()
    }

    fn may_open(&self, oneself: &Target) -> bool {
        let reviewed = self.world.break_glass.iter().all(|break_glass| break_glass.holder != self.caller.actor());
        let is_another = !self.operation.starts_with("break_glass.");
        self.caller.under.is_none() && reviewed && is_another && self.opens(oneself)
    }
}
