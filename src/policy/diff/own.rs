//! The same search for the company's own types: questions from the tests of both sides, variations of them, and
//! questions made up from the schema and from the names in the policies.

use std::collections::{BTreeMap, BTreeSet};

use super::pair::Pair;
use super::unmet::{Comparison, Differences};
use super::witness::own_witness;
use super::{Answer, Sides};
use crate::Snapshot;
use crate::bundle::is_test;
use crate::engine::{Looks, Named};
use crate::own::{Described, Inventor, Said};
use crate::testing::{Evaluation, OwnedQuestion, Records, parse};

/// Questions about one action, at the most.
const MOST: usize = 3_000;
/// Of them, those that stand in tests, and pairs of what the tests describe.
const FROM_TESTS: usize = 1_000;
/// Neighbours of each question that stands in a test.
const NEIGHBOURS: usize = 24;

/// What was found about one action.
#[derive(Default)]
pub(super) struct Found {
    pub asked: usize,
    pub pairs: Vec<Pair>,
}

/// The records and questions of one test file.
pub(super) struct OwnTests {
    records: Records,
    evaluations: Vec<Evaluation>,
}

/// Those of both sides.
pub(super) fn tests(sides: &Sides<'_>) -> Vec<OwnTests> {
    let files = sides.before.bundle.files.iter().chain(&sides.after.bundle.files);
    let mut seen = BTreeSet::new();
    let fresh = files.filter(|(path, text)| is_test(path) && seen.insert(text.as_str()));
    let parsed = fresh.filter_map(|(path, text)| parse(path, text, &|_| Ok(())).ok());
    parsed.map(|file| OwnTests { records: file.records, evaluations: file.evaluations }).collect()
}

/// Asks both sides about one action, what is plainest first.
pub(super) fn search(
    sides: &Sides<'_>,
    differences: &Differences,
    action: &str,
    tests: &[OwnTests],
    most: usize,
) -> Found {
    let (before, after): (&Snapshot, &Snapshot) = (sides.before.snapshot, sides.after.snapshot);
    let named = before.named(action).and(after.named(action));
    let looks = before.looks(action).and(after.looks(action));
    let mut search = Search {
        sides,
        differences,
        takers: [(before, after), (after, before)].map(|sides| Taker::new(sides, &named)),
        action,
        looks,
        left: most.min(MOST),
        asked: 0,
        seen: BTreeSet::new(),
        pairs: BTreeMap::new(),
    };
    let known = search.of_tests(tests);
    search.made_up(&known, &named);
    Found { asked: search.asked, pairs: search.pairs.into_values().collect() }
}

struct Search<'a> {
    sides: &'a Sides<'a>,
    differences: &'a Differences,
    /// The one side, and the other.
    takers: [Taker<'a>; 2],
    action: &'a str,
    looks: Looks,
    left: usize,
    asked: usize,
    /// The questions that were put, as text.
    seen: BTreeSet<String>,
    /// By the type of the subject.
    pairs: BTreeMap<String, Pair>,
}

impl Search<'_> {
    /// What the tests ask about the action, and everything that they describe with each other.
    fn of_tests(&mut self, tests: &[OwnTests]) -> Vec<Said> {
        let (mut known, action) = (Vec::new(), self.action);
        for file in tests {
            let snapshot = self.sides.after.snapshot;
            let said = file.evaluations.iter().filter_map(|one| Some((one.said(snapshot, &file.records).ok()?, one)));
            for (said, evaluation) in said.filter(|(said, _)| said.action == action) {
                self.ask(&said, evaluation.granted());
                known.push(said);
            }
        }
        let contexts: Vec<Said> = known.clone();
        for file in tests {
            for (subject, resource) in self.ends() {
                for said in crossed(&file.records, &subject, &resource, &contexts) {
                    if self.asked >= FROM_TESTS {
                        return known;
                    }
                    self.around(&said);
                }
            }
        }
        known
    }

    fn made_up(&mut self, known: &[Said], named: &Named) {
        let Sides { before, after } = self.sides;
        let (mut then, mut now) = (Inventor::new(before.snapshot, named), Inventor::new(after.snapshot, named));
        let is_gone = after.snapshot.principals_of(self.action).is_empty();
        for said in known {
            let [old, new] = &mut self.takers;
            let (inventor, taker) = if is_gone { (&mut then, old) } else { (&mut now, new) };
            let Some(Taken { said, .. }) = taker.take(said, &[]) else { continue };
            for _ in 0..NEIGHBOURS {
                if let Some(next) = inventor.neighbour(&said) {
                    self.around(&next);
                }
            }
        }
        let ends: Vec<(String, String)> = self.ends().into_iter().collect();
        let alternate = !self.sides.have_same_types();
        // Some of what is made up does not fit, or was asked already.
        for at in 0..self.left * 2 {
            let Some((subject, resource)) = ends.get(at % ends.len().max(1)) else { return };
            let [is_known, was_known] =
                [after, before].map(|side| takes(side.snapshot, self.action, subject, resource));
            // Of two schemas each has its turn.
            let is_now = is_known && (!was_known || !alternate || (at / ends.len()).is_multiple_of(2));
            let inventor = if is_now { &mut now } else { &mut then };
            if let Some(said) = inventor.question(self.action, subject, resource) {
                self.around(&said);
            }
            if self.left == 0 {
                return;
            }
        }
    }

    /// The types of both ends.
    fn ends(&self) -> BTreeSet<(String, String)> {
        let sides = [self.sides.before.snapshot, self.sides.after.snapshot];
        let all = sides.iter().flat_map(|side| {
            let resources = side.resources_of(self.action);
            let pair =
                move |subject: String| resources.clone().into_iter().map(move |resource| (subject.clone(), resource));
            side.principals_of(self.action).into_iter().flat_map(pair)
        });
        all.collect()
    }

    /// The question without approvals, with each kind that a policy looks at, and with all of them.
    fn around(&mut self, said: &Said) {
        let kinds: Vec<String> = self.looks.kinds.iter().cloned().collect();
        self.ask(said, &[]);
        for kind in &kinds {
            self.ask(said, std::slice::from_ref(kind));
        }
        if kinds.len() > 1 {
            self.ask(said, &kinds);
        }
    }

    fn ask(&mut self, said: &Said, granted: &[String]) {
        let Ok(key) = serde_json::to_string(&(said, granted)) else { return };
        if self.left == 0 || !self.seen.insert(key) {
            return;
        }
        let [Some(old), Some(new)] = self.takers.each_mut().map(|taker| taker.take(said, granted)) else { return };
        self.left -= 1;
        self.asked += 1;
        let pair = self.pairs.entry(new.said.subject.kind.clone());
        let pair = pair.or_insert_with_key(|kind| Pair::new(self.action, kind));
        pair.questions += 1;
        let Some((asked, was, is)) = answers(self.sides, self.differences, &old, &new) else { return };
        let witness = |was, is| own_witness((&old.said, &new.said), granted, was, is);
        pair.count((was, is), || asked.decisive(), witness);
    }
}

/// Both answers, unless they are surely the same. What a side does not take is allowed to nobody there.
fn answers<'a>(
    sides: &Sides<'_>,
    differences: &'a Differences,
    old: &'a Taken,
    new: &'a Taken,
) -> Option<(Comparison<'a>, Answer, Answer)> {
    let (before, after) = (sides.before.snapshot, sides.after.snapshot);
    let asked = match (&old.question, &new.question) {
        (Some(one), Some(other)) => differences.gathered_of([one, other]),
        (Some(only), None) | (None, Some(only)) => differences.gathered(only),
        (None, None) => return None,
    };
    asked.observe(before, after);
    if asked.is_spared() {
        return None;
    }
    let of_one = |question: &Option<OwnedQuestion>, side: &Snapshot| {
        question.as_ref().map_or_else(Answer::nobodys, |question| Answer::of(&question.answer(side)))
    };
    let (was, is) = match (&old.question, &new.question) {
        (Some(_), Some(_)) => asked.answers(before, after)?,
        (one, other) => (of_one(one, before), of_one(other, after)),
    };
    Some((asked, was, is))
}

/// One side, and what makes a question fit that only the other's schema takes.
struct Taker<'a> {
    snapshot: &'a Snapshot,
    other: &'a Snapshot,
    fitting: Inventor<'a>,
}

/// A question as a side takes it.
struct Taken {
    said: Said,
    /// None where the side does not know the action, or does not let these ask about those.
    question: Option<OwnedQuestion>,
}

impl<'a> Taker<'a> {
    fn new((snapshot, other): (&'a Snapshot, &'a Snapshot), named: &'a Named) -> Taker<'a> {
        Taker { snapshot, other, fitting: Inventor::new(snapshot, named) }
    }

    /// None where it cannot be asked here.
    fn take(&mut self, said: &Said, granted: &[String]) -> Option<Taken> {
        if !takes(self.snapshot, &said.action, &said.subject.kind, &said.resource.kind) {
            return Some(Taken { said: said.clone(), question: None });
        }
        let asked = |said: Said| {
            let question = said.to_question(self.snapshot, granted.to_vec()).ok()?;
            Some(Taken { said, question: Some(question) })
        };
        asked(said.clone()).or_else(|| asked(self.fitting.fitted(said, self.other)?))
    }
}

/// Whether a side's schema lets subjects of a type ask for an action about resources of a type.
fn takes(side: &Snapshot, action: &str, subject: &str, resource: &str) -> bool {
    side.principals_of(action).contains(subject) && side.resources_of(action).contains(resource)
}

/// Every subject about every resource that a file describes, in each context that its questions have.
fn crossed(records: &Records, subject: &str, resource: &str, contexts: &[Said]) -> Vec<Said> {
    let mut all = Vec::new();
    let resources: Vec<Described> = records.of(resource).collect();
    for one in records.of(subject) {
        for other in &resources {
            let said = |context: &Said| Said { subject: one.clone(), resource: other.clone(), ..context.clone() };
            all.extend(contexts.iter().map(said));
            if all.len() > FROM_TESTS {
                return all;
            }
        }
    }
    all
}
