//! What happens to runs. Whatever a run waits for, the fold of what ends the waiting lets it go on: so a run that is not at
//! its end has one reason to wait, or is due.

use rusqlite::params;
use serde_json::{Value, json};

use super::get;
use crate::store::event::{Content, Moment, Notify, Table, Teller, events};
use crate::store::memory::{Memory, Touched};
use crate::store::outbox::News;
use crate::store::tasks::events::{TASK, became};
use crate::store::{inbox, to_json};
use crate::types::id::{ActorId, Id};
use crate::types::inbox::ItemKind;
use crate::types::target::Thing;
use crate::types::time::DAY;
use crate::types::webhook::Topic;
use crate::types::work::{Failure, RunStatus, StepKind, StepStatus, TaskStatus, Wait};

/// How long a run waits for an answer.
const PATIENCE: i64 = 7 * DAY;

const RUN: Table = Table { name: "run", key: "id" };
const STEP: Table = Table { name: "step", key: "run || ' ' || printf('%06d', number)" };

events! {
    /// An agent is to work on a task.
    RunStarted = "run_started" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, parent: Option<Id>, depth: u32,
        budget_cents: Option<i64>,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        fold: Some(started), notify: Notify::Nobody, news: None,
    }
    /// A step waits: for approval, an answer, a time or another run.
    RunWaiting = "run_waiting" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String, wait: Wait,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(waiting), notify: Notify::AndShow(notify_of_question), news: None,
    }
    /// A run takes its step anew: what it waited for has changed.
    RunResumed = "run_resumed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        fold: Some(resumed), notify: Notify::Nobody, news: None,
    }
    /// A step was taken. Of an operation, recorded in the transaction of its effect.
    StepCompleted = "step_completed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(completed_step), notify: Notify::Nobody, news: None,
    }
    /// A step was refused, by the policies or by whoever had to approve; the run goes on and knows it.
    StepDenied = "step_denied" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String, reason: String,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(denied_step), notify: Notify::Nobody, news: None,
    }
    /// A step could not be taken, and had no effect; the run goes on and knows it.
    StepFailed = "step_failed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String, reason: String,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(failed_step), notify: Notify::Nobody, news: None,
    }
    /// Somebody answered what a run had asked.
    RunAnswered = "run_answered" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, by: ActorId,
    } about [id, agent, asker, by] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(answered),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A run stops where it is: it may not spend more.
    RunHeld = "run_held" {
        id: Id, agent: ActorId, asker: ActorId, reason: String,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        fold: Some(held), notify: Notify::AndShow(notify_of_hold), news: None,
    }
    /// A run may spend more, and goes on.
    RunBudgetRaised = "run_budget_raised" {
        id: Id, agent: ActorId, asker: ActorId, budget_cents: i64,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        fold: Some(raised),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A run came to its end.
    RunCompleted = "run_completed" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, tokens_in: i64, tokens_out: i64,
        cost_cents: i64, duration_ms: i64,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(|event, moment| ended(moment, &event.id, RunStatus::Completed, None)),
        notify: Notify::AndShow(notify_of_completion), news: Some(news_of_completion),
    }
    /// A run failed, or took too long.
    RunFailed = "run_failed" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, tokens_in: i64, tokens_out: i64,
        cost_cents: i64, duration_ms: i64, reason: Failure, #[schemars(extend("x-names" = "text"))] message: String,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(failed), notify: Notify::AndShow(notify_of_failure), news: Some(news_of_failure),
    }
    /// Somebody ended a run.
    RunCancelled = "run_cancelled" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, #[schemars(extend("x-names" = "text"))] reason: String,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(|event, moment| ended(moment, &event.id, RunStatus::Cancelled, None)),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
}

fn started(event: &RunStarted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let RunStarted { id, task, agent, asker, askers, parent, depth, budget_cents } = event;
    let sql = "INSERT INTO run (id, task, agent, asker, askers, asked, parent, depth, status, due_at, budget_cents, steps, \
               calls, cost_cents, tokens_in, tokens_out, denials, created_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, '[]', ?6, ?7, 'queued', ?9, ?8, 0, 0, 0, 0, 0, 0, ?9)";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        task.as_str(),
        agent.as_str(),
        asker.as_str(),
        to_json(askers)?,
        parent.as_ref().map(Id::as_str),
        depth,
        budget_cents,
        moment.at.0
    ])?;
    if parent.is_none() { became(moment, task.as_str(), TaskStatus::Running) } else { Ok(Touched::Nothing) }
}

/// One step, as it stands now.
struct Taken<'a> {
    run: &'a Id,
    number: u32,
    kind: StepKind,
    name: &'a str,
    target: &'a str,
    status: StepStatus,
    wait: Option<&'a Wait>,
    reason: Option<&'a str>,
    tokens: (u32, u32),
    cost_cents: u32,
}

impl Taken<'_> {
    fn write(&self, moment: &Moment<'_>) -> rusqlite::Result<()> {
        let ended = (self.status != StepStatus::Waiting).then_some(moment.at.0);
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

    /// The step is over: the run goes on from the next one.
    fn settle(&self, moment: &Moment<'_>, denied: Option<&str>) -> rusqlite::Result<Touched> {
        self.write(moment)?;
        let called = matches!(self.kind, StepKind::Tool | StepKind::Question | StepKind::Delegate);
        let sql = "UPDATE run SET steps = ?2, calls = calls + ?3, cost_cents = cost_cents + ?4, tokens_in = tokens_in + ?5, \
                   tokens_out = tokens_out + ?6, status = 'running', wait = NULL, asked = '[]', due_at = ?7, \
                   started_at = coalesce(started_at, ?7), \
                   denials = CASE WHEN ?8 IS NULL THEN 0 WHEN denied IS ?8 THEN denials + 1 ELSE 1 END, denied = ?8 \
                   WHERE id = ?1";
        moment.conn.prepare_cached(sql)?.execute(params![
            self.run.as_str(),
            self.number,
            called,
            self.cost_cents,
            self.tokens.0,
            self.tokens.1,
            moment.at.0,
            denied
        ])?;
        goes_on(moment, self.run)
    }
}

/// The task of a run that goes on is worked on again.
fn goes_on(moment: &Moment<'_>, run: &Id) -> rusqlite::Result<Touched> {
    let sql = "UPDATE task SET status = 'running', version = version + 1, updated_at = ?2 WHERE status = 'waiting' \
               AND closed_at IS NULL AND id = (SELECT task FROM run WHERE id = ?1 AND parent IS NULL)";
    moment.conn.prepare_cached(sql)?.execute(params![run.as_str(), moment.at.0])?;
    Ok(Touched::Nothing)
}

fn waiting(event: &RunWaiting, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let RunWaiting { id, step, kind, name, target, wait, .. } = event;
    let (status, due, asked) = match wait {
        Wait::Approval { .. } => (RunStatus::WaitingApproval, None, &[][..]),
        Wait::Question { to } => (RunStatus::WaitingInput, Some(moment.at.plus_ms(PATIENCE).0), to.as_slice()),
        Wait::Time { until } => (RunStatus::Running, Some(until.0), &[][..]),
        Wait::Run { .. } => (RunStatus::Running, None, &[][..]),
        Wait::Budget => (RunStatus::Held, None, &[][..]),
    };
    let taken = Taken {
        run: id,
        number: *step,
        kind: *kind,
        name,
        target,
        status: StepStatus::Waiting,
        wait: Some(wait),
        reason: None,
        tokens: (0, 0),
        cost_cents: 0,
    };
    taken.write(moment)?;
    let sql = "UPDATE run SET status = ?2, wait = ?3, asked = ?4, due_at = ?5, started_at = coalesce(started_at, ?6) \
               WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        status.name(),
        to_json(wait)?,
        to_json(&asked)?,
        due,
        moment.at.0
    ])?;
    if status != RunStatus::Running {
        task_waits(moment, id)?;
    }
    Ok(Touched::Nothing)
}

fn task_waits(moment: &Moment<'_>, run: &Id) -> rusqlite::Result<()> {
    match get(moment.conn, run.as_str())? {
        Some(run) if run.parent.is_none() => became(moment, &run.task, TaskStatus::Waiting).map(drop),
        _ => Ok(()),
    }
}

fn resumed(event: &RunResumed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    runs(moment, &event.id)
}

/// A run is due again.
fn runs(moment: &Moment<'_>, run: &Id) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET status = 'running', wait = NULL, asked = '[]', due_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, run.as_str()])?;
    goes_on(moment, run)
}

fn completed_step(event: &StepCompleted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepCompleted { id, step, kind, name, target, tokens_in, tokens_out, cost_cents, .. } = event;
    let taken = Taken {
        run: id,
        number: *step,
        kind: *kind,
        name,
        target,
        status: StepStatus::Completed,
        wait: None,
        reason: None,
        tokens: (*tokens_in, *tokens_out),
        cost_cents: *cost_cents,
    };
    taken.settle(moment, None)
}

fn denied_step(event: &StepDenied, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepDenied { id, step, kind, name, target, reason, .. } = event;
    let taken = Taken {
        run: id,
        number: *step,
        kind: *kind,
        name,
        target,
        status: StepStatus::Denied,
        wait: None,
        reason: Some(reason),
        tokens: (0, 0),
        cost_cents: 0,
    };
    taken.settle(moment, Some(&format!("{name} {target}: {reason}")))
}

fn failed_step(event: &StepFailed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepFailed { id, step, kind, name, reason, .. } = event;
    let taken = Taken {
        run: id,
        number: *step,
        kind: *kind,
        name,
        target: "",
        status: StepStatus::Failed,
        wait: None,
        reason: Some(reason),
        tokens: (0, 0),
        cost_cents: 0,
    };
    taken.settle(moment, None)
}

fn answered(event: &RunAnswered, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let by = event.by.as_str();
    let taken = Taken {
        run: &event.id,
        number: event.step,
        kind: StepKind::Question,
        name: by,
        target: by,
        status: StepStatus::Completed,
        wait: None,
        reason: None,
        tokens: (0, 0),
        cost_cents: 0,
    };
    taken.settle(moment, None)
}

fn held(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET status = 'held', wait = ?, due_at = NULL WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![to_json(&Wait::Budget)?, event.id.as_str()])?;
    task_waits(moment, &event.id)?;
    Ok(Touched::Nothing)
}

fn raised(event: &RunBudgetRaised, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET budget_cents = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![event.budget_cents, event.id.as_str()])?;
    match get(moment.conn, event.id.as_str())? {
        Some(run) if run.wait == Some(Wait::Budget) => runs(moment, &event.id),
        _ => Ok(Touched::Nothing),
    }
}

fn failed(event: &RunFailed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let status = if event.reason == Failure::TimedOut { RunStatus::TimedOut } else { RunStatus::Failed };
    ended(moment, &event.id, status, Some((event.reason, &event.message)))
}

/// The run is over, and its task with it; what it is a part of goes on.
fn ended(
    moment: &Moment<'_>,
    id: &Id,
    status: RunStatus,
    failure: Option<(Failure, &str)>,
) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET status = ?2, wait = NULL, asked = '[]', due_at = NULL, ended_at = ?3, failure = ?4, error = ?5, \
               started_at = coalesce(started_at, ?3) WHERE id = ?1";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        status.name(),
        moment.at.0,
        failure.map(|(failure, _)| failure.name()),
        failure.map(|(_, message)| message)
    ])?;
    let sql = "UPDATE step SET status = 'failed', reason = 'the run has ended', ended_at = ?2 \
               WHERE run = ?1 AND status = 'waiting'";
    moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), moment.at.0])?;
    let Some(run) = get(moment.conn, id.as_str())? else { return Ok(Touched::Nothing) };
    match run.parent {
        Some(parent) => part_ended(moment, &parent, (id, &run.agent), status),
        None => {
            let task = match status {
                RunStatus::Completed => TaskStatus::Completed,
                // It can be run again.
                RunStatus::Cancelled => TaskStatus::Assigned,
                _ => TaskStatus::Failed,
            };
            became(moment, &run.task, task)
        }
    }
}

/// A run that waits for this part goes on.
fn part_ended(
    moment: &Moment<'_>,
    parent: &str,
    (part, agent): (&Id, &ActorId),
    status: RunStatus,
) -> rusqlite::Result<Touched> {
    let Some(run) = get(moment.conn, parent)? else { return Ok(Touched::Nothing) };
    let spent = get(moment.conn, part.as_str())?.map(|part| (part.tokens_in, part.tokens_out, part.cost_cents));
    let (tokens_in, tokens_out, cost_cents) = spent.unwrap_or_default();
    let whole = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    if run.wait != Some(Wait::Run { run: part.clone() }) {
        return Ok(Touched::Nothing);
    }
    let reason = format!("{part} is {status}");
    let well = status == RunStatus::Completed;
    let taken = Taken {
        run: &Id::stored(parent),
        number: run.steps.saturating_add(1),
        kind: StepKind::Delegate,
        name: agent.as_str(),
        target: part.as_str(),
        status: if well { StepStatus::Completed } else { StepStatus::Failed },
        wait: None,
        reason: (!well).then_some(reason.as_str()),
        tokens: (whole(tokens_in), whole(tokens_out)),
        cost_cents: whole(cost_cents),
    };
    taken.settle(moment, None)
}

fn notify_of_question(event: &RunWaiting, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let Wait::Question { to } = &event.wait else { return Ok(()) };
    let title = format!("{} asks you something", event.agent);
    to.iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Question, event.id.as_str(), &title))
}

fn notify_of_hold(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("a run of {} is held: {}", event.agent, event.reason);
    inbox::add(moment, &event.asker, ItemKind::Alert, event.id.as_str(), &title)
}

fn notify_of_completion(event: &RunCompleted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let title = format!("{} has finished what you asked", event.agent);
    inbox::add(moment, &event.asker, ItemKind::Decision, event.id.as_str(), &title)
}

fn notify_of_failure(event: &RunFailed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    inbox::resolve(moment, event.id.as_str())?;
    let title = format!("a run of {} failed: {}", event.agent, event.message);
    inbox::add(moment, &event.asker, ItemKind::Failure, event.id.as_str(), &title)
}

/// A run as policies see it once it has ended.
fn seen(id: &Id, agent: &ActorId, asker: &ActorId, askers: &[ActorId], status: RunStatus) -> Thing {
    let thing = Thing::new("Run", id.as_str()).actor("agent", agent).actor("asker", asker);
    thing.actors("askers", askers.iter().cloned()).actors("asked", []).text("status", status.name())
}

fn news_of_completion(event: &RunCompleted, teller: &Teller<'_>) -> Option<News> {
    let RunCompleted { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, .. } = event;
    let thing = seen(id, agent, asker, askers, RunStatus::Completed);
    let data = told((id, agent), RunStatus::Completed, (*tokens_in, *tokens_out, *duration_ms), teller);
    Some(News {
        topic: Topic::RunCompleted.name(),
        only: None,
        of: Some(agent.clone()),
        about: Some(("run.read", thing.into())),
        data,
    })
}

fn news_of_failure(event: &RunFailed, teller: &Teller<'_>) -> Option<News> {
    let RunFailed { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, reason, .. } = event;
    let status = if *reason == Failure::TimedOut { RunStatus::TimedOut } else { RunStatus::Failed };
    let thing = seen(id, agent, asker, askers, status);
    let mut data = told((id, agent), status, (*tokens_in, *tokens_out, *duration_ms), teller);
    if let Some(fields) = data.as_object_mut() {
        fields.insert("reason".into(), reason.name().into());
    }
    Some(News {
        topic: Topic::RunFailed.name(),
        only: None,
        of: Some(agent.clone()),
        about: Some(("run.read", thing.into())),
        data,
    })
}

fn told(
    (id, agent): (&Id, &ActorId),
    status: RunStatus,
    (tokens_in, tokens_out, duration_ms): (i64, i64, i64),
    _: &Teller<'_>,
) -> Value {
    json!({
        "run_id": id, "agent_id": agent, "status": status, "tokens": { "input": tokens_in, "output": tokens_out },
        "duration_ms": duration_ms, "channel": "api", "user_id": null,
    })
}
