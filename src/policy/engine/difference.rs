//! Only the policies in which two snapshots differ. A question to which none of them applies has the same answer from
//! both.
//!
//! Always true: a policy that does not hold for a question does not start to hold once approvals are given (a lint,
//! `approvals`, checks that), so one evaluation is enough, and only of these policies.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy_core::ast::Expr;
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::compiled::CompiledPolicy;
use super::decide::{Question, Reached, Unknown};
use super::evaluate::is_true;
use super::index::Position;
use super::met::{Met, Part, Stand, has_same_ends};
use super::parts::clauses;
use super::ruling::{Because, PolicyMeta};
use super::snapshot::Snapshot;
use types::effort;

/// The policies that only one of two snapshots has, and which of them, and of their parts, questions have shown. A
/// question shows a policy if its answer would change if the policy had the opposite value for it.
#[derive(Debug)]
pub struct Difference {
    snapshot: Snapshot,
    /// By the place of the policy.
    met: Vec<Met>,
    /// The policies of both are there, not only those of one.
    has_both: bool,
}

/// A policy that no question has met, or a part of one: an operation, an alternative, an exception, a replaced condition.
pub struct Unmet<'a> {
    pub policy: &'a PolicyMeta,
    /// The text of the part, and its line.
    pub branch: Option<(String, usize)>,
}

impl Snapshot {
    /// The policies of both that decide by what none of the other does. The two have the same schema, kinds of approval and
    /// collections.
    pub fn difference(&self, other: &Snapshot) -> Difference {
        Difference::of((self, self.missing_in(other)), (other, Some(other.missing_in(self))), false)
    }

    /// The policies that the other has not, in questions as this one's schema has them. What conditions it has in the place of
    /// others is looked for where it is the newer one.
    pub fn beyond(&self, other: &Snapshot, is_newer: bool) -> Difference {
        Difference::of((self, self.missing_in(other)), (other, None), is_newer)
    }
}

/// Of as many policies it is asked whether one question shows them. Where there are more, each question begins with another.
const MOST_ASKED: usize = 16;

/// Where a question begins to ask: not always with the same policy.
fn turn(question: &Question<'_>) -> usize {
    let ends =
        [question.principal, question.resource].into_iter().flat_map(|uid| AsRef::<str>::as_ref(uid.id()).bytes());
    ends.map(usize::from).sum()
}

/// The policies of both sides, by id.
struct Versions<'a>(BTreeMap<&'a str, Vec<&'a CompiledPolicy>>);

impl<'a> Versions<'a> {
    fn of(sides: [&'a Snapshot; 2]) -> Versions<'a> {
        let mut versions: BTreeMap<&str, Vec<&CompiledPolicy>> = BTreeMap::new();
        for compiled in sides.into_iter().flat_map(|side| &side.policies) {
            versions.entry(&compiled.meta.id).or_default().push(compiled);
        }
        Versions(versions)
    }

    /// Those that have its effect, and another text.
    fn others(&self, compiled: &CompiledPolicy) -> Vec<&'a CompiledPolicy> {
        let all = self.0.get(compiled.meta.id.as_str()).map_or(&[][..], Vec::as_slice);
        let is_other = |other: &&&CompiledPolicy| {
            other.meta.text != compiled.meta.text && other.policy.effect() == compiled.policy.effect()
        };
        all.iter().filter(is_other).copied().collect()
    }

    /// A policy as it is compared with its other versions. Where their scopes name other people or things, each is opened.
    fn compared(&self, is_ours: bool, compiled: CompiledPolicy, is_newer: bool) -> (CompiledPolicy, Met) {
        let others = self.others(&compiled);
        if others.iter().all(|other| has_same_ends(&compiled.policy, &other.policy)) {
            let met = Met { is_ours, ..Met::of(&compiled, &others, is_newer) };
            return (compiled, met);
        }
        let (opened, others) = (compiled.opened(), others.into_iter().map(CompiledPolicy::opened).collect::<Vec<_>>());
        let met = Met::of(&opened, &others.iter().collect::<Vec<_>>(), is_newer);
        (opened, Met { is_ours, is_covered: false, ..met })
    }
}

/// What a policy is for a question.
pub struct Standing<'a> {
    pub policy: &'a Because,
    /// Its other version; itself, where there is none that differs.
    pub other: &'a Because,
    /// Whether the first snapshot has it.
    pub is_ours: bool,
    pub holds: bool,
    /// Whether its other version is known to be the same.
    pub is_as_before: bool,
}

/// A policy that may hold for a question.
struct Candidate<'a> {
    at: Position,
    compiled: &'a CompiledPolicy,
    seen: &'a Met,
    holds: bool,
    /// Whether its other version does.
    other_holds: bool,
}

/// A part that is to be looked at: the place of its policy and its number, and whether the policy holds.
struct Look<'a> {
    place: (Position, usize),
    compiled: &'a CompiledPolicy,
    part: &'a Part,
    holds: bool,
}

impl<'a> Candidate<'a> {
    /// Its parts that a question may show.
    fn looks(&self, has_both: bool) -> impl Iterator<Item = Look<'a>> {
        let Candidate { at, compiled, seen, holds, other_holds } = *self;
        let parts = seen.shown_by(Stand { holds, is_as_before: has_both && other_holds == holds });
        parts.map(move |(number, part)| Look { place: (at, number), compiled, part, holds })
    }
}

impl Difference {
    /// Of two snapshots, each with its policies that differ; those of the second may be left out. What conditions stand in the
    /// place of others is looked for in the policies of the second, or in those of the first where that `is_newer`.
    fn of(
        (snapshot, ours): (&Snapshot, Vec<CompiledPolicy>),
        (other, theirs): (&Snapshot, Option<Vec<CompiledPolicy>>),
        is_newer: bool,
    ) -> Difference {
        let (has_both, theirs) = (theirs.is_some(), theirs.unwrap_or_default());
        let versions = Versions::of([snapshot, other]);
        let compared = |is_ours: bool| {
            let versions = &versions;
            move |compiled| versions.compared(is_ours, compiled, is_ours == is_newer)
        };
        let mut all: Vec<(CompiledPolicy, Met)> =
            ours.into_iter().map(compared(true)).chain(theirs.into_iter().map(compared(false))).collect();
        all.sort_by(|(one, _), (next, _)| one.meta.id.cmp(&next.meta.id));
        let (policies, mut met): (Vec<CompiledPolicy>, Vec<Met>) = all.into_iter().unzip();
        for (at, (compiled, met)) in policies.iter().zip(&mut met).enumerate() {
            let mut beside = [at.wrapping_sub(1), at + 1].into_iter();
            let other = beside.find(|place| policies.get(*place).is_some_and(|next| next.meta.id == compiled.meta.id));
            met.other = other.and_then(|place| Position::try_from(place).ok());
        }
        Difference { snapshot: snapshot.with_policies(policies), met, has_both }
    }

    /// Returns which of these policies a question reaches. Fails if it cannot be determined for each of them whether it
    /// holds.
    pub fn reached(&self, question: &Question<'_>) -> Result<Reached, Unknown> {
        self.snapshot.reached(question)
    }

    /// Notes which of these policies, and which of their parts, a question shows. `tells` returns whether it shows one;
    /// it is called only for what no question has shown yet.
    pub fn observe(
        &self,
        question: &Question<'_>,
        reached: &Result<Reached, Unknown>,
        tells: impl Fn(&Standing<'_>) -> bool,
    ) {
        let Ok(reached) = reached else { return };
        let candidates: Vec<Candidate<'_>> = self.candidates(reached).collect();
        let is_new = |candidate: &&Candidate<'_>| candidate.holds && candidate.seen.is_open();
        let mut shown: BTreeMap<Position, Vec<&Part>> =
            candidates.iter().filter(is_new).map(|candidate| (candidate.at, Vec::new())).collect();
        let open = candidates.iter().flat_map(|candidate| candidate.looks(self.has_both));
        let open: Vec<Look<'_>> = open.filter(|look| look.part.is_open()).collect();
        self.look(question, &open, |look, value| {
            if value.is_some() {
                look.part.know();
            }
            if look.part.decides(look.holds, value) {
                shown.entry(look.place.0).or_default().push(look.part);
            }
        });
        let showing: Vec<&Candidate<'_>> = candidates.iter().filter(|one| shown.contains_key(&one.at)).collect();
        let some =
            showing.iter().cycle().skip(turn(question) % showing.len().max(1)).take(showing.len().min(MOST_ASKED));
        for Candidate { at, compiled, seen, holds, other_holds } in some {
            let other = seen.other.and_then(|other| self.snapshot.compiled(other)).unwrap_or(compiled);
            let is_as_before = self.has_both && other_holds == holds;
            let (policy, other, is_ours, holds) = (&compiled.meta, &other.meta, seen.is_ours, *holds);
            let standing = Standing { policy, other, is_ours, holds, is_as_before };
            let Some(parts) = shown.get(at).filter(|_| tells(&standing)) else { continue };
            parts.iter().for_each(|part| part.see());
            if holds && !(seen.is_recast && is_as_before) {
                seen.see();
            }
        }
    }

    /// The parts that make their policies what they are for a question whose answers show it: the place of the policy, and the
    /// number of the part.
    pub fn decisive(&self, question: &Question<'_>, reached: &Result<Reached, Unknown>) -> BTreeSet<(Position, usize)> {
        let Ok(reached) = reached else { return BTreeSet::new() };
        let parts: Vec<Look<'_>> =
            self.candidates(reached).flat_map(|candidate| candidate.looks(self.has_both).collect::<Vec<_>>()).collect();
        let mut decisive = BTreeSet::new();
        self.look(question, &parts, |look, value| {
            decisive.extend(look.part.decides(look.holds, value).then_some(look.place));
        });
        decisive
    }

    /// The policies that may hold for a question, and whether they do.
    fn candidates<'a>(&'a self, reached: &'a Reached) -> impl Iterator<Item = Candidate<'a>> {
        reached.candidates.iter().filter_map(|at| {
            let (compiled, seen) = (self.snapshot.policies.get(*at as usize)?, self.met.get(*at as usize)?);
            let holds = reached.met.contains(at);
            let other_holds = seen.other.is_some_and(|other| reached.met.contains(&other));
            Some(Candidate { at: *at, compiled, seen, holds, other_holds })
        })
    }

    /// Evaluates the conditions of parts, wherever their policies are asked about.
    fn look<'a>(&self, question: &Question<'_>, parts: &[Look<'a>], mut each: impl FnMut(&Look<'a>, Option<bool>)) {
        let Ok(entities) = question.entities.entities() else { return };
        if parts.is_empty() {
            return;
        }
        effort::spend(parts.len());
        let evaluator = Evaluator::new(self.snapshot.request(question), entities, Extensions::all_available());
        for look in parts {
            let policy = &look.compiled.policy;
            let value = |expr: &Expr| evaluator.interpret(expr, policy.env()).ok().map(|value| is_true(&value));
            // What does not hold may not be asked about here.
            let is_asked = look.holds
                || look.compiled.scope_is_indexed
                || clauses(policy).iter().all(|(_, one)| value(one) == Some(true));
            if is_asked {
                each(look, value(look.part.condition()));
            }
        }
    }

    /// Those that no question has met yet; of a policy that one has met: its parts.
    pub fn unmet(&self) -> Vec<Unmet<'_>> {
        let of = |(compiled, met): (&'_ CompiledPolicy, &'_ Met)| -> Vec<Option<(String, usize)>> {
            let other = met.other.and_then(|other| self.met.get(other as usize));
            let is_covered = met.is_covered && other.is_some_and(|other| !other.is_open());
            if met.is_open() && !is_covered {
                return vec![None];
            }
            let is_told = |part: &&Part| part.is_open() && (self.has_both || !part.is_of_another_schema());
            let open = || met.parts.iter().filter(is_told);
            // Of what stands within another that is told nothing more is said.
            let is_outer = |part: &&Part| !open().any(|other| part.branch.is_within(&other.branch, compiled));
            open().filter(is_outer).map(|part| Some(part.branch.describe(compiled))).collect()
        };
        let policies = self.snapshot.policies.iter().zip(&self.met);
        policies
            .flat_map(|(compiled, met)| {
                of((compiled, met)).into_iter().map(|branch| Unmet { policy: &compiled.meta, branch })
            })
            .collect()
    }

    /// A snapshot with the schema in which they are asked.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}
