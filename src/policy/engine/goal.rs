//! What would have to be the case for a policy to hold, as far as its condition says so: comparisons put their made-up
//! questions together from it, where one made of each constant alone would not reach all parts of a policy at once.
//!
//! Always true: a goal is a suggestion. Whether the policy holds then is asked.

use std::collections::BTreeMap;

use cedar_policy_core::ast::{BinaryOp, Effect, Expr, ExprKind, Literal, PatternElem, UnaryOp, Var};
use serde_json::{Value as Json, json};

use super::snapshot::Snapshot;
use crate::types::decimal::{decimal, shown_decimal};
use crate::types::time::Time;

/// Ways to make one condition true, and goals of one action.
const MOST: usize = 32;
/// A hundredth, in ten-thousandths.
const CENT: i64 = 100;

/// Where a value stands: `["run", "calls"]` of the context, `["total"]` of the resource.
pub type Path = Vec<String>;

/// Values that together would let a policy hold. An empty record stands for what only has to be there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goal {
    pub context: BTreeMap<Path, Json>,
    pub resource: BTreeMap<Path, Json>,
}

impl Snapshot {
    /// For each policy of an action that `other` does not have just so. A forbid shows only where something permits: it is
    /// taken with each permit, too.
    pub fn goals_unlike(&self, other: &Snapshot, action: &str) -> Vec<Goal> {
        let permits: Vec<Vec<Wish<'_>>> = self.permits(action).flat_map(|rule| ways(&rule.condition, true)).collect();
        let mut goals: Vec<Goal> = Vec::new();
        for rule in self.unlike(other, action) {
            let ways = ways(&rule.condition, true);
            let permitted = match rule.policy.effect() {
                Effect::Permit => Vec::new(),
                Effect::Forbid => together(&permits, &ways),
            };
            for goal in ways.into_iter().chain(permitted).map(Goal::of) {
                if goal != Goal::default() && !goals.contains(&goal) && goals.len() < MOST {
                    goals.push(goal);
                }
            }
        }
        goals
    }
}

/// A part of a condition, and whether it is to be true.
type Wish<'a> = (&'a Expr, bool);

/// The ways to make a condition true or false.
fn ways(expr: &Expr, wanted: bool) -> Vec<Vec<Wish<'_>>> {
    match (expr.expr_kind(), wanted) {
        (ExprKind::And { left, right }, true) | (ExprKind::Or { left, right }, false) => {
            together(&ways(left, wanted), &ways(right, wanted))
        }
        (ExprKind::Or { left, right }, true) | (ExprKind::And { left, right }, false) => {
            either(ways(left, wanted), ways(right, wanted))
        }
        (ExprKind::UnaryApp { op: UnaryOp::Not, arg }, _) => ways(arg, !wanted),
        (ExprKind::If { test_expr, then_expr, else_expr }, _) => either(
            together(&ways(test_expr, true), &ways(then_expr, wanted)),
            together(&ways(test_expr, false), &ways(else_expr, wanted)),
        ),
        _ => vec![vec![(expr, wanted)]],
    }
}

fn together<'a>(one: &[Vec<Wish<'a>>], other: &[Vec<Wish<'a>>]) -> Vec<Vec<Wish<'a>>> {
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| [one.as_slice(), other.as_slice()].concat()));
    pairs.take(MOST).collect()
}

fn either<'a>(one: Vec<Vec<Wish<'a>>>, other: Vec<Vec<Wish<'a>>>) -> Vec<Vec<Wish<'a>>> {
    one.into_iter().chain(other).take(MOST).collect()
}

/// A constant that values are compared with.
#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    /// In ten-thousandths.
    Decimal(i64),
    Time(i64),
}

impl Number {
    fn of(expr: &Expr) -> Option<Number> {
        match expr.expr_kind() {
            ExprKind::Lit(Literal::Long(number)) => Some(Number::Whole(*number)),
            ExprKind::ExtensionFunctionApp { fn_name, args } => {
                let [text] = args.as_slice() else { return None };
                let ExprKind::Lit(Literal::String(text)) = text.expr_kind() else { return None };
                match fn_name.to_string().as_str() {
                    "decimal" => decimal(&json!(text.as_str())).ok().map(Number::Decimal),
                    "datetime" => {
                        let time = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse());
                        time.ok().map(|Time(ms)| Number::Time(ms))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn plus(self, steps: i64) -> Number {
        match self {
            Number::Whole(number) => Number::Whole(number.saturating_add(steps)),
            Number::Decimal(number) => Number::Decimal(number.saturating_add(steps.saturating_mul(CENT))),
            Number::Time(ms) => Number::Time(ms.saturating_add(steps)),
        }
    }

    fn json(self) -> Json {
        match self {
            Number::Whole(number) => number.into(),
            Number::Decimal(number) => shown_decimal(number, 1).into(),
            Number::Time(ms) => Time(ms).to_string().into(),
        }
    }
}

impl Goal {
    /// What is wanted of a field of the resource, beyond that it is there.
    pub fn at(&self, field: &str) -> Option<&Json> {
        self.resource.get(&vec![field.to_owned()]).filter(|value| !value.is_object())
    }

    fn of(wishes: Vec<Wish<'_>>) -> Goal {
        let mut goal = Goal::default();
        wishes.into_iter().for_each(|(part, wanted)| goal.wish(part, wanted));
        goal
    }

    fn wish(&mut self, part: &Expr, wanted: bool) {
        match part.expr_kind() {
            ExprKind::GetAttr { .. } => self.set(part, wanted.into()),
            ExprKind::HasAttr { expr, attr } if wanted => self.open(expr, std::iter::once(attr.as_str())),
            ExprKind::ExtHasAttr { expr, attrs } if wanted => self.open(expr, attrs.iter().map(|attr| attr.as_str())),
            ExprKind::Like { expr, pattern } if wanted => {
                let text: String = pattern
                    .iter()
                    .map(|element| match element {
                        PatternElem::Char(c) => *c,
                        PatternElem::Wildcard => 'x',
                    })
                    .collect();
                self.set(expr, text.into());
            }
            ExprKind::BinaryApp { op, arg1, arg2 } => self.compare(*op, arg1, arg2, wanted),
            ExprKind::ExtensionFunctionApp { fn_name, args } => {
                let [one, other] = args.as_slice() else { return };
                match (fn_name.to_string().as_str(), wanted) {
                    ("lessThan", true) | ("greaterThanOrEqual", false) => self.order(one, other, 1),
                    ("lessThanOrEqual", true) | ("greaterThan", false) => self.order(one, other, 0),
                    ("greaterThan", true) | ("lessThanOrEqual", false) => self.order(other, one, 1),
                    ("greaterThanOrEqual", true) | ("lessThan", false) => self.order(other, one, 0),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, op: BinaryOp, one: &Expr, other: &Expr, wanted: bool) {
        match (op, wanted) {
            (BinaryOp::Less, true) => self.order(one, other, 1),
            (BinaryOp::LessEq, true) => self.order(one, other, 0),
            (BinaryOp::Less, false) => self.order(other, one, 0),
            (BinaryOp::LessEq, false) => self.order(other, one, 1),
            (BinaryOp::Eq | BinaryOp::In, true) => {
                let (place, value) = if path(one).is_some() { (one, other) } else { (other, one) };
                constants(value).into_iter().take(1).for_each(|value| self.set(place, value));
            }
            (BinaryOp::Eq, false) => {
                let (place, value) = if path(one).is_some() { (one, other) } else { (other, one) };
                if let Some(Number::Whole(number)) = Number::of(value) {
                    self.set(place, number.saturating_add(1).into());
                }
            }
            (BinaryOp::Contains | BinaryOp::ContainsAll | BinaryOp::ContainsAny, true) => {
                if path(one).is_some() {
                    constants(other).into_iter().for_each(|value| self.push(one, value));
                } else {
                    constants(one).into_iter().take(1).for_each(|value| self.set(other, value));
                }
            }
            _ => {}
        }
    }

    /// Makes one value or sum less than another by so many steps at the least, as narrowly as it goes.
    fn order(&mut self, less: &Expr, more: &Expr, steps: i64) {
        let ((low, under), (high, over)) = (sum(less), sum(more));
        let zero = Number::Whole(0);
        if high.is_empty() {
            let bound = over.unwrap_or(zero).plus(-steps);
            for (number, place) in low.into_iter().enumerate() {
                self.set(place, if number == 0 { bound.json() } else { 0.into() });
            }
        } else {
            let bound = under.unwrap_or(zero).plus(steps);
            high.into_iter().for_each(|place| self.set(place, bound.json()));
        }
    }

    fn place(&mut self, expr: &Expr) -> Option<&mut Json> {
        let (var, path) = path(expr)?;
        let of = if var == Var::Context { &mut self.context } else { &mut self.resource };
        (!path.is_empty()).then(|| of.entry(path).or_insert_with(|| json!({})))
    }

    fn set(&mut self, expr: &Expr, value: Json) {
        if let Some(place) = self.place(expr) {
            *place = value;
        }
    }

    fn push(&mut self, expr: &Expr, value: Json) {
        let Some(place) = self.place(expr) else { return };
        match place.as_array_mut() {
            Some(all) => all.push(value),
            None => *place = json!([value]),
        }
    }

    /// Lets something be there, unless more is said of it.
    fn open<'a>(&mut self, expr: &Expr, attrs: impl Iterator<Item = &'a str>) {
        let Some((var, mut place)) = path(expr) else { return };
        place.extend(attrs.map(str::to_owned));
        let of = if var == Var::Context { &mut self.context } else { &mut self.resource };
        of.entry(place).or_insert_with(|| json!({}));
    }
}

/// `context.run.calls`
fn path(expr: &Expr) -> Option<(Var, Path)> {
    match expr.expr_kind() {
        ExprKind::Var(var @ (Var::Context | Var::Resource)) => Some((*var, Vec::new())),
        ExprKind::GetAttr { expr, attr } => {
            let (var, mut path) = path(expr)?;
            path.push(attr.to_string());
            Some((var, path))
        }
        _ => None,
    }
}

/// The places that a sum adds up, and the constant among them.
fn sum(expr: &Expr) -> (Vec<&Expr>, Option<Number>) {
    match expr.expr_kind() {
        ExprKind::BinaryApp { op: BinaryOp::Add, arg1, arg2 } => {
            let ((mut places, number), (more, other)) = (sum(arg1), sum(arg2));
            places.extend(more);
            (places, number.or(other))
        }
        _ if path(expr).is_some() => (vec![expr], None),
        _ => (Vec::new(), Number::of(expr)),
    }
}

/// The constants that an expression is, or is a set of.
fn constants(expr: &Expr) -> Vec<Json> {
    match expr.expr_kind() {
        ExprKind::Set(all) => all.iter().flat_map(constants).collect(),
        ExprKind::Lit(Literal::String(text)) => vec![text.as_str().into()],
        ExprKind::Lit(Literal::Bool(flag)) => vec![(*flag).into()],
        ExprKind::Lit(Literal::EntityUID(uid)) => {
            let id: &str = uid.eid().as_ref();
            vec![id.into()]
        }
        _ => Number::of(expr).map(Number::json).into_iter().collect(),
    }
}
