//! What a call would come to: tried before anybody is asked to approve it, and when somebody asks what the call needs.

use serde_json::Value;

use crate::declare::operation::Entry;
use crate::declare::target::Target;
use crate::reader::Reader;
use crate::write::draft::{Draft, Part};
use crate::write::halt::Halt;
use crate::write::permit::Grant;
use crate::write::work::act;
use policy::Ruling;
use types::entropy::{Entropy, SystemEntropy};

/// Runs an operation as the reader's caller, with the approvals that a ruling asks for, and drops its draft: what could
/// never be carried out is refused now instead of being parked. If a part of it needs more approvals, the returned
/// ruling asks for all of them.
pub(crate) fn rehearse(
    read: &Reader<'_>,
    entry: &'static Entry,
    entropy: &dyn Entropy,
    input: &Value,
    ruling: &Ruling,
) -> Result<Option<Ruling>, Halt> {
    let mut draft = Draft::new(read, &entry.spec, entropy, ruling.kinds()).rehearsal();
    let Err(stop) = act(entry, input)?.run(grant(read, ruling), &mut draft) else { return Ok(None) };
    match draft.halted(stop) {
        Halt::Lacks(more, stop) => match ruling.clone().and("", *more) {
            // With approvals that do not help, it would wait for nothing.
            all if all.kinds().len() == ruling.kinds().len() => Err(stop.into()),
            all => Ok(Some(all)),
        },
        halt => Err(halt),
    }
}

fn grant(read: &Reader<'_>, ruling: &Ruling) -> Grant {
    Grant { caller: read.caller().clone(), now: read.now(), because: ruling.because().to_vec() }
}

impl Reader<'_> {
    /// Returns the gate's answer to a call of this reader's caller, combined with the answers to its parts. Parts are
    /// included as far as running the call reveals them and `tells` allows their targets to be mentioned. A slow call
    /// is not run.
    pub fn with_parts(
        &self,
        entry: &'static Entry,
        input: &Value,
        mut ruling: Ruling,
        tells: &dyn Fn(&Target) -> bool,
    ) -> Ruling {
        if entry.spec.route.slow.is_some() {
            return ruling;
        }
        while !matches!(ruling, Ruling::Deny { .. }) {
            let Some(part) = self.part_in_the_way(entry, input, &ruling).filter(|part| tells(&part.target)) else {
                break;
            };
            let known = ruling.kinds().len();
            ruling = match part.ruling {
                denied @ Ruling::Deny { .. } => return denied,
                waits => ruling.and("", waits),
            };
            // Approvals that do not help are not asked for again.
            if ruling.kinds().len() == known {
                break;
            }
        }
        ruling
    }

    /// What stops a call that goes on with the approvals that a ruling asks for.
    fn part_in_the_way(&self, entry: &'static Entry, input: &Value, ruling: &Ruling) -> Option<Part> {
        let mut draft = Draft::new(self, &entry.spec, &SystemEntropy, ruling.kinds()).rehearsal();
        let stop = act(entry, input).ok()?.run(grant(self, ruling), &mut draft).err()?;
        draft.stopped_by(&stop)
    }
}
