//! A run sets aside part of the budget of the delegation that it was requested under. When the run ends, that part is
//! settled in the same transaction, whatever ends the run: what was spent is spent, and the rest is free again.

use rusqlite::Connection;

use crate::write::record::Entry;
use log::record::Decision;
use store::delegations;
use store::delegations::events::BudgetSettled;
use store::event::Event;
use store::runs::events::{RunCancelled, RunCompleted, RunFailed};
use store::runs::{self, Run};
use types::id::{ActorId, Id};
use types::refusal::Fault;
use types::run::StepStatus;

/// What these entries, which are about to be recorded, settle.
pub(super) fn budgets(conn: &Connection, entries: &[Entry]) -> Result<Vec<Entry>, Fault> {
    let mut settled = Vec::new();
    for entry in entries {
        let Some(id) = ended(&entry.event) else { continue };
        let reserved = delegations::reserved_for(conn, id.as_str())?;
        let Some(run) = runs::get(conn, id.as_str())?.filter(|_| !reserved.is_empty()) else { continue };
        let mut left = spent(conn, &run)?;
        let last = reserved.len().saturating_sub(1);
        for (at, (reservation, delegation, cents)) in reserved.into_iter().enumerate() {
            let Some(of) = delegations::get(conn, &delegation)? else { continue };
            let cents = if at == last { left } else { left.min(cents) };
            left = left.saturating_sub(cents);
            let (id, delegation) = (Id::stored(&reservation), Id::stored(&delegation));
            let event = BudgetSettled { id, delegation, to: of.terms.to, cents }.into();
            settled.push(Entry { actor: ActorId::system(), event, decision: Decision::System, ..entry.clone() });
        }
    }
    Ok(settled)
}

/// The run that ends with an event.
fn ended(event: &Event) -> Option<&Id> {
    let completed = event.get::<RunCompleted>().map(|event| &event.id);
    let failed = || event.get::<RunFailed>().map(|event| &event.id);
    completed.or_else(failed).or_else(|| event.get::<RunCancelled>().map(|event| &event.id))
}

/// What a run has spent with the parts that have not ended; what was begun outside counts.
fn spent(conn: &Connection, run: &Run) -> Result<i64, Fault> {
    let begun = runs::begun(conn, run)?.into_iter().filter(|step| step.status == StepStatus::Dispatched);
    let mut cents = run.cost_cents.saturating_add(begun.map(|step| step.cost_cents).sum());
    for part in runs::open_parts(conn, &run.id)? {
        cents = cents.saturating_add(spent(conn, &part)?);
    }
    Ok(cents)
}
