//! Explains budgets that nobody raised.

use rusqlite::Connection;

use super::events::RunHeld;
use super::{Run, get, open_parts};
use types::id::Id;
use types::run::Wait;

/// What is appended to a hold's reason once no raise was approved; it replaces what was appended before.
const MORE: &str = "; more was not approved: ";

/// Returns updated holds of a run and its child runs that stay held because no raise was approved, so that whoever asked for
/// them is told why.
pub fn still_held(conn: &Connection, payer: &str, why: &str) -> rusqlite::Result<Vec<RunHeld>> {
    let (mut held, mut open) = (Vec::new(), Vec::from_iter(get(conn, payer)?));
    while let Some(run) = open.pop() {
        open.extend(open_parts(conn, &run.id)?);
        held.extend(held_for(&run, payer, why));
    }
    Ok(held)
}

fn held_for(run: &Run, by: &str, why: &str) -> Option<RunHeld> {
    let Some(Wait::Budget { reason, payer, until: None, cost_cents, beside: None }) = run.wait.clone() else {
        return None;
    };
    let is_theirs = payer.as_ref().map_or(run.id.as_str(), Id::as_str) == by;
    let reason = reason.split(MORE).next().unwrap_or_default();
    is_theirs.then(|| RunHeld {
        reason: format!("{reason}{MORE}{why}"),
        until: None,
        payer,
        cost_cents,
        beside: None,
        origin: Some(run.origin()).filter(|origin| **origin != run.asker).cloned(),
        agent: run.agent.clone(),
        asker: run.asker.clone(),
        id: Id::stored(&run.id),
    })
}
