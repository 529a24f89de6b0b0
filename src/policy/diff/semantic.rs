//! Which operations became looser or tighter, and for which kind of actor: a bounded search over generated questions.
//!
//! Always true: a reported change was observed, with a witness; a change that is not reported was not found, which
//! proves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::aim::{aimed, in_part};
use super::cast::{Scene, arounds, scenes};
use super::pair::Pair;
use super::things::MOST as MOST_NAMED;
use super::unmet::{Differences, Unmet};
use super::witness::{Witness, kind_of};
use super::{Shift, Sides, own};
use crate::brain::Collections;
use crate::bundle::is_test;
use crate::engine::{Constants, Goal, Looks, Named};
use crate::stack::each;
use crate::testing::{Around, Case, Fixture, Stage, Staged, parse};
use crate::{Snapshot, is_own};
use types::impact::{Decision, grouped};

/// Questions that one search may put to both sides: a few seconds.
pub const MOST: usize = 120_000;
/// Evaluations of policies that it may cost where very many are about every operation; and questions about one that are put
/// in any case.
const MOST_EVALUATIONS: usize = 20_000_000;
const FEWEST: usize = 16;
/// Questions about one operation that may be put however many operations there are, as far as their policies are few.
const SHARE: usize = 512;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Semantic {
    /// The questions that were compared; those that meet no policy that differs are counted, too.
    pub questions: usize,
    /// How many operations have policies that say the same on both sides: they were not asked about.
    pub identical: usize,
    /// Operations of which there were more questions than were asked.
    pub cut: Vec<String>,
    /// Policies that differ, or parts of them, that decided no question that was compared: what they change was not
    /// seen. A test case in which one holds is always compared.
    pub unmet: Vec<Unmet>,
    /// Every kind of actor that was asked about, with every operation whose policies differ.
    pub pairs: Vec<Pair>,
    /// `no difference found in 1,204 questions`
    pub summary: String,
}

impl Semantic {
    /// The pairs for which a difference was found.
    pub fn changed(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.change != Shift::Same)
    }

    /// For how many of the pairs something became looser.
    pub fn looser(&self) -> usize {
        self.pairs.iter().filter(|pair| matches!(pair.change, Shift::Looser | Shift::Mixed)).count()
    }

    /// How much of what differs was not observed: policies, parts of them, and operations that were not asked about whole.
    pub fn unobserved(&self) -> usize {
        self.unmet.len() + self.cut.len()
    }
}

/// Asks both sides. `most` is the number of questions that it may cost.
pub fn search(sides: &Sides<'_>, stage: &(dyn Stage + Sync), most: usize) -> Semantic {
    let unlike = sides.operations();
    let (before, after) = (sides.before.snapshot, sides.after.snapshot);
    let all: BTreeSet<&str> = before.action_names().union(&after.action_names()).copied().collect();
    let all: Vec<&str> = all.into_iter().collect();
    let concerned = each(&all, |operation| Asking::of(sides, stage, operation, &unlike));
    let concerned: Vec<Asking> = concerned.into_iter().flatten().collect();
    let own: Vec<&String> = unlike.iter().filter(|action| is_own(action)).collect();
    let files = test_files(sides);
    let differing = concerned.len() + own.len();
    let share = (most / differing.max(1)).max(SHARE);
    let share_of =
        |asking: &Asking| share.min((MOST_EVALUATIONS / differing.max(1) / asking.policies.max(1)).max(FEWEST));
    let differences = &Differences::between(sides);
    let mut found = Semantic { identical: all.len() - differing, ..Semantic::default() };
    let searched = each(&concerned, |asking| {
        let mut search =
            Search { sides, differences, stage, asking, left: share_of(asking), asked: 0, pairs: BTreeMap::new() };
        let cut = (!search.run(&files)).then(|| asking.operation.clone());
        (cut, search.asked, search.pairs)
    });
    for (cut, asked, pairs) in searched {
        found.cut.extend(cut);
        found.questions += asked;
        found.pairs.extend(pairs.into_values());
    }
    let own_tests = if own.is_empty() { Vec::new() } else { own::tests(sides) };
    let searched = each(&own, |action| own::search(sides, differences, action, &own_tests, share));
    for (action, own) in own.into_iter().zip(searched) {
        // A group is no question by itself; anything else that nothing could be asked about is told.
        let can_be_asked = [before, after].iter().any(|side| !side.principals_of(action).is_empty());
        found.cut.extend((can_be_asked && own.asked == 0).then(|| action.clone()));
        found.questions += own.asked;
        found.pairs.extend(own.pairs);
    }
    found.unmet = differences.unmet();
    found.summary = found.summarize(differing);
    found
}

impl Semantic {
    fn summarize(&self, differing: usize) -> String {
        if differing == 0 {
            return "the policies for every operation are the same".to_owned();
        }
        let found = if self.changed().next().is_some() { "differences" } else { "no difference" };
        let cut = match self.cut.len() {
            0 => String::new(),
            1 => "; not all were asked about 1 operation".to_owned(),
            cut => format!("; not all were asked about {cut} operations"),
        };
        let policies: BTreeSet<&str> = self.unmet.iter().map(|one| one.policy.as_str()).collect();
        let has_parts = self.unmet.iter().any(|one| one.part.is_some());
        let unmet = match (policies.first(), policies.len()) {
            (Some(one), 1) if self.unmet.len() > 1 => {
                format!("; {} parts of `{one}` decided none of them: their effect was not observed", self.unmet.len())
            }
            (Some(one), 1) => {
                let said = if has_parts { "a part of " } else { "" };
                format!("; {said}`{one}` decided none of them: its effect was not observed")
            }
            (Some(_), many) => {
                let parts = if has_parts { ", or parts of them," } else { "" };
                format!(
                    "; {many} of the policies that differ{parts} decided none of them: their effect was not observed"
                )
            }
            (None, _) => String::new(),
        };
        format!("{found} found in {} questions{cut}{unmet}", grouped(self.questions as u64))
    }
}

/// One operation to ask about.
struct Asking {
    operation: String,
    /// The Cedar types of who and of what it can be about.
    principals: BTreeSet<String>,
    resources: BTreeSet<String>,
    looks: Looks,
    named: Named,
    /// How many policies of both sides are about it.
    policies: usize,
    /// Whether they name more than is asked about.
    left_out: bool,
    /// What it could be given, as far as the policies look at that.
    inputs: Vec<Value>,
    /// What would let the policies hold that differ.
    goals: Vec<Goal>,
}

impl Asking {
    /// None where the operation, and the reads that show what it is about, have the same policies.
    fn of(sides: &Sides<'_>, stage: &dyn Stage, operation: &str, unlike: &BTreeSet<String>) -> Option<Asking> {
        if is_own(operation) {
            return None;
        }
        let (before, after) = (sides.before.snapshot, sides.after.snapshot);
        let ends = |of: fn(&Snapshot, &str) -> BTreeSet<String>| &of(before, operation) | &of(after, operation);
        let resources = ends(Snapshot::resources_of);
        let sights: BTreeSet<&str> = resources.iter().filter_map(|kind| stage.sight(kind)).collect();
        let asked = || std::iter::once(operation).chain(sights.iter().copied());
        if !asked().any(|operation| unlike.contains(operation)) {
            return None;
        }
        let looks = asked().map(|operation| before.looks(operation).and(after.looks(operation)));
        let named = |one: &Snapshot, other: &Snapshot| {
            asked().flat_map(|operation| one.named_unlike(other, operation)).collect::<Vec<Named>>()
        };
        let (named, left_out) = Named::either(&named(before, after), &named(after, before), MOST_NAMED);
        let knows = if after.action_names().contains(operation) { after } else { before };
        Some(Asking {
            inputs: knows.inputs(operation, &before.looks(operation).and(after.looks(operation)), &|field| Constants {
                named: &named,
                choices: stage.choices(operation, field),
            }),
            named,
            policies: before.policies_about(operation) + after.policies_about(operation),
            left_out,
            goals: goals(before, after, operation),
            operation: operation.to_owned(),
            principals: ends(Snapshot::principals_of),
            looks: looks.reduce(Looks::and).unwrap_or_default(),
            resources,
        })
    }
}

/// What would let the policies of either side hold that the other does not have; in one order, whichever side is which.
fn goals(before: &Snapshot, after: &Snapshot, operation: &str) -> Vec<Goal> {
    let mut goals = [before.goals_unlike(after, operation), after.goals_unlike(before, operation)].concat();
    goals.sort_by_cached_key(|goal| format!("{goal:?}"));
    goals.dedup();
    goals
}

struct TestFixture {
    fixture: Fixture,
    cases: Vec<Case>,
}

/// The companies and cases of both sides' tests.
fn test_files(sides: &Sides<'_>) -> Vec<TestFixture> {
    let files = sides.before.bundle.files.iter().chain(&sides.after.bundle.files);
    let mut seen = BTreeSet::new();
    let fresh = files.filter(|(path, text)| is_test(path) && seen.insert(text.as_str()));
    let parsed = fresh.filter_map(|(path, text)| parse(path, text, &|_| Ok(())).ok());
    parsed.map(|file| TestFixture { fixture: file.fixture, cases: file.cases }).collect()
}

struct Search<'a> {
    sides: &'a Sides<'a>,
    differences: &'a Differences,
    stage: &'a (dyn Stage + Sync),
    asking: &'a Asking,
    left: usize,
    asked: usize,
    /// By kind of actor.
    pairs: BTreeMap<String, Pair>,
}

impl<'a> Search<'a> {
    /// Whether everything was asked. Where there is more than may be asked, half is asked of everybody, the rest of whom and what
    /// the policies name, each with a share; nothing takes the place of the cases of the tests.
    fn run(&mut self, files: &[TestFixture]) -> bool {
        let asking = self.asking;
        let (before, after) = (self.sides.before.snapshot.collections(), self.sides.after.snapshot.collections());
        let collections: Collections =
            before.iter().chain(&**after).map(|(name, of)| (name.clone(), Arc::clone(of))).collect();
        let about = |case: &&Case| case.op == asking.operation;
        let cases = |file: &TestFixture| -> Vec<Case> { file.cases.iter().filter(about).cloned().collect() };
        let in_tests: usize = files.iter().map(|file| file.cases.iter().filter(about).count()).sum();
        let scenes = scenes(&asking.named, &asking.goals, &collections, &asking.resources, self.stage);
        let mut whole = !asking.left_out;
        for (number, scene) in scenes.iter().enumerate() {
            let left = self.left.saturating_sub(in_tests);
            let share = match (number, scenes.len() - number) {
                (_, 1) => left,
                (0, _) => left / 2,
                (_, more) => left / more,
            };
            whole &= self.scene(scene, share);
        }
        for file in files {
            let mut staged = self.staged(&file.fixture);
            whole &= cases(file).iter().all(|case| self.ask(&mut *staged, &file.fixture, case));
        }
        whole
    }

    /// A company that is asked about, as the side that knows the operation has it.
    fn staged<'f>(&self, fixture: &'f Fixture) -> Box<dyn Staged + 'f>
    where
        'a: 'f,
    {
        let (before, after) = (self.sides.before.snapshot, self.sides.after.snapshot);
        let knows = after.action_names().contains(self.asking.operation.as_str());
        self.stage.stage(if knows { after } else { before }, fixture)
    }

    /// Everybody about everything, around by around, in at most so many questions: what is plainest is asked first. Where that is
    /// too much, each group of them has half of what the one before left.
    fn scene(&mut self, scene: &Scene, most: usize) -> bool {
        let asking = self.asking;
        let switch = asking.resources.contains("Ok::KillSwitch");
        let is_asked = |asker: &str, target: &str| {
            !scene.is_apart || scene.actors.contains(asker) || scene.actors.contains(target)
        };
        let askers: Vec<String> = scene.askers().into_iter().filter(|asker| asking.is_principal(asker)).collect();
        let of = |asker: &String| -> Vec<(String, String)> {
            let targets = asking.resources.iter().flat_map(|kind| scene.targets(asker, kind));
            targets.filter(|target| is_asked(asker, target)).map(|target| (asker.clone(), target)).collect()
        };
        let pairs: Vec<(String, String)> = askers.iter().flat_map(of).collect();
        let is_named = |(asker, target): &&(String, String)| scene.names(asker, target);
        let is_own = |(asker, target): &&(String, String)| target.ends_with(asker.as_str());
        let (named, rest): (Vec<_>, Vec<_>) = pairs.iter().partition(is_named);
        let (own, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_own);
        let (mut left, mut whole, mut staged) = (most, true, self.staged(&scene.fixture));
        let groups: Vec<Vec<Around>> =
            asking.arounds(switch, &scene.fixture).into_iter().filter(|group| !group.is_empty()).collect();
        for (number, group) in groups.iter().enumerate() {
            let mut share = if number + 1 == groups.len() { left } else { left / 2 };
            for (number, around) in group.iter().cloned().map(Arc::new).enumerate() {
                let asked = pairs.len().min(share / (group.len() - number));
                (left, share) = (left - asked, share - asked);
                whole &= asked == pairs.len();
                // Where not all can be asked: whom the policies name about what they name, then about what is one's own.
                let first = named.len().min(asked);
                let second = own.len().min((asked - first) * 2 / 3).max((asked - first).saturating_sub(others.len()));
                let chosen = spread(&named, first).chain(spread(&own, second));
                let chosen: Vec<&(String, String)> = chosen.chain(spread(&others, asked - first - second)).collect();
                for (asker, target) in chosen {
                    self.ask(&mut *staged, &scene.fixture, &self.case(asker, target.clone(), &around));
                }
            }
        }
        whole
    }

    fn case(&self, asker: &str, target: String, around: &Arc<Around>) -> Case {
        Case {
            line: 0,
            actor: asker.to_owned(),
            op: self.asking.operation.clone(),
            target: Some(target),
            around: Arc::clone(around),
            expect: Decision::Deny,
            because: None,
            approvals: None,
        }
    }

    /// Puts a question to both sides; false once there have been too many.
    fn ask(&mut self, staged: &mut dyn Staged, fixture: &Fixture, case: &Case) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let (before, after) = (self.sides.before.snapshot, self.sides.after.snapshot);
        let Ok(asked) = staged.question(case) else { return true };
        let asked = self.differences.gathered(&asked);
        let pair = self.pair(kind_of(fixture, &case.actor));
        asked.observe(before, after);
        if asked.is_spared() {
            return true;
        }
        if let Some((old, new)) = asked.answers(before, after) {
            pair.count((old, new), || asked.decisive(), |old, new| Witness::new(fixture, case, old, new));
        }
        true
    }

    /// The pair that one more question counts for.
    fn pair(&mut self, kind: String) -> &mut Pair {
        self.asked += 1;
        let pair = self.pairs.entry(kind).or_insert_with_key(|kind| Pair::new(&self.asking.operation, kind));
        pair.questions += 1;
        pair
    }
}

/// So many of them, as many of the first as of the last.
fn spread<'a, T>(all: &'a [&'a T], most: usize) -> impl Iterator<Item = &'a T> {
    (0..most).filter_map(move |at| all.get(at * all.len() / most).copied())
}

impl Asking {
    /// What can be the case around a question: nothing in particular, what the policies that differ look for, all else.
    fn arounds(&self, switch: bool, fixture: &Fixture) -> [Vec<Around>; 3] {
        let mut plain = arounds((&self.looks, &self.named), &self.inputs, switch, fixture);
        let others = plain.split_off(1.min(plain.len()));
        let mut seen = BTreeSet::new();
        let with_part = |around| {
            let part = in_part(&around);
            [Some(around), part].into_iter().flatten()
        };
        let aimed = self.goals.iter().filter_map(|goal| aimed(goal, fixture, &self.inputs)).flat_map(with_part);
        let aimed = aimed.filter(|around| seen.insert(format!("{around:?}")));
        [plain, aimed.collect(), others]
    }

    fn is_principal(&self, asker: &str) -> bool {
        let kind = match asker {
            "visitor" => "Ok::Visitor",
            "server" => "Ok::Server",
            _ => "Ok::Actor",
        };
        self.principals.contains(kind)
    }
}
