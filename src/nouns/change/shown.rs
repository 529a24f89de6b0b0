//! A change as it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counted;
use crate::audit::may_read_all;
use gate::Reader;
use store::changes::ProposedChange;
use types::change::{ChangeState, ChangeTarget, EvalCase, EvalStatus, RejectedBefore, RejectedBy, ReviewVerdict};
use types::id::ActorId;
use types::impact::{Matrix, Shifted, TrialTerms};
use types::refusal::Fault;
use types::time::Time;

/// A proposal, and how far it has come.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownChange {
    pub id: String,
    pub target: ChangeTarget,
    /// Which view, of a change to one.
    pub target_id: Option<String>,
    pub state: ChangeState,
    pub author: ActorId,
    /// On whose behalf it was proposed, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<ActorId>,
    /// When the token used to propose it was revoked: somebody else may have proposed it in the author's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_revoked_at: Option<Time>,
    pub reason: String,
    /// The version that it was made from: it comes into force only while that is in force.
    pub base_version: i64,
    /// SHA-256 of what it would put into force, hex.
    pub hash: String,
    /// The commit that it comes from.
    pub commit: Option<String>,
    /// The version that it goes back to.
    pub rolls_back: Option<i64>,
    /// The version that it became.
    pub version: Option<i64>,
    pub reviews: Vec<ShownReview>,
    pub evals: ShownEvals,
    /// Its canary, running or ended.
    pub canary: Option<ShownCanary>,
    /// Who rejected it or took it back, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<RejectedBy>,
    /// Of an open change: the last one with the same content that somebody other than its author rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_before: Option<RejectedBefore>,
    pub created_at: Time,
    pub updated_at: Time,
    /// For a policy drafted from approvals, when proposed: calls similar to the approved ones that it also allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_allows: Vec<String>,
}

/// What one person said of it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownReview {
    pub by: ActorId,
    pub verdict: ReviewVerdict,
    /// Whether it still counts: it is the reviewer's latest, they have not left, no kill switch stops them, and they
    /// still have the same role or are an admin. Once the change has ended, each reviewer's latest review counts.
    pub counts: bool,
    pub note: String,
    pub at: Time,
    /// When the token used for it was revoked: somebody else may have given it. It counts until they review the change
    /// again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_revoked_at: Option<Time>,
}

/// A trial, and what it has shown.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownCanary {
    #[serde(flatten)]
    pub terms: TrialTerms,
    /// Decisions before (the rows) and after, as recorded by the last tick; for whoever may read the audit.
    pub matrix: Option<Matrix>,
    /// Some of the decisions that would have differed; for those who may read the audit.
    pub samples: Vec<Shifted>,
}

/// What its tests came to.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownEvals {
    /// Whether they were run on exactly this content.
    pub run: bool,
    /// Whether all passed.
    pub passed: bool,
    pub last: Vec<EvalCase>,
}

impl ShownEvals {
    /// Describes the failing evals, each with its first problem.
    pub fn failing(&self) -> Option<String> {
        let failed = self.last.iter().filter(|eval| eval.status == EvalStatus::Failed);
        let failed: Vec<String> = failed.map(|eval| described(&eval.case, &eval.problems)).collect();
        (!failed.is_empty()).then(|| format!("its tests fail: {}", failed.join("\n")))
    }
}

/// The maximum number of an eval's problems in a message; the change holds all.
const NAMED: usize = 3;

fn described(case: &str, problems: &[String]) -> String {
    let told = problems.iter().take(NAMED).map(|problem| format!("\n  {problem}")).collect::<String>();
    let rest = problems.len().saturating_sub(NAMED);
    let rest = if rest == 0 { String::new() } else { format!("\n  and {rest} more") };
    format!("{case}{told}{rest}")
}

impl ShownChange {
    /// Returns a change as the caller of `read` may see it.
    pub fn of(change: ProposedChange, read: &Reader<'_>) -> Result<ShownChange, Fault> {
        let passed = change.evals.iter().all(|eval| eval.status == EvalStatus::Passed);
        let run = !change.evals.is_empty();
        let (state, is_open) = (read.change_state(&change), change.state.is_open());
        let last: Vec<bool> = (0..change.reviews.len()).map(|at| change.is_last(at)).collect();
        let review = |(review, is_last): (store::changes::Review, bool)| {
            Ok::<_, Fault>(ShownReview {
                counts: is_last && (!is_open || read.review_counts(&review)),
                token_revoked_at: read.revoked_at(review.token_id.as_deref())?,
                by: review.by,
                verdict: review.verdict,
                note: review.note,
                at: review.at,
            })
        };
        let rejected_before = if is_open { rejected_before(&change, read)? } else { None };
        let seen = change.trialled.unwrap_or_default();
        let canary = |terms| match may_read_all(read) {
            true => ShownCanary { terms, matrix: Some(seen.matrix), samples: seen.samples },
            false => ShownCanary { terms, matrix: None, samples: Vec::new() },
        };
        Ok(ShownChange {
            canary: change.terms.map(canary),
            id: change.id,
            target: change.target,
            target_id: change.target_id,
            state,
            author: change.author,
            on_behalf_of: change.behalf,
            token_revoked_at: read.revoked_at(change.token_id.as_deref())?,
            reason: change.reason,
            base_version: change.base_version,
            hash: change.hash,
            commit: change.commit,
            rolls_back: change.rolls_back,
            version: change.version,
            reviews: change.reviews.into_iter().zip(last).map(review).collect::<Result<_, _>>()?,
            evals: ShownEvals { run, passed: run && passed, last: counted::evals(change.evals, read) },
            rejection: change.rejection,
            rejected_before,
            created_at: change.created_at,
            updated_at: change.updated_at,
            also_allows: Vec::new(),
        })
    }
}

fn rejected_before(change: &ProposedChange, read: &Reader<'_>) -> Result<Option<RejectedBefore>, Fault> {
    let before = read.rejected_before(change)?.filter(|before| read.sees(&read.change_target(before)));
    let rejected = before.and_then(|before| before.rejection.map(|rejection| (before.id, rejection)));
    Ok(rejected.map(|(id, RejectedBy { by, reason, at })| RejectedBefore { id, by, reason, at }))
}
