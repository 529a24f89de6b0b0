//! What would have to be the case for a policy to hold, as far as its condition says so: comparisons put their made-up
//! questions together from it, where one made of each constant alone would not reach all parts of a policy at once.
//!
//! Always true: a goal is a suggestion. Whether the policy holds then is asked.

mod number;

use std::collections::BTreeMap;

use cedar_policy_core::ast::{BinaryOp, Effect, Expr, ExprKind, Literal, PatternElem, UnaryOp, Var};
use serde_json::{Value as Json, json};

use self::number::{Number, Wanted, places};
use super::snapshot::Snapshot;

/// Ways to make one condition true, and goals of one action.
const MOST: usize = 32;
/// As many places of one sum have their turn to be what decides.
const TURNS: usize = 3;

/// Where a value stands: `["run", "calls"]` of the context, `["total"]` of the resource.
pub type Path = Vec<String>;

/// Values that together would let a policy hold. An empty record stands for what only has to be there, [`role_of`] one for an
/// actor with a role; nothing at all for the principal or the resource itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goal {
    pub context: BTreeMap<Path, Json>,
    pub principal: BTreeMap<Path, Json>,
    pub resource: BTreeMap<Path, Json>,
}

/// The entity type of roles.
const ROLE_TYPE: &str = "Ok::Role";
/// The field of a record that stands for whoever has a role.
const ROLE: &str = "role";

/// The role that somebody has to have.
pub fn role_of(value: &Json) -> Option<&str> {
    value.get(ROLE).and_then(Json::as_str)
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
            let ways = [ways, permitted].concat();
            for goal in (0..TURNS).flat_map(|turn| ways.iter().map(move |way| Goal::of(way, turn))) {
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

impl Goal {
    /// What is wanted of a field of the resource, beyond that it is there.
    pub fn at(&self, field: &str) -> Option<&Json> {
        self.resource.get(&vec![field.to_owned()]).filter(|value| !value.is_object())
    }

    fn of(wishes: &[Wish<'_>], turn: usize) -> Goal {
        let mut goal = Goal::default();
        wishes.iter().for_each(|(part, wanted)| goal.wish(part, *wanted, turn));
        goal
    }

    fn wish(&mut self, part: &Expr, wanted: bool, turn: usize) {
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
            ExprKind::BinaryApp { op, arg1, arg2 } => self.compare(*op, (arg1, arg2), wanted, turn),
            ExprKind::ExtensionFunctionApp { fn_name, args } => {
                let [one, other] = args.as_slice() else { return };
                match (fn_name.to_string().as_str(), wanted) {
                    ("lessThan", true) | ("greaterThanOrEqual", false) => {
                        self.solve((one, other), Wanted::Less(1), turn)
                    }
                    ("lessThanOrEqual", true) | ("greaterThan", false) => {
                        self.solve((one, other), Wanted::Less(0), turn)
                    }
                    ("greaterThan", true) | ("lessThanOrEqual", false) => {
                        self.solve((other, one), Wanted::Less(1), turn)
                    }
                    ("greaterThanOrEqual", true) | ("lessThan", false) => {
                        self.solve((other, one), Wanted::Less(0), turn)
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, op: BinaryOp, (one, other): (&Expr, &Expr), wanted: bool, turn: usize) {
        match (op, wanted) {
            (BinaryOp::Less, true) => self.solve((one, other), Wanted::Less(1), turn),
            (BinaryOp::LessEq, true) => self.solve((one, other), Wanted::Less(0), turn),
            (BinaryOp::Less, false) => self.solve((other, one), Wanted::Less(0), turn),
            (BinaryOp::LessEq, false) => self.solve((other, one), Wanted::Less(1), turn),
            (BinaryOp::Eq, true) if path(one).is_none() && path(other).is_none() => {
                self.solve((one, other), Wanted::Equal, turn);
            }
            (BinaryOp::Eq | BinaryOp::In, true) => {
                let (place, value) = if path(one).is_some() { (one, other) } else { (other, one) };
                constants(value).into_iter().take(1).for_each(|value| self.set(place, value));
            }
            // Of texts and entities any other will do: what nothing is said of stays as it is.
            (BinaryOp::Eq, false) if Number::of(one).is_some() || Number::of(other).is_some() => {
                let (place, value) = if path(one).is_some() { (one, other) } else { (other, one) };
                self.solve((value, place), Wanted::Less(1), turn);
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

    /// Lets one value or sum compare with another as wanted.
    fn solve(&mut self, (one, other): (&Expr, &Expr), wanted: Wanted, turn: usize) {
        places(one, other, wanted, turn).into_iter().for_each(|(place, number)| self.set(place, number.json()));
    }

    fn place(&mut self, expr: &Expr) -> Option<&mut Json> {
        let (var, path) = path(expr)?;
        Some(self.end(var).entry(path).or_insert_with(|| json!({})))
    }

    fn end(&mut self, var: Var) -> &mut BTreeMap<Path, Json> {
        match var {
            Var::Principal => &mut self.principal,
            Var::Resource => &mut self.resource,
            Var::Context | Var::Action => &mut self.context,
        }
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
        self.end(var).entry(place).or_insert_with(|| json!({}));
    }
}

/// `context.run.calls`
fn path(expr: &Expr) -> Option<(Var, Path)> {
    match expr.expr_kind() {
        ExprKind::Var(var @ (Var::Context | Var::Principal | Var::Resource)) => Some((*var, Vec::new())),
        ExprKind::GetAttr { expr, attr } => {
            let (var, mut path) = path(expr)?;
            path.push(attr.to_string());
            Some((var, path))
        }
        _ => None,
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
            vec![if uid.entity_type().to_string() == ROLE_TYPE { json!({ ROLE: id }) } else { id.into() }]
        }
        _ => Number::of(expr).map(Number::json).into_iter().collect(),
    }
}
