//! What would have to be the case for a policy to hold, as far as its condition shows. Comparisons build their made-up
//! questions from goals, because questions that vary one constant at a time would not reach all parts of a policy at
//! once.
//!
//! Always true: a goal is only a suggestion. Whether the policy then holds is evaluated.

mod number;
mod place;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy_core::ast::{BinaryOp, Effect, Expr, ExprKind, Literal, UnaryOp, Var};
use serde_json::{Value as Json, json};

use self::number::{Number, Wanted, places};
pub use self::place::Path;
use self::place::path;
use self::text::{like, unlike};
use super::compiled::CompiledPolicy;
use super::snapshot::Snapshot;

/// Ways to make one condition true, and goals of one action.
const MOST: usize = 32;
/// As many policies are looked at, and as many others beside each.
const MOST_POLICIES: usize = 64;
/// As many places of one sum have their turn to be what decides.
const TURNS: usize = 3;

/// What is wanted of one place.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement {
    /// That something is there.
    There,
    /// That nothing is there.
    Absent,
    Is(Json),
    /// An actor with this role.
    Role(String),
    /// This team, or an actor or a team in it.
    Within(String),
    /// What stands at another place of the same end.
    Same(Path),
    /// Anything but these.
    Not(Vec<Json>),
}

impl Requirement {
    /// The value that it has to be.
    pub fn value(&self) -> Option<&Json> {
        match self {
            Requirement::Is(value) => Some(value),
            Requirement::There
            | Requirement::Absent
            | Requirement::Role(_)
            | Requirement::Within(_)
            | Requirement::Same(_)
            | Requirement::Not(_) => None,
        }
    }
}

/// What is wanted of each place, by its path.
pub type Requirements = BTreeMap<Path, Requirement>;

/// What together would let a policy hold. The empty path is the principal or the resource itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goal {
    pub context: Requirements,
    pub principal: Requirements,
    pub resource: Requirements,
}

/// The entity types of roles and teams.
const ROLE_TYPE: &str = "Ok::Role";
const TEAM_TYPE: &str = "Ok::Team";

impl Snapshot {
    /// For each policy of an action that `other` does not have just so. A forbid shows only where something permits: it is
    /// taken with each permit, too. None shows where another of its effect holds: it is taken with what keeps the others from
    /// that. Of a policy that was changed also what keeps it from holding.
    pub fn goals_unlike(&self, other: &Snapshot, action: &str) -> Vec<Goal> {
        let permits = self.about(action).filter(|compiled| compiled.policy.effect() == Effect::Permit);
        let permits: Vec<Vec<Wish<'_>>> = permits.flat_map(|compiled| ways(&compiled.condition, true)).collect();
        let theirs: BTreeSet<&str> = other.policies.iter().map(|compiled| compiled.meta.id.as_str()).collect();
        let all = self.unlike(other, action).take(MOST_POLICIES).map(|compiled| {
            let is_changed = theirs.contains(compiled.meta.id.as_str());
            ways_of(compiled, is_changed, &permits, &self.alone(compiled, action))
        });
        let all: Vec<Vec<Vec<Wish<'_>>>> = all.collect();
        // One of each policy after the other: none is kept out by another that can hold in many ways.
        let longest = all.iter().map(Vec::len).max().unwrap_or_default();
        let places = (0..TURNS).flat_map(|turn| (0..longest).map(move |at| (turn, at)));
        let ways = places.flat_map(|(turn, at)| all.iter().filter_map(move |of| Some((turn, of.get(at)?))));
        let mut goals: Vec<Goal> = Vec::new();
        for goal in ways.map(|(turn, way)| Goal::of(way, turn)) {
            if goals.len() == MOST {
                break;
            }
            if goal != Goal::default() && !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        goals
    }

    /// Ways to keep all other policies of an action that have the effect of this one from holding: first what keeps each from it
    /// first, and so on.
    fn alone<'a>(&'a self, compiled: &CompiledPolicy, action: &str) -> Vec<Vec<Wish<'a>>> {
        let is_beside =
            |one: &&CompiledPolicy| one.policy.effect() == compiled.policy.effect() && one.meta.id != compiled.meta.id;
        let beside = self.about(action).filter(is_beside).take(MOST_POLICIES);
        let conditions = beside.filter_map(|one| one.policy.non_scope_constraints());
        let kept: Vec<Vec<Vec<Wish<'a>>>> = conditions.map(|all| plain_ways(all, false)).collect();
        let all = (0..TURNS).map(|turn| {
            let nth = |ways: &Vec<Vec<Wish<'a>>>| ways.get(turn % ways.len().max(1)).cloned().unwrap_or_default();
            let mut wishes: Vec<Wish<'a>> = kept.iter().flat_map(nth).collect();
            // What has to be one value stands whatever limits others set to it.
            wishes.sort_by_key(|(part, _)| !is_limit(part));
            wishes
        });
        all.filter(|wishes: &Vec<Wish<'a>>| !wishes.is_empty()).collect()
    }
}

/// A part of a condition, and whether it is to be true.
type Wish<'a> = (&'a Expr, bool);

/// The ways to let a policy hold, and to let it show, also where it is `alone`; of one that was changed, also those to keep it
/// from holding.
fn ways_of<'a>(
    compiled: &'a CompiledPolicy,
    is_changed: bool,
    permits: &[Vec<Wish<'a>>],
    alone: &[Vec<Wish<'a>>],
) -> Vec<Vec<Wish<'a>>> {
    let kept = compiled.policy.non_scope_constraints().filter(|_| is_changed).map(|all| ways(all, false));
    let ways = [ways(&compiled.condition, true), kept.unwrap_or_default()].concat();
    let permitted = match compiled.policy.effect() {
        Effect::Permit => Vec::new(),
        Effect::Forbid => together(permits, &ways),
    };
    // What is said of it goes before what is said of the others.
    let first = ways.get(..TURNS).unwrap_or(&ways);
    [together(alone, first), ways, permitted].concat()
}

fn is_limit(expr: &Expr) -> bool {
    match expr.expr_kind() {
        ExprKind::BinaryApp { op, .. } => matches!(op, BinaryOp::Less | BinaryOp::LessEq),
        ExprKind::ExtensionFunctionApp { args, .. } => args.len() == 2,
        _ => false,
    }
}

/// The ways to make a condition true or false.
fn ways(expr: &Expr, wanted: bool) -> Vec<Vec<Wish<'_>>> {
    match (expr.expr_kind(), wanted) {
        (ExprKind::And { left, right }, true) | (ExprKind::Or { left, right }, false) => {
            together(&ways(left, wanted), &ways(right, wanted))
        }
        (ExprKind::Or { left, right }, true) | (ExprKind::And { left, right }, false) => {
            // What decides shows where the other side does not decide.
            let beside = |side| ways(side, !wanted).into_iter().take(1).collect::<Vec<_>>();
            let (first, second) = (ways(left, wanted), ways(right, wanted));
            either(together(&beside(right), &first), together(&beside(left), &second))
        }
        (ExprKind::UnaryApp { op: UnaryOp::Not, arg }, _) => ways(arg, !wanted),
        (ExprKind::If { test_expr, then_expr, else_expr }, _) => either(
            together(&ways(test_expr, true), &ways(then_expr, wanted)),
            together(&ways(test_expr, false), &ways(else_expr, wanted)),
        ),
        _ => vec![vec![(expr, wanted)]],
    }
}

/// The same where it does not matter what decides: one of several is enough.
fn plain_ways(expr: &Expr, wanted: bool) -> Vec<Vec<Wish<'_>>> {
    match (expr.expr_kind(), wanted) {
        (ExprKind::And { left, right }, true) | (ExprKind::Or { left, right }, false) => {
            together(&plain_ways(left, wanted), &plain_ways(right, wanted))
        }
        (ExprKind::Or { left, right }, true) | (ExprKind::And { left, right }, false) => {
            [plain_ways(left, wanted), plain_ways(right, wanted)].concat()
        }
        (ExprKind::UnaryApp { op: UnaryOp::Not, arg }, _) => plain_ways(arg, !wanted),
        _ => ways(expr, wanted),
    }
}

fn together<'a>(one: &[Vec<Wish<'a>>], other: &[Vec<Wish<'a>>]) -> Vec<Vec<Wish<'a>>> {
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| [one.as_slice(), other.as_slice()].concat()));
    pairs.take(MOST).collect()
}

/// The last alternative first: in a row of them it stands alone.
fn either<'a>(one: Vec<Vec<Wish<'a>>>, other: Vec<Vec<Wish<'a>>>) -> Vec<Vec<Wish<'a>>> {
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let turns = std::iter::from_fn(|| match (other.next(), one.next()) {
        (None, None) => None,
        (next, and) => Some(next.into_iter().chain(and)),
    });
    turns.flatten().take(MOST).collect()
}

impl Goal {
    /// The teams that somebody or something is to be in.
    pub fn within(&self) -> impl Iterator<Item = &str> {
        let all = [&self.context, &self.principal, &self.resource].into_iter().flat_map(BTreeMap::values);
        all.filter_map(|want| match want {
            Requirement::Within(team) => Some(team.as_str()),
            _ => None,
        })
    }

    fn of(wishes: &[Wish<'_>], turn: usize) -> Goal {
        let mut goal = Goal::default();
        wishes.iter().for_each(|(part, wanted)| goal.wish(part, *wanted, turn));
        goal
    }

    fn wish(&mut self, part: &Expr, wanted: bool, turn: usize) {
        match part.expr_kind() {
            ExprKind::GetAttr { .. } => self.set(part, Requirement::Is(wanted.into())),
            ExprKind::HasAttr { expr, attr } if wanted => self.open(expr, std::iter::once(attr.as_str())),
            ExprKind::ExtHasAttr { expr, attrs } if wanted => self.open(expr, attrs.iter().map(|attr| attr.as_str())),
            ExprKind::HasAttr { expr, attr } => self.close(expr, attr.as_str()),
            ExprKind::Like { expr, pattern } if wanted => self.set(expr, Requirement::Is(like(pattern).into())),
            ExprKind::Like { expr, pattern } => {
                unlike(pattern).into_iter().for_each(|text| self.rather(expr, Requirement::Is(text.into())));
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
                let all = constants(value, op == BinaryOp::In);
                match (path(one), path(other)) {
                    (Some((var, _)), Some((of, same))) if var == of => self.set(one, Requirement::Same(same)),
                    _ => one_of(all, turn).into_iter().for_each(|want| self.set(place, want)),
                }
            }
            (BinaryOp::Eq, false) if Number::of(one).is_some() || Number::of(other).is_some() => {
                let (place, value) = if path(one).is_some() { (one, other) } else { (other, one) };
                self.solve((value, place), Wanted::Less(1), turn);
            }
            (BinaryOp::Eq, false) => {
                let (place, value) = if path(one).is_some() { (one, other) } else { (other, one) };
                constants(value, false)
                    .iter()
                    .filter_map(Requirement::value)
                    .for_each(|value| self.avoid(place, value));
            }
            (BinaryOp::Contains | BinaryOp::ContainsAll | BinaryOp::ContainsAny, true) => {
                if path(one).is_some() {
                    constants(other, false)
                        .iter()
                        .filter_map(Requirement::value)
                        .for_each(|value| self.push(one, value));
                } else {
                    one_of(constants(one, false), turn).into_iter().for_each(|want| self.set(other, want));
                }
            }
            (BinaryOp::Contains, false) if path(one).is_none() => {
                constants(one, false).iter().filter_map(Requirement::value).for_each(|value| self.avoid(other, value));
            }
            _ => {}
        }
    }

    /// Lets one value or sum compare with another as wanted.
    fn solve(&mut self, (one, other): (&Expr, &Expr), wanted: Wanted, turn: usize) {
        places(one, other, wanted, turn)
            .into_iter()
            .for_each(|(place, number)| self.set(place, Requirement::Is(number.json())));
    }

    fn place(&mut self, expr: &Expr) -> Option<&mut Requirement> {
        let (var, path) = path(expr)?;
        Some(self.end(var).entry(path).or_insert(Requirement::There))
    }

    fn end(&mut self, var: Var) -> &mut Requirements {
        match var {
            Var::Principal => &mut self.principal,
            Var::Resource => &mut self.resource,
            Var::Context | Var::Action => &mut self.context,
        }
    }

    fn set(&mut self, expr: &Expr, want: Requirement) {
        if let Some(place) = self.place(expr) {
            *place = want;
        }
    }

    fn push(&mut self, expr: &Expr, value: &Json) {
        match self.place(expr) {
            Some(Requirement::Is(Json::Array(all))) => all.push(value.clone()),
            Some(place) => *place = Requirement::Is(json!([value])),
            None => {}
        }
    }

    /// Lets something be another than this, unless more is said of it.
    fn avoid(&mut self, expr: &Expr, value: &Json) {
        match self.place(expr) {
            Some(Requirement::Not(all)) => all.push(value.clone()),
            Some(place @ Requirement::There) => *place = Requirement::Not(vec![value.clone()]),
            Some(_) | None => {}
        }
    }

    /// Lets something be as is wanted, unless more is said of it.
    fn rather(&mut self, expr: &Expr, want: Requirement) {
        if let Some(place @ (Requirement::There | Requirement::Not(_))) = self.place(expr) {
            *place = want;
        }
    }

    /// Lets something be there, unless more is said of it.
    fn open<'a>(&mut self, expr: &Expr, attrs: impl Iterator<Item = &'a str>) {
        let Some((var, mut place)) = path(expr) else { return };
        place.extend(attrs.map(str::to_owned));
        self.end(var).entry(place).or_insert(Requirement::There);
    }

    /// Lets something not be there, whatever was said of it beside.
    fn close(&mut self, expr: &Expr, attr: &str) {
        let Some((var, mut place)) = path(expr) else { return };
        place.push(attr.to_owned());
        self.end(var).insert(place, Requirement::Absent);
    }
}

/// One of what a set has: another one each time.
fn one_of(mut all: Vec<Requirement>, turn: usize) -> Option<Requirement> {
    if all.is_empty() { None } else { Some(all.swap_remove(turn % all.len())) }
}

/// The constants that an expression is, or is a set of; or what is within them.
fn constants(expr: &Expr, within: bool) -> Vec<Requirement> {
    match expr.expr_kind() {
        ExprKind::Set(all) => all.iter().flat_map(|one| constants(one, within)).collect(),
        ExprKind::Lit(Literal::String(text)) => vec![Requirement::Is(text.as_str().into())],
        ExprKind::Lit(Literal::Bool(flag)) => vec![Requirement::Is((*flag).into())],
        ExprKind::Lit(Literal::EntityUID(uid)) => {
            let id: &str = uid.eid().as_ref();
            vec![match uid.entity_type().to_string().as_str() {
                ROLE_TYPE => Requirement::Role(id.to_owned()),
                TEAM_TYPE if within => Requirement::Within(id.to_owned()),
                _ => Requirement::Is(id.into()),
            }]
        }
        _ => Number::of(expr).map(|number| Requirement::Is(number.json())).into_iter().collect(),
    }
}
