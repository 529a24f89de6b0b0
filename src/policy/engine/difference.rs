//! The policies in which two snapshots differ, by themselves: a question that meets none of them has the same answer from both.
//!
//! Always true: what does not hold for a question holds no more once approvals are given (`approvals` lints that), so one
//! evaluation is enough, and only of these.

use std::collections::BTreeSet;

use super::behalf::Giver;
use super::decide::Question;
use super::snapshot::{Rule, Snapshot};

/// The policies that only one of two snapshots has.
#[derive(Debug)]
pub struct Difference(Snapshot);

impl Snapshot {
    /// The policies that are not the same, by id and text, in both. The two have the same schema, kinds of approval and collections.
    pub fn difference(&self, other: &Snapshot) -> Difference {
        let mut rules = [missing(self, other), missing(other, self)].concat();
        rules.sort_by(|one, next| one.meta.id.cmp(&next.meta.id));
        Difference(self.with_rules(rules))
    }
}

/// The policies of one that the other has not.
fn missing(from: &Snapshot, other: &Snapshot) -> Vec<Rule> {
    let theirs: BTreeSet<(&str, &str)> =
        other.rules.iter().map(|rule| (rule.meta.id.as_str(), rule.meta.text.as_str())).collect();
    from.rules.iter().filter(|rule| !theirs.contains(&(&rule.meta.id, &rule.meta.text))).cloned().collect()
}

impl Difference {
    /// Whether any of them holds for the caller, or for somebody on whose behalf it is asked; also where that cannot be told.
    pub fn is_met(&self, question: &Question<'_>, givers: &[Giver]) -> bool {
        let theirs = |giver: &Giver| {
            self.0.meets_any(&Question { principal: &giver.principal, facts: &giver.facts, ..*question })
        };
        self.0.meets_any(question) || givers.iter().any(theirs)
    }

    /// The same schema, for whom a question is put.
    pub fn snapshot(&self) -> &Snapshot {
        &self.0
    }
}
