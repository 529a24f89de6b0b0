//! Finds when a part that reads the time would change: the nearest such moment, computed backwards from the constant
//! that it is compared with. Like every want, it is a guess until it is tried.

use cedar_policy_core::FromNormalizedStr as _;
use cedar_policy_core::ast::{BinaryOp, Expr, ExprKind, Literal, Name, Value, ValueKind};

use super::explanation::path;
use super::look::Place;

/// Milliseconds of a day, as Cedar counts them.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// From 1970 to the end of the year 9999: what can be written.
const WRITTEN: Within = Within { least: 0, most: 253_402_300_799_999 };

/// Both ends are within.
#[derive(Clone, Copy)]
struct Within {
    least: i64,
    most: i64,
}

impl Within {
    fn from(least: i64) -> Within {
        Within { least, most: i64::MAX }
    }

    fn to(most: i64) -> Within {
        Within { least: i64::MIN, most }
    }

    fn shifted(self, by: i64) -> Within {
        // An open end stays open.
        let end = |end: i64| if matches!(end, i64::MIN | i64::MAX) { end } else { end.saturating_add(by) };
        Within { least: end(self.least), most: end(self.most) }
    }

    /// What comes to one of these when it is divided, and the rest left out.
    fn times(self, unit: i64) -> Within {
        let most =
            if self.most == i64::MAX { i64::MAX } else { self.most.saturating_mul(unit).saturating_add(unit - 1) };
        Within { least: self.least.saturating_mul(unit), most }
    }

    fn nearest(self, to: i64) -> Option<i64> {
        (self.least <= self.most).then(|| to.clamp(self.least, self.most))
    }
}

/// The nearest time, in milliseconds since 1970, at which a comparison comes out as it should; None where neither side is
/// worked out from the time, or both are.
pub(super) fn nearest(place: &Place<'_>, op: BinaryOp, left: &Expr, right: &Expr, should_be: bool) -> Option<i64> {
    let (side, other, is_left) = match (reads_now(left), reads_now(right)) {
        (true, false) => (left, right, true),
        (false, true) => (right, left, false),
        _ => return None,
    };
    let wanted = wanted(op, number(place, other)?, is_left, should_be)?;
    let now = number(place, now_in(side)?)?;
    back(place, side, wanted)?.nearest(now).filter(|at| *at != now && (WRITTEN.least..=WRITTEN.most).contains(at))
}

/// What one side of a comparison has to be.
fn wanted(op: BinaryOp, other: i64, is_left: bool, should_be: bool) -> Option<Within> {
    let (below, above) = (other.checked_sub(1)?, other.checked_add(1)?);
    Some(match (op, is_left, should_be) {
        (BinaryOp::Less, true, true) | (BinaryOp::LessEq, false, false) => Within::to(below),
        (BinaryOp::Less, true, false) | (BinaryOp::LessEq, false, true) => Within::from(other),
        (BinaryOp::LessEq, true, true) | (BinaryOp::Less, false, false) => Within::to(other),
        (BinaryOp::LessEq, true, false) | (BinaryOp::Less, false, true) => Within::from(above),
        (BinaryOp::Eq, _, true) => Within { least: other, most: other },
        (BinaryOp::Eq, _, false) => Within::from(above),
        _ => return None,
    })
}

/// What the time has to be, so that an expression over it comes to one of these.
fn back(place: &Place<'_>, expr: &Expr, wanted: Within) -> Option<Within> {
    if is_now(expr) {
        return Some(wanted);
    }
    let ExprKind::ExtensionFunctionApp { fn_name, args } = expr.expr_kind() else { return None };
    let (of, by) = (args.first()?, args.get(1));
    let constant = || by.filter(|by| !reads_now(by)).and_then(|by| number(place, by));
    let inner = match fn_name.to_string().as_str() {
        "offset" => wanted.shifted(constant()?.checked_neg()?),
        "durationSince" => wanted.shifted(constant()?),
        "toDate" => {
            let day = |at: i64, up: i64| at.saturating_add(up).div_euclid(DAY);
            let least =
                if wanted.least == i64::MIN { i64::MIN } else { day(wanted.least, DAY - 1).saturating_mul(DAY) };
            Within { least, most: Within::to(day(wanted.most, 0)).times(DAY).most }
        }
        "toTime" => time_of_day(number(place, of)?, wanted)?,
        "toMilliseconds" => wanted,
        "toSeconds" => wanted.times(1000),
        "toMinutes" => wanted.times(60_000),
        "toHours" => wanted.times(60 * 60_000),
        "toDays" => wanted.times(DAY),
        _ => return None,
    };
    back(place, of, inner)
}

/// The next span in which the time of the day is one of these.
fn time_of_day(now: i64, wanted: Within) -> Option<Within> {
    let (least, most) = (wanted.least.max(0), wanted.most.min(DAY - 1));
    if least > most {
        return None;
    }
    let midnight = now.checked_sub(now.rem_euclid(DAY))?;
    let midnight = if now.rem_euclid(DAY) > most { midnight.checked_add(DAY)? } else { midnight };
    Some(Within { least: midnight.checked_add(least)?, most: midnight.checked_add(most)? })
}

fn is_now(expr: &Expr) -> bool {
    path(expr).is_some_and(|path| path == ["context", "now"])
}

fn now_in(expr: &Expr) -> Option<&Expr> {
    expr.subexpressions().find(|part| is_now(part))
}

fn reads_now(expr: &Expr) -> bool {
    now_in(expr).is_some()
}

/// A number as it is; a time as milliseconds since 1970, a duration as milliseconds.
fn number(place: &Place<'_>, expr: &Expr) -> Option<i64> {
    let value = place.value(expr)?;
    if let ValueKind::Lit(Literal::Long(value)) = value.value_kind() {
        return Some(*value);
    }
    let call = |name: &str, args: Vec<Expr>| Some(Expr::call_extension_fn(Name::from_normalized_str(name).ok()?, args));
    let milliseconds = |expr: Expr| match place.value(&call("toMilliseconds", vec![expr])?)?.value_kind() {
        ValueKind::Lit(Literal::Long(value)) => Some(*value),
        _ => None,
    };
    let known = Expr::from(Value::clone(&value));
    let epoch = call("datetime", vec![Expr::val("1970-01-01")])?;
    milliseconds(known.clone()).or_else(|| milliseconds(call("durationSince", vec![known, epoch])?))
}
