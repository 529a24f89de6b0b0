//! Events of tasks.

use std::collections::BTreeSet;

use rusqlite::params;

use super::{get, is_of_ask, title_of_ask};
use crate::event::{Content, Moment, Notify, Table, events};
use crate::inbox;
use crate::memory::{Memory, Touched};
use crate::search::{self, Texts, Thing};
use crate::settles::Settles;
use crate::to_json;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::quoted::quoted;
use types::task::{Deadlines, Priority, TaskStatus};
use types::time::Time;

pub(crate) const TASK: Table = Table { name: "task", key: "id" };
const REF: Table = Table { name: "task_ref", key: "task || ' ' || place || ' ' || thing" };

events! {
    /// A task was created. Tasks created by asking an agent have no title here; the agent is named instead.
    TaskCreated = "task_created" {
        id: Id, title: String, creator: ActorId, owner: Option<ActorId>,
        priority: Priority, due_at: Option<Time>, parent: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")] deadlines: Option<Deadlines>,
    } about [id, creator, owner, parent] => {
        says: "created {id:a task}[: «{title}»]",
        content: Content::SHOWN, tables: &[TASK, search::TABLE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(created), notify: Notify::AndShow(notify_of_task), news: None,
    }
    /// A task was assigned.
    TaskAssigned = "task_assigned" {
        id: Id, owner: ActorId, from: Option<ActorId>, creator: ActorId,
    } about [id, owner, from, creator] => {
        says: "assigned {id:a task} to @{owner}",
        content: Content::SHOWN, tables: &[TASK], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(assigned), notify: Notify::AndShow(notify_of_assignment), news: None,
    }
    /// A task was linked to something. Readers of the task see the link only if they may see its target.
    TaskRefAdded = "task_ref_added" {
        id: Id, owner: Option<ActorId>, creator: ActorId, place: String, thing: String,
        note: String,
    } about [id, owner, creator] => {
        says: "added to what {id:a task} is about",
        content: Content::SHOWN.hiding(&["place", "thing", "note"]), tables: &[TASK, REF], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(referred), notify: Notify::Nobody, news: None,
    }
    /// A task stalled: it passed its deadline.
    TaskStalled = "task_stalled" {
        id: Id, owner: Option<ActorId>, creator: ActorId, reason: String,
    } about [id, owner, creator] => {
        says: "recorded that {id:a task} is stalled: {reason}",
        content: Content::SHOWN, tables: &[TASK], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(stalled), notify: Notify::AndShow(notify_of_stall), news: None,
    }
    /// A task was archived: it closed longer ago than the company's retention.
    TaskArchived = "task_archived" {
        id: Id, owner: Option<ActorId>, creator: ActorId,
    } about [id, owner, creator] => {
        says: "archived {id:a task}",
        content: Content::SHOWN, tables: &[TASK], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(archived), notify: Notify::Nobody, news: None,
    }
    /// A task was completed or cancelled.
    TaskCompleted = "task_completed" {
        id: Id, owner: Option<ActorId>, creator: ActorId, outcome: TaskStatus,
    } about [id, owner, creator] => {
        says: "closed {id:a task} as {outcome}",
        content: Content::SHOWN, tables: &[TASK], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(|event, moment| became(moment, event.id.as_str(), event.outcome)),
        notify: Notify::AndShow(notify_of_end), news: None,
    }
}

/// Returns a new task's title.
fn shown(event: &TaskCreated) -> String {
    let of_ask = || event.owner.as_ref().map(title_of_ask).unwrap_or_default();
    if event.title.is_empty() { of_ask() } else { event.title.clone() }
}

fn created(event: &TaskCreated, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let TaskCreated { id, title, creator, owner, priority, due_at, parent, deadlines } = event;
    let status = if owner.is_some() { TaskStatus::Assigned } else { TaskStatus::Open };
    let sql = "INSERT INTO task (id, title, creator, owner, status, priority, due_at, parent, deadlines, respond_by, \
               resolve_by, version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        shown(event),
        creator.as_str(),
        owner.as_ref().map(ActorId::as_str),
        status.name(),
        priority.name(),
        due_at.map(|at| at.0),
        parent.as_ref().map(Id::as_str),
        deadlines.as_ref().map(to_json).transpose()?,
        deadlines.and_then(|deadlines| deadlines.respond_by).map(|at| at.0),
        deadlines.and_then(|deadlines| deadlines.resolve_by).map(|at| at.0),
        moment.at.0,
        moment.at.0
    ])?;
    let texts = Texts { open: title.clone(), ..Texts::default() };
    search::put(moment.conn, Thing { place: search::TASKS, id: id.as_str() }, &texts)?;
    Ok(Touched::Nothing)
}

fn assigned(event: &TaskAssigned, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE task SET owner = ?, status = iif(status = 'open', 'assigned', status), stalled = 0, \
               archived_at = iif(closed_at IS NULL, NULL, archived_at), version = version + 1, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![event.owner.as_str(), moment.at.0, event.id.as_str()])?;
    Ok(Touched::Nothing)
}

fn referred(event: &TaskRefAdded, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let TaskRefAdded { id, place, thing, note, .. } = event;
    let sql = "INSERT OR REPLACE INTO task_ref (task, place, thing, note, by, at) VALUES (?, ?, ?, ?, ?, ?)";
    let row = params![id.as_str(), place, thing, note, moment.by.as_str(), moment.at.0];
    moment.conn.prepare_cached(sql)?.execute(row)?;
    let sql = "UPDATE task SET version = version + 1, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, id.as_str()])?;
    Ok(Touched::Nothing)
}

fn stalled(event: &TaskStalled, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE task SET stalled = 1, version = version + 1, updated_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, event.id.as_str()])?;
    Ok(Touched::Nothing)
}

fn archived(event: &TaskArchived, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE task SET archived_at = ?1, version = version + 1, updated_at = ?1 WHERE id = ?2";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, event.id.as_str()])?;
    Ok(Touched::Nothing)
}

/// Returns a task's title for use in a sentence.
fn title(id: &Id, moment: &Moment<'_>) -> rusqlite::Result<String> {
    let task = get(moment.conn, id.as_str())?;
    Ok(task.map(|task| said(&task.title)).unwrap_or_default())
}

fn said(title: &str) -> String {
    if is_of_ask(title) { title.to_owned() } else { quoted(title) }
}

fn notify_of_stall(event: &TaskStalled, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let text = format!("a task is stalled: {}: {}", title(&event.id, moment)?, event.reason);
    let whom: BTreeSet<&ActorId> = event.owner.iter().chain([&event.creator]).collect();
    whom.into_iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Alert, event.id.as_str(), &text))
}

/// Sets a task's status, and returns it to lists if it was archived as failed. A closed task stays closed.
pub(crate) fn became(moment: &Moment<'_>, id: &str, status: TaskStatus) -> rusqlite::Result<Touched> {
    let closed = status.is_closed().then_some(moment.at.0);
    let sql = "UPDATE task SET status = ?, closed_at = ?, archived_at = NULL, version = version + 1, updated_at = ? \
               WHERE id = ? AND closed_at IS NULL AND status <> ?1";
    moment.conn.prepare_cached(sql)?.execute(params![status.name(), closed, moment.at.0, id])?;
    Ok(Touched::Nothing)
}

fn notify_of_task(event: &TaskCreated, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let Some(owner) = event.owner.as_ref().filter(|owner| *owner != moment.by) else { return Ok(()) };
    let text = format!("{} gave you a task: {}", moment.by, said(&shown(event)));
    inbox::add(moment, owner, ItemKind::Assignment, event.id.as_str(), &text)
}

fn notify_of_assignment(event: &TaskAssigned, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    if event.owner == *moment.by {
        return Ok(());
    }
    let text = format!("{} gave you a task: {}", moment.by, title(&event.id, moment)?);
    inbox::add(moment, &event.owner, ItemKind::Assignment, event.id.as_str(), &text)
}

fn notify_of_end(event: &TaskCompleted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())
}
