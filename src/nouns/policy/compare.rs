//! Compares two bundles, and caches the result for repeated requests.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use super::check::{Problem, directory, known};
use crate::change::compiled;
use crate::entity::may_list;
use crate::entity::unfit::unfit;
use gate::Reader;
use gate::explain::fixture;
use policy::diff::{self, Semantic, Side, Sides, Term, TextDiff};
use policy::{Bundle, Finding, Snapshot, approvals, limits};
use types::refusal::{Fault, Stop};

/// The maximum number of unknown names reported.
const MOST_STRANGERS: usize = 100;

/// The differences.
pub struct Comparison {
    pub text: TextDiff,
    pub semantic: Semantic,
}

/// Two compiled bundles, set apart: errors in hypothetical questions do not count as faults of the serving policies.
pub struct Both<'a> {
    before: (&'a Bundle, Arc<Snapshot>),
    after: (&'a Bundle, Arc<Snapshot>),
}

impl<'a> Both<'a> {
    pub fn new(before: &'a Bundle, after: &'a Bundle, read: &Reader<'_>) -> Result<Both<'a>, Stop> {
        let apart = |bundle| Ok::<_, Stop>(Arc::new(compiled(bundle, read)?.apart()));
        Ok(Both { before: (before, apart(before)?), after: (after, apart(after)?) })
    }

    pub fn sides(&self) -> Sides<'_> {
        Sides {
            before: Side { bundle: self.before.0, snapshot: &self.before.1 },
            after: Side { bundle: self.after.0, snapshot: &self.after.1 },
        }
    }

    /// Compares who gives approvals, and rate limits, for the people there are now.
    pub fn terms(&self, read: &Reader<'_>) -> Vec<Term> {
        diff::terms(&self.sides(), directory(read).as_ref())
    }

    /// Returns new warnings about the candidate: names of nobody, and approvals that too few people could give, unless the
    /// other side has them, too; and stored entities that its schema would not accept.
    pub fn warnings(&self, read: &Reader<'_>) -> Result<Vec<Problem>, Fault> {
        let directory = directory(read);
        let of = |(bundle, snapshot): &(&Bundle, Arc<Snapshot>)| {
            let unreachable = directory.iter().flat_map(|all| all.unreachable(snapshot, bundle.text(approvals::FILE)));
            let strangers = snapshot.strangers(
                &known(&bundle.files, read),
                bundle.text(approvals::FILE),
                bundle.text(limits::FILE),
            );
            strangers.into_iter().chain(unreachable).collect::<Vec<Finding>>()
        };
        let before: BTreeSet<String> = of(&self.before).into_iter().map(|finding| finding.message).collect();
        let new = of(&self.after).into_iter().filter(|finding| !before.contains(&finding.message));
        let mut told: Vec<Problem> = new.take(MOST_STRANGERS).map(|finding| Problem::from(&finding)).collect();
        if !self.sides().have_same_types() && may_list(read) {
            told.extend(unfit(&self.before.1, &self.after.1, read)?.iter().map(Problem::from));
        }
        Ok(told)
    }

    /// Compares the texts, and the answers to generated questions unless left out.
    pub fn seen(&self, semantic: Option<bool>, read: &Reader<'_>) -> (TextDiff, Semantic) {
        if semantic == Some(false) {
            let summary = "the answers were not compared, as asked".to_owned();
            return (diff::compare(&self.sides()), Semantic { summary, ..Semantic::default() });
        }
        let found = self.compare(read);
        (found.text.clone(), found.semantic.clone())
    }

    /// Compares the texts, and the answers to generated questions.
    pub fn compare(&self, read: &Reader<'_>) -> Arc<Comparison> {
        let sides = self.sides();
        let make = || {
            let semantic = fixture::differences(&crate::OPERATIONS, &sides, diff::MOST);
            let text = diff::compare(&sides);
            Ok::<_, Infallible>(Comparison { text, semantic })
        };
        let key = format!("comparison {} {}", self.before.0.hash(), self.after.0.hash());
        let Ok(made) = read.build_cache().make(&key, make);
        made
    }
}
