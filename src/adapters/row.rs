//! A row of another system as a record. What does not fit the definition is no record: a value that was left out instead would
//! not be there for the policies that forbid by it.

use serde_json::{Map, Value};

use types::collection::Collection;
use types::field::FieldKind;

/// A row as a record has it.
#[derive(Debug, PartialEq)]
pub struct SourceRow {
    /// The value of the key.
    pub id: String,
    pub fields: Map<String, Value>,
}

/// The longest id, in bytes.
const LONGEST_ID: usize = 200;

/// A row, given the values of the fields in their order; or why it does not fit.
pub fn kept(of: &Collection, row: Vec<Option<String>>) -> Result<SourceRow, String> {
    let named = of.spec.fields.iter().zip(row);
    let given = named.filter_map(|((name, field), text)| Some((name.clone(), value(field.kind, text?))));
    let fields = of.checked(&given.collect()).map_err(|problems| problems.join("; "))?;
    let key = of.spec.key.first().and_then(|key| fields.get(key));
    let id = match key {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => return Err("it has no key".into()),
    };
    if id.is_empty() || id.len() > LONGEST_ID || id.contains(char::is_control) {
        return Err(format!("its key is no id: 1 to {LONGEST_ID} bytes without control characters"));
    }
    Ok(SourceRow { id, fields })
}

/// A text as the JSON that a field of this type is given as.
fn value(kind: FieldKind, text: String) -> Value {
    match kind {
        FieldKind::Integer => text.parse::<i64>().map_or(Value::String(text), Value::from),
        FieldKind::Decimal | FieldKind::Money if text.contains('.') => {
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
        FieldKind::Flag => match text.as_str() {
            "true" | "t" | "1" => true.into(),
            "false" | "f" | "0" => false.into(),
            _ => text.into(),
        },
        FieldKind::Choices | FieldKind::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: orders}\nspec:\n  key: [number]\n  \
        source: {system: erp, table: orders}\n  fields:\n    amount: {type: money}\n    number: {type: integer, required: true}\n    \
        open: {type: flag}\n    tags: {type: choices, options: [a, b]}\n";

    fn row(values: [&str; 4]) -> Result<SourceRow, String> {
        let of: Collection = serde_yaml::from_str(ORDERS).unwrap();
        kept(&of, values.map(|text| (text != "-").then(|| text.to_owned())).into())
    }

    #[test]
    fn a_row_becomes_a_record_in_the_form_in_which_records_are_kept() {
        let record = row(["12.500000", "7", "t", r#"["b","a"]"#]).unwrap();
        assert_eq!(record.id, "7");
        let fields = serde_json::json!({ "amount": "12.50", "number": 7, "open": true, "tags": ["a", "b"] });
        assert_eq!(Value::Object(record.fields), fields);
        assert_eq!(row(["-", "8", "-", "-"]).unwrap().fields.len(), 1, "what is null is not there");
    }

    #[test]
    fn a_row_that_does_not_fit_is_no_record() {
        for wrong in
            [["$1.00", "1", "t", "-"], ["1", "-", "t", "-"], ["1", "1.5", "t", "-"], ["1.23456", "1", "t", "-"]]
        {
            assert!(row(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(row(["1", "1", "t", r#"["c"]"#]).unwrap_err(), "fields.tags: must be one of a, b");
    }
}
