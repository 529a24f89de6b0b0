//! Constants that values are compared with, and the values that the parts of an expression need in order to reach such
//! a constant.

use cedar_policy_core::ast::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
use serde_json::{Value as Json, json};

use super::place::path;
use crate::record::{instant, span};
use types::decimal::{decimal, shown_decimal};
use types::time::{DAY, HOUR, SECOND, Time};

/// A hundredth, in ten-thousandths.
const CENT: i64 = 100;
/// 2026-01-05, a Monday: where an instant stands that nothing else says.
const MONDAY: i64 = 1_767_571_200_000;
const MINUTE: i64 = 60 * SECOND;

/// A constant.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Whole(i64),
    /// In ten-thousandths.
    Decimal(i64),
    /// In milliseconds since 1970.
    Time(i64),
    /// In milliseconds.
    Duration(i64),
}

impl Number {
    pub fn of(expr: &Expr) -> Option<Number> {
        match expr.expr_kind() {
            ExprKind::Lit(Literal::Long(number)) => Some(Number::Whole(*number)),
            ExprKind::ExtensionFunctionApp { fn_name, args } => {
                let [text] = args.as_slice() else { return None };
                let ExprKind::Lit(Literal::String(text)) = text.expr_kind() else { return None };
                match fn_name.to_string().as_str() {
                    "decimal" => decimal(&json!(text.as_str())).ok().map(Number::Decimal),
                    "datetime" => instant(text).map(Number::Time),
                    "duration" => span(text).map(Number::Duration),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// As it is given.
    pub fn json(self) -> Json {
        match self {
            Number::Whole(number) | Number::Duration(number) => number.into(),
            Number::Decimal(number) => shown_decimal(number, 1).into(),
            Number::Time(ms) => Time(ms).to_string().into(),
        }
    }

    fn steps(self) -> i64 {
        match self {
            Number::Whole(number) | Number::Decimal(number) | Number::Time(number) | Number::Duration(number) => number,
        }
    }

    /// How far apart two of its kind are at least.
    fn step(self) -> i64 {
        if matches!(self, Number::Decimal(_)) { CENT } else { 1 }
    }

    /// Another one of the kind.
    fn at(self, number: i64) -> Number {
        match self {
            Number::Whole(_) => Number::Whole(number),
            Number::Decimal(_) => Number::Decimal(number),
            Number::Time(_) => Number::Time(number),
            Number::Duration(_) => Number::Duration(number),
        }
    }

    /// One of the kind that stands for nothing.
    fn nothing(self) -> Number {
        self.at(if matches!(self, Number::Time(_)) { MONDAY } else { 0 })
    }
}

/// A sum of places, each some number of times, and a constant.
#[derive(Default)]
struct Sum<'a> {
    terms: Vec<(i64, &'a Expr)>,
    constant: Option<Number>,
}

impl<'a> Sum<'a> {
    fn add(&mut self, times: i64, expr: &'a Expr) {
        if let Some(number) = Number::of(expr) {
            let number = number.at(times.saturating_mul(number.steps()));
            let sum = self.constant.map_or(0, Number::steps).saturating_add(number.steps());
            self.constant = Some(number.at(sum));
            return;
        }
        match expr.expr_kind() {
            ExprKind::BinaryApp { op: BinaryOp::Add, arg1, arg2 } => {
                self.add(times, arg1);
                self.add(times, arg2);
            }
            ExprKind::BinaryApp { op: BinaryOp::Sub, arg1, arg2 } => {
                self.add(times, arg1);
                self.add(times.saturating_neg(), arg2);
            }
            ExprKind::BinaryApp { op: BinaryOp::Mul, arg1, arg2 } => {
                match (Number::of(arg1), Number::of(arg2)) {
                    (Some(Number::Whole(factor)), _) => self.add(times.saturating_mul(factor), arg2),
                    (_, Some(Number::Whole(factor))) => self.add(times.saturating_mul(factor), arg1),
                    _ => {}
                };
            }
            ExprKind::UnaryApp { op: UnaryOp::Neg, arg } => self.add(times.saturating_neg(), arg),
            _ => self.terms.push((times, expr)),
        }
    }
}

/// How a comparison is to come out.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Equal,
    /// By so many steps at the least.
    Less(i64),
}

/// Returns the values that places need for the first expression to compare with the second as wanted, as closely as
/// possible. One of the places decides, the others count as nothing; `turn` selects which one.
pub(super) fn places<'a>(one: &'a Expr, other: &'a Expr, wanted: Wanted, turn: usize) -> Vec<(&'a Expr, Number)> {
    let mut sum = Sum::default();
    sum.add(1, one);
    sum.add(-1, other);
    let Sum { mut terms, constant } = sum;
    terms.retain(|(times, _)| *times != 0);
    if terms.is_empty() {
        return Vec::new();
    }
    let constant = constant.unwrap_or(Number::Whole(0));
    let steps = match wanted {
        Wanted::Equal => 0,
        Wanted::Less(steps) => steps.saturating_mul(constant.step()),
    };
    // times * place + total <= 0
    let total = constant.steps().saturating_add(steps);
    let turn = turn % terms.len();
    let each = terms.into_iter().enumerate().flat_map(|(index, (times, place))| {
        let number = match times {
            _ if index != turn => constant.nothing(),
            1.. => constant.at(total.saturating_neg().div_euclid(times)),
            _ => constant.at(total.saturating_neg().div_euclid(times.saturating_neg().max(1)).saturating_neg()),
        };
        back(place, number)
    });
    each.collect()
}

/// The place that an expression is worked out from, and what it has to be.
fn back(expr: &Expr, number: Number) -> Vec<(&Expr, Number)> {
    if path(expr).is_some() {
        return vec![(expr, number)];
    }
    let ExprKind::ExtensionFunctionApp { fn_name, args } = expr.expr_kind() else { return Vec::new() };
    let Some(of) = args.first() else { return Vec::new() };
    let by = args.get(1);
    let unit = |unit: i64| Number::Duration(number.steps().saturating_mul(unit));
    match (fn_name.to_string().as_str(), number, by.and_then(Number::of)) {
        ("offset", Number::Time(at), Some(Number::Duration(by))) => back(of, Number::Time(at.saturating_sub(by))),
        ("durationSince", Number::Duration(span), Some(Number::Time(from))) => {
            back(of, Number::Time(from.saturating_add(span)))
        }
        ("durationSince", Number::Duration(span), None) => {
            let from = by.into_iter().flat_map(|from| back(from, Number::Time(MONDAY)));
            back(of, Number::Time(MONDAY.saturating_add(span))).into_iter().chain(from).collect()
        }
        ("toDate", Number::Time(at), _) => back(of, Number::Time(at)),
        ("toTime", Number::Duration(span), _) => back(of, Number::Time(MONDAY + span.rem_euclid(DAY))),
        ("toMilliseconds", Number::Whole(_), _) => back(of, unit(1)),
        ("toSeconds", Number::Whole(_), _) => back(of, unit(SECOND)),
        ("toMinutes", Number::Whole(_), _) => back(of, unit(MINUTE)),
        ("toHours", Number::Whole(_), _) => back(of, unit(HOUR)),
        ("toDays", Number::Whole(_), _) => back(of, unit(DAY)),
        _ => Vec::new(),
    }
}
