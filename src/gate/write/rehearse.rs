//! What a call that is to wait would come to: tried before anybody is asked.

use serde_json::Value;

use crate::gate::declare::operation::Entry;
use crate::gate::reader::Reader;
use crate::gate::write::draft::Draft;
use crate::gate::write::halt::Halt;
use crate::gate::write::permit::Grant;
use crate::gate::write::work::act;
use crate::gate::write::writer::Writer;
use crate::policy::Ruling;
use crate::types::caller::Caller;
use crate::types::time::Time;

impl Writer {
    /// Runs an operation with the approvals that it would wait for, and drops its draft: what could never be carried out is refused
    /// now, and not parked. Where a part of it takes more of them, all that it takes.
    pub(in crate::gate) fn rehearse(
        &self,
        caller: &Caller,
        entry: &'static Entry,
        input: &Value,
        (ruling, kinds): (&Ruling, &[String]),
        now: Time,
    ) -> Result<Option<Ruling>, Halt> {
        let read = Reader::held(&self.conn, &self.world, caller, now);
        let mut draft = Draft::new(&read, &entry.spec, self.entries, &*self.entropy, kinds).rehearsal();
        let grant = Grant { caller: caller.clone(), now, because: ruling.because().to_vec() };
        let Err(stop) = act(entry, input)?.run(grant, &mut draft) else { return Ok(None) };
        match draft.halted(stop) {
            Halt::Lacks(more, stop) => match ruling.clone().and("", *more) {
                // With approvals that do not help, it would wait for nothing.
                Ruling::NeedsApproval { kinds: all, .. } if all.len() == kinds.len() => Err(stop.into()),
                all => Ok(Some(all)),
            },
            halt => Err(halt),
        }
    }
}
