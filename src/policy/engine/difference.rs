//! The policies in which two snapshots differ, by themselves: a question that meets none of them has the same answer from both.
//!
//! Always true: what does not hold for a question holds no more once approvals are given (`approvals` lints that), so one
//! evaluation is enough, and only of these.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::behalf::Giver;
use super::decide::Question;
use super::ruling::PolicyMeta;
use super::snapshot::{Rule, Snapshot};

/// The policies that only one of two snapshots has, and which of them a question has met.
#[derive(Debug)]
pub struct Difference {
    rules: Snapshot,
    /// By the place of the policy.
    met: Vec<AtomicBool>,
}

impl Snapshot {
    /// The policies that are not the same, by id and text, in both. The two have the same schema, kinds of approval and collections.
    pub fn difference(&self, other: &Snapshot) -> Difference {
        Difference::of(self, [missing(self, other), missing(other, self)].concat())
    }

    /// The policies that the other has not, in questions as this one's schema has them.
    pub fn beyond(&self, other: &Snapshot) -> Difference {
        Difference::of(self, missing(self, other))
    }
}

/// The policies of one that the other has not.
fn missing(from: &Snapshot, other: &Snapshot) -> Vec<Rule> {
    let theirs: BTreeSet<(&str, &str)> =
        other.rules.iter().map(|rule| (rule.meta.id.as_str(), rule.meta.text.as_str())).collect();
    from.rules.iter().filter(|rule| !theirs.contains(&(&rule.meta.id, &rule.meta.text))).cloned().collect()
}

impl Difference {
    fn of(snapshot: &Snapshot, mut rules: Vec<Rule>) -> Difference {
        rules.sort_by(|one, next| one.meta.id.cmp(&next.meta.id));
        let met = rules.iter().map(|_| AtomicBool::new(false)).collect();
        Difference { rules: snapshot.with_rules(rules), met }
    }

    /// Whether any of them holds for the caller, or for somebody on whose behalf it is asked; also where that cannot be told.
    pub fn is_met(&self, question: &Question<'_>, givers: &[Giver]) -> bool {
        let theirs =
            |giver: &Giver| self.meets(&Question { principal: &giver.principal, facts: &giver.facts, ..*question });
        givers.iter().fold(self.meets(question), |met, giver| theirs(giver) || met)
    }

    fn meets(&self, question: &Question<'_>) -> bool {
        let Ok(met) = self.rules.met(question) else { return true };
        for position in &met {
            if let Some(met) = self.met.get(*position as usize) {
                met.store(true, Ordering::Relaxed);
            }
        }
        !met.is_empty()
    }

    /// Those that no question has met yet.
    pub fn unmet(&self) -> impl Iterator<Item = &PolicyMeta> {
        let rules = self.rules.rules.iter().zip(&self.met);
        rules.filter(|(_, met)| !met.load(Ordering::Relaxed)).map(|(rule, _)| &*rule.meta)
    }

    /// A snapshot with the schema in which they are asked.
    pub fn snapshot(&self) -> &Snapshot {
        &self.rules
    }
}
