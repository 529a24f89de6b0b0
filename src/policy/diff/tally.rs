//! Recorded decisions, asked again on both sides, and counted.
//!
//! Always true: the sum of the matrix is the number of decisions that were replayed, and with those that could not be it is
//! the number that were looked at. Memory is bounded: groups and samples have a most.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Moved;
use super::report::{Denominator, Group, Groups, Impact, Sample};
use super::{Answer, Decision, Shift};
use types::impact::{Matrix, Newly, grouped};

/// Rows of each group that are shown.
const SHOWN: usize = 20;
/// Names that one group keeps apart; decisions of further ones are counted together.
const TRACKED: usize = 20_000;
/// Samples of one operation that moved in one way.
const SAMPLES_EACH: usize = 3;
/// Samples altogether.
const SAMPLES: usize = 60;

/// What a recorded question comes to on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub before: Answer,
    pub after: Answer,
    /// The policies that the difference hangs on; none where there is none.
    pub policies: Vec<String>,
}

impl Outcome {
    /// `changed` are the policies whose text differs.
    pub fn of(before: Answer, after: Answer, changed: &BTreeSet<String>) -> Outcome {
        let mut policies = Vec::new();
        if Shift::between(&before, &after) != Shift::Same {
            let both = || before.because.iter().chain(&after.because);
            let mut named: BTreeSet<&String> = both().filter(|id| changed.contains(*id)).collect();
            if named.is_empty() {
                named = both().filter(|id| before.because.contains(id) != after.because.contains(id)).collect();
            }
            policies = named.into_iter().cloned().collect();
        }
        Outcome { before, after, policies }
    }
}

/// Counting as the log goes by.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    matrix: Matrix,
    other_approvals: u64,
    /// How the kinds of approval are given otherwise.
    moved: Arc<Moved>,
    easier_approvals: u64,
    harder_approvals: u64,
    recorded_otherwise: u64,
    unreplayable: BTreeMap<&'static str, u64>,
    operations: Names,
    actors: Names,
    policies: Names,
    samples: BTreeMap<i64, Sample>,
}

#[derive(Clone, Debug, Default)]
struct Names {
    by_name: BTreeMap<String, Counted>,
    untracked: u64,
}

/// What came out otherwise; and what needs the same kind of approval, which more people or fewer could give.
#[derive(Clone, Debug, Default)]
struct Counted {
    matrix: Matrix,
    easier: u64,
    harder: u64,
}

impl Counted {
    fn changed(&self) -> u64 {
        self.matrix.sum() + self.easier + self.harder
    }

    fn newly(&self) -> Newly {
        let mut newly = self.matrix.newly();
        newly.newly_allowed += self.easier;
        newly.newly_approval += self.harder;
        newly
    }

    fn add(&mut self, other: &Counted) {
        self.matrix.add(&other.matrix);
        self.easier += other.easier;
        self.harder += other.harder;
    }
}

/// How one decision moved.
#[derive(Clone, Copy, Debug)]
enum Move {
    Decision(Decision, Decision),
    Easier,
    Harder,
}

impl Move {
    fn counted(self, times: u64) -> Counted {
        let mut counted = Counted::default();
        match self {
            Move::Decision(before, after) => counted.matrix.count_times(before, after, times),
            Move::Easier => counted.easier = times,
            Move::Harder => counted.harder = times,
        }
        counted
    }
}

impl Names {
    fn count(&mut self, name: &str, moved: &Counted) {
        if let Some(known) = self.by_name.get_mut(name) {
            known.add(moved);
        } else if self.by_name.len() < TRACKED {
            self.by_name.insert(name.to_owned(), moved.clone());
        } else {
            self.untracked += moved.changed();
        }
    }

    fn merge(&mut self, other: Names) {
        self.untracked += other.untracked;
        for (name, moved) in other.by_name {
            self.by_name.entry(name).or_default().add(&moved);
        }
    }

    fn shown(self) -> Groups {
        let mut rows: Vec<Group> = self
            .by_name
            .into_iter()
            .map(|(name, moved)| Group { name, changed: moved.changed(), newly: moved.newly(), matrix: moved.matrix })
            .collect();
        rows.sort_by(|left, right| right.changed.cmp(&left.changed).then_with(|| left.name.cmp(&right.name)));
        let more = rows.len().saturating_sub(SHOWN);
        rows.truncate(SHOWN);
        Groups { rows, more, untracked: self.untracked }
    }
}

impl Tally {
    /// A count that knows how the kinds of approval are given on both sides.
    pub fn of(moved: Arc<Moved>) -> Tally {
        Tally { moved, ..Tally::default() }
    }

    /// Counts one decision that was asked again. `recorded` is its outcome in the log.
    pub fn count(&mut self, operation: &str, actor: &str, outcome: &Outcome, recorded: Decision) {
        self.count_times(operation, actor, outcome, (recorded, 1));
    }

    /// So many equal decisions, of which one was asked again.
    pub fn count_times(&mut self, operation: &str, actor: &str, outcome: &Outcome, (recorded, times): (Decision, u64)) {
        let (before, after) = (outcome.before.decision, outcome.after.decision);
        self.matrix.count_times(before, after, times);
        self.recorded_otherwise += if recorded == before { 0 } else { times };
        let moved = if before == after {
            let others = outcome.before.approvals != outcome.after.approvals;
            self.other_approvals += if others { times } else { 0 };
            let given = |kinds: &BTreeSet<String>| outcome.after.approvals.iter().any(|kind| kinds.contains(kind));
            match (given(&self.moved.easier), given(&self.moved.harder)) {
                (true, _) => Move::Easier,
                (false, true) => Move::Harder,
                (false, false) => return,
            }
        } else {
            Move::Decision(before, after)
        };
        let policies = if before == after { &outcome.after.because } else { &outcome.policies };
        let moved = moved.counted(times);
        self.easier_approvals += moved.easier;
        self.harder_approvals += moved.harder;
        self.operations.count(operation, &moved);
        self.actors.count(actor, &moved);
        policies.iter().for_each(|policy| self.policies.count(policy, &moved));
    }

    /// So many equal decisions that cannot be asked again, and why.
    pub fn skip(&mut self, why: &'static str, times: u64) {
        *self.unreplayable.entry(why).or_default() += times;
    }

    /// Whether a sample of this would be kept.
    pub fn wants(&self, operation: &str, outcome: &Outcome) -> bool {
        if Shift::between(&outcome.before, &outcome.after) == Shift::Same || self.samples.len() >= SAMPLES {
            return false;
        }
        let alike = self.samples.values().filter(|sample| sample.is_like(operation, outcome)).count();
        alike < SAMPLES_EACH
    }

    pub fn keep(&mut self, sample: Sample) {
        self.samples.insert(sample.seq, sample);
    }

    pub fn merge(&mut self, other: Tally) {
        self.matrix.add(&other.matrix);
        self.other_approvals += other.other_approvals;
        self.easier_approvals += other.easier_approvals;
        self.harder_approvals += other.harder_approvals;
        self.recorded_otherwise += other.recorded_otherwise;
        other.unreplayable.into_iter().for_each(|(why, count)| *self.unreplayable.entry(why).or_default() += count);
        self.operations.merge(other.operations);
        self.actors.merge(other.actors);
        self.policies.merge(other.policies);
        let both = std::mem::take(&mut self.samples).into_iter().chain(other.samples);
        // The first of each sort in the log, whoever has met them.
        for sample in both.collect::<BTreeMap<_, _>>().into_values() {
            let outcome = Outcome { before: sample.before.clone(), after: sample.after.clone(), policies: Vec::new() };
            if self.wants(&sample.operation, &outcome) {
                self.keep(sample);
            }
        }
    }

    pub fn impact(self) -> Impact {
        let replayed = self.matrix.sum();
        let not_replayable: u64 = self.unreplayable.values().sum();
        let decisions = replayed + not_replayable;
        let summary = format!(
            "{} of {} replayed, {} not replayable",
            grouped(replayed),
            grouped(decisions),
            grouped(not_replayable)
        );
        let mut newly = self.matrix.newly();
        newly.newly_allowed += self.easier_approvals;
        newly.newly_approval += self.harder_approvals;
        let why = self.unreplayable.into_iter().map(|(why, count)| (why.to_owned(), count)).collect();
        Impact {
            denominator: Denominator { decisions, replayed, not_replayable, why, summary },
            newly,
            matrix: self.matrix,
            other_approvals: self.other_approvals,
            easier_approvals: self.easier_approvals,
            harder_approvals: self.harder_approvals,
            recorded_otherwise: self.recorded_otherwise,
            by_operation: self.operations.shown(),
            by_actor: self.actors.shown(),
            by_policy: self.policies.shown(),
            samples: Some(self.samples.into_values().collect()),
        }
    }
}

impl Sample {
    fn is_like(&self, operation: &str, outcome: &Outcome) -> bool {
        self.operation == operation
            && self.before.decision == outcome.before.decision
            && self.after.decision == outcome.after.decision
    }
}
