//! The three answers, and the policies that they name.
//!
//! Always true: policies in an answer are sorted by id, so the same question gets the same words.

use std::sync::Arc;

use serde::Serialize;

use types::impact::Decision;

/// The reason of a refusal that no policy decided.
pub(super) const NO_PERMIT: &str = "no policy permits it";
/// What a refusal says where a policy, or the question itself, could not be evaluated.
const FAULT: &str = "a policy could not be evaluated";

/// One policy as its author knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyMeta {
    pub id: String,
    pub effect: Effect,
    pub reason: Option<String>,
    pub title: Option<String>,
    pub runbook: Option<String>,
    pub file: String,
    pub line: usize,
    pub text: String,
    /// The approval kinds that release it, sorted. A forbid without any is final.
    pub kinds: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Permit,
    Forbid,
}

/// A policy that made an answer what it is. A clone costs one pointer.
pub type Because = Arc<PolicyMeta>;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Ruling {
    /// The permits that allow it.
    Allow { because: Vec<Because> },
    /// The forbids in the way, and the kinds of approval, all of them, that would clear it: proven by a second evaluation.
    NeedsApproval { kinds: Vec<String>, because: Vec<Because> },
    /// The forbids in the way, or none where no policy permits it. With a fault: the policies that could not be evaluated.
    /// With `why`: what else is in the way (such as that no policy permits it, whoever approves), or on whose behalf it may not be.
    Deny { because: Vec<Because>, fault: Option<String>, why: Option<String> },
}

impl Ruling {
    /// The part of the sentence after «policy denied <operation>: ».
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow { .. } => "a policy permits it",
            Self::Deny { why: Some(why), .. } => why,
            Self::Deny { fault: Some(_), .. } => FAULT,
            Self::NeedsApproval { because, .. } => reason_of(because.first()),
            // What no approval lifts, first.
            Self::Deny { because, .. } => {
                reason_of(because.iter().find(|policy| policy.kinds.is_empty()).or_else(|| because.first()))
            }
        }
    }

    pub fn because(&self) -> &[Because] {
        match self {
            Self::Allow { because } | Self::NeedsApproval { because, .. } | Self::Deny { because, .. } => because,
        }
    }

    /// The kinds of approval that it asks for.
    pub fn kinds(&self) -> &[String] {
        if let Self::NeedsApproval { kinds, .. } = self { kinds } else { &[] }
    }

    /// Which of the three answers it is.
    pub fn decision(&self) -> Decision {
        match self {
            Self::Allow { .. } => Decision::Allow,
            Self::NeedsApproval { .. } => Decision::NeedsApproval,
            Self::Deny { .. } => Decision::Deny,
        }
    }

    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }
}

fn reason_of(policy: Option<&Because>) -> &str {
    policy.and_then(|policy| policy.reason.as_deref()).unwrap_or(NO_PERMIT)
}

/// The answer about a thing that may be out of sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub ruling: Ruling,
    /// The operation was not denied, but the caller may not see its target, and is told that it does not exist.
    pub hidden: bool,
}

impl Answered {
    /// Whether it comes to the same, whichever policies make it so, and whether or not a denial tells that there is something.
    pub fn decides_as(&self, other: &Answered) -> bool {
        (self.ruling.decision(), self.ruling.kinds()) == (other.ruling.decision(), other.ruling.kinds())
    }

    /// Combines a ruling with whether the caller may know of the target. A denial stays a denial. Any other ruling
    /// applies only to what the caller may see, so nothing waits for approval that its requester does not know of.
    /// `sight` returns the ruling on the read without which the target does not exist for the caller; none if everybody
    /// may know of it.
    pub fn of(ruling: Ruling, sight: impl FnOnce() -> Option<Ruling>) -> Answered {
        if matches!(ruling, Ruling::Deny { .. }) {
            return Answered { ruling, hidden: false };
        }
        match sight().filter(|sight| !sight.is_allowed()) {
            Some(sight) => {
                let because = sight.because().to_vec();
                Answered { ruling: Ruling::Deny { because, fault: None, why: None }, hidden: true }
            }
            None => Answered { ruling, hidden: false },
        }
    }
}
