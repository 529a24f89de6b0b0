//! Reserves the budget of a run started under a delegation before it starts. The reservation is settled when the run ends
//! (`gate::write::settled`).

use gate::{Draft, Reader};
use store::delegations::Delegation;
use store::delegations::events::BudgetReserved;
use types::id::{Id, Kind};
use types::refusal::Stop;

/// Returns the delegation with a budget under which a run is requested. Child runs spend what their parent has reserved.
pub(super) fn payer(read: &Reader<'_>) -> Result<Option<Delegation>, Stop> {
    Ok(read.acting_under()?.filter(|delegation| delegation.budget_cents.is_some()))
}

/// Returns the delegation from whose budget a run spends, with what is left of it: nothing, once it has ended.
pub(super) fn of_run(run: &str, read: &Reader<'_>) -> Result<Option<(Delegation, i64)>, Stop> {
    let Some((_, id, _)) = read.reserved_for(run)?.into_iter().next() else { return Ok(None) };
    Ok(read.delegation(&id)?.and_then(|delegation| {
        let left = delegation.left_cents()?;
        let is_live = delegation.terms.is_live(read.now());
        Some((delegation, if is_live { left } else { 0 }))
    }))
}

/// Reserves a run's budget.
pub(super) fn reserve(run: &Id, delegation: Delegation, cents: i64, draft: &mut Draft<'_>) -> Result<(), Stop> {
    let id = draft.new_id(Kind::Reservation);
    let (of, to, purpose) = (Id::stored(&delegation.terms.id), delegation.terms.to, "a run".to_owned());
    draft.record(BudgetReserved { id, delegation: of, to, cents, purpose, run: Some(run.clone()) })?;
    Ok(())
}
