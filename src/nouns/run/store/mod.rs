//! Tables of runs and their steps. A run is rows and no stack, so one that waits costs nothing and outlives the server.

pub mod archive;
pub mod begun;
mod budgets;
mod denials;
pub mod events;
mod fold;
mod notify;
mod unraised;

pub(crate) use budgets::look_again;
pub use budgets::{RAISE, any_held_by_budget, held_by_budgets, set_aside};
pub use unraised::still_held;

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::list::{self, List};
use super::{Position, json, json_or_null, parsed, parsed_or_null, to_json};
use types::field::Label;
use types::id::{ActorId, Id};
use types::run::{Failure, RunFacts, RunStatus, StepKind, StepStatus, Wait};
use types::time::{DAY, Time};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: String,
    pub task: String,
    pub agent: ActorId,
    /// Who asked for it.
    pub asker: ActorId,
    /// Everybody for whom it is done, the nearest first.
    pub askers: Vec<ActorId>,
    /// Who is asked and has to answer.
    pub asked: Vec<ActorId>,
    /// The parent run.
    pub parent: Option<String>,
    /// The number of its ancestors.
    pub depth: u32,
    /// Whether its steps come from a plan, with made-up model answers and costs.
    pub planned: bool,
    pub status: RunStatus,
    pub wait: Option<Wait>,
    /// When it proceeds by itself; `None` while somebody else has to act first.
    pub due_at: Option<Time>,
    /// What it may spend; `None` without a limit.
    pub budget_cents: Option<i64>,
    /// The last of the completed steps without a gap.
    pub steps: u32,
    /// The step of a model answer with concurrent calls, and the step of the last of these.
    pub turn: (u32, u32),
    /// The number of operations performed.
    pub calls: u32,
    pub cost_cents: i64,
    /// The labels of what it has read.
    pub labels: BTreeSet<Label>,
    pub tokens_in: i64,
    pub tokens_out: i64,
    /// The highest number of equal denials so far.
    pub denials: u32,
    pub failure: Option<Failure>,
    pub error: Option<String>,
    pub created_at: Time,
    pub started_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// When it was archived.
    pub archived_at: Option<Time>,
}

impl Run {
    /// Returns the step of the model answer whose concurrent calls are in progress.
    pub const fn under_way(&self) -> Option<u32> {
        let (answer, last) = self.turn;
        if self.steps < last { Some(answer) } else { None }
    }

    /// Returns the last step that may be taken now: the next one, or the last of concurrent calls.
    pub const fn reach(&self) -> u32 {
        let next = self.steps.saturating_add(1);
        if self.turn.1 > next { self.turn.1 } else { next }
    }

    /// Returns for whom it is done ultimately: who asked for the topmost run. (After them come those on whose behalf they
    /// asked, and the issuer of their token.)
    pub fn origin(&self) -> &ActorId {
        self.askers.get(self.depth as usize).unwrap_or(&self.asker)
    }

    /// Returns what policies see of it at its next step.
    pub fn facts(&self) -> RunFacts {
        RunFacts {
            run: Id::stored(&self.id),
            asker: self.asker.clone(),
            askers: self.askers.clone(),
            depth: self.depth,
            steps: self.steps,
            calls: self.calls,
            cost_cents: self.cost_cents,
            labels: self.labels.clone(),
            planned: self.planned,
            token_id: None,
            under: None,
        }
    }
}

/// How long a run waits for an answer.
pub const PATIENCE: i64 = 7 * DAY;

impl Step {
    /// Returns when its wait times out.
    pub fn until(&self) -> Option<Time> {
        match self.wait {
            Some(Wait::Time { until } | Wait::RateLimit { until, .. } | Wait::Outcome { until, .. }) => Some(until),
            Some(Wait::Question { .. }) => Some(self.started_at.plus_ms(PATIENCE)),
            Some(Wait::Approval { .. } | Wait::Run { .. } | Wait::Model { .. } | Wait::Budget { .. }) | None => None,
        }
    }
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Starts at 1.
    pub number: u32,
    pub kind: StepKind,
    /// The operation, the model or the agent.
    pub name: String,
    pub status: StepStatus,
    pub target: String,
    pub wait: Option<Wait>,
    pub reason: Option<String>,
    pub tokens_in: i64,
    pub tokens_out: i64,
    pub cost_cents: i64,
    pub started_at: Time,
    pub ended_at: Option<Time>,
}

const COLUMNS: &str = "id, task, agent, asker, askers, asked, parent, depth, status, wait, due_at, budget_cents, steps, \
                       calls, cost_cents, tokens_in, tokens_out, denials, failure, error, created_at, started_at, ended_at, labels, \
                       turn, turn_end, planned, archived_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Time));
    Ok(Run {
        id: row.get(0)?,
        task: row.get(1)?,
        agent: parsed(row, 2)?,
        asker: parsed(row, 3)?,
        askers: json(row, 4)?,
        asked: json(row, 5)?,
        parent: row.get(6)?,
        depth: row.get(7)?,
        status: parsed(row, 8)?,
        wait: json_or_null(row, 9)?,
        due_at: time(10)?,
        budget_cents: row.get(11)?,
        steps: row.get(12)?,
        calls: row.get(13)?,
        cost_cents: row.get(14)?,
        tokens_in: row.get(15)?,
        tokens_out: row.get(16)?,
        denials: row.get(17)?,
        failure: parsed_or_null(row, 18)?,
        error: row.get(19)?,
        created_at: Time(row.get(20)?),
        started_at: time(21)?,
        ended_at: time(22)?,
        labels: json(row, 23)?,
        turn: (row.get(24)?, row.get(25)?),
        planned: row.get(26)?,
        archived_at: time(27)?,
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<Run>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM run WHERE id = ?"))?.query_row([id], read).optional()
}

/// How runs are listed.
pub const LIST: List<Run> = List {
    table: "run",
    columns: COLUMNS,
    there: "archived_at IS NULL",
    own: &["agent = ?4", "asker = ?4"],
    theirs: &["agent = ?4"],
    read,
    complete: list::whole,
    position,
};

/// Filters of the list of runs, all of which must match.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    pub agent: Option<ActorId>,
    pub task: Option<String>,
    /// Only runs requested since this time.
    pub since: Option<Time>,
    /// Includes archived runs.
    pub archived: bool,
}

impl Sought {
    pub fn fits(&self, run: &Run) -> bool {
        self.agent.as_ref().is_none_or(|agent| run.agent == *agent)
            && self.task.as_ref().is_none_or(|task| run.task == *task)
            && self.since.is_none_or(|since| run.created_at >= since)
            && (self.archived || run.archived_at.is_none())
    }
}

/// Returns a task's runs after a position, newest first.
pub fn of_task_after(conn: &Connection, task: &str, from: &Position, limit: usize) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE task = ?4 AND (created_at < ?1 OR (created_at = ?1 AND id > ?2)) \
         ORDER BY created_at DESC, id LIMIT ?3"
    ))?
    .query_map(params![from.at, from.id, limit as i64, task], read)?
    .collect()
}

pub fn position(run: &Run) -> Position {
    Position { at: run.created_at.0, id: run.id.clone() }
}

/// Returns runs that can proceed by a time, longest due first. Of the runs requested for one task, each begins when those
/// before it have ended.
pub fn due(
    conn: &Connection,
    (origin, but): (&ActorId, &[ActorId]),
    now: Time,
    (after, limit): (Option<&Run>, usize),
) -> rusqlite::Result<Vec<Run>> {
    let (at, id) = after.map_or((0, ""), |run| (run.due_at.map_or(0, |due| due.0), run.id.as_str()));
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE origin = ?2 AND due_at IS NOT NULL AND due_at <= ?1 AND (due_at, id) > (?3, ?4) \
         AND agent NOT IN (SELECT value FROM json_each(?6)) \
         AND (status <> 'queued' OR parent IS NOT NULL OR NOT EXISTS (SELECT 1 FROM run AS other WHERE \
         other.task = run.task AND other.ended_at IS NULL AND other.parent IS NULL AND (other.created_at < run.created_at \
         OR (other.created_at = run.created_at AND other.id < run.id)))) ORDER BY due_at, id LIMIT ?5"
    ))?
    .query_map(params![now.0, origin.as_str(), at, id, limit as i64, to_json(&but)?], read)?
    .collect()
}

/// Returns who asked for the topmost runs of what proceeds by itself, now or later; found with one index step each.
pub fn origins_due(conn: &Connection) -> rusqlite::Result<Vec<ActorId>> {
    let sql = "WITH RECURSIVE due (origin) AS (SELECT min(origin) FROM run WHERE due_at IS NOT NULL UNION ALL \
               SELECT (SELECT min(origin) FROM run WHERE due_at IS NOT NULL AND origin > due.origin) FROM due \
               WHERE due.origin IS NOT NULL) SELECT origin FROM due WHERE origin IS NOT NULL";
    conn.prepare_cached(sql)?.query_map([], |row| parsed(row, 0))?.collect()
}

/// Returns runs whose wait times out by a time, in that order, after one of them.
pub fn overdue(conn: &Connection, now: Time, after: Option<&Run>, limit: usize) -> rusqlite::Result<Vec<Run>> {
    let (due, id) = after.map_or((i64::MIN, ""), |run| (run.due_at.map_or(i64::MIN, |due| due.0), run.id.as_str()));
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE due_at <= ?1 AND wait IS NOT NULL AND (due_at, id) > (?2, ?3) \
         ORDER BY due_at, id LIMIT ?4"
    ))?
    .query_map(params![now.0, due, id, limit as i64], read)?
    .collect()
}

/// Returns when the next run that waits for a time proceeds.
pub fn next_due(conn: &Connection, now: Time) -> rusqlite::Result<Option<Time>> {
    conn.prepare_cached("SELECT min(due_at) FROM run WHERE due_at > ?")?
        .query_row([now.0], |row| Ok(row.get::<_, Option<i64>>(0)?.map(Time)))
}

/// Returns a run's open child runs.
pub fn open_parts(conn: &Connection, parent: &str) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM run WHERE parent = ? AND ended_at IS NULL ORDER BY id"))?
        .query_map([parent], read)?
        .collect()
}

/// Returns an agent's open runs.
pub fn open_of(conn: &Connection, agent: &ActorId, limit: usize) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM run WHERE agent = ? AND ended_at IS NULL ORDER BY id LIMIT ?"))?
        .query_map(params![agent.as_str(), limit as i64], read)?
        .collect()
}

/// Counts open runs by agent and those for whom they are done.
pub fn count_open(conn: &Connection) -> rusqlite::Result<Vec<(ActorId, Vec<ActorId>, u64)>> {
    conn.prepare_cached("SELECT agent, askers, count(*) FROM run WHERE ended_at IS NULL GROUP BY agent, askers")?
        .query_map([], |row| Ok((parsed(row, 0)?, json(row, 1)?, row.get::<_, i64>(2)?.unsigned_abs())))?
        .collect()
}

/// Returns a task's runs, newest first.
pub fn of_task(conn: &Connection, task: &str) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM run WHERE task = ? ORDER BY created_at DESC, id LIMIT {MOST_OF_TASK}"
    ))?
    .query_map([task], read)?
    .collect()
}

/// The maximum number of runs shown with a task.
const MOST_OF_TASK: usize = 100;

const STEP: &str =
    "number, kind, name, status, target, wait, reason, tokens_in, tokens_out, cost_cents, started_at, ended_at";

fn read_step(row: &Row<'_>) -> rusqlite::Result<Step> {
    Ok(Step {
        number: row.get(0)?,
        kind: parsed(row, 1)?,
        name: row.get(2)?,
        status: parsed(row, 3)?,
        target: row.get(4)?,
        wait: json_or_null(row, 5)?,
        reason: row.get(6)?,
        tokens_in: row.get(7)?,
        tokens_out: row.get(8)?,
        cost_cents: row.get(9)?,
        started_at: Time(row.get(10)?),
        ended_at: row.get::<_, Option<i64>>(11)?.map(Time),
    })
}

/// Returns a run's steps after one, in order.
pub fn steps_after(conn: &Connection, run: &str, since: u32) -> rusqlite::Result<Vec<Step>> {
    conn.prepare_cached(&format!("SELECT {STEP} FROM step WHERE run = ? AND number > ? ORDER BY number"))?
        .query_map(params![run, since], read_step)?
        .collect()
}

/// Returns one step of a run.
pub fn step(conn: &Connection, run: &str, number: u32) -> rusqlite::Result<Option<Step>> {
    conn.prepare_cached(&format!("SELECT {STEP} FROM step WHERE run = ? AND number = ?"))?
        .query_row(params![run, number], read_step)
        .optional()
}

/// Returns a run's steps that are in progress, or over before earlier ones are.
pub fn begun(conn: &Connection, run: &Run) -> rusqlite::Result<Vec<Step>> {
    steps_after(conn, &run.id, run.steps)
}

/// Returns the steps at which a run waits.
pub fn waits(conn: &Connection, run: &Run) -> rusqlite::Result<Vec<Step>> {
    Ok(begun(conn, run)?.into_iter().filter(|step| step.status == StepStatus::Waiting).collect())
}

/// Returns the status of a run that can only wait at these steps, and what it waits for.
pub fn waits_for<'a>(waits: &[&'a Step]) -> (RunStatus, Option<&'a Wait>) {
    let found = |fits: fn(&Wait) -> bool| waits.iter().filter_map(|step| step.wait.as_ref()).find(|wait| fits(wait));
    if let Some(wait) = found(|wait| matches!(wait, Wait::Approval { .. })) {
        return (RunStatus::WaitingApproval, Some(wait));
    }
    if let Some(wait) = found(|wait| !wait.asks().is_empty()) {
        return (RunStatus::WaitingInput, Some(wait));
    }
    (RunStatus::Running, found(|_| true))
}

/// Returns a run's active time, without waiting. An external call of unknown duration, because the server or the run was
/// stopped meanwhile, counts as `most` at most.
pub fn active_ms(conn: &Connection, run: &str, most: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(sum(CASE WHEN status = 'unknown' OR kind = 'tool' THEN min(ended_at - started_at, ?2) \
               ELSE ended_at - started_at END), 0) FROM step WHERE run = ?1 AND wait IS NULL";
    conn.prepare_cached(sql)?.query_row(params![run, most], |row| row.get(0))
}

/// Checks whether any run proceeds by itself, now or later.
pub fn any_due(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM run WHERE due_at IS NOT NULL)")?.query_row([], |row| row.get(0))
}

/// Returns the status of a run's last step, and whether it waited for approval.
pub fn last_step(conn: &Connection, run: &str) -> rusqlite::Result<Option<(StepStatus, bool)>> {
    conn.prepare_cached("SELECT status, wait FROM step WHERE run = ? ORDER BY number DESC LIMIT 1")?
        .query_row([run], |row| {
            let waited: Option<Wait> = json_or_null(row, 1)?;
            Ok((parsed(row, 0)?, matches!(waited, Some(Wait::Approval { .. }))))
        })
        .optional()
}

/// Returns the milliseconds from a run's start to another time.
pub fn duration(started: Option<Time>, by: Time) -> i64 {
    started.map_or(0, |started| by.0.saturating_sub(started.0))
}
