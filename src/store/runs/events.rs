//! What happens to runs.

use std::collections::BTreeSet;

use super::archive::archived;
use super::budgets::{held, raised};
use super::fold::{
    answered, completed_step, decided_step, denied_step, dispatched_step, ended, failed, failed_step, resumed, started,
    unknown_step, waiting,
};
use super::notify::{
    news_of_completion, news_of_failure, notify_of_completion, notify_of_failure, notify_of_hold, notify_of_less,
    notify_of_question,
};
use crate::store::done::DONE;
use crate::store::event::{Content, Notify, Table, events};
use crate::store::inbox;
use crate::store::memory::Memory;
use crate::store::tasks::events::TASK;
use crate::types::field::Label;
use crate::types::id::{ActorId, Id};
use crate::types::time::Time;
use crate::types::work::{Failure, Happened, RunStatus, StepKind, Wait};

pub const RUN: Table = Table { name: "run", key: "id" };
const STEP: Table = Table { name: "step", key: "run || ' ' || printf('%06d', number)" };

events! {
    /// A run started: an agent is to work on a task.
    RunStarted = "run_started" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, parent: Option<Id>, depth: u32,
        budget_cents: Option<i64>,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")] labels: BTreeSet<Label>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")] planned: bool,
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
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(waiting), notify: Notify::AndShow(notify_of_question), news: None,
    }
    /// A run resumed and takes its step again: what it waited for has changed.
    RunResumed = "run_resumed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK], memory: Memory::Nothing,
        fold: Some(resumed), notify: Notify::AndShow(|event, moment| notify_of_less(&event.id, event.step, moment)),
        news: None,
    }
    /// A step that reaches outside was allowed with what it may take, and is not begun: an approver let it go on.
    StepDecided = "step_decided" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(decided_step), notify: Notify::Nobody, news: None,
    }
    /// A step that reaches outside is about to begin. What it may take is set aside until its outcome is recorded.
    StepDispatched = "step_dispatched" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(dispatched_step), notify: Notify::Nobody, news: None,
    }
    /// What came of a step that had begun outside is not known: what was set aside for it counts as spent. Why is kept as
    /// content, so that it can be erased.
    StepUnknown = "step_unknown" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] reason: Option<String>,
        tokens_in: u32, tokens_out: u32, cost_cents: u32,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
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
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(completed_step), notify: Notify::Nobody, news: None,
    }
    /// A step was refused, by the policies or by whoever had to approve; the run goes on and knows it.
    StepDenied = "step_denied" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[schemars(extend("x-names" = "reference"))] target: String, reason: String,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(denied_step), notify: Notify::Nobody, news: None,
    }
    /// A step could not be taken, and had no effect; the run goes on and knows it. Why is kept as content, so that it can be
    /// erased: what an agent wrote may be part of it.
    StepFailed = "step_failed" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, kind: StepKind,
        #[schemars(extend("x-names" = "reference"))] name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] reason: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")] labels: BTreeSet<Label>,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(failed_step), notify: Notify::Nobody, news: None,
    }
    /// Somebody answered a run's question, or said whether the effect of a tool has happened.
    RunAnswered = "run_answered" {
        id: Id, agent: ActorId, asker: ActorId, step: u32, by: ActorId,
        #[serde(default, skip_serializing_if = "Option::is_none")] happened: Option<Happened>,
    } about [id, agent, asker, by] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(answered),
        notify: Notify::AndShow(|event, moment| notify_of_less(&event.id, event.step, moment)), news: None,
    }
    /// A run is held by a budget, until it is raised, until a time, or until enough of what is set aside is free again (`beside`
    /// says whose budget that is).
    RunHeld = "run_held" {
        id: Id, agent: ActorId, asker: ActorId, reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] until: Option<Time>,
        #[serde(default, skip_serializing_if = "Option::is_none")] payer: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")] cost_cents: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")] beside: Option<ActorId>,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        fold: Some(held), notify: Notify::AndShow(notify_of_hold), news: None,
    }
    /// A run's budget was raised; it resumes.
    RunBudgetRaised = "run_budget_raised" {
        id: Id, agent: ActorId, asker: ActorId, budget_cents: i64,
    } about [id, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, TASK], memory: Memory::Nothing,
        fold: Some(raised),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A run completed.
    RunCompleted = "run_completed" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, tokens_in: i64, tokens_out: i64,
        cost_cents: i64, duration_ms: i64,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(|event, moment| ended(moment, &event.id, RunStatus::Completed, None)),
        notify: Notify::AndShow(notify_of_completion), news: Some(news_of_completion),
    }
    /// A run failed or timed out. What its plan, a model or a tool says of it is kept as content, so that it can be erased.
    RunFailed = "run_failed" {
        id: Id, task: Id, agent: ActorId, asker: ActorId, askers: Vec<ActorId>, tokens_in: i64, tokens_out: i64,
        cost_cents: i64, duration_ms: i64, reason: Failure,
        #[serde(default, skip_serializing_if = "Option::is_none")] #[schemars(extend("x-names" = "text"))]
        message: Option<String>,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(failed), notify: Notify::AndShow(notify_of_failure), news: Some(news_of_failure),
    }
    /// A run was cancelled. Why somebody did so is kept as content, so that it can be erased.
    RunCancelled = "run_cancelled" {
        id: Id, task: Id, agent: ActorId, asker: ActorId,
        #[serde(default, skip_serializing_if = "Option::is_none")] #[schemars(extend("x-names" = "text"))]
        reason: Option<String>,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN, STEP, TASK, DONE], memory: Memory::Nothing,
        fold: Some(|event, moment| ended(moment, &event.id, RunStatus::Cancelled, None)),
        notify: Notify::AndShow(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A run was archived: it ended longer ago than the company keeps runs in lists.
    RunArchived = "run_archived" {
        id: Id, task: Id, agent: ActorId, asker: ActorId,
    } about [id, task, agent, asker] => {
        content: Content::SHOWN, tables: &[RUN], memory: Memory::Nothing,
        fold: Some(archived), notify: Notify::Nobody, news: None,
    }
}
