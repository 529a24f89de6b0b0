//! Types of tasks.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;
use super::time::Time;

named! {
    /// How a task stands.
    TaskStatus, "status of a task", {
        /// Nobody has it yet.
        Open = "open",
        Assigned = "assigned",
        /// A run works on it.
        Running = "running",
        /// Its run waits for somebody.
        Waiting = "waiting",
        Completed = "completed",
        Cancelled = "cancelled",
        /// Its run failed. It can be run again.
        Failed = "failed",
    }
}

impl TaskStatus {
    /// Checks whether the status is final.
    pub const fn is_closed(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Cancelled)
    }
}

/// How soon something is to be seen to, in hours of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Sla {
    /// Working hours until it has an owner: 1 to 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    #[arg(long, value_name = "HOURS")]
    pub respond_h: Option<u32>,
    /// Working hours until it is closed: 1 to 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    #[arg(long, value_name = "HOURS")]
    pub resolve_h: Option<u32>,
}

/// What that comes to, by the company's hours when it was agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deadlines {
    #[serde(flatten)]
    pub sla: Sla,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respond_by: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve_by: Option<Time>,
}

named! {
    /// How soon a task is wanted.
    Priority, "priority", {
        Low = "low",
        Normal = "normal",
        High = "high",
        Urgent = "urgent",
    }
}
