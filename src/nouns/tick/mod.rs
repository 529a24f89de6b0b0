//! Performs whatever is due, each once: expires tokens, approvals and delegations, reminds and escalates, archives, and
//! removes what is past its retention.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::brain::Expired;
use crate::company::COMPANY;
use gate::{Change, Draft, Entry, Permit, Reader, Spec, Target, post};
use store::approvals::events::{ApprovalEscalated, ApprovalExpired, ApprovalReminded, ApprovalStale};
use store::brain::events::{HistoryRemoved, RecordDeleted};
use store::changes::events::{CanaryAborted, CanaryMeasured};
use store::context::events::ContextForgotten;
use store::delegations::Delegation;
use store::delegations::events::DelegationExpired;
use store::event::Event;
use store::knowledge::Knowledge;
use store::knowledge::events::KnowledgeExpired;
use store::runs::Run;
use store::runs::events::{RunArchived, RunCancelled, RunFailed, RunResumed, StepCompleted};
use store::tasks::Task;
use store::tasks::events::{TaskArchived, TaskStalled};
use store::tokens::Token;
use store::tokens::events::TokenExpired;
use types::id::Id;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::{DAY, Time};

pub const ALL: &[Entry] = &[Entry::change::<Tick>()];

/// How much of each kind one tick does; the next continues.
const MOST: usize = 1_000;
/// How far ahead a tick may be: a mistyped year must not expire everything.
const FARTHEST: i64 = 366 * DAY;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct When {
    /// The time to advance to, at most a year ahead; the present unless given.
    #[arg(
        long,
        value_name = "TIME",
        help = "The time to advance to, such as 2026-11-20T09:00:00Z [default: the present]"
    )]
    pub now: Option<Time>,
}

/// What came due.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Ticked {
    pub now: Time,
    /// Ids of the tokens, approvals, delegations and entries of knowledge that ended.
    pub expired: Vec<String>,
    /// Ids of the approvals whose approvers were reminded.
    pub reminded: Vec<String>,
    /// Ids of the approvals that were escalated: more people may decide them now.
    pub escalated: Vec<String>,
    /// Ids of the tasks that missed a deadline.
    pub stalled: Vec<String>,
    /// Ids of the tasks and runs that were archived: they ended longer ago than the company's retention.
    pub archived: Vec<String>,
    /// How many records, and earlier versions of records, were removed, as the `retention` of their collections says.
    pub removed: u64,
    /// More is due; tick again.
    pub more: bool,
}

/// Run the tick once.
pub enum Tick {}

impl Change for Tick {
    const SPEC: Spec = Spec {
        name: "tick",
        doc: "Advance the clock once: expire tokens, approvals, delegations and knowledge, remind and escalate, \
              report stalled tasks, archive tasks and runs that ended long ago, and remove records and versions that their \
              collections keep no longer. With a later time, also end the waits that are over by then.",
        scope: Reach::Full,
        route: post("/tick").by_server(),
        about: &[&COMPANY],
        events: &[
            TokenExpired::KIND,
            ApprovalExpired::KIND,
            DelegationExpired::KIND,
            ApprovalReminded::KIND,
            ApprovalEscalated::KIND,
            CanaryMeasured::KIND,
            CanaryAborted::KIND,
            StepCompleted::KIND,
            RunFailed::KIND,
            RunResumed::KIND,
            RunCancelled::KIND,
            ApprovalStale::KIND,
            TaskStalled::KIND,
            TaskArchived::KIND,
            RunArchived::KIND,
            RecordDeleted::KIND,
            HistoryRemoved::KIND,
            ContextForgotten::KIND,
            KnowledgeExpired::KIND,
        ],
    };
    const SAYS: &'static str = "advances the clock[ to {now}]";
    type Input = When;
    type Output = Ticked;

    fn target(_: &When, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: When, draft: &mut Draft<'_>) -> Result<Ticked, Stop> {
        let now = input.now.unwrap_or_else(|| permit.now());
        if now < permit.now() {
            return Err(Refusal::field("now", format!("must not be before {}", permit.now())).into());
        }
        let latest = permit.now().plus_ms(FARTHEST);
        if now > latest {
            let message = format!("must not be after {latest}: what ends by then, such as tokens, ends for good");
            return Err(Refusal::field("now", message).into());
        }
        let due = Due::by(now, draft.read())?;
        // Without a given time, the server itself resumes runs.
        let runs = input.now.map(|now| super::run::end_waits(now, MOST, draft)).transpose()?.unwrap_or_default();
        let is_full = due.is_full();
        let ticked = due.recorded(now, draft)?;
        let stranded = draft.read().stranded_runs(MOST)?;
        let more = is_full || [runs, stranded.len()].contains(&MOST);
        super::run::resume(stranded, draft)?;
        if let Some(event) = super::change::measured(draft.read()) {
            draft.record(event)?;
        }
        Ok(Ticked { more, ..ticked })
    }
}

/// What is due by a time, limited to what one tick does.
struct Due {
    tokens: Vec<Token>,
    approvals: Vec<String>,
    delegations: Vec<Delegation>,
    notices: Vec<Event>,
    late: Vec<Task>,
    known: Vec<Knowledge>,
    old_tasks: Vec<Task>,
    old_runs: Vec<Run>,
    /// Expired records of collections with retention.
    data: Vec<Expired>,
}

impl Due {
    fn by(now: Time, read: &Reader<'_>) -> Result<Due, Stop> {
        let (old_tasks, old_runs) = match super::task::kept_since(now, read)? {
            Some(since) => (read.tasks_to_archive(since, MOST)?, read.runs_to_archive(since, MOST)?),
            None => (Vec::new(), Vec::new()),
        };
        Ok(Due {
            tokens: read.overdue_tokens(now, MOST)?,
            approvals: read.overdue_approvals(now, MOST)?,
            delegations: read.overdue_delegations(now, MOST)?,
            notices: super::approval::due(read, now, MOST)?,
            late: read.late_tasks(now, MOST)?,
            known: read.overdue_knowledge(now, MOST)?,
            old_tasks,
            old_runs,
            data: super::brain::expired(now, MOST, read)?,
        })
    }

    /// Checks whether more of one kind may be due.
    fn is_full(&self) -> bool {
        let Due { tokens, approvals, delegations, notices, late, known, old_tasks, old_runs, .. } = self;
        let counts = [tokens.len(), approvals.len(), delegations.len(), notices.len(), late.len(), known.len()];
        counts.contains(&MOST) || [old_tasks.len(), old_runs.len()].contains(&MOST) || self.removed() >= MOST
    }

    fn removed(&self) -> usize {
        self.data.iter().map(|expired| expired.count).sum()
    }

    fn recorded(self, now: Time, draft: &mut Draft<'_>) -> Result<Ticked, Stop> {
        let (mut expired, mut reminded, mut escalated) = (Vec::new(), Vec::new(), Vec::new());
        let removed = self.removed() as u64;
        let stalled = self.late.iter().map(|task| task.id.clone()).collect();
        for task in self.late {
            draft.record(super::task::stalled(task, now))?;
        }
        for token in self.tokens {
            draft.record(TokenExpired { id: Id::stored(&token.id), holder: token.holder })?;
            expired.push(token.id);
        }
        for entry in self.known {
            draft.record(super::knowledge::expired(&entry))?;
            expired.push(entry.id);
        }
        for id in self.approvals {
            let requester = draft.read().approval(&id)?.map(|approval| approval.actor);
            draft.record(ApprovalExpired { id: Id::stored(&id), requester })?;
            expired.push(id);
        }
        for Delegation { terms, .. } in self.delegations {
            let id = Id::stored(&terms.id);
            draft.record(DelegationExpired { id, from: terms.from, to: terms.to })?;
            expired.push(terms.id);
        }
        for event in self.notices {
            escalated.extend(event.get::<ApprovalEscalated>().map(|event| event.id.to_string()));
            reminded.extend(event.get::<ApprovalReminded>().map(|event| event.id.to_string()));
            draft.record(event)?;
        }
        let archived = archive(self.old_tasks, self.old_runs, draft)?;
        self.data.into_iter().try_for_each(|expired| expired.record(draft))?;
        Ok(Ticked { now, expired, reminded, escalated, stalled, archived, removed, more: false })
    }
}

/// Archives tasks and runs, and returns their ids.
fn archive(tasks: Vec<Task>, runs: Vec<Run>, draft: &mut Draft<'_>) -> Result<Vec<String>, Stop> {
    let mut archived = Vec::with_capacity(tasks.len() + runs.len());
    for task in tasks {
        archived.push(task.id.clone());
        draft.record(super::task::archived(task))?;
    }
    for run in runs {
        archived.push(run.id.clone());
        let (id, task) = (Id::stored(&run.id), Id::stored(&run.task));
        draft.record(RunArchived { id, task, agent: run.agent, asker: run.asker })?;
    }
    Ok(archived)
}
