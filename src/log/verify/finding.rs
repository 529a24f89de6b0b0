//! What the walk has found so far.

use super::Problem;

const MAX_PROBLEMS: usize = 100;

/// Collects problems. However many there are, it keeps those with the smallest numbers, in flat memory.
#[derive(Default)]
pub struct Findings {
    problems: Vec<Problem>,
    first_bad: Option<u64>,
    bad_leaf: bool,
}

impl Findings {
    /// Something is wrong that leaves the tree as it is: a payload, a tile, a checkpoint.
    pub fn add(&mut self, seq: Option<u64>, message: impl Into<String>) {
        self.first_bad = self.first_bad.into_iter().chain(seq).min();
        self.problems.push(Problem { seq, message: message.into() });
        if self.problems.len() > 2 * MAX_PROBLEMS {
            self.shorten();
        }
    }

    /// A leaf is wrong or absent, so that every root from here on is wrong too.
    pub fn add_leaf(&mut self, seq: u64, message: impl Into<String>) {
        self.bad_leaf = true;
        self.add(Some(seq), message);
    }

    /// Whether roots are to be expected to differ.
    pub fn has_bad_leaf(&self) -> bool {
        self.bad_leaf
    }

    /// The smallest number that anything was found about.
    pub fn first_bad(&self) -> Option<u64> {
        self.first_bad
    }

    /// The problems in the order of the entries.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.shorten();
        self.problems
    }

    fn shorten(&mut self) {
        self.problems.sort_by_key(|problem| problem.seq);
        self.problems.truncate(MAX_PROBLEMS);
    }
}
