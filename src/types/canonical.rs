//! Canonical JSON (RFC 8785), the only form that is hashed. What the log writes all day has integers and ASCII keys, for
//! which sorting the keys is all that is needed; everything else goes through the library's full canonicaliser.

use serde::Serialize;
use serde_json::Value;

use super::json;

/// The canonical bytes of a value.
pub fn to_vec<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut value = serde_json::to_value(value)?;
    if !is_plain(&value) {
        return serde_json_canonicalizer::to_vec(&value);
    }
    value.sort_all_objects();
    serde_json::to_vec(&value)
}

/// A value as its canonical bytes read: what is kept beside the log is then what is read from it.
pub fn of(value: &Value) -> Result<Value, serde_json::Error> {
    json::read(&to_vec(value)?)
}

/// Whether the canonical form keeps all numbers: of whole ones those of at most 2^53 - 1 in size (RFC 8785 §3.2.2.3).
pub fn is_exact(value: &Value) -> bool {
    const MOST: u64 = (1 << 53) - 1;
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.unsigned_abs() <= MOST,
            (None, Some(_)) => false,
            (None, None) => true,
        },
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
    }
}

/// Whether numbers read the same in every language, and keys sort the same in bytes and in UTF-16.
fn is_plain(value: &Value) -> bool {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => {
            number.as_u64().is_some_and(|n| n <= EXACT) || number.as_i64().is_some_and(|n| n.unsigned_abs() <= EXACT)
        }
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(fields) => fields.iter().all(|(key, value)| key.is_ascii() && is_plain(value)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\u{0}-\u{7f}]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner.clone()), 0..8)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
                prop::collection::vec(("[ -~]{0,6}", inner), 0..8)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_short_way_gives_the_bytes_of_the_full_canonicaliser(value in json_value()) {
            prop_assert_eq!(super::to_vec(&value).unwrap(), serde_json_canonicalizer::to_vec(&value).unwrap());
        }
    }

    #[test]
    fn keys_beyond_the_basic_plane_sort_as_rfc_8785_says() {
        let value = json!({ "\u{fb33}": 1, "\u{1f600}": 2, "a": 3 });
        assert_eq!(super::to_vec(&value).unwrap(), "{\"a\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}".as_bytes());
    }
}
