//! Running the cases, and measuring them: which parts of the policies they have seen, and which mistakes they would notice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::case::Expected;
use super::file::{TestFile, line_spans, parse};
use super::{OwnedQuestion, Stage};
use crate::bundle::is_test;
use crate::engine::{Mutant, Part, PartKind};
use crate::finding::code;
use crate::stack::each;
use crate::{Bundle, Finding, Snapshot};
use types::effort;

/// What the cases of a bundle came to.
#[derive(Default)]
pub struct Run {
    /// Every case that could be asked.
    pub asked: Vec<Ran>,
    /// Files and cases that could not be understood.
    pub invalid: Vec<Finding>,
    /// Answers that were not the expected ones.
    pub failed: Vec<Finding>,
    /// Every case, in order, and what is wrong with it.
    pub cases: Vec<Tried>,
    /// Whether there are test files at all.
    pub files: usize,
    /// Those of which no case was asked, because something in them could not be understood.
    pub unread: usize,
}

/// A case by its file and name, asked or not.
pub struct Tried {
    pub file: String,
    pub name: String,
    pub wrong: Option<Finding>,
}

/// One case with its question.
pub struct Ran {
    pub file: String,
    pub line: usize,
    /// The question in a few words.
    pub name: String,
    pub expected: Expected,
    pub asked: OwnedQuestion,
    pub passed: bool,
}

/// Runs the cases of a bundle, at most `most` of them. A file that would exceed the limit is reported, and not run.
pub fn run(bundle: &Bundle, snapshot: &Arc<Snapshot>, stage: &dyn Stage, most: usize) -> Run {
    let files: Vec<(&str, &str)> = bundle
        .files
        .iter()
        .map(|(file, text)| (file.as_str(), text.as_str()))
        .filter(|(file, _)| is_test(file))
        .collect();
    let read = each(&files, |(file, text)| {
        effort::spend(1_000 + text.len());
        parse(file, text, &|row| stage.row(row))
    });
    let mut run = Run { files: files.len(), ..Run::default() };
    let (mut left, mut fit) = (most, Vec::new());
    for ((file, text), parsed) in files.into_iter().zip(read) {
        match parsed {
            Err(wrong) => {
                run.invalid.extend(wrong);
                run.unread += 1;
            }
            Ok(parsed) => match left.checked_sub(parsed.cases.len() + parsed.evaluations.len()) {
                Some(rest) => {
                    left = rest;
                    fit.push((file, text, parsed));
                }
                None => {
                    let message = format!(
                        "the tests come to more than {most} cases, too many to run here; the command line runs them all"
                    );
                    run.invalid.push(Finding::new(code::TESTS_LEFT_OUT, file, 1, (0, 0), message));
                }
            },
        }
    }
    for ran in each(&fit, |(file, text, parsed)| run_file(file, text, parsed, snapshot, stage)) {
        run.asked.extend(ran.asked);
        run.invalid.extend(ran.invalid);
        run.failed.extend(ran.failed);
        run.cases.extend(ran.cases);
    }
    run
}

fn run_file(file: &str, text: &str, parsed: &TestFile, snapshot: &Arc<Snapshot>, stage: &dyn Stage) -> Run {
    let mut run = Run::default();
    let TestFile { fixture, cases, records, evaluations } = parsed;
    let mut staged = stage.stage(snapshot, fixture);
    let asked = cases.iter().map(|case| (case.line, case.to_string(), case.expected(), staged.question(case)));
    let evaluated = evaluations
        .iter()
        .map(|one| (one.line, one.name.clone(), one.expected.clone(), one.question(snapshot, records)));
    let spans: Vec<(usize, usize)> = line_spans(text).collect();
    for (line, name, expected, question) in asked.chain(evaluated) {
        effort::spend(1);
        let span = spans.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let finding = |code, message: String| Finding::new(code, file, line, span, message);
        let wrong = match question {
            Err(message) => {
                let wrong = finding(code::TEST_INVALID, message);
                run.invalid.push(wrong.clone());
                Some(wrong)
            }
            Ok(asked) => {
                let difference = expected.judge(&asked.answer(snapshot));
                let wrong = difference.map(|difference| finding(code::TEST_FAILED, format!("{name}: {difference}")));
                run.failed.extend(wrong.clone());
                let passed = wrong.is_none();
                run.asked.push(Ran { file: file.to_owned(), line, name: name.clone(), expected, asked, passed });
                wrong
            }
        };
        run.cases.push(Tried { file: file.to_owned(), name, wrong });
    }
    run
}

/// How much of the policies the cases have seen.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// Every part that can be true and false.
    pub parts: Vec<Part>,
}

impl Coverage {
    pub fn covered(&self) -> usize {
        self.parts.iter().filter(|part| part.is_covered()).count()
    }

    /// Rounded down, so that 100 means all.
    pub fn percent(&self) -> u8 {
        let percent = (self.covered() * 100).checked_div(self.parts.len());
        percent.map_or(100, |percent| u8::try_from(percent).unwrap_or(100))
    }

    /// A finding for each part that was not seen true and false.
    pub fn gaps(&self) -> Vec<Finding> {
        let gap = |part: &Part| {
            let (policy, text) = (&part.policy.id, &part.text);
            let message = match (part.seen_true, part.seen_false) {
                (false, false) => format!("no test of `{policy}` reaches `{text}`"),
                (true, _) => format!("no test of `{policy}` has seen `{text}` false"),
                (false, true) => format!("no test of `{policy}` has seen `{text}` true"),
            };
            Finding::new(code::NOT_COVERED, part.policy.file.as_str(), part.line, part.span, message)
        };
        // A scope of which a clause never holds is said with that.
        let is_said = |part: &Part| {
            let mut of_same = self.parts.iter().filter(|other| Arc::ptr_eq(&other.policy, &part.policy));
            part.kind == PartKind::Scope && of_same.any(|other| other.kind != PartKind::Scope && !other.seen_true)
        };
        self.parts.iter().filter(|part| !part.is_covered() && !is_said(part)).map(gap).collect()
    }
}

/// Shows the policies every question of a run.
pub fn cover(run: &Run, snapshot: &Snapshot) -> Coverage {
    let mut seen = snapshot.unseen();
    for ran in &run.asked {
        ran.asked
            .put(snapshot, &ran.asked.action, &ran.asked.granted, |question| snapshot.observe(question, &mut seen));
    }
    Coverage { parts: seen.parts().to_vec() }
}

/// Which mistakes the cases would notice.
#[derive(Clone, Debug)]
pub struct Mutation {
    pub mutants: usize,
    /// How many of them are of which file.
    pub by_file: BTreeMap<String, usize>,
    pub survived: Vec<Finding>,
}

impl Mutation {
    pub fn killed(&self) -> usize {
        self.mutants - self.survived.len()
    }

    /// Rounded down.
    pub fn percent(&self) -> u8 {
        let percent = (self.killed() * 100).checked_div(self.mutants);
        percent.map_or(100, |percent| u8::try_from(percent).unwrap_or(100))
    }
}

/// Makes every mistake once, in some files or in all, and asks every question until a case fails.
pub fn mutate(run: &Run, snapshot: &Snapshot, files: Option<&BTreeSet<String>>) -> Mutation {
    let mutants = snapshot.mutants(files);
    let survives = |mutant: &Mutant| {
        let mutated = snapshot.mutated(mutant);
        let passes = |ran: &&Ran| ran.expected.judge(&ran.asked.answer(&mutated)).is_none();
        // Cases about the policy's own actions notice most mistakes: they are asked first.
        let passed = run.asked.iter().filter(|ran| ran.passed);
        let (near, far): (Vec<&Ran>, Vec<&Ran>) = passed.partition(|ran| snapshot.concerns(mutant, &ran.asked.action));
        near.iter().all(passes) && far.iter().all(passes)
    };
    let survivors = mutants.iter().filter(|mutant| survives(mutant));
    let survived = survivors.map(|mutant| {
        let message = format!("no test detects this mutant of `{}`: {}", mutant.policy.id, mutant.what);
        Finding::new(code::SURVIVED, mutant.policy.file.as_str(), mutant.line, mutant.span, message)
    });
    let mut by_file = BTreeMap::new();
    mutants.iter().for_each(|mutant| *by_file.entry(mutant.policy.file.clone()).or_default() += 1);
    Mutation { survived: survived.collect(), mutants: mutants.len(), by_file }
}
