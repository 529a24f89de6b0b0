//! Tables of tasks.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::list::{self, List};
use super::{Position, json_or_null, parsed, parsed_or_null};
use types::id::ActorId;
use types::task::{Deadlines, Priority, TaskStatus};
use types::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub creator: ActorId,
    pub owner: Option<ActorId>,
    pub status: TaskStatus,
    pub priority: Priority,
    pub due_at: Option<Time>,
    /// The parent task.
    pub parent: Option<String>,
    pub deadlines: Option<Deadlines>,
    /// Whether a missed deadline has been reported.
    pub stalled: bool,
    pub version: i64,
    pub created_at: Time,
    pub updated_at: Time,
    pub closed_at: Option<Time>,
    /// When it was archived.
    pub archived_at: Option<Time>,
}

/// Something that a task references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRef {
    /// A collection name, or `url`.
    pub place: String,
    pub thing: String,
    pub note: String,
    pub by: ActorId,
    pub at: Time,
}

const COLUMNS: &str = "id, title, creator, owner, status, priority, due_at, parent, version, created_at, updated_at, closed_at, \
                       deadlines, stalled, archived_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: row.get(0)?,
        title: row.get(1)?,
        creator: parsed(row, 2)?,
        owner: parsed_or_null(row, 3)?,
        status: parsed(row, 4)?,
        priority: parsed(row, 5)?,
        due_at: row.get::<_, Option<i64>>(6)?.map(Time),
        parent: row.get(7)?,
        version: row.get(8)?,
        created_at: Time(row.get(9)?),
        updated_at: Time(row.get(10)?),
        closed_at: row.get::<_, Option<i64>>(11)?.map(Time),
        deadlines: json_or_null(row, 12)?,
        stalled: row.get(13)?,
        archived_at: row.get::<_, Option<i64>>(14)?.map(Time),
    })
}

/// The prefix of the title of a task made by asking an agent; users cannot set such a title.
const OF_ASK: &str = "asked of ";

/// Returns the title of a task made by asking. The question can be erased, so it is not part of the title.
pub fn title_of_ask(agent: &ActorId) -> String {
    format!("{OF_ASK}{agent}")
}

/// Checks whether it is such a generated title and names an agent.
pub fn is_of_ask(title: &str) -> bool {
    title.strip_prefix(OF_ASK).is_some_and(|agent| agent.parse::<ActorId>().is_ok())
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Task>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM task WHERE id = ?"))?.query_row([id], read).optional()
}

/// How tasks are listed, including archived ones.
pub const ALL: List<Task> = List { there: "TRUE", ..LIST };

/// How tasks are listed.
pub const LIST: List<Task> = List {
    table: "task",
    columns: COLUMNS,
    there: "archived_at IS NULL",
    own: &["owner = ?4", "creator = ?4"],
    theirs: &["owner = ?4"],
    read,
    complete: list::whole,
    position,
};

/// How somebody's own tasks are listed, with or without archived ones.
pub const fn owned(archived: bool) -> List<Task> {
    List { own: &["owner = ?4"], theirs: &[], ..if archived { ALL } else { LIST } }
}

/// How tasks with a status are listed.
pub const STANDING: List<Task> = List { own: &["status = ?4"], theirs: &[], ..LIST };

/// Filters of the task list, all of which must match.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    pub owner: Option<ActorId>,
    pub status: Option<TaskStatus>,
}

impl Sought {
    pub fn fits(&self, task: &Task) -> bool {
        self.owner.as_ref().is_none_or(|owner| task.owner.as_ref() == Some(owner))
            && self.status.is_none_or(|status| task.status == status)
    }
}

pub fn position(task: &Task) -> Position {
    Position { at: task.created_at.0, id: task.id.clone() }
}

/// Returns tasks past a deadline that have not been reported.
pub fn late(conn: &Connection, now: Time, limit: usize) -> rusqlite::Result<Vec<Task>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM task WHERE closed_at IS NULL AND stalled = 0 \
         AND (due_at <= ?1 OR resolve_by <= ?1 OR (respond_by <= ?1 AND status = 'open')) ORDER BY id LIMIT ?2"
    ))?
    .query_map(rusqlite::params![now.0, limit as i64], read)?
    .collect()
}

/// Returns unarchived tasks that closed before a time, or failed and have not changed since, oldest first.
pub fn to_archive(conn: &Connection, before: Time, limit: usize) -> rusqlite::Result<Vec<Task>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM task WHERE archived_at IS NULL \
         AND (closed_at < ?1 OR (closed_at IS NULL AND status = 'failed' AND updated_at < ?1)) \
         ORDER BY coalesce(closed_at, updated_at), id LIMIT ?2"
    ))?
    .query_map(rusqlite::params![before.0, limit as i64], read)?
    .collect()
}

/// Returns somebody's unfinished tasks.
pub fn open_of(conn: &Connection, owner: &ActorId) -> rusqlite::Result<Vec<Task>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM task WHERE owner = ? AND closed_at IS NULL ORDER BY created_at DESC, id"
    ))?
    .query_map([owner.as_str()], read)?
    .collect()
}

/// Returns the tasks that reference something, newest first.
pub fn about(conn: &Connection, place: &str, thing: &str, limit: usize) -> rusqlite::Result<Vec<Task>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM task WHERE id IN (SELECT task FROM task_ref WHERE place = ? AND thing = ?) \
         ORDER BY created_at DESC, id LIMIT ?"
    ))?
    .query_map(rusqlite::params![place, thing, limit as i64], read)?
    .collect()
}

/// Returns a task's references in the order in which they were added.
pub fn refs(conn: &Connection, task: &str) -> rusqlite::Result<Vec<TaskRef>> {
    conn.prepare_cached("SELECT place, thing, note, by, at FROM task_ref WHERE task = ? ORDER BY at, place, thing")?
        .query_map([task], |row| {
            Ok(TaskRef {
                place: row.get(0)?,
                thing: row.get(1)?,
                note: row.get(2)?,
                by: parsed(row, 3)?,
                at: Time(row.get(4)?),
            })
        })?
        .collect()
}
