//! Two snapshots side by side: which actions they could answer differently, and what the policies that differ name.
//!
//! Always true: an action that is not told has the same policies by id and text in both, and so, with the same schema, the
//! same answers.

use std::collections::BTreeSet;

use cedar_policy_core::ast::{
    Effect, Entity, EntityReference, EntityType, Expr, ExprKind, Literal, PatternElem, Policy,
    PrincipalOrResourceConstraint,
};

use super::approvals::is_context;
use super::branch::branches;
use super::history::ATTRIBUTE as DONE;
use super::input::ATTRIBUTE as INPUT;
use super::snapshot::{Rule, Snapshot, covers};

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

/// The one type that a scope holds for, if there is one.
fn scope_type(scope: &PrincipalOrResourceConstraint) -> Option<&EntityType> {
    match scope {
        PrincipalOrResourceConstraint::Is(kind) | PrincipalOrResourceConstraint::IsIn(kind, _) => Some(kind),
        PrincipalOrResourceConstraint::Eq(EntityReference::EUID(uid)) => Some(uid.entity_type()),
        _ => None,
    }
}

/// Whether an expression looks at what the acting actor has done.
fn looks_back(condition: &Expr) -> bool {
    condition.subexpressions().any(|part| is_attribute(part, DONE))
}

impl Snapshot {
    /// The names of all actions, sorted: `token.issue`, and `Docs::Action::view` for one of the company's own.
    pub fn action_names(&self) -> BTreeSet<&str> {
        self.actions.values().map(|action| action.name.as_str()).collect()
    }

    /// The actions that either knows and for which the policies are not the same, by id and text.
    pub fn actions_unlike(&self, other: &Snapshot) -> BTreeSet<String> {
        let names: BTreeSet<&str> = self.action_names().union(&other.action_names()).copied().collect();
        let unlike = |name: &&str| {
            let texts = |side: &Snapshot| -> Option<Vec<(String, String)>> {
                let action = side.named_action(name)?;
                Some(side.covering(action).map(|rule| (rule.meta.id.clone(), rule.meta.text.clone())).collect())
            };
            texts(self) != texts(other)
        };
        names.into_iter().filter(unlike).map(str::to_owned).collect()
    }

    /// What the policies of an action name that `other` does not have just so: by policy, first each of its alternatives alone.
    pub fn named_unlike(&self, other: &Snapshot, action: &str) -> Vec<Named> {
        let named = |rule: &Rule| {
            let alternatives: Vec<Named> = branches(rule).iter().map(|branch| Named::of(branch.own())).collect();
            [alternatives, vec![Named::of(&rule.condition)]].concat()
        };
        self.unlike(other, action).flat_map(named).collect()
    }

    pub(super) fn permits<'a>(&'a self, action: &str) -> impl Iterator<Item = &'a Rule> {
        let covering = self.named_action(action).into_iter().flat_map(|entity| self.covering(entity));
        covering.filter(|rule| rule.policy.effect() == Effect::Permit)
    }

    /// The policies of an action that `other` does not have just so.
    pub(super) fn unlike<'a>(&'a self, other: &'a Snapshot, action: &str) -> impl Iterator<Item = &'a Rule> {
        let theirs: BTreeSet<(&str, &str)> =
            other.rules.iter().map(|rule| (rule.meta.id.as_str(), rule.meta.text.as_str())).collect();
        let ours = self.named_action(action).into_iter().flat_map(|entity| self.covering(entity));
        ours.filter(move |rule| !theirs.contains(&(&rule.meta.id, &rule.meta.text)))
    }

    /// What all the policies of an action name.
    pub fn named(&self, action: &str) -> Named {
        let mut named = Named::default();
        let rules = self.named_action(action).into_iter().flat_map(|entity| self.covering(entity));
        rules.flat_map(|rule| rule.condition.subexpressions()).for_each(|part| named.note(part));
        named
    }

    /// Every entity that any policy names: type, as `Ok::Actor`, and id.
    pub fn literals(&self) -> impl Iterator<Item = (String, String)> {
        let parts = self.rules.iter().flat_map(|rule| rule.condition.subexpressions());
        parts.filter_map(|part| match part.expr_kind() {
            ExprKind::Lit(Literal::EntityUID(uid)) => {
                Some((uid.entity_type().to_string(), AsRef::<str>::as_ref(uid.eid()).to_owned()))
            }
            _ => None,
        })
    }

    /// What all the policies of an action look at.
    pub fn looks(&self, action: &str) -> Looks {
        let found = self.actions.values().find(|known| known.name == action);
        found.map(|action| self.looks_of(action).clone()).unwrap_or_default()
    }

    /// Whether any policy of an operation reads what differs from one call of it to the next: the time, the input, or
    /// what was done before.
    pub fn reads_the_call(&self, operation: &str) -> bool {
        let action = self.actions.values().find(|action| action.name == operation);
        action.is_none_or(|action| {
            let looks = self.looks_of(action);
            let changing = ["now", INPUT, DONE];
            changing.into_iter().any(|attribute| looks.context.contains(attribute))
        })
    }

    /// Whether any policy looks at what actors have done.
    pub fn looks_back(&self) -> bool {
        self.rules.iter().any(|rule| looks_back(&rule.condition))
    }

    pub(super) fn look(&self, action: &Entity) -> Looks {
        let mut looks = Looks::default();
        for rule in self.covering(action) {
            looks.kinds.extend(rule.meta.kinds.iter().cloned());
            looks.note(&rule.condition);
        }
        looks
    }

    /// The Cedar types that an action applies to: who.
    pub fn principals_of(&self, action: &str) -> BTreeSet<String> {
        let uid = self.named_action(action).map(|entity| entity.uid().clone().into());
        let types = uid.as_ref().and_then(|uid| self.schema().principals_for_action(uid));
        types.into_iter().flatten().map(ToString::to_string).collect()
    }

    /// The Cedar types that an action applies to: what.
    pub fn resources_of(&self, action: &str) -> BTreeSet<String> {
        let uid = self.named_action(action).map(|entity| entity.uid().clone().into());
        let types = uid.as_ref().and_then(|uid| self.schema().resources_for_action(uid));
        types.into_iter().flatten().map(ToString::to_string).collect()
    }

    fn named_action(&self, name: &str) -> Option<&Entity> {
        let found = self.actions.values().find(|action| action.name == name);
        found.and_then(|action| action.family.first()).map(|closed| closed.entity().as_ref())
    }

    /// The policies that could hold for some question about an action.
    fn covering<'a>(&'a self, action: &'a Entity) -> impl Iterator<Item = &'a Rule> {
        let applies = self.schema().as_ref().get_action_id(action.uid());
        let fits = move |policy: &Policy| {
            let (who, what) = (policy.principal_constraint(), policy.resource_constraint());
            applies.is_some_and(|applies| {
                scope_type(who.as_inner()).is_none_or(|kind| applies.is_applicable_principal_type(kind))
                    && scope_type(what.as_inner()).is_none_or(|kind| applies.is_applicable_resource_type(kind))
            })
        };
        self.rules.iter().filter(move |rule| covers(rule.policy.action_constraint(), action) && fits(&rule.policy))
    }
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
    fn of(expr: &Expr) -> Named {
        let mut named = Named::default();
        expr.subexpressions().for_each(|part| named.note(part));
        named
    }

    /// What two versions name, at the most so much of each kind: what only one of them names comes first, and a share of each of
    /// the policies. Also whether any was left out.
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

    fn note(&mut self, part: &Expr) {
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
    fn note(&mut self, condition: &Expr) {
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
