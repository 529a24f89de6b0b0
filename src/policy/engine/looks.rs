//! What policies name, and what they look at beside the two ends of a question.

use std::collections::BTreeSet;

use cedar_policy_core::ast::{Expr, ExprKind, Literal, PatternElem};

use super::approvals::is_context;
use super::history::ATTRIBUTE as DONE;
use super::input::ATTRIBUTE as INPUT;

/// The most literals of one sort that are told of one policy.
const MOST: usize = 1024;
/// The input as a whole.
const WHOLE: &str = "*";

/// The constants that some policies name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Type, as `Ok::Actor`, and id.
    pub entities: BTreeSet<(String, String)>,
    /// Texts, and for each pattern a text that it matches.
    pub texts: BTreeSet<String>,
    pub numbers: BTreeSet<i64>,
}

/// What the policies of one action can look at beside the two ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// The approval kinds that release any of them.
    pub kinds: BTreeSet<String>,
    /// The attributes of the context that any of them reads.
    pub context: BTreeSet<String>,
    /// The fields of `context.input`; `*` where it is read as a whole.
    pub input: BTreeSet<String>,
    /// The operations of `context.hist`.
    pub done: BTreeSet<String>,
}

/// The attributes, one in the other, that an expression reads or asks for, and of what.
fn read(part: &Expr) -> Option<(&Expr, Box<dyn Iterator<Item = &str> + '_>)> {
    match part.expr_kind() {
        ExprKind::GetAttr { expr, attr } | ExprKind::HasAttr { expr, attr } => {
            Some((expr, Box::new(std::iter::once(attr.as_str()))))
        }
        ExprKind::ExtHasAttr { expr, attrs } => Some((expr, Box::new(attrs.iter().map(|attr| attr.as_str())))),
        _ => None,
    }
}

/// `context.<name>`
fn is_attribute(part: &Expr, name: &str) -> bool {
    matches!(part.expr_kind(), ExprKind::GetAttr { expr, attr } if is_context(expr) && attr == name)
}

/// Whether an expression looks at what the acting actor has done.
pub(super) fn looks_back(condition: &Expr) -> bool {
    condition.subexpressions().any(|part| is_attribute(part, DONE))
}

/// At the most so many of what some policies name, and whether that is less than all: what is `fresh` comes first, and of that
/// one of each policy after the other, so that none is kept out by the list of another.
fn chosen<T: Ord + Clone>(sets: &[BTreeSet<T>], fresh: &BTreeSet<T>, most: usize) -> (BTreeSet<T>, bool) {
    let all: BTreeSet<&T> = sets.iter().flatten().collect();
    let is_fresh = |one: &&T| fresh.contains(*one);
    let longest = sets.iter().map(BTreeSet::len).max().unwrap_or_default();
    let turns = (0..longest).flat_map(|turn| sets.iter().filter_map(move |set| set.iter().filter(is_fresh).nth(turn)));
    let mut chosen = BTreeSet::new();
    for one in turns.chain(all.iter().copied()) {
        if chosen.len() == most {
            break;
        }
        chosen.insert(one.clone());
    }
    let is_less = chosen.len() < all.len();
    (chosen, is_less)
}

impl Named {
    pub(super) fn of(expr: &Expr) -> Named {
        let mut named = Named::default();
        expr.subexpressions().for_each(|part| named.gather(part));
        named
    }

    /// Returns what two versions name, at most `most` of each kind: names in only one version come first, and each
    /// policy gets a share. Also returns whether any name was left out.
    pub fn either(one: &[Named], other: &[Named], most: usize) -> (Named, bool) {
        let [ours, theirs] = [one, other].map(|side| side.iter().cloned().reduce(Named::and).unwrap_or_default());
        let both: Vec<&Named> = one.iter().chain(other).collect();
        let (mut named, mut left_out) = (Named::default(), false);
        let kinds: BTreeSet<&String> = ours.entities.iter().chain(&theirs.entities).map(|(kind, _)| kind).collect();
        let fresh: BTreeSet<_> = ours.entities.symmetric_difference(&theirs.entities).cloned().collect();
        for kind in kinds {
            let of_kind = |of: &&Named| of.entities.iter().filter(|(of, _)| of == kind).cloned().collect();
            let sets: Vec<BTreeSet<_>> = both.iter().map(of_kind).collect();
            let (chosen, is_less) = chosen(&sets, &fresh, most);
            named.entities.extend(chosen);
            left_out |= is_less;
        }
        let texts: Vec<BTreeSet<String>> = both.iter().map(|of| of.texts.clone()).collect();
        let fresh = ours.texts.symmetric_difference(&theirs.texts).cloned().collect();
        let (texts, is_less) = chosen(&texts, &fresh, most);
        named.texts = texts;
        named.numbers = ours.numbers.union(&theirs.numbers).copied().collect();
        (named, left_out || is_less)
    }

    pub(super) fn gather(&mut self, part: &Expr) {
        match part.expr_kind() {
            ExprKind::Lit(Literal::EntityUID(uid)) if self.entities.len() < MOST => {
                let id: &str = uid.eid().as_ref();
                self.entities.insert((uid.entity_type().to_string(), id.to_owned()));
            }
            ExprKind::Lit(Literal::String(text)) if self.texts.len() < MOST => {
                self.texts.insert(text.to_string());
            }
            ExprKind::Lit(Literal::Long(number)) if self.numbers.len() < MOST => {
                self.numbers.insert(*number);
            }
            ExprKind::Like { pattern, .. } if self.texts.len() < MOST => {
                let text = pattern.iter().map(|element| match element {
                    PatternElem::Char(c) => *c,
                    PatternElem::Wildcard => 'x',
                });
                self.texts.insert(text.collect());
            }
            _ => {}
        }
    }

    /// Both sides' constants.
    #[must_use]
    pub fn and(mut self, other: Named) -> Named {
        self.entities.extend(other.entities);
        self.texts.extend(other.texts);
        self.numbers.extend(other.numbers);
        self
    }
}

impl Looks {
    pub(super) fn gather(&mut self, condition: &Expr) {
        let (mut whole, mut opened) = (0_usize, 0_usize);
        for part in condition.subexpressions() {
            whole += usize::from(is_attribute(part, INPUT));
            let Some((of, path)) = read(part) else { continue };
            let path: Vec<&str> = path.collect();
            match path.as_slice() {
                [first, rest @ ..] if is_context(of) => {
                    self.context.insert((*first).to_owned());
                    self.input.extend(rest.first().filter(|_| *first == INPUT).map(|field| (*field).to_owned()));
                }
                [first, ..] if is_attribute(of, DONE) => {
                    self.done.insert((*first).to_owned());
                }
                [first, ..] if is_attribute(of, INPUT) => {
                    opened += 1;
                    self.input.insert((*first).to_owned());
                }
                _ => {}
            }
        }
        if whole > opened {
            self.input.insert(WHOLE.to_owned());
        }
    }

    /// Whether any of them reads a field of the input.
    pub fn reads_input(&self, field: &str) -> bool {
        self.input.contains(field) || self.input.contains(WHOLE)
    }

    #[must_use]
    pub fn and(mut self, other: Looks) -> Looks {
        self.kinds.extend(other.kinds);
        self.context.extend(other.context);
        self.input.extend(other.input);
        self.done.extend(other.done);
        self
    }
}
