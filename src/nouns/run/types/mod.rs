//! Types of runs, in which agents do tasks, and of their steps.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;
use super::field::Label;
use super::id::{ActorId, Id};
use super::time::{HOUR, Time};

named! {
    /// How a run stands.
    RunStatus, "status of a run", {
        /// It has not begun.
        Queued = "queued",
        Running = "running",
        /// A call of it waits for approval.
        WaitingApproval = "waiting_approval",
        /// It has asked somebody a question.
        WaitingInput = "waiting_input",
        /// A kill switch or a budget stops it; it goes on from where it is.
        Held = "held",
        Completed = "completed",
        Failed = "failed",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
    }
}

impl RunStatus {
    /// Checks whether the status is final.
    pub const fn is_over(self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed | RunStatus::TimedOut | RunStatus::Cancelled)
    }
}

named! {
    /// What kind of step a run takes.
    StepKind, "kind of step", {
        /// The agent says something.
        Say = "say",
        /// A model is called.
        Model = "model",
        /// An operation is performed as the agent.
        Tool = "tool",
        /// Somebody is asked.
        Question = "question",
        /// Another agent does a part.
        Delegate = "delegate",
        /// Time passes.
        Wait = "wait",
        /// The run ends itself.
        Fail = "fail",
    }
}

named! {
    /// The kind of effect a tool has: whether a call with an unknown outcome may be retried.
    ToolEffect, "kind of effect", {
        /// None.
        Read = "read",
        /// A retry with the same key has no second effect. So it is with the company's own operations.
        Idempotent = "idempotent",
        /// The outcome of a call can be looked up.
        Reconcilable = "reconcilable",
        /// A retry has a second effect, and only people can tell whether the first took place.
        Once = "once",
    }
}

named! {
    /// How a step stands.
    StepStatus, "status of a step", {
        /// It waits: for approval, an answer, a time or another run.
        Waiting = "waiting",
        /// It is taken anew: what it waited for has changed.
        Due = "due",
        /// It is allowed and its cost is reserved, but it has not started.
        Decided = "decided",
        /// An external call has started; its outcome is not recorded yet.
        Dispatched = "dispatched",
        Completed = "completed",
        /// It started, and its outcome is unknown.
        Unknown = "unknown",
        /// The gate or whoever had to approve refused it.
        Denied = "denied",
        /// It was allowed, and had no effect.
        Failed = "failed",
    }
}

named! {
    /// Why a run failed.
    Failure, "reason of a failure", {
        /// The agent gave up.
        Failed = "failed",
        TimedOut = "timed_out",
        /// It was refused the same thing three times.
        Denied = "denied",
        /// It took more steps than a run may.
        Steps = "steps",
        /// Who works on it has left.
        Offboarded = "offboarded",
        /// The delegation that it was asked for under has ended.
        DelegationEnded = "delegation_ended",
        /// Nobody said whether a call that must not be repeated took effect.
        UnknownEffect = "unknown_effect",
    }
}

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wait {
    /// Its call is to be approved.
    Approval { approval: Id },
    /// One of these is to answer.
    Question { to: Vec<ActorId> },
    /// One of these must say whether a tool's call took effect: nobody else can tell.
    Outcome { to: Vec<ActorId>, until: Time },
    /// Another run of it is to end.
    Run { run: Id },
    /// A time is to come.
    Time { until: Time },
    /// A model must become available again, which is up to those who run the server.
    Model {
        /// Why none can be asked.
        reason: String,
    },
    /// A limit of the policies holds whoever asked for it, or its agent, until then.
    RateLimit {
        /// Which one.
        reason: String,
        until: Time,
    },
    /// It may not spend more.
    Budget {
        /// Which budget does not allow it, how much of it is spent, and how much is reserved for calls in progress.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[schemars(extend("x-names" = "text"))]
        reason: String,
        /// The run whose budget it is, if not its own: the run that it is a part of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payer: Option<Id>,
        /// When the next day's or month's budget begins; none for the run's own budget, which can be raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
        /// The maximum cost of the step that the budget does not allow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_cents: Option<u32>,
        /// Set if the budget suffices once calls in progress release what they do not need: the run continues then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside: Option<Beside>,
    },
}

/// Which calls under way a run waits for, because of what is set aside for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// Whose budget it is: an agent's, a team's, or, under the system's id, the company's.
    pub of: ActorId,
    pub since: Time,
}

impl Wait {
    /// Returns who is asked.
    pub fn asks(&self) -> &[ActorId] {
        match self {
            Wait::Question { to } | Wait::Outcome { to, .. } => to,
            Wait::Approval { .. }
            | Wait::Run { .. }
            | Wait::Time { .. }
            | Wait::Model { .. }
            | Wait::RateLimit { .. }
            | Wait::Budget { .. } => &[],
        }
    }

    /// Checks whether the run waits for a run's budget to be raised.
    pub fn is_for_a_runs_budget(&self) -> bool {
        matches!(self, Wait::Budget { until: None, .. })
    }
}

named! {
    /// What people say of an effect that nobody else knows of.
    Happened, "word about an effect", {
        Yes = "yes",
        No = "no",
        /// The tool is called again.
        Retry = "retry",
    }
}

/// What policies see of the run in which a call is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    pub run: Id,
    /// Who asked for it.
    pub asker: ActorId,
    /// All for whom it is done, the nearest first: the asker, on whose behalf they asked, who issued their token, and whoever asked
    /// for what it is a part of.
    pub askers: Vec<ActorId>,
    /// How many runs it is a part of.
    pub depth: u32,
    /// Steps before this one.
    pub steps: u32,
    /// Operations before this one.
    pub calls: u32,
    pub cost_cents: i64,
    /// The labels of what it has read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<Label>,
    /// Whether its steps are a plan's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planned: bool,
    /// The token that it was begun with: for the log, and not for policies.
    #[serde(skip)]
    pub token_id: Option<Id>,
    /// The delegation that the whole was asked for under: every step is taken under it.
    #[serde(skip)]
    pub under: Option<Id>,
}

impl StepStatus {
    /// Checks whether the status is final.
    pub const fn is_over(self) -> bool {
        matches!(self, StepStatus::Completed | StepStatus::Unknown | StepStatus::Denied | StepStatus::Failed)
    }
}

impl RunFacts {
    /// Returns who asked for the topmost run.
    pub fn origin(&self) -> &ActorId {
        self.askers.get(self.depth as usize).unwrap_or(&self.asker)
    }

    /// Returns the number of the step about to be taken.
    pub const fn step(&self) -> u32 {
        self.steps.saturating_add(1)
    }
}

/// The default active time of a run, without waiting.
pub const LONGEST_ACTIVE: i64 = HOUR / 2;
/// The maximum number of steps per run.
pub const MOST_STEPS: u32 = 1_000;
/// The maximum nesting of runs.
pub const DEEPEST: u32 = 5;
/// After this many equal denials a run ends, whatever it did in between.
pub const MOST_DENIALS: u32 = 3;
/// The maximum characters of a question, an answer, a title's goal, or a request to an agent.
pub const LONGEST_TEXT: usize = 64 << 10;
