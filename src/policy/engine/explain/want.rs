//! What would have to change for a question to come closer to yes: for each forbid in the way, a part that should not
//! hold; for each failing permit, the parts that should hold. A want is a wish, not an answer: a change that fulfils it
//! has to come from somebody who knows the company, and only changes that were tried are reported.

use std::collections::BTreeSet;

use cedar_policy::EntityUid;
use cedar_policy_core::ast::{BinaryOp, Effect, EntityUID, Expr, ExprKind, Literal, Value, ValueKind};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::Eyes;
use super::explanation::path;
use super::instant;
use super::look::{Look, Place, Stands, State};
use crate::engine::approvals::ATTRIBUTE;
use crate::engine::decide::Question;
use crate::engine::snapshot::Snapshot;

/// Permits whose failing parts are looked into, those that fail least first.
const PERMITS: usize = 12;
/// Wants that one question can have.
const WANTS: usize = 64;

/// One thing that should be different.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// An approval of this kind.
    Approval(String),
    /// It is asked at this time, in milliseconds since 1970.
    Now(i64),
    /// A fact of the context, by its path: `["kill", "team"]`.
    Fact(Vec<String>, Scalar),
    /// A fact of the context that is not there, by its path.
    Absent(Vec<String>),
    Attribute {
        of: EntityUid,
        name: String,
        to: Scalar,
    },
    /// An attribute that is not there, whatever its value.
    Has {
        of: EntityUid,
        name: String,
    },
    Join {
        who: EntityUid,
        group: EntityUid,
    },
    Leave {
        who: EntityUid,
        group: EntityUid,
    },
}

/// A value that a part compares with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    Bool(bool),
    Long(i64),
    Text(String),
    Entity(EntityUid),
}

impl Scalar {
    /// The value as JSON; an entity by its name.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Scalar::Bool(value) => (*value).into(),
            Scalar::Long(value) => (*value).into(),
            Scalar::Text(value) => value.as_str().into(),
            Scalar::Entity(uid) => uid.to_string().into(),
        }
    }
}

/// How far a question is from yes, and what would bring it nearer.
pub(super) struct Situation {
    pub wants: Vec<Want>,
    /// Forbids in the way, and parts that the nearest permit lacks.
    pub distance: usize,
}

impl Snapshot {
    pub(super) fn situation(&self, question: &Question<'_>, eyes: Eyes<'_>) -> Option<Situation> {
        let entities = question.entities.entities().ok()?;
        let evaluator = Evaluator::new(self.request(question), entities, Extensions::all_available());
        let mut wishes = Wishes { eyes, wants: BTreeSet::new() };
        let (mut in_the_way, mut permitted, mut near) = (0, false, Vec::new());
        for compiled in self.policies_of(question) {
            let look = Look::new(compiled, &evaluator);
            match (compiled.policy.effect(), look.stands) {
                (Effect::Forbid, Stands::Holds) => {
                    in_the_way += 1;
                    wishes.of(&look, &evaluator, State::Ok);
                }
                (Effect::Permit, Stands::Holds) => permitted = true,
                (Effect::Permit, Stands::Fails(failing)) => near.push((failing, look)),
                _ => {}
            }
        }
        near.sort_by_key(|(failing, _)| *failing);
        let lacking = near.first().map_or(1, |(failing, _)| *failing);
        if !permitted {
            near.iter().take(PERMITS).for_each(|(_, look)| wishes.of(look, &evaluator, State::Fail));
        }
        let distance = in_the_way + if permitted { 0 } else { lacking };
        Some(Situation { wants: wishes.wants.into_iter().take(WANTS).collect(), distance })
    }

    /// Whether all that a policy reads for this question may be seen.
    pub(super) fn is_open(&self, id: &str, question: &Question<'_>, eyes: Eyes<'_>) -> bool {
        let Ok(entities) = question.entities.entities() else { return false };
        let evaluator = Evaluator::new(self.request(question), entities, Extensions::all_available());
        let open = |look: Look<'_>| !look.hide(&evaluator, &eyes).has(State::Hidden);
        self.policy_of(id).is_some_and(|compiled| open(Look::new(compiled, &evaluator)))
    }
}

struct Wishes<'a> {
    eyes: Eyes<'a>,
    wants: BTreeSet<Want>,
}

impl Wishes<'_> {
    /// The parts of a policy that stand like this should stand otherwise.
    fn of(&mut self, look: &Look<'_>, evaluator: &Evaluator<'_>, state: State) {
        let place = Place { evaluator, env: look.compiled.policy.env() };
        for part in look.parts.iter().filter(|part| part.state == state) {
            let should_be = part.wanted == (state == State::Fail);
            self.part(&place, part.expr.expr(), should_be);
        }
    }

    fn part(&mut self, place: &Place<'_>, expr: &Expr, should_be: bool) {
        match expr.expr_kind() {
            ExprKind::GetAttr { expr, attr } => self.set(place, expr, attr, Scalar::Bool(should_be)),
            ExprKind::HasAttr { expr, attr } if should_be => {
                if let Some(of) = place.entity(expr) {
                    self.wish(&of, |of| Want::Has { of, name: attr.to_string() });
                }
            }
            ExprKind::HasAttr { expr, attr } => {
                if let Some(["context", within @ ..]) = path(expr).as_deref() {
                    let names = within.iter().copied().chain([attr.as_str()]).map(str::to_owned);
                    self.wants.insert(Want::Absent(names.collect()));
                }
            }
            ExprKind::BinaryApp { op: BinaryOp::In, arg1, arg2 } => self.group(place, arg1, arg2, should_be),
            ExprKind::BinaryApp { op: BinaryOp::Contains, arg1, arg2 } if should_be => {
                if path(arg1).is_some_and(|path| path == ["context", ATTRIBUTE])
                    && let Some(kind) = place.entity(arg2)
                {
                    self.wants.insert(Want::Approval(AsRef::<str>::as_ref(kind.eid()).to_owned()));
                }
            }
            ExprKind::BinaryApp { op, arg1, arg2 } => {
                self.wants.extend(instant::nearest(place, *op, arg1, arg2, should_be).map(Want::Now));
                self.compared(place, arg1, arg2, |other| value_for(*op, other, true, should_be));
                self.compared(place, arg2, arg1, |other| value_for(*op, other, false, should_be));
            }
            _ => {}
        }
    }

    /// One side is an attribute, the other a value.
    fn compared(&mut self, place: &Place<'_>, side: &Expr, other: &Expr, to: impl Fn(Scalar) -> Option<Scalar>) {
        let ExprKind::GetAttr { expr, attr } = side.expr_kind() else { return };
        if let Some(to) = place.value(other).and_then(|value| scalar(&value)).and_then(to) {
            self.set(place, expr, attr, to);
        }
    }

    fn set(&mut self, place: &Place<'_>, of: &Expr, name: &str, to: Scalar) {
        if matches!(&to, Scalar::Entity(uid) if !(self.eyes.sees)(uid)) {
            return;
        }
        match path(of).as_deref() {
            Some(["context", within @ ..]) => {
                let names = within.iter().copied().chain([name]).map(str::to_owned);
                self.wants.insert(Want::Fact(names.collect(), to));
            }
            _ => {
                if let Some(of) = place.entity(of) {
                    self.wish(&of, |of| Want::Attribute { of, name: name.to_owned(), to });
                }
            }
        }
    }

    fn group(&mut self, place: &Place<'_>, who: &Expr, groups: &Expr, should_be: bool) {
        let (Some(who), Some(groups)) = (place.entity(who), place.value(groups)) else { return };
        let each: Vec<&EntityUID> = match groups.value_kind() {
            ValueKind::Lit(Literal::EntityUID(uid)) => vec![uid],
            ValueKind::Set(set) => set.iter().filter_map(reference).collect(),
            _ => Vec::new(),
        };
        for group in each.into_iter().filter(|group| self.eyes.sees(group)).cloned().collect::<Vec<_>>() {
            let group = EntityUid::from(group);
            self.wish(&who, |who| if should_be { Want::Join { who, group } } else { Want::Leave { who, group } });
        }
    }

    fn wish(&mut self, of: &EntityUID, want: impl FnOnce(EntityUid) -> Want) {
        if self.eyes.sees(of) {
            self.wants.insert(want(EntityUid::from(of.clone())));
        }
    }
}

fn reference(value: &Value) -> Option<&EntityUID> {
    match value.value_kind() {
        ValueKind::Lit(Literal::EntityUID(uid)) => Some(uid),
        _ => None,
    }
}

fn scalar(value: &Value) -> Option<Scalar> {
    Some(match value.value_kind() {
        ValueKind::Lit(Literal::Bool(value)) => Scalar::Bool(*value),
        ValueKind::Lit(Literal::Long(value)) => Scalar::Long(*value),
        ValueKind::Lit(Literal::String(value)) => Scalar::Text(value.to_string()),
        ValueKind::Lit(Literal::EntityUID(uid)) => Scalar::Entity(EntityUid::from(uid.as_ref().clone())),
        _ => return None,
    })
}

/// The value that one side needs, so that the comparison is as it should be.
fn value_for(op: BinaryOp, other: Scalar, is_left: bool, should_be: bool) -> Option<Scalar> {
    let bound = |by: i64| match &other {
        Scalar::Long(value) => value.checked_add(by).map(Scalar::Long),
        _ => None,
    };
    match (op, should_be, is_left) {
        (BinaryOp::Eq, true, _) => Some(other),
        (BinaryOp::Eq, false, _) => match other {
            Scalar::Bool(value) => Some(Scalar::Bool(!value)),
            _ => None,
        },
        (BinaryOp::Less, true, true) | (BinaryOp::LessEq, false, false) => bound(-1),
        (BinaryOp::Less, true, false) | (BinaryOp::LessEq, false, true) => bound(1),
        (BinaryOp::Less, false, _) | (BinaryOp::LessEq, true, _) => bound(0),
        _ => None,
    }
}
