//! The events of break-glass grants.

use rusqlite::params;

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::Settles;
use crate::{inbox, to_json};
use types::break_glass::BreakGlassVerdict;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::operations::Operations;
use types::quoted::quoted;
use types::time::Time;

const BREAK_GLASS: Table = Table { name: "break_glass", key: "id" };

events! {
    /// A break-glass grant was opened; those who may review it are notified.
    BreakGlassOpened = "break_glass_opened" {
        id: Id, operations: Operations, reason: String, expires_at: Time, notified: Vec<ActorId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<ActorId>,
    } about [id] => {
        says: "opened a break-glass grant[: «{reason}»]",
        content: Content::SHOWN, tables: &[BREAK_GLASS], memory: Memory::BreakGlass, settles: Settles::Nothing,
        fold: Some(broken), notify: Notify::AndShow(notify_reviewers), news: None,
    }
    /// A break-glass grant was used for a call; those who would have approved it are notified.
    BreakGlassUsed = "break_glass_used" {
        id: Id, holder: ActorId, operation: String, #[schemars(extend("x-names" = "reference"))] target: String,
        kinds: Vec<String>, skipped: Vec<ActorId>,
    } about [id, holder] => {
        says: "performed `{operation}` under break-glass",
        content: Content::SHOWN, tables: &[BREAK_GLASS], memory: Memory::BreakGlass, settles: Settles::Nothing,
        fold: Some(used), notify: Notify::AndShow(notify_skipped), news: None,
    }
    /// A break-glass grant was ended early.
    BreakGlassEnded = "break_glass_ended" {
        id: Id, holder: ActorId,
    } about [id, holder] => {
        says: "ended the break-glass grant of @{holder}",
        content: Content::SHOWN, tables: &[BREAK_GLASS], memory: Memory::BreakGlass, settles: Settles::Nothing,
        fold: Some(ended), notify: Notify::Nobody, news: None,
    }
    /// A break-glass grant was reviewed; its holder may open another.
    BreakGlassReviewed = "break_glass_reviewed" {
        id: Id, holder: ActorId, verdict: BreakGlassVerdict, note: String,
    } about [id, holder] => {
        says: "reviewed the break-glass grant of @{holder}: {verdict}",
        content: Content::SHOWN, tables: &[BREAK_GLASS], memory: Memory::BreakGlass, settles: Settles::Nothing,
        fold: Some(reviewed), notify: Notify::AndShow(notify_holder), news: None,
    }
}

fn broken(event: &BreakGlassOpened, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "INSERT INTO break_glass (id, holder, operations, reason, created_at, expires_at, uses, issuer) \
               VALUES (?, ?, ?, ?, ?, ?, 0, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![
        event.id.as_str(),
        moment.by.as_str(),
        to_json(&event.operations)?,
        event.reason,
        moment.at.0,
        event.expires_at.0,
        event.issuer.as_ref().map(ActorId::as_str)
    ])?;
    Ok(Touched::BreakGlass)
}

fn used(event: &BreakGlassUsed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    moment.conn.prepare_cached("UPDATE break_glass SET uses = uses + 1 WHERE id = ?")?.execute([event.id.as_str()])?;
    Ok(Touched::BreakGlass)
}

fn ended(event: &BreakGlassEnded, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE break_glass SET expires_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, event.id.as_str()])?;
    Ok(Touched::BreakGlass)
}

fn reviewed(event: &BreakGlassReviewed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let BreakGlassReviewed { id, verdict, note, .. } = event;
    let sql = "UPDATE break_glass SET reviewer = ?, verdict = ?, note = ?, reviewed_at = ? WHERE id = ?";
    let row = params![moment.by.as_str(), verdict.name(), note, moment.at.0, id.as_str()];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    Ok(Touched::BreakGlass)
}

fn notify_reviewers(event: &BreakGlassOpened, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let BreakGlassOpened { id, reason, notified, .. } = event;
    let title = format!("{} opened a break-glass grant: {}", moment.by, quoted(reason));
    notified.iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Alert, id.as_str(), &title))?;
    inbox::mention(moment, id, reason)
}

fn notify_skipped(event: &BreakGlassUsed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let BreakGlassUsed { id, holder, operation, target, skipped, .. } = event;
    let title = format!("{holder} did {operation} of {target} without your approval");
    let sql = "SELECT uses FROM break_glass WHERE id = ?";
    let uses: i64 = moment.conn.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0))?;
    let which = format!("{id}.{}", uses + 1);
    let alert = |actor| inbox::add_as(moment, actor, ItemKind::Alert, (id.as_str(), &which), &title);
    skipped.iter().try_for_each(alert)
}

fn notify_holder(event: &BreakGlassReviewed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let BreakGlassReviewed { id, holder, verdict, note } = event;
    inbox::resolve(moment, id.as_str())?;
    let title = format!("your going on without approval was {verdict}");
    inbox::add(moment, holder, ItemKind::Decision, id.as_str(), &title)?;
    inbox::mention(moment, id, note)
}
