//! Events of runs.

use std::collections::BTreeSet;

use rusqlite::params;

use super::budgets::{more_to_spend, others_look_again};
use super::fold::{Taken, ended, go_on_below, mark, stand, taken_anew, task_waits};
use super::notify::{self, Ended};
use super::{get, step};
use crate::done::DONE;
use crate::event::{Author, Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::outbox::News;
use crate::settles::{End, Settles};
use crate::tasks::events::{TASK, became};
use crate::{inbox, to_json};
use types::field::Label;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::run::{Beside, Failure, Happened, RunStatus, StepKind, StepStatus, Wait};
use types::task::TaskStatus;
use types::time::Time;

pub const RUN: Table = Table { name: "run", key: "id" };
const STEP: Table = Table { name: "step", key: "run || ' ' || printf('%06d', number)" };

/// Why open requests about a run end.
const OVER: &str = "has ended";

events! {
    /// A run started: an agent is to work on a task.
    RunStarted = "run_started" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, parent: Option<Id>, depth: u32,
        budget_cents: Option<i64>,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")] labels: BTreeSet<Label>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")] planned: bool,
        /// The token that it was begun with; of a part, the token that the whole was.
        #[serde(default, skip_serializing_if = "Option::is_none")] token_id: Option<Id>,
        /// The delegation that it was asked for under; of a part, the one that the whole was.
        #[serde(default, skip_serializing_if = "Option::is_none")] delegation: Option<Id>,
    } about [id, task, agent, asker] => {
        says: "started {id:a run} of @{agent}",
        // It counts no costs itself; without it, nobody knows whose a run's costs are.
        content: Content::SHOWN.hiding(&["token_id"]), tables: &[RUN, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(started), notify: Notify::Nobody, news: None,
    }
    /// A step waits: for approval, an answer, a time or another run.
    RunWaiting = "run_waiting" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String, wait: Wait,
    } about [id, agent, asker] => {
        says: "made {id:a run}[ of @{agent}] wait[ at `{name}`]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Step(|event| &event.id),
        fold: Some(waiting),
        notify: Notify::AndShow(|event, moment| {
            notify::of_question(moment, (&event.id, &event.agent), &event.name, &event.wait)
        }),
        news: None,
    }
    /// A run resumed and retries its step: what it waited for has changed.
    RunResumed = "run_resumed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32,
    } about [id, agent, asker] => {
        says: "resumed {id:a run}[ of @{agent}]",
        content: Content::SHOWN.minor(), tables: &[RUN, STEP, TASK], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(resumed), notify: Notify::AndShow(|event, moment| notify::of_less(moment, &event.id, event.step)),
        news: None,
    }
    /// An external step was approved, with its budget, but has not started.
    StepDecided = "step_decided" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        says: "decided {id:a step}[ of @{agent}]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Step(|event| &event.id),
        fold: Some(decided_step), notify: Notify::Nobody, news: None,
    }
    /// An external step is about to start. Its budget is reserved until the outcome is recorded.
    StepDispatched = "step_dispatched" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        says: "dispatched {id:a step}[ of @{agent}]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Step(|event| &event.id),
        fold: Some(dispatched_step), notify: Notify::Nobody, news: None,
    }
    /// The outcome of an external step is unknown; its reservation counts as spent. The reason is stored as content, so that it can be erased.
    StepUnknown = "step_unknown" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] reason: Option<String>,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        says: "does not know the outcome of {id:a step}[ of @{agent}]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(unknown_step), notify: Notify::Nobody, news: None,
    }
    /// A step was taken. Of an operation, recorded in the transaction of its effect, with the labels of what it let the run
    /// read; of a model's answer, with how many calls it wants, which are made together.
    StepCompleted = "step_completed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")] labels: BTreeSet<Label>,
        #[serde(default, skip_serializing_if = "Option::is_none")] calls: Option<u32>,
    } about [id, agent, asker] => {
        says: "took {id:a step}[ of @{agent}][: `{name}`]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Step(|event| &event.id),
        fold: Some(completed_step), notify: Notify::Nobody, news: None,
    }
    /// A step was refused, by the policies or by an approver; the run continues and is informed.
    StepDenied = "step_denied" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String, reason: String,
    } about [id, agent, asker] => {
        says: "was refused {id:a step}[ of @{agent}]: `{name}`[: «{reason}»]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(denied_step), notify: Notify::Nobody, news: None,
    }
    /// A step failed without effect; the run continues and is informed. The reason is stored as content, so that it can be erased: it may quote what an agent wrote.
    StepFailed = "step_failed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] reason: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")] labels: BTreeSet<Label>,
    } about [id, agent, asker] => {
        says: "could not take {id:a step}[ of @{agent}]: `{name}`[: «{reason}»]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(failed_step), notify: Notify::Nobody, news: None,
    }
    /// Somebody answered a run's question, or stated whether a tool's call took effect.
    RunAnswered = "run_answered" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, by: ActorId,
        #[serde(default, skip_serializing_if = "Option::is_none")] happened: Option<Happened>,
    } about [id, agent, asker, by] => {
        says: "answered {id:a question} of @{agent}",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(answered),
        notify: Notify::AndShow(|event, moment| notify::of_less(moment, &event.id, event.step)), news: None,
    }
    /// A run is held by a budget: until it is raised, until a time, or until enough of the reserved amount is released (`beside` says whose budget it is).
    RunHeld = "run_held" {
        id: Id, agent: ActorId, asker: ActorId, reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] until: Option<Time>,
        #[serde(default, skip_serializing_if = "Option::is_none")] payer: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")] cost_cents: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")] beside: Option<ActorId>,
        /// Of a part, who asked for the whole: an agent that asked for the part can do nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")] origin: Option<ActorId>,
    } about [id, agent, asker] => {
        says: "held {id:a run} of @{agent}[: «{reason}»]",
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        settles: Settles::Held(|event| &event.id),
        fold: Some(held), notify: Notify::AndShow(notify_of_hold), news: None,
    }
    /// A run's budget was raised; it resumes.
    RunBudgetRaised = "run_budget_raised" {
        id: Id, agent: ActorId, asker: ActorId, budget_cents: i64,
    } about [id, agent, asker] => {
        says: "raised the budget of {id:a run} of @{agent}",
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        settles: Settles::Ends(|event, _| Ok(vec![more_to_spend(&event.id)])),
        fold: Some(raised),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A run completed.
    RunCompleted = "run_completed" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, tokens_in: i64, tokens_out: i64,
        cost_cents: i64, duration_ms: i64,
    } about [id, task, agent, asker] => {
        says: "completed {id:a run} of @{agent}",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, OVER))),
        fold: Some(|event, moment| ended(moment, &event.id, RunStatus::Completed, None)),
        notify: Notify::AndShow(notify_of_completion), news: Some(news_of_completion),
    }
    /// A run failed or timed out. The message of its plan, model or tool is stored as content, so that it can be erased.
    RunFailed = "run_failed" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, tokens_in: i64, tokens_out: i64,
        cost_cents: i64, duration_ms: i64, reason: Failure,
        #[serde(default, skip_serializing_if = "Option::is_none")] #[schemars(extend("x-names" = "text"))]
        message: Option<String>,
    } about [id, task, agent, asker] => {
        says: "recorded that {id:a run} of @{agent} failed[: «{reason}»]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, OVER))),
        fold: Some(failed), notify: Notify::AndShow(notify_of_failure), news: Some(news_of_failure),
    }
    /// A run was cancelled. The reason is stored as content, so that it can be erased.
    RunCancelled = "run_cancelled" {
        id: Id, task: Id, agent: ActorId, asker: ActorId,
        #[serde(default, skip_serializing_if = "Option::is_none")] #[schemars(extend("x-names" = "text"))]
        reason: Option<String>,
    } about [id, task, agent, asker] => {
        says: "cancelled {id:a run} of @{agent}[: «{reason}»]",
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, OVER))),
        fold: Some(|event, moment| ended(moment, &event.id, RunStatus::Cancelled, None)),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A run was archived: it ended longer ago than the company's retention.
    RunArchived = "run_archived" {
        id: Id, task: Id, agent: ActorId, asker: ActorId,
    } about [id, task, agent, asker] => {
        says: "archived {id:a run} of @{agent}",
        content: Content::SHOWN, tables: &[RUN], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: Some(archived), notify: Notify::Nobody, news: None,
    }
}

fn started(event: &RunStarted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let RunStarted { id, task, parent, token_id, delegation, .. } = event;
    let sql = "INSERT INTO run (id, task, agent, asker, askers, asked, parent, depth, status, due_at, budget_cents, steps, \
               turn, turn_end, calls, cost_cents, labels, tokens_in, tokens_out, denials, created_at, planned) \
               VALUES (?1, ?2, ?3, ?4, ?5, '[]', ?6, ?7, 'queued', ?9, ?8, 0, 0, 0, 0, 0, ?10, 0, 0, 0, ?9, ?11)";
    moment.conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        task.as_str(),
        event.agent.as_str(),
        event.asker.as_str(),
        to_json(&event.askers)?,
        parent.as_ref().map(Id::as_str),
        event.depth,
        event.budget_cents,
        moment.at.0,
        to_json(&event.labels)?,
        event.planned
    ])?;
    if token_id.is_some() || delegation.is_some() {
        let sql = "UPDATE run SET token_id = ?, delegation = ? WHERE id = ?";
        let of = |with: &Option<Id>| with.as_ref().map(Id::to_string);
        moment.conn.prepare_cached(sql)?.execute(params![of(token_id), of(delegation), id.as_str()])?;
    }
    if parent.is_none() { became(moment, task.as_str(), TaskStatus::Running) } else { Ok(Touched::Nothing) }
}

fn waiting(event: &RunWaiting, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let RunWaiting { id, step, kind, name, target, wait, .. } = event;
    let taken = Taken::new(id, *step, *kind, name, target, StepStatus::Waiting);
    Taken { wait: Some(wait), ..taken }.begin(moment)
}

fn resumed(event: &RunResumed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    taken_anew(moment, (&event.id, event.step))
}

fn decided_step(event: &StepDecided, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepDecided { id, step, kind, name, target, tokens_in, tokens_out, cost_cents, .. } = event;
    let taken =
        Taken::new(id, *step, *kind, name, target, StepStatus::Decided).taking(*tokens_in, *tokens_out, *cost_cents);
    taken.begin(moment)
}

fn dispatched_step(event: &StepDispatched, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepDispatched { id, step, kind, name, target, tokens_in, tokens_out, cost_cents, .. } = event;
    let taken =
        Taken::new(id, *step, *kind, name, target, StepStatus::Dispatched).taking(*tokens_in, *tokens_out, *cost_cents);
    taken.begin(moment)
}

fn unknown_step(event: &StepUnknown, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepUnknown { id, step, kind, name, target, reason, tokens_in, tokens_out, cost_cents, .. } = event;
    let taken = Taken::new(id, *step, *kind, name, target, StepStatus::Unknown)
        .taking(*tokens_in, *tokens_out, *cost_cents)
        .because(reason.as_deref());
    taken.settle(moment)
}

fn completed_step(event: &StepCompleted, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepCompleted { id, step, kind, name, target, tokens_in, tokens_out, cost_cents, labels, calls, .. } = event;
    mark(moment, id.as_str(), labels)?;
    if let Some(calls) = calls {
        let sql = "UPDATE run SET turn = ?2, turn_end = ?2 + ?3 WHERE id = ?1";
        moment.conn.prepare_cached(sql)?.execute(params![id.as_str(), step, calls])?;
    }
    let taken =
        Taken::new(id, *step, *kind, name, target, StepStatus::Completed).taking(*tokens_in, *tokens_out, *cost_cents);
    taken.settle(moment)
}

fn denied_step(event: &StepDenied, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepDenied { id, step, kind, name, target, reason, .. } = event;
    let taken = Taken::new(id, *step, *kind, name, target, StepStatus::Denied).because(Some(reason));
    taken.settle(moment)
}

fn failed_step(event: &StepFailed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let StepFailed { id, step, kind, name, reason, labels, .. } = event;
    // The reason may contain text from the other side.
    mark(moment, id.as_str(), labels)?;
    let taken = Taken::new(id, *step, *kind, name, "", StepStatus::Failed).because(reason.as_deref());
    taken.settle(moment)
}

fn answered(event: &RunAnswered, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let RunAnswered { id, step: number, by, happened, .. } = event;
    let Some(happened) = happened else {
        let by = by.as_str();
        return Taken::new(id, *number, StepKind::Question, by, by, StepStatus::Completed).settle(moment);
    };
    let Some(step) = step(moment.conn, id.as_str(), *number)? else { return Ok(Touched::Nothing) };
    let taken = |status| Taken::new(id, *number, StepKind::Tool, &step.name, &step.target, status);
    match happened {
        Happened::Yes => taken(StepStatus::Completed).settle(moment),
        Happened::No => {
            let reason = format!("{by} says that it did not happen");
            taken(StepStatus::Failed).because(Some(&reason)).settle(moment)
        }
        Happened::Retry => taken_anew(moment, (id, *number)),
    }
}

fn failed(event: &RunFailed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let status = if event.reason == Failure::TimedOut { RunStatus::TimedOut } else { RunStatus::Failed };
    ended(moment, &event.id, status, Some((event.reason, event.message.as_deref())))
}

fn held(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET status = 'held', wait = ?, due_at = ? WHERE id = ?";
    let until = event.until.map(|until| until.0);
    let (reason, payer) = (event.reason.clone(), event.payer.clone());
    let beside = event.beside.clone().map(|of| Beside { of, since: moment.at });
    let wait = Wait::Budget { reason, payer, until: event.until, cost_cents: event.cost_cents, beside };
    moment.conn.prepare_cached(sql)?.execute(params![to_json(&wait)?, until, event.id.as_str()])?;
    // What holds this run until the next period may also hold others that wait for calls in progress.
    if event.beside.is_none() && event.until.is_some() {
        others_look_again(moment, &event.agent)?;
    }
    get(moment.conn, event.id.as_str())?.map_or(Ok(Touched::Nothing), |run| task_waits(moment, &run))
}

fn raised(event: &RunBudgetRaised, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET budget_cents = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![event.budget_cents, event.id.as_str()])?;
    let run = get(moment.conn, event.id.as_str())?;
    if run.is_some_and(|run| run.wait.as_ref().is_some_and(Wait::is_for_a_runs_budget)) {
        stand(moment, &event.id)?;
    }
    go_on_below(moment, event.id.as_str()).map(|()| Touched::Nothing)
}

fn archived(event: &RunArchived, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE run SET archived_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![moment.at.0, event.id.as_str()])?;
    Ok(Touched::Nothing)
}

fn notify_of_hold(event: &RunHeld, moment: &Moment<'_>) -> rusqlite::Result<()> {
    // Such a hold ends by itself, usually within minutes.
    if event.beside.is_some() {
        return Ok(());
    }
    let title = format!("a run of {} is held: {}", event.agent, event.reason);
    inbox::add(moment, event.origin.as_ref().unwrap_or(&event.asker), ItemKind::Alert, event.id.as_str(), &title)
}

fn notify_of_completion(event: &RunCompleted, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let title = format!("{} has finished what you asked", event.agent);
    notify::of_end(moment, &event.id, &event.asker, ItemKind::Decision, &title)
}

fn notify_of_failure(event: &RunFailed, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let why = event.message.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let title = format!("a run of {} failed{why}", event.agent);
    notify::of_end(moment, &event.id, &event.asker, ItemKind::Failure, &title)
}

fn news_of_completion(event: &RunCompleted, _: &Author<'_>) -> Option<News> {
    let RunCompleted { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, .. } = event;
    let (tokens, duration_ms) = ((*tokens_in, *tokens_out), *duration_ms);
    Some(Ended { id, agent, asker, askers, failure: None, tokens, duration_ms }.news())
}

fn news_of_failure(event: &RunFailed, _: &Author<'_>) -> Option<News> {
    let RunFailed { id, agent, asker, askers, tokens_in, tokens_out, duration_ms, reason, .. } = event;
    let (tokens, duration_ms) = ((*tokens_in, *tokens_out), *duration_ms);
    Some(Ended { id, agent, asker, askers, failure: Some(*reason), tokens, duration_ms }.news())
}
