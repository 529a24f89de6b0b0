//! The smallest sets of changes that turn an answer to yes.
//!
//! Always true: with all changes of a set, the answer was yes when it was tried; without any one of them, it was not.
//! Yes means yes for the caller and for all on whose behalf the question is asked. The result depends on nothing but
//! the question and the company. The search is bounded: sets that it did not find may exist.

use std::collections::{BTreeMap, BTreeSet};

use super::Eyes;
use super::want::{Situation, Want};
use crate::engine::behalf::{For, Giver};
use crate::engine::decide::Question;
use crate::engine::snapshot::Snapshot;

/// Changes in one set.
const DEEPEST: usize = 3;
/// Sets that are told.
const MOST: usize = 5;
/// Questions that one search may ask, and how many policies it may look at for them.
const TRIES: usize = 300;
const POLICIES: usize = 100_000;
/// Questions that are asked however many policies there are.
const LEAST: usize = 20;
/// Sets of one size that are built upon.
const BREADTH: usize = 16;

/// Who knows how the company of a question could change.
pub trait Alterable {
    type Alteration: Clone + Ord;

    /// The changes that would fulfil a want; none where nobody could make such a change.
    fn ways(&self, want: &Want) -> Vec<Self::Alteration>;

    /// Asks the same question after these changes, on behalf of those whom it is asked for, nearest first. None if the
    /// changes contradict each other.
    fn after<T>(&self, changes: &[Self::Alteration], ask: impl FnOnce(&Question<'_>, &[Giver]) -> T) -> Option<T>;
}

impl Snapshot {
    /// Whether somebody in the chain handed on too little: nothing that the company changes helps then.
    fn is_withheld(&self, question: &Question<'_>, givers: &[Giver]) -> bool {
        givers.iter().any(|giver| self.withheld(question, giver, For::Doing).is_some())
    }

    /// The smallest sets of changes that turn a refusal, or a wait, into yes; smaller sets first.
    pub fn what_would_change<C: Alterable>(&self, company: &C, eyes: Eyes<'_>) -> Vec<Vec<C::Alteration>> {
        let policies = company.after(&[], |question, givers| self.policies_of(question).count() * (givers.len() + 1));
        let policies = policies.unwrap_or_default();
        let tries = (POLICIES / policies.max(1)).clamp(LEAST, TRIES);
        let mut search =
            Search { snapshot: self, company, eyes, tries, known: BTreeMap::new(), found: BTreeSet::new() };
        if search.allows(&BTreeSet::new()) != Some(false) {
            return Vec::new();
        }
        let mut level: Vec<Start<C::Alteration>> = search.start(BTreeSet::new()).into_iter().collect();
        for size in 1..=DEEPEST {
            level = search.deeper(&level, size == DEEPEST);
        }
        let mut found: Vec<Vec<C::Alteration>> =
            search.found.into_iter().map(|set| set.into_iter().collect()).collect();
        found.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        found.truncate(MOST);
        found
    }
}

/// A set that does not do yet, and what could be added to it. Ordered by how near it comes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Start<T> {
    distance: usize,
    set: BTreeSet<T>,
    ways: BTreeSet<T>,
}

struct Search<'a, C: Alterable> {
    snapshot: &'a Snapshot,
    company: &'a C,
    eyes: Eyes<'a>,
    /// Questions that are left.
    tries: usize,
    /// What was asked already: whether the answer was yes, and None where the changes contradict each other.
    known: BTreeMap<BTreeSet<C::Alteration>, Option<bool>>,
    found: BTreeSet<BTreeSet<C::Alteration>>,
}

impl<C: Alterable> Search<'_, C> {
    /// Tries every set that is one change larger, and gives those from which it is worth to go on.
    fn deeper(&mut self, level: &[Start<C::Alteration>], is_last: bool) -> Vec<Start<C::Alteration>> {
        let (mut next, mut seen) = (Vec::new(), BTreeSet::new());
        // The nearest first: the tries may not last for all.
        for (start, change) in level.iter().flat_map(|start| start.ways.iter().map(move |change| (start, change))) {
            let set: BTreeSet<C::Alteration> = start.set.iter().chain([change]).cloned().collect();
            if set.len() == start.set.len() || !seen.insert(set.clone()) {
                continue;
            }
            if self.found.iter().any(|found| found.is_subset(&set)) {
                continue;
            }
            match self.allows(&set) {
                Some(true) => self.find(set),
                Some(false) if !is_last => next.extend(self.start(set)),
                Some(false) | None => {}
            }
        }
        next.sort();
        next.truncate(BREADTH);
        next
    }

    fn start(&self, set: BTreeSet<C::Alteration>) -> Option<Start<C::Alteration>> {
        let found = self.ask(&set, |snapshot, question, givers, eyes| {
            if snapshot.is_withheld(question, givers) {
                return None;
            }
            let mut found = Situation { wants: Vec::new(), distance: 0 };
            for one in each(question, givers).filter(|one| snapshot.would_allow(one).is_none()) {
                let theirs = snapshot.situation(&one, eyes)?;
                found.distance += theirs.distance;
                found.wants.extend(theirs.wants);
            }
            Some(found)
        });
        let found = found.flatten()?;
        let ways = found.wants.iter().flat_map(|want| self.company.ways(want)).collect();
        Some(Start { distance: found.distance, set, ways })
    }

    /// Leaves out what is not needed, then keeps the set if its answer shows nothing that may not be seen.
    fn find(&mut self, mut set: BTreeSet<C::Alteration>) {
        loop {
            let mut needless = None;
            for change in &set {
                let mut rest = set.clone();
                rest.remove(change);
                match self.allows(&rest) {
                    Some(true) => needless = Some(rest),
                    Some(false) => {}
                    // Out of tries: not known to be needed.
                    None => return,
                }
            }
            match needless {
                Some(rest) => set = rest,
                None => break,
            }
        }
        let shown = self.ask(&set, |snapshot, question, givers, eyes| {
            each(question, givers).all(|one| {
                let because = snapshot.would_allow(&one).unwrap_or_default();
                because.iter().any(|policy| snapshot.is_open(&policy.id, &one, eyes))
            })
        });
        if shown == Some(true) {
            self.found.insert(set);
        }
    }

    /// None if the changes contradict each other, or all tries are used up.
    fn allows(&mut self, set: &BTreeSet<C::Alteration>) -> Option<bool> {
        if let Some(known) = self.known.get(set) {
            return *known;
        }
        self.tries = self.tries.checked_sub(1)?;
        let answer = self.ask(set, |snapshot, question, givers, _| {
            !snapshot.is_withheld(question, givers)
                && each(question, givers).all(|one| snapshot.would_allow(&one).is_some())
        });
        self.known.insert(set.clone(), answer);
        answer
    }

    fn ask<T>(
        &self,
        set: &BTreeSet<C::Alteration>,
        ask: impl FnOnce(&Snapshot, &Question<'_>, &[Giver], Eyes<'_>) -> T,
    ) -> Option<T> {
        let changes: Vec<C::Alteration> = set.iter().cloned().collect();
        self.company.after(&changes, |question, givers| ask(self.snapshot, question, givers, self.eyes))
    }
}

/// The question as it is put about each who must be allowed: the caller, and all on whose behalf it is.
fn each<'a>(question: &Question<'a>, givers: &'a [Giver]) -> impl Iterator<Item = Question<'a>> {
    let theirs = |Giver { principal, facts, .. }: &'a Giver| Question { principal, facts, ..*question };
    std::iter::once(*question).chain(givers.iter().map(theirs))
}
