//! The vocabulary of changes: targets, states and verdicts.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;
use super::id::ActorId;
use super::time::Time;

named! {
    /// What a change is to.
    ChangeTarget, "target of a change", {
        Policy = "policy",
        /// One of the views of the company's own data.
        View = "view",
    }
}

named! {
    /// Where a change stands.
    ChangeState, "state of a change", {
        Proposed = "proposed",
        /// A reviewer wants something else.
        InReview = "in_review",
        /// Somebody other than its author approved it.
        Approved = "approved",
        /// It is tried beside what is in force, on a share of the traffic.
        Canary = "canary",
        /// It is in force, or was.
        Promoted = "promoted",
        /// A later change undid it.
        RolledBack = "rolled_back",
        Rejected = "rejected",
        /// Another change came first; what it was based on is gone.
        Superseded = "superseded",
        /// Its author took it back.
        Withdrawn = "withdrawn",
    }
}

named! {
    /// What a reviewer says.
    ReviewVerdict, "review verdict", {
        Approve = "approve",
        RequestChanges = "request_changes",
    }
}

named! {
    /// Where a company keeps its policies.
    SourceKind, "kind of source", {
        /// Here: they are changed through the API and the command line.
        Workspace = "workspace",
        /// In a repository, whose CI proposes what changed.
        Repo = "repo",
    }
}

named! {
    /// What an eval came to.
    EvalStatus, "status of an eval", {
        Passed = "passed",
        Failed = "failed",
    }
}

/// One eval: a test file, or the budget of decisions that may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvalCase {
    /// `tests/<file>`, or `impact`.
    pub case: String,
    pub status: EvalStatus,
    /// What is wrong; empty if it passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Who rejected a change, or took their own back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedBy {
    pub by: ActorId,
    /// Why; empty if nothing was said.
    pub reason: String,
    pub at: Time,
}

/// An earlier change of the same content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedBefore {
    pub id: String,
    pub by: ActorId,
    /// Why; empty if nothing was said.
    pub reason: String,
    pub at: Time,
}

impl fmt::Display for RejectedBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RejectedBefore { id, by, reason, .. } = self;
        let colon = if reason.is_empty() { "" } else { ": " };
        write!(f, "{by} rejected exactly this before ({id}){colon}{reason}")
    }
}

impl ChangeState {
    /// Checks whether it can still be promoted.
    pub const fn is_open(self) -> bool {
        matches!(self, ChangeState::Proposed | ChangeState::InReview | ChangeState::Approved | ChangeState::Canary)
    }
}
