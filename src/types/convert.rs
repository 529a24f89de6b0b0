//! Fields that get another type: which types become which, and in what form values are then.

use serde_json::Value;

use super::field::FieldKind;

/// A value that was kept of a type that `converts` into this one, in the form of this one.
pub fn in_form_of(kind: FieldKind, value: &Value) -> Value {
    let number = match kind {
        FieldKind::Decimal | FieldKind::Money => kind.number(value),
        FieldKind::Time => kind.number(value).or_else(|| FieldKind::Date.number(value)),
        _ => None,
    };
    number.map_or_else(|| value.clone(), |number| kind.of_number(number))
}

/// Returns whether every value of one type is also a value of another, unchanged or in a form that follows from it. For
/// a text that becomes a choice, returns whether it can be one. People and teams never become texts, because a text
/// would name them to readers who may not see them.
pub const fn converts(from: FieldKind, to: FieldKind) -> bool {
    use FieldKind as Kind;
    matches!(
        (from, to),
        (Kind::Integer, Kind::Decimal | Kind::Money)
            | (Kind::Decimal, Kind::Money)
            | (Kind::Money, Kind::Decimal)
            | (Kind::Choice | Kind::Ref, Kind::Text)
            | (Kind::Text, Kind::Choice)
            | (Kind::Text | Kind::Choice | Kind::Ref | Kind::Link, Kind::LongText)
            | (Kind::Date, Kind::Time)
    )
}
