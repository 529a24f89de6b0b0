//! The events of delegations and their budgets.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::{COLUMNS, get, reservation};
use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::{End, Over, Settles};
use crate::{inbox, to_json};
use types::delegation::{Authority, DelegationStatus};
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::operations::Operations;
use types::time::Time;

const DELEGATION: Table = Table { name: "delegation", key: "id" };
const RESERVATION: Table = Table { name: "delegation_reservation", key: "id" };

/// Where sums stop growing, in cents: the largest number that JSON represents exactly.
const MOST_EVER: i64 = 1 << 53;

events! {
    /// A delegation was granted.
    DelegationGranted = "delegation_granted" {
        id: Id, from: ActorId, to: ActorId, scope: Operations, authority: Authority, tools: BTreeSet<String>,
        budget_cents: Option<i64>, expires_at: Time, parent: Option<Id>, depth: u32, chain: Vec<ActorId>,
    } about [id, to, parent, chain] => {
        says: "granted @{to} a delegation: {authority} `{scope}`",
        content: Content::SHOWN, tables: &[DELEGATION], memory: Memory::Delegations, settles: Settles::Nothing,
        fold: Some(granted), notify: Notify::AndShow(notify_taker), news: None,
    }
    /// A delegation was revoked, or one that it rests on was.
    DelegationRevoked = "delegation_revoked" {
        id: Id, from: ActorId, to: ActorId, with: Option<Id>,
    } about [id, from, to] => {
        says: "revoked the delegation from @{from} to @{to}",
        content: Content::SHOWN, tables: &[DELEGATION], memory: Memory::Delegations,
        settles: Settles::Ends(|event, _| Ok(over(&event.id, "was revoked"))),
        fold: Some(|event, moment| ended(moment, &event.id, DelegationStatus::Revoked)),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A delegation expired; recorded by the tick.
    DelegationExpired = "delegation_expired" {
        id: Id, from: ActorId, to: ActorId,
    } about [id, from, to] => {
        says: "recorded that the delegation from @{from} to @{to} expired",
        content: Content::SHOWN, tables: &[DELEGATION], memory: Memory::Delegations,
        settles: Settles::Ends(|event, _| Ok(over(&event.id, "has expired"))),
        fold: Some(|event, moment| ended(moment, &event.id, DelegationStatus::Expired)),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A part of a delegation's budget was reserved.
    BudgetReserved = "budget_reserved" {
        id: Id, delegation: Id, to: ActorId, cents: i64, purpose: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] run: Option<Id>,
    } about [id, delegation, to] => {
        says: "reserved {cents} cents[: «{purpose}»]",
        content: Content::SHOWN, tables: &[DELEGATION, RESERVATION], memory: Memory::Delegations,
        settles: Settles::Nothing,
        fold: Some(reserved), notify: Notify::Nobody, news: None,
    }
    /// A reservation was settled.
    BudgetSettled = "budget_settled" {
        id: Id, delegation: Id, to: ActorId, cents: i64,
    } about [id, delegation, to] => {
        says: "settled {cents} cents",
        content: Content::SHOWN, tables: &[DELEGATION, RESERVATION], memory: Memory::Delegations,
        settles: Settles::Nothing,
        fold: Some(settle), notify: Notify::Nobody, news: None,
    }
}

/// Returns what ends with a delegation: requests about it and requests made under it.
fn over(id: &Id, why: &str) -> Vec<End> {
    let mut ends = End::thing(id, why);
    let because = format!("{id}, under which it was asked for, {why}");
    ends.push(End { over: Over::Delegation(id.to_string()), because });
    ends
}

fn notify_taker(event: &DelegationGranted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("{} lets you act on their behalf", event.from);
    inbox::add(moment, &event.to, ItemKind::Assignment, event.id.as_str(), &title)
}

fn granted(event: &DelegationGranted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql =
        format!("INSERT INTO delegation ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, 0, 0, ?, NULL)");
    moment.conn.prepare_cached(&sql)?.execute(params![
        event.id.as_str(),
        event.from.as_str(),
        event.to.as_str(),
        to_json(&event.scope)?,
        event.authority.name(),
        to_json(&event.tools)?,
        event.expires_at.0,
        event.parent.as_ref().map(Id::as_str),
        event.depth,
        to_json(&event.chain)?,
        event.budget_cents,
        moment.at.0
    ])?;
    if let (Some(parent), Some(budget)) = (&event.parent, event.budget_cents) {
        moved(moment.conn, parent.as_str(), 0, budget)?;
    }
    Ok(Touched::Delegations(vec![event.id.to_string()]))
}

fn reserved(event: &BudgetReserved, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let BudgetReserved { id, delegation, cents, run, .. } = event;
    let sql = "INSERT INTO delegation_reservation (id, delegation, cents, run) VALUES (?, ?, ?, ?)";
    let run = run.as_ref().map(Id::as_str);
    moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), delegation.as_str(), cents, run])?;
    moved(moment.conn, delegation.as_str(), 0, *cents)?;
    Ok(Touched::Delegations(Vec::new()))
}

fn settle(event: &BudgetSettled, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let BudgetSettled { id, delegation, cents, .. } = event;
    let Some(reserved) = reservation(moment.conn, id.as_str())? else {
        return Ok(Touched::Delegations(Vec::new()));
    };
    let sql = "UPDATE delegation_reservation SET settled_cents = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![cents, id.as_str()])?;
    settled(moment.conn, delegation.as_str(), reserved.cents, *cents).map(Touched::Delegations)
}

/// Ends a delegation. Its spending is charged to the parent's budget, and its unused rest is freed there.
fn ended(moment: &Moment<'_>, id: &Id, to: DelegationStatus) -> rusqlite::Result<Touched> {
    let conn = moment.conn;
    let Some(delegation) = get(conn, id.as_str())?.filter(|delegation| delegation.ended_at.is_none()) else {
        return Ok(Touched::Delegations(Vec::new()));
    };
    let sql = "UPDATE delegation SET status = ?, ended_at = ? WHERE id = ?";
    conn.prepare_cached(sql)?.execute(params![to.name(), moment.at.0, id.as_str()])?;
    let mut touched = vec![id.to_string()];
    if let (Some(parent), Some(budget)) = (&delegation.terms.parent, delegation.budget_cents) {
        // Spending beyond its budget was charged to the parent when it was spent.
        touched.extend(spent(conn, parent, delegation.spent_cents.min(budget), -delegation.unused())?);
    }
    Ok(Touched::Delegations(touched))
}

/// Settles a reservation at `cents`. Spending beyond a budget, or after its end, is charged to the parent's budget.
fn settled(conn: &Connection, id: &str, reserved: i64, cents: i64) -> rusqlite::Result<Vec<String>> {
    let Some(before) = get(conn, id)? else { return Ok(Vec::new()) };
    let mut touched = spent(conn, id, cents, -reserved)?;
    let (Some(parent), Some(budget)) = (&before.terms.parent, before.budget_cents) else { return Ok(touched) };
    if before.ended_at.is_some() {
        touched.extend(settled(conn, parent, reserved, cents)?);
    } else {
        let over = |spent: i64| (spent - budget).max(0);
        let more = over(before.spent_cents.saturating_add(cents)) - over(before.spent_cents);
        if more > 0 {
            touched.extend(settled(conn, parent, 0, more)?);
        }
    }
    Ok(touched)
}

/// Charges a budget; a live delegation whose budget is spent becomes exhausted.
fn spent(conn: &Connection, id: &str, cents: i64, reserved: i64) -> rusqlite::Result<Vec<String>> {
    moved(conn, id, cents, reserved)?;
    conn.prepare_cached(
        "UPDATE delegation SET status = 'exhausted' \
         WHERE id = ? AND status = 'active' AND spent_cents > 0 AND spent_cents >= budget_cents",
    )?
    .execute([id])?;
    Ok(vec![id.to_owned()])
}

fn moved(conn: &Connection, id: &str, spent: i64, reserved: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE delegation SET spent_cents = min(?1, spent_cents + ?2), \
         reserved_cents = min(?1, max(0, reserved_cents + ?3)) WHERE id = ?4",
    )?
    .execute(params![MOST_EVER, spent, reserved, id])?;
    Ok(())
}
