//! Conditions on the records of a collection: what somebody searches for, and what policies let them see, in one
//! language that can be evaluated by a database and on a single record alike.
//!
//! Always true: a condition either holds or does not; a missing value only satisfies the condition that it is missing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::FieldKind;
use super::json;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Always,
    Never,
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// There is a value.
    Has(String),
    Is(String, Order, Scalar),
    /// The value is one of these.
    In(String, Vec<Scalar>),
    /// The value is a list with this in it.
    Holds(String, String),
    /// The text fits a pattern, in which `*` stands for any text and all else for itself.
    Like(String, Vec<Piece>),
}

/// How a value compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Any,
    One(char),
}

/// A value as a column holds it: texts in the order of their bytes, numbers as they are ordered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Number(i64),
    Text(String),
}

impl Scalar {
    /// A kept value of a field as its column holds it.
    pub fn of(kind: FieldKind, value: &Value) -> Option<Scalar> {
        if kind.is_counted() {
            return kind.number(value).map(Scalar::Number);
        }
        match (kind, value) {
            (FieldKind::Choices | FieldKind::Json, value) => Some(Scalar::Text(value.to_string())),
            (_, Value::String(text)) => Some(Scalar::Text(text.clone())),
            _ => None,
        }
    }
}

/// A record's values by column.
pub type Values = BTreeMap<String, Scalar>;

impl Condition {
    /// All of these.
    pub fn all(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        let mut kept = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Always => {}
                Condition::Never => return Condition::Never,
                Condition::All(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Condition::Always,
            1 => kept.remove(0),
            _ => Condition::All(kept),
        }
    }

    /// Any of these.
    pub fn any(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        let mut kept = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Never => {}
                Condition::Always => return Condition::Always,
                Condition::Any(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Condition::Never,
            1 => kept.remove(0),
            _ => Condition::Any(kept),
        }
    }

    #[must_use]
    pub fn negated(self) -> Condition {
        match self {
            Condition::Always => Condition::Never,
            Condition::Never => Condition::Always,
            Condition::Not(inner) => *inner,
            other => Condition::Not(Box::new(other)),
        }
    }

    /// Whether it holds of one record.
    pub fn holds(&self, values: &Values) -> bool {
        match self {
            Condition::Always => true,
            Condition::Never => false,
            Condition::All(inner) => inner.iter().all(|one| one.holds(values)),
            Condition::Any(inner) => inner.iter().any(|one| one.holds(values)),
            Condition::Not(inner) => !inner.holds(values),
            Condition::Has(column) => values.contains_key(column),
            Condition::Is(column, order, with) => values.get(column).is_some_and(|value| order.holds(value, with)),
            Condition::In(column, all) => values.get(column).is_some_and(|value| all.contains(value)),
            Condition::Holds(column, one) => match values.get(column) {
                Some(Scalar::Text(list)) => {
                    json::read::<Vec<String>>(list.as_bytes()).is_ok_and(|list| list.contains(one))
                }
                _ => false,
            },
            Condition::Like(column, pattern) => match values.get(column) {
                Some(Scalar::Text(text)) => fits(&text.chars().collect::<Vec<_>>(), pattern),
                _ => false,
            },
        }
    }

    /// The columns that it looks at.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Condition::Always | Condition::Never => Vec::new(),
            Condition::All(inner) | Condition::Any(inner) => inner.iter().flat_map(Condition::columns).collect(),
            Condition::Not(inner) => inner.columns(),
            Condition::Has(column)
            | Condition::Is(column, ..)
            | Condition::In(column, _)
            | Condition::Holds(column, _)
            | Condition::Like(column, _) => vec![column],
        }
    }
}

impl Order {
    fn holds(self, value: &Scalar, with: &Scalar) -> bool {
        match self {
            Order::Equal => value == with,
            Order::Less => value < with,
            Order::LessOrEqual => value <= with,
            Order::Greater => value > with,
            Order::GreaterOrEqual => value >= with,
        }
    }

    pub const fn sign(self) -> &'static str {
        match self {
            Order::Equal => "=",
            Order::Less => "<",
            Order::LessOrEqual => "<=",
            Order::Greater => ">",
            Order::GreaterOrEqual => ">=",
        }
    }
}

/// Whether a text fits a pattern; in time that is linear in each for one `*`, and never more than their product.
fn fits(text: &[char], pattern: &[Piece]) -> bool {
    let (mut at, mut piece, mut back) = (0, 0, None);
    while at < text.len() {
        match (pattern.get(piece), text.get(at)) {
            (Some(Piece::One(wanted)), Some(found)) if wanted == found => (at, piece) = (at + 1, piece + 1),
            (Some(Piece::Any), _) => {
                back = Some((piece + 1, at));
                piece += 1;
            }
            _ => match back {
                Some((after, from)) => {
                    back = Some((after, from + 1));
                    (piece, at) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(piece).all(|piece| *piece == Piece::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_what_its_stars_leave_open() {
        let pattern = |text: &str| -> Vec<Piece> {
            text.chars().map(|c| if c == '*' { Piece::Any } else { Piece::One(c) }).collect()
        };
        let fit = |text: &str, wanted: &str| fits(&text.chars().collect::<Vec<_>>(), &pattern(wanted));
        for (text, wanted) in [("abc", "a*"), ("abc", "*c"), ("abc", "a*c"), ("", "*"), ("aab", "*ab"), ("a?c", "a?c")]
        {
            assert!(fit(text, wanted), "{text} {wanted}");
        }
        for (text, wanted) in [("abc", "b*"), ("abc", "a*b"), ("", "a"), ("abc", "a?c"), ("ABC", "abc")] {
            assert!(!fit(text, wanted), "{text} {wanted}");
        }
    }
}
