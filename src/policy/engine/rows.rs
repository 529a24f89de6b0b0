//! Which records somebody may read, as a condition on the records' columns: the policies, evaluated as far as they do
//! not depend on the record. The database evaluates the rest in one query; asking about each record would take time in
//! proportion to their number.
//!
//! Always true: if a condition is returned, it holds for a record exactly if the gate would allow the same question
//! about that record (a property test compares both). If it cannot be expressed or evaluated here, there is no
//! condition, and each record is asked about.

use std::collections::BTreeSet;

use cedar_policy_core::ast::{
    BinaryOp, EntityType, EntityUID, Expr, ExprKind, Literal, Pattern, PatternElem,
    PrincipalOrResourceConstraint as Scope, SlotEnv, UnaryOp, Value, ValueKind, Var,
};
use cedar_policy_core::entities::{Dereference, Entities};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;

use super::compiled::CompiledPolicy;
use super::decide::Question;
use super::index::Position;
use super::input;
use super::ruling::{Because, Effect};
use super::snapshot::{Action, Snapshot};
use crate::brain;
use crate::record::{decimal_of, millis_of};
use types::collection::Collection;
use types::condition::{Condition, Order, Piece, Scalar};
use types::effort;
use types::field::FieldKind;

impl Snapshot {
    /// Returns the condition for the records of a collection that the question would be allowed about, whichever of
    /// them is its resource. None if that cannot be expressed as a condition on their columns.
    pub fn rows(&self, question: &Question<'_>, of: &Collection) -> Option<Condition> {
        let policies = self.rows_by_policy(question, of)?;
        let (permits, forbids): (Vec<_>, Vec<_>) =
            policies.into_iter().partition(|(policy, _)| policy.effect == Effect::Permit);
        let any = |policies: Vec<(Because, Condition)>| Condition::any(policies.into_iter().map(|(_, rows)| rows));
        Some(Condition::all([any(permits), any(forbids).negated()]))
    }

    /// The same, policy by policy: the records that each of them is about.
    pub fn rows_by_policy(&self, question: &Question<'_>, of: &Collection) -> Option<Vec<(Because, Condition)>> {
        let entities = question.entities.entities().ok()?;
        let action = self.action(question).ok()?;
        let request = self.request(question);
        self.is_sound(question, action, entities)?;
        // Each record is a call of its own: what it is given names the record.
        if self.looks_of(action).context.contains(input::ATTRIBUTE) {
            return None;
        }
        let kind = EntityType::from_normalized_str(&brain::kind_of(of.name())).ok()?;
        let compiler =
            Compiler { evaluator: Evaluator::new(request, entities, Extensions::all_available()), entities, of, kind };
        let rows = |position| {
            let compiled = self.compiled(position)?;
            effort::spend(2);
            Some((Because::clone(&compiled.meta), compiler.condition(&compiled.condition)?))
        };
        action.index.every().into_iter().map(rows).collect()
    }
}

impl Snapshot {
    /// Returns the policies that look at a field of a collection. Without the field they would silently change their
    /// meaning, because a field that is checked with `has` may be missing.
    pub fn looking_at(&self, collection: &str, field: &str) -> Vec<Because> {
        let Ok(kind) = EntityType::from_normalized_str(&brain::kind_of(collection)) else { return Vec::new() };
        let is_about = |compiled: &&CompiledPolicy| match compiled.policy.resource_constraint().as_inner() {
            Scope::Is(ty) | Scope::IsIn(ty, _) => **ty == kind,
            Scope::Any | Scope::Eq(_) | Scope::In(_) => true,
        };
        let takes = |action: &&Action| {
            let uid = action.family.first().map(|action| action.entity().uid());
            uid.and_then(|uid| self.schema().as_ref().get_action_id(uid))
                .is_some_and(|known| known.is_applicable_resource_type(&kind))
        };
        let positions: BTreeSet<Position> =
            self.actions.values().filter(takes).flat_map(|action| action.index.every()).collect();
        let policies = positions.into_iter().filter_map(|position| self.compiled(position)).filter(is_about);
        let looks = |compiled: &&CompiledPolicy| compiled.condition.subexpressions().any(|part| reads(part, field));
        policies.filter(looks).map(|compiled| Because::clone(&compiled.meta)).collect()
    }
}

fn reads(part: &Expr, field: &str) -> bool {
    match part.expr_kind() {
        ExprKind::GetAttr { expr, attr } | ExprKind::HasAttr { expr, attr } => {
            attr == field && matches!(expr.expr_kind(), ExprKind::Var(Var::Resource))
        }
        _ => false,
    }
}

struct Compiler<'a> {
    evaluator: Evaluator<'a>,
    entities: &'a Entities,
    of: &'a Collection,
    /// The type of its records.
    kind: EntityType,
}

/// What of a record an expression is.
enum Part<'a> {
    /// The record itself.
    Record,
    /// A value that a column holds.
    Column(&'a str, FieldKind),
    /// The same of every record.
    Fixed(Scalar),
}

impl Compiler<'_> {
    fn condition(&self, expr: &Expr) -> Option<Condition> {
        if is_closed(expr) {
            return self.value(expr).as_ref().and_then(flag).map(always);
        }
        match expr.expr_kind() {
            ExprKind::And { left, right } => match self.condition(left)? {
                Condition::Never => Some(Condition::Never),
                left => Some(Condition::all([left, self.condition(right)?])),
            },
            ExprKind::Or { left, right } => match self.condition(left)? {
                Condition::Always => Some(Condition::Always),
                left => Some(Condition::any([left, self.condition(right)?])),
            },
            ExprKind::UnaryApp { op: UnaryOp::Not, arg } => Some(self.condition(arg)?.negated()),
            ExprKind::If { test_expr, then_expr, else_expr } => match self.condition(test_expr)? {
                Condition::Always => self.condition(then_expr),
                Condition::Never => self.condition(else_expr),
                test => Some(Condition::any([
                    Condition::all([test.clone(), self.condition(then_expr)?]),
                    Condition::all([test.negated(), self.condition(else_expr)?]),
                ])),
            },
            ExprKind::HasAttr { expr, attr } => match self.part(expr)? {
                Part::Record => Some(self.has(attr)),
                Part::Column(..) | Part::Fixed(_) => None,
            },
            ExprKind::Is { expr, entity_type } => match self.part(expr)? {
                Part::Record => Some(always(*entity_type == self.kind)),
                Part::Column(..) | Part::Fixed(_) => None,
            },
            ExprKind::GetAttr { .. } => match self.part(expr)? {
                Part::Column(name, FieldKind::Flag) => {
                    Some(Condition::Is(name.to_owned(), Order::Equal, Scalar::Number(1)))
                }
                _ => None,
            },
            ExprKind::Like { expr, pattern } => match self.part(expr)? {
                Part::Column(name, kind) if is_text(kind) => Some(Condition::Like(name.to_owned(), pieces(pattern))),
                _ => None,
            },
            ExprKind::BinaryApp { op, arg1, arg2 } => self.binary(*op, arg1, arg2),
            ExprKind::ExtensionFunctionApp { fn_name, args } => {
                let order = order_of(&fn_name.to_string())?;
                let [one, other] = args.as_slice() else { return None };
                self.compared(order, one, other)
            }
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, one: &Expr, other: &Expr) -> Option<Condition> {
        match op {
            BinaryOp::Eq => self.compared(Order::Equal, one, other),
            BinaryOp::Less => self.compared(Order::Less, one, other),
            BinaryOp::LessEq => self.compared(Order::LessOrEqual, one, other),
            BinaryOp::In => self.within(one, other),
            BinaryOp::Contains if is_closed(one) => self.among(&self.value(one)?, other),
            BinaryOp::Contains => self.holding(one, std::slice::from_ref(&self.closed(other)?)).map(Condition::all),
            BinaryOp::ContainsAll => self.holding(one, &members(&self.closed(other)?)?).map(Condition::all),
            BinaryOp::ContainsAny => self.holding(one, &members(&self.closed(other)?)?).map(Condition::any),
            _ => None,
        }
    }

    /// Two values in an order, one of them the record's.
    fn compared(&self, order: Order, one: &Expr, other: &Expr) -> Option<Condition> {
        if is_closed(one) {
            return self.compared_to(turned(order), &self.part(other)?, &self.value(one)?);
        }
        self.compared_to(order, &self.part(one)?, &self.closed(other)?)
    }

    fn compared_to(&self, order: Order, part: &Part<'_>, value: &Value) -> Option<Condition> {
        match part {
            Part::Record if order == Order::Equal => Some(self.is(entity(value)?)),
            Part::Record => None,
            Part::Fixed(fixed) => {
                let wanted = scalar(FieldKind::Text, value)?;
                (order == Order::Equal).then(|| always(*fixed == wanted))
            }
            Part::Column(name, kind) => {
                let is_ordered = order == Order::Equal || !is_text(*kind);
                let scalar = scalar(*kind, value).filter(|_| is_ordered)?;
                Some(Condition::Is((*name).to_owned(), order, scalar))
            }
        }
    }

    /// Whether the record is this one.
    fn is(&self, uid: &EntityUID) -> Condition {
        if *uid.entity_type() != self.kind {
            return Condition::Never;
        }
        Condition::Is("id".into(), Order::Equal, Scalar::Text(AsRef::<str>::as_ref(uid.eid()).to_owned()))
    }

    /// `one in other`: a record is in nothing but itself, and somebody is in themselves and in what they are in.
    fn within(&self, one: &Expr, other: &Expr) -> Option<Condition> {
        if !is_closed(one) {
            let Part::Record = self.part(one)? else { return None };
            let value = self.closed(other)?;
            let all = members(&value).unwrap_or_else(|| vec![value]);
            return Some(Condition::any(
                all.iter().map(|uid| entity(uid).map(|uid| self.is(uid))).collect::<Option<Vec<_>>>()?,
            ));
        }
        let value = self.value(one)?;
        let uid = entity(&value)?;
        let Part::Column(name, kind @ (FieldKind::Actor | FieldKind::Team)) = self.part(other)? else { return None };
        let Dereference::Data(found) = self.entities.entity(uid) else { return None };
        let all: BTreeSet<&EntityUID> = found.ancestors().chain([uid]).collect();
        let ids = all.into_iter().filter(|uid| is_of(uid, kind)).map(|uid| AsRef::<str>::as_ref(uid.eid()).to_owned());
        Some(one_of(name, ids.map(Scalar::Text).collect()))
    }

    /// Whether the record's value is in a set.
    fn among(&self, set: &Value, other: &Expr) -> Option<Condition> {
        let all = members(set)?;
        match self.part(other)? {
            Part::Record => Some(Condition::any(
                all.iter().map(|uid| entity(uid).map(|uid| self.is(uid))).collect::<Option<Vec<_>>>()?,
            )),
            Part::Column(name, kind) => {
                Some(one_of(name, all.iter().map(|value| scalar(kind, value)).collect::<Option<Vec<_>>>()?))
            }
            Part::Fixed(fixed) => {
                let all = all.iter().map(|value| scalar(FieldKind::Text, value)).collect::<Option<Vec<_>>>()?;
                Some(always(all.contains(&fixed)))
            }
        }
    }

    /// For each of these values, whether the record's set holds it.
    fn holding(&self, set: &Expr, values: &[Value]) -> Option<Vec<Condition>> {
        let Part::Column(name, FieldKind::Choices) = self.part(set)? else { return None };
        let held = |value: &Value| match scalar(FieldKind::Text, value)? {
            Scalar::Text(text) => Some(Condition::Holds(name.to_owned(), text)),
            Scalar::Number(_) => None,
        };
        values.iter().map(held).collect()
    }

    fn has(&self, name: &str) -> Condition {
        match (own(name), self.of.field(name).filter(|field| field.is_seen())) {
            (Some(_), _) => Condition::Always,
            (None, Some(field)) if field.required => Condition::Always,
            (None, Some(_)) => Condition::Has(name.to_owned()),
            (None, None) => always(name == "collection"),
        }
    }

    fn part<'b>(&self, expr: &'b Expr) -> Option<Part<'b>> {
        match expr.expr_kind() {
            ExprKind::Var(Var::Resource) => Some(Part::Record),
            ExprKind::GetAttr { expr, attr } if matches!(expr.expr_kind(), ExprKind::Var(Var::Resource)) => {
                if attr == "collection" {
                    return Some(Part::Fixed(Scalar::Text(self.of.name().to_owned())));
                }
                let kind =
                    own(attr).or_else(|| self.of.field(attr).filter(|field| field.is_seen()).map(|field| field.kind));
                Some(Part::Column(attr, kind?))
            }
            _ => None,
        }
    }

    /// The value of what does not hang on the record; none for what does.
    fn closed(&self, expr: &Expr) -> Option<Value> {
        is_closed(expr).then(|| self.value(expr)).flatten()
    }

    fn value(&self, expr: &Expr) -> Option<Value> {
        self.evaluator.interpret(expr, &SlotEnv::new()).ok()
    }
}

/// The type of what every record has.
fn own(name: &str) -> Option<FieldKind> {
    match name {
        "created_by" | "updated_by" => Some(FieldKind::Actor),
        "version" => Some(FieldKind::Integer),
        _ => None,
    }
}

fn is_closed(expr: &Expr) -> bool {
    !expr.subexpressions().any(|part| matches!(part.expr_kind(), ExprKind::Var(Var::Resource)))
}

const fn is_text(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Text | FieldKind::Choice | FieldKind::Ref | FieldKind::Link | FieldKind::Actor | FieldKind::Team
    )
}

const fn always(holds: bool) -> Condition {
    if holds { Condition::Always } else { Condition::Never }
}

fn one_of(name: &str, all: Vec<Scalar>) -> Condition {
    if all.is_empty() { Condition::Never } else { Condition::In(name.to_owned(), all) }
}

fn flag(value: &Value) -> Option<bool> {
    match value.value_kind() {
        ValueKind::Lit(Literal::Bool(flag)) => Some(*flag),
        _ => None,
    }
}

fn entity(value: &Value) -> Option<&EntityUID> {
    match value.value_kind() {
        ValueKind::Lit(Literal::EntityUID(uid)) => Some(uid),
        _ => None,
    }
}

fn members(value: &Value) -> Option<Vec<Value>> {
    match value.value_kind() {
        ValueKind::Set(set) => Some(set.iter().cloned().collect()),
        _ => None,
    }
}

fn is_of(uid: &EntityUID, kind: FieldKind) -> bool {
    uid.entity_type().to_string() == kind.cedar()
}

/// A value as a column of this kind holds it.
fn scalar(kind: FieldKind, value: &Value) -> Option<Scalar> {
    match (kind, value.value_kind()) {
        (FieldKind::Integer, ValueKind::Lit(Literal::Long(number))) => Some(Scalar::Number(*number)),
        (FieldKind::Flag, ValueKind::Lit(Literal::Bool(flag))) => Some(Scalar::Number(i64::from(*flag))),
        (FieldKind::Actor | FieldKind::Team, ValueKind::Lit(Literal::EntityUID(uid))) if is_of(uid, kind) => {
            Some(Scalar::Text(AsRef::<str>::as_ref(uid.eid()).to_owned()))
        }
        (FieldKind::Decimal | FieldKind::Money, ValueKind::ExtensionValue(_)) => decimal_of(value).map(Scalar::Number),
        (FieldKind::Date | FieldKind::Time, ValueKind::ExtensionValue(_)) => millis_of(value).map(Scalar::Number),
        (
            FieldKind::Text | FieldKind::Choice | FieldKind::Ref | FieldKind::Link,
            ValueKind::Lit(Literal::String(text)),
        ) => Some(Scalar::Text(text.to_string())),
        _ => None,
    }
}

/// The same order seen from the other side.
const fn turned(order: Order) -> Order {
    match order {
        Order::Equal => Order::Equal,
        Order::Less => Order::Greater,
        Order::LessOrEqual => Order::GreaterOrEqual,
        Order::Greater => Order::Less,
        Order::GreaterOrEqual => Order::LessOrEqual,
    }
}

/// What Cedar calls the order of decimals.
fn order_of(function: &str) -> Option<Order> {
    Some(match function {
        "lessThan" => Order::Less,
        "lessThanOrEqual" => Order::LessOrEqual,
        "greaterThan" => Order::Greater,
        "greaterThanOrEqual" => Order::GreaterOrEqual,
        _ => return None,
    })
}

fn pieces(pattern: &Pattern) -> Vec<Piece> {
    let piece = |one: &PatternElem| match one {
        PatternElem::Char(c) => Piece::One(*c),
        PatternElem::Wildcard => Piece::Any,
    };
    pattern.iter().map(piece).collect()
}
