//! What a change of policies would do: to the texts, to generated questions, and to recorded decisions.
//!
//! Always true: nothing here is proved. A reported difference was observed: the same question, put to both sides. If
//! none was found, that only means that none showed among the questions that were tried.

mod aim;
mod cast;
mod own;
mod pair;
mod people;
mod records;
mod report;
mod semantic;
mod tally;
mod terms;
mod text;
mod things;
mod unmet;
mod witness;

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use pair::Pair;
pub use report::{Denominator, Group, Groups, Impact, Sample};
pub use semantic::{MOST, Semantic, search};
pub use tally::{Outcome, Tally};
pub use terms::{Moved, Term, moved, terms};
pub use text::{ChangeKind, FileChange, PolicyChange, TextDiff, compare, unified};
pub use unmet::Unmet;
pub use witness::{Witness, named_by, test_file};

use super::bundle::{is_policy, is_test};
use super::finding::SCHEMA_FILE;
use super::{Answered, Bundle, Ruling, Snapshot, is_own};
pub use types::impact::{Budgets, Ceilings, Decision, Matrix, Newly, Over, Row, grouped};

/// One of the two bundles.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub bundle: &'a Bundle,
    pub snapshot: &'a Arc<Snapshot>,
}

/// What is in force, and what would be.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub before: Side<'a>,
    pub after: Side<'a>,
}

impl Sides<'_> {
    /// Whether every file is the same, byte for byte.
    pub fn is_same(&self) -> bool {
        self.before.bundle == self.after.bundle
    }

    /// Whether they have the same types, kinds of approval and collections: then a question put to one side is one for the other.
    pub fn have_same_types(&self) -> bool {
        let is_rest = |file: &(&String, &String)| !is_policy(file.0) && !is_test(file.0);
        let [before, after] = [self.before, self.after].map(|side| side.bundle.files.iter().filter(is_rest));
        before.eq(after)
    }

    /// The operations that the two sides could answer differently. With another schema, all of the company's own.
    pub fn operations(&self) -> BTreeSet<String> {
        let (before, after) = (self.before.snapshot, self.after.snapshot);
        let mut unlike = before.actions_unlike(after);
        if self.before.bundle.files.get(SCHEMA_FILE) != self.after.bundle.files.get(SCHEMA_FILE) {
            let all = [before, after].into_iter().flat_map(|side| side.action_names());
            unlike.extend(all.filter(|name| is_own(name)).map(str::to_owned));
        }
        unlike
    }
}

/// What one side answers to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// `allow`, `needs_approval` or `deny`.
    pub decision: Decision,
    /// The kinds of approval that would turn it, all of them.
    pub approvals: Vec<String>,
    /// The ids of the policies that determine it; none where no policy permits it.
    pub because: Vec<String>,
    /// Denied because the target is not to be seen: the caller is told that it does not exist.
    pub not_found: bool,
}

impl Answer {
    /// What everybody is answered about what is not there.
    fn nobodys() -> Answer {
        Answer { decision: Decision::Deny, approvals: Vec::new(), because: Vec::new(), not_found: false }
    }

    pub fn of(answered: &Answered) -> Answer {
        let approvals = match &answered.ruling {
            Ruling::NeedsApproval { kinds, .. } => kinds.clone(),
            Ruling::Allow { .. } | Ruling::Deny { .. } => Vec::new(),
        };
        let decision = answered.ruling.decision();
        let because = answered.ruling.because().iter().map(|policy| policy.id.clone()).collect();
        Answer { decision, approvals, because, not_found: answered.hidden }
    }
}

/// Which way an answer, or all the answers to one kind of actor, moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// More is allowed, or fewer approvals are asked for.
    Looser,
    Tighter,
    /// Some of it looser and some tighter, or other approvals than before.
    Mixed,
    /// No difference was found.
    Same,
}

impl Shift {
    pub const fn name(self) -> &'static str {
        match self {
            Shift::Looser => "looser",
            Shift::Tighter => "tighter",
            Shift::Mixed => "mixed",
            Shift::Same => "same",
        }
    }

    /// Denied, less than approved, less than allowed; and one more kind of approval is tighter.
    pub fn between(before: &Answer, after: &Answer) -> Shift {
        let kinds = |answer: &Answer| answer.approvals.iter().cloned().collect::<BTreeSet<String>>();
        let (old, new) = (kinds(before), kinds(after));
        match before.decision.cmp(&after.decision) {
            std::cmp::Ordering::Less => Shift::Looser,
            std::cmp::Ordering::Greater => Shift::Tighter,
            std::cmp::Ordering::Equal if old == new => Shift::Same,
            std::cmp::Ordering::Equal if new.is_subset(&old) => Shift::Looser,
            std::cmp::Ordering::Equal if old.is_subset(&new) => Shift::Tighter,
            std::cmp::Ordering::Equal => Shift::Mixed,
        }
    }

    /// What two movements come to.
    #[must_use]
    pub fn and(self, other: Shift) -> Shift {
        match (self, other) {
            (one, Shift::Same) | (Shift::Same, one) => one,
            (one, other) if one == other => one,
            _ => Shift::Mixed,
        }
    }
}
