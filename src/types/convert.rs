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

/// Whether every value of one type is one of another, in the same form or in one that follows from it; of a text that becomes
/// a choice, whether it can be one. People and teams become no texts, which would name them to those who may not see them.
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
