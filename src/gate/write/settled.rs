//! A run sets aside part of the budget of the delegation that it was requested under. When the run ends, that part is
//! settled in the same transaction, whatever ends the run: what was spent is spent, and the rest is free again.

use rusqlite::Connection;

use crate::approve::ends::Ended;
use crate::write::record::Entry;
use store::delegations;
use store::delegations::events::BudgetSettled;
use store::runs::{self, Run};
use types::id::Id;
use types::refusal::Fault;
use types::run::StepStatus;

/// What these ends settle.
pub(super) fn budgets(conn: &Connection, ends: &[Ended<'_>]) -> Result<Vec<Entry>, Fault> {
    let mut settled = Vec::new();
    for (end, entry) in ends {
        let of = end.over_thing().map_or(Ok(Vec::new()), |id| budgets_of(conn, id))?;
        settled.extend(of.into_iter().map(|event| entry.followed_by(event)));
    }
    Ok(settled)
}

/// Settles what was reserved for a run, if this is one.
fn budgets_of(conn: &Connection, id: &str) -> Result<Vec<BudgetSettled>, Fault> {
    let reserved = delegations::reserved_for(conn, id)?;
    if reserved.is_empty() {
        return Ok(Vec::new());
    }
    let Some(run) = runs::get(conn, id)? else { return Ok(Vec::new()) };
    let (mut settled, mut left) = (Vec::new(), spent(conn, &run)?);
    let last = reserved.len().saturating_sub(1);
    for (at, (reservation, delegation, cents)) in reserved.into_iter().enumerate() {
        let Some(of) = delegations::get(conn, &delegation)? else { continue };
        let cents = if at == last { left } else { left.min(cents) };
        left = left.saturating_sub(cents);
        let (id, delegation) = (Id::stored(&reservation), Id::stored(&delegation));
        settled.push(BudgetSettled { id, delegation, to: of.terms.to, cents });
    }
    Ok(settled)
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
