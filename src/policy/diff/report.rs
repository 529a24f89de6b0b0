//! The result of a replay of the log, as it is reported.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Answer;
use types::impact::{Matrix, Newly};
use types::time::Time;

/// What the change would have done to the decisions of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    pub denominator: Denominator,
    /// Rows: what the policies in force answer. Columns: what the candidate answers.
    pub matrix: Matrix,
    #[serde(flatten)]
    pub newly: Newly,
    /// Decisions that need approval on both sides, but not the same kinds.
    pub other_approvals: u64,
    /// Decisions that need approval on both sides, and more people could give it, or fewer would have to. They count as
    /// newly allowed.
    pub easier_approvals: u64,
    /// The other way round; they count as newly needing approval.
    pub harder_approvals: u64,
    /// Decisions to which the policies in force answer otherwise than is recorded: other ones decided then.
    pub recorded_otherwise: u64,
    pub by_operation: Groups,
    pub by_actor: Groups,
    pub by_policy: Groups,
    /// Some of the decisions that would come out otherwise; only for who may see every event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<Sample>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Denominator {
    /// All that were recorded.
    pub decisions: u64,
    pub replayed: u64,
    pub not_replayable: u64,
    /// Why some could not be replayed.
    pub why: BTreeMap<String, u64>,
    /// `1,204,331 of 1,204,331 replayed, 0 not replayable`
    pub summary: String,
}

/// The decisions that would come out otherwise, by one of their properties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Groups {
    /// Those with the most changed decisions, at most 20.
    #[schemars(length(max = 20))]
    pub rows: Vec<Group>,
    /// How many more there are.
    pub more: usize,
    /// Changed decisions that were not grouped, because there are too many names.
    pub untracked: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    pub name: String,
    pub changed: u64,
    #[serde(flatten)]
    pub newly: Newly,
    /// Only what changed: the diagonal is zero.
    pub matrix: Matrix,
}

/// One recorded decision that would come out otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The number of its event.
    pub seq: i64,
    pub at: Time,
    pub operation: String,
    pub actor: String,
    pub target: String,
    pub before: Answer,
    pub after: Answer,
    /// The policies that the difference hangs on.
    pub policies: Vec<String>,
}
