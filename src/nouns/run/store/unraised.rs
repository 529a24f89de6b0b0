//! Budgets that nobody raised.

use rusqlite::Connection;

use super::Run;
use super::budgets::{RAISE, held_by_budgets};
use super::events::RunHeld;
use crate::approvals::Approval;
use types::id::Id;
use types::run::Wait;

/// The runs that are held and stay so, because nobody let them spend more: whoever asked for them is told why.
pub fn still_held(conn: &Connection, approval: &Approval, why: &str) -> rusqlite::Result<Vec<RunHeld>> {
    if approval.operation != RAISE {
        return Ok(Vec::new());
    }
    let held = |run: Run| {
        let Some(Wait::Budget { reason, payer, until: None, cost_cents, beside: None }) = run.wait.clone() else {
            return None;
        };
        let of = payer.as_ref().map_or(run.id.as_str(), Id::as_str);
        (of == approval.target).then(|| RunHeld {
            reason: format!("{reason}; more was not approved: {why}"),
            until: None,
            payer,
            cost_cents,
            beside: None,
            origin: Some(run.origin()).filter(|origin| **origin != run.asker).cloned(),
            agent: run.agent.clone(),
            asker: run.asker.clone(),
            id: Id::stored(&run.id),
        })
    };
    Ok(held_by_budgets(conn)?.into_iter().filter_map(held).collect())
}
