//! An external call of a run, to a model or a tool, as its progress is recorded.

use std::collections::BTreeSet;

use super::why;
use gate::Draft;
use store::runs::events::{StepCompleted, StepDecided, StepDispatched, StepUnknown};
use store::runs::{Run, Step};
use types::id::Id;
use types::refusal::Stop;
use types::run::StepKind;

/// The call, with its maximum or actual usage.
pub(super) struct UnderWay {
    pub kind: StepKind,
    pub step: u32,
    /// The provider of the model; empty for a tool.
    pub provider: String,
    /// The model or the tool.
    pub name: String,
    pub tokens_in: u32,
    pub tokens_out: u32,
    pub cost_cents: u32,
}

/// The event of a call, of the run whose call it is. All of them have the same fields.
macro_rules! event {
    ($of:expr, $run:expr, $event:ident { $($more:ident),* }) => {
        $event {
            id: Id::stored(&$run.id),
            agent: $run.agent.clone(),
            asker: $run.asker.clone(),
            step: $of.step,
            kind: $of.kind,
            name: $of.name,
            target: $of.provider,
            tokens_in: $of.tokens_in,
            tokens_out: $of.tokens_out,
            cost_cents: $of.cost_cents,
            $($more,)*
        }
    };
}

impl UnderWay {
    pub fn of(step: &Step) -> UnderWay {
        let whole = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        UnderWay {
            kind: step.kind,
            step: step.number,
            provider: step.target.clone(),
            name: step.name.clone(),
            tokens_in: whole(step.tokens_in),
            tokens_out: whole(step.tokens_out),
            cost_cents: whole(step.cost_cents),
        }
    }

    pub fn decided(self, run: &Run) -> StepDecided {
        event!(self, run, StepDecided {})
    }

    pub fn dispatched(self, run: &Run) -> StepDispatched {
        event!(self, run, StepDispatched {})
    }

    /// Builds the event of its completion; the answer requests this many calls.
    pub fn completed(self, run: &Run, calls: usize) -> StepCompleted {
        let labels = BTreeSet::new();
        let calls = u32::try_from(calls).ok().filter(|calls| *calls > 0);
        event!(self, run, StepCompleted { labels, calls })
    }

    /// Records that its result is unknown, and why.
    pub fn lose(self, run: &Run, why: String, draft: &mut Draft<'_>) -> Result<(), Stop> {
        let (step, reason) = (self.step, None);
        draft.record(event!(self, run, StepUnknown { reason }))?;
        why::keep(&Id::stored(&run.id), step, why, draft)
    }
}
