//! Folds events into runs and their steps. Whatever a run waits for, the fold that ends the wait resumes it: so an open run
//! either has one reason to wait, or is due.

use std::collections::BTreeSet;

use rusqlite::params;

use super::budgets::{others_look_again, spend};
use super::{Run, Step, begun, denials, get, open_parts, step, waits as waits_of, waits_for};
use crate::event::Moment;
use crate::memory::Touched;
use crate::tasks::events::became;
use crate::to_json;
use types::field::Label;
use types::id::{ActorId, Id};
use types::run::{Failure, MOST_DENIALS, RunStatus, StepKind, StepStatus, Wait};
use types::task::TaskStatus;

/// A step in its current state.
pub(super) struct Taken<'a> {
    pub run: &'a Id,
    pub number: u32,
    pub kind: StepKind,
    pub name: &'a str,
    pub target: &'a str,
    pub status: StepStatus,
    pub wait: Option<&'a Wait>,
    pub reason: Option<&'a str>,
    pub tokens: (u32, u32),
    pub cost_cents: u32,
}

impl<'a> Taken<'a> {
    /// Returns a step without cost.
    pub fn new(
        run: &'a Id,
        number: u32,
        kind: StepKind,
        name: &'a str,
        target: &'a str,
        status: StepStatus,
    ) -> Taken<'a> {
        Taken { run, number, kind, name, target, status, wait: None, reason: None, tokens: (0, 0), cost_cents: 0 }
    }

    pub fn taking(self, tokens_in: u32, tokens_out: u32, cost_cents: u32) -> Taken<'a> {
        Taken { tokens: (tokens_in, tokens_out), cost_cents, ..self }
    }

    pub fn because(self, reason: Option<&'a str>) -> Taken<'a> {
        Taken { reason, ..self }
    }

    fn write(&self, moment: &Moment<'_>) -> rusqlite::Result<()> {
        if self.kind == StepKind::Model {
            spend(moment, self.run, (self.number, self.cost_cents))?;
        }
        let is_open = matches!(self.status, StepStatus::Waiting | StepStatus::Decided | StepStatus::Dispatched);
        let ended = (!is_open).then_some(moment.at.0);
        let sql = "INSERT INTO step (run, number, kind, name, target, status, wait, reason, tokens_in, tokens_out, cost_cents, \
                   started_at, ended_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
                   ON CONFLICT (run, number) DO UPDATE SET kind = ?3, name = ?4, target = ?5, status = ?6, \
                   wait = coalesce(?7, wait), reason = ?8, tokens_in = ?9, tokens_out = ?10, cost_cents = ?11, ended_at = ?13";
        moment.conn.prepare_cached(sql)?.execute(params![
            self.run.as_str(),
            self.number,
            self.kind.name(),
            self.name,
            self.target,
            self.status.name(),
            self.wait.map(to_json).transpose()?,
            self.reason,
            self.tokens.0,
            self.tokens.1,
            self.cost_cents,
            moment.at.0,
            ended
        ])?;
        Ok(())
    }

    /// Records that the step is in progress or waits.
    pub fn begin(&self, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
        self.write(moment)?;
        stand(moment, self.run)
    }

    /// Records that the step is over: once those before it are, the run proceeds to the next one.
    pub fn settle(&self, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
        self.write(moment)?;
        let called = matches!(self.kind, StepKind::Tool | StepKind::Question | StepKind::Delegate);
        let sql = "UPDATE run SET calls = calls + ?2, cost_cents = cost_cents + ?3, tokens_in = tokens_in + ?4, \
                   tokens_out = tokens_out + ?5, denials = max(denials, ?6) WHERE id = ?1 AND ended_at IS NULL";
        let (tokens_in, tokens_out) = self.tokens;
        let what = (self.name, self.target, self.reason);
        let denials = denials::equal(moment.conn, (self.run, self.status), what)?;
        let row = params![self.run.as_str(), called, self.cost_cents, tokens_in, tokens_out, denials];
        moment.conn.prepare_cached(sql)?.execute(row)?;
        if self.kind == StepKind::Model
            && let Some(run) = get(moment.conn, self.run.as_str())?
        {
            others_look_again(moment, &run.agent)?;
        }
        stand(moment, self.run)
    }
}

/// Sets the task of a resumed run to running.
fn goes_on(moment: &Moment<'_>, run: &str) -> rusqlite::Result<Touched> {
    let sql = "UPDATE task SET status = 'running', version = version + 1, updated_at = ?2 WHERE status = 'waiting' \
               AND closed_at IS NULL AND id = (SELECT task FROM run WHERE id = ?1 AND parent IS NULL)";
    moment.conn.prepare_cached(sql)?.execute(params![run, moment.at.0])?;
    Ok(Touched::Nothing)
}

pub(super) fn task_waits(moment: &Moment<'_>, run: &Run) -> rusqlite::Result<Touched> {
    match run.parent {
        None => became(moment, &run.task, TaskStatus::Waiting),
        Some(_) => Ok(Touched::Nothing),
    }
}

pub(super) fn taken_anew(moment: &Moment<'_>, (run, step): (&Id, u32)) -> rusqlite::Result<Touched> {
    let sql = "UPDATE step SET status = 'due' WHERE run = ? AND number = ? AND status = 'waiting'";
    moment.conn.prepare_cached(sql)?.execute(params![run.as_str(), step])?;
    stand(moment, run)
}

/// Derives a run's state from its steps: it is due if any step can be taken now; it waits only if each of those that it may
/// take waits or is over.
pub(super) fn stand(moment: &Moment<'_>, run: &Id) -> rusqlite::Result<Touched> {
    let Some(run) = get(moment.conn, run.as_str())?.filter(|run| !run.status.is_over()) else {
        return Ok(Touched::Nothing);
    };
    let begun = begun(moment.conn, &run)?;
    let over = begun
        .iter()
        .zip(run.steps.saturating_add(1)..)
        .take_while(|(step, at)| step.number == *at && step.status.is_over());
    let steps = run.steps.saturating_add(u32::try_from(over.count()).unwrap_or(u32::MAX));
    let run = Run { steps, ..run };
    let begun = begun.into_iter().filter(|step| step.number > steps).collect::<Vec<_>>();
    let waits: Vec<&Step> = begun.iter().filter(|step| step.status == StepStatus::Waiting).collect();
    let settled = begun.iter().filter(|step| step.status.is_over()).count() + waits.len();
    // A run that was denied too often proceeds, in order to end.
    let can_go_on = settled < (run.reach() - steps) as usize || run.denials >= MOST_DENIALS;
    let (status, wait) = if can_go_on { (RunStatus::Running, None) } else { waits_for(&waits) };
    let due = if can_go_on { Some(moment.at) } else { waits.iter().filter_map(|step| step.until()).min() };
    let asked: Vec<&ActorId> = waits.iter().flat_map(|step| asked_at(step)).collect();
    let sql = "UPDATE run SET steps = ?2, status = ?3, wait = ?4, asked = ?5, due_at = ?6, \
               started_at = coalesce(started_at, ?7) WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute(params![
        run.id,
        steps,
        status.name(),
        wait.map(to_json).transpose()?,
        to_json(&asked)?,
        due.map(|due| due.0),
        moment.at.0
    ])?;
    if status == RunStatus::Running { goes_on(moment, &run.id) } else { task_waits(moment, &run) }
}

/// Returns who is asked at a step.
fn asked_at(step: &Step) -> &[ActorId] {
    step.wait.as_ref().map_or(&[], Wait::asks)
}

/// Adds the labels of what a run has read, for good.
pub(super) fn mark(moment: &Moment<'_>, run: &str, labels: &BTreeSet<Label>) -> rusqlite::Result<()> {
    let Some(run) = get(moment.conn, run)?.filter(|run| !labels.is_subset(&run.labels)) else { return Ok(()) };
    let all: BTreeSet<Label> = run.labels.union(labels).copied().collect();
    moment.conn.prepare_cached("UPDATE run SET labels = ? WHERE id = ?")?.execute(params![to_json(&all)?, run.id])?;
    Ok(())
}

/// Ends the run and its task, and resumes the parent run.
pub(super) fn ended(
    moment: &Moment<'_>,
    id: &Id,
    status: RunStatus,
    failure: Option<(Failure, Option<&str>)>,
) -> rusqlite::Result<Touched> {
    // What was reserved for a call that has not begun is released.
    let Some(run) = get(moment.conn, id.as_str())? else { return Ok(Touched::Nothing) };
    let next = run.steps.saturating_add(1);
    if step(moment.conn, id.as_str(), next)?.is_some_and(|step| step.status == StepStatus::Decided) {
        spend(moment, id, (next, 0))?;
    }
    // A call in progress may have had its full effect: what was reserved for it counts as spent.
    let sql = "UPDATE run SET cost_cents = cost_cents + (SELECT coalesce(sum(cost_cents), 0) FROM step WHERE run = ?1 \
               AND status = 'dispatched') WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute([id.as_str()])?;
    let sql = "UPDATE run SET status = ?2, wait = NULL, asked = '[]', due_at = NULL, ended_at = ?3, failure = ?4, error = ?5, \
               started_at = coalesce(started_at, ?3) WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        status.name(),
        moment.at.0,
        failure.map(|(failure, _)| failure.name()),
        failure.map(|(_, message)| message)
    ])?;
    let sql = "UPDATE step SET status = CASE status WHEN 'dispatched' THEN 'unknown' ELSE 'failed' END, \
               cost_cents = CASE status WHEN 'decided' THEN 0 ELSE cost_cents END, reason = 'the run has ended', \
               ended_at = ?2 WHERE run = ?1 AND status IN ('waiting', 'due', 'decided', 'dispatched')";
    moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), moment.at.0])?;
    others_look_again(moment, &run.agent)?;
    match run.parent {
        Some(parent) => part_ended(moment, &parent, (id, &run.agent), status),
        None => {
            let task = match status {
                RunStatus::Completed => TaskStatus::Completed,
                // The task can be run again.
                RunStatus::Cancelled => TaskStatus::Assigned,
                _ => TaskStatus::Failed,
            };
            became(moment, &run.task, task)
        }
    }
}

/// Resumes the run that waits for this child.
fn part_ended(
    moment: &Moment<'_>,
    parent: &str,
    (part, agent): (&Id, &ActorId),
    status: RunStatus,
) -> rusqlite::Result<Touched> {
    let Some(run) = get(moment.conn, parent)? else { return Ok(Touched::Nothing) };
    go_on_beside(moment, &run)?;
    let Some(ended) = get(moment.conn, part.as_str())? else { return Ok(Touched::Nothing) };
    let (tokens_in, tokens_out, cost_cents) = (ended.tokens_in, ended.tokens_out, ended.cost_cents);
    let whole = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let waits = Some(Wait::Run { run: part.clone() });
    let Some(step) = waits_of(moment.conn, &run)?.into_iter().find(|step| step.wait == waits) else {
        return Ok(Touched::Nothing);
    };
    // The output of a child depends on all that it has read.
    mark(moment, parent, &ended.labels)?;
    let reason = format!("{part} is {status}");
    let well = status == RunStatus::Completed;
    let taken = Taken {
        run: &Id::stored(parent),
        number: step.number,
        kind: StepKind::Delegate,
        name: agent.as_str(),
        target: part.as_str(),
        status: if well { StepStatus::Completed } else { StepStatus::Failed },
        wait: None,
        reason: (!well).then_some(reason.as_str()),
        tokens: (whole(tokens_in), whole(tokens_out)),
        cost_cents: whole(cost_cents),
    };
    taken.settle(moment)
}

/// Lets held runs of the same tree retry, however deep: what a child did not spend, any other may.
fn go_on_beside(moment: &Moment<'_>, parent: &Run) -> rusqlite::Result<()> {
    let mut whole = parent.clone();
    while let Some(above) = whole.parent.as_deref().map(|id| get(moment.conn, id)).transpose()?.flatten() {
        whole = above;
    }
    go_on_below(moment, &whole.id)
}

/// Lets the descendants of a run that a budget holds retry.
pub(super) fn go_on_below(moment: &Moment<'_>, whole: &str) -> rusqlite::Result<()> {
    for part in open_parts(moment.conn, whole)? {
        if part.wait.as_ref().is_some_and(Wait::is_for_a_runs_budget) {
            stand(moment, &Id::stored(&part.id))?;
        }
        go_on_below(moment, &part.id)?;
    }
    Ok(())
}
