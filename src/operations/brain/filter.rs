//! Filters as people write them: `{"and": [...]}`, `{"or": [...]}`, `{"not": {...}}`, `{"total": {"gt": "100"}}`,
//! `{"status": "new"}`. The keys of one object must all hold.

use serde_json::{Map, Value};

use super::judged::Withheld;
use super::shown::veiled;
use crate::gate::Reader;
use crate::store::brain::table;
use crate::types::collection::{Collection, OWN};
use crate::types::condition::{Condition, Order, Piece, Scalar};
use crate::types::field::{Field, FieldKind, Label};
use crate::types::refusal::Refusal;

/// How deep a filter may nest, how many parts it may have, and how many values one `in`.
const DEPTH: usize = 20;
const PARTS: usize = 500;
const VALUES: usize = 1_000;
/// The most values of all of it: a statement takes so many, once for each way to a record.
const ALL_VALUES: usize = 3_000;

/// What a filter may still hold.
struct Left {
    parts: usize,
    values: usize,
}

/// Reads the filters of one caller.
pub struct Filters<'a> {
    pub of: &'a Collection,
    pub withheld: &'a Withheld,
    pub read: &'a Reader<'a>,
}

impl Filters<'_> {
    pub fn read(&self, filter: Option<&Value>) -> Result<Condition, Refusal> {
        let mut left = Left { parts: PARTS, values: ALL_VALUES };
        let read = filter.map(|filter| self.condition(filter, "filter", DEPTH, &mut left));
        read.unwrap_or(Ok(Condition::Always)).map_err(|(at, what)| Refusal::field(&at, what))
    }

    fn condition(&self, filter: &Value, at: &str, depth: usize, left: &mut Left) -> Read {
        let wrong = |what: String| Err((at.to_owned(), what));
        if depth == 0 {
            return wrong(format!("nests deeper than {DEPTH}"));
        }
        left.parts =
            left.parts.checked_sub(1).ok_or_else(|| ("filter".to_owned(), format!("has more than {PARTS} parts")))?;
        let Value::Object(parts) = filter else { return wrong("must be an object".into()) };
        let each = |key: &String, value: &Value, left: &mut Left| {
            let inner = format!("{at}.{}", short(key));
            match (key.as_str(), value) {
                ("and" | "or", Value::Array(all)) => {
                    let all = all
                        .iter()
                        .enumerate()
                        .map(|(number, one)| self.condition(one, &format!("{inner}[{number}]"), depth - 1, left));
                    let all = all.collect::<Result<Vec<_>, _>>()?;
                    Ok(if key == "and" { Condition::all(all) } else { Condition::any(all) })
                }
                ("and" | "or", _) => Err((inner, "must be a list".into())),
                ("not", one) => Ok(self.condition(one, &inner, depth - 1, left)?.negated()),
                (name, Value::Object(tests)) => self.tests(name, tests, &inner, left),
                (name, value) => self.test(name, "eq", value, &inner, left),
            }
        };
        let all = parts.iter().map(|(key, value)| each(key, value, left)).collect::<Result<Vec<_>, _>>()?;
        Ok(Condition::all(all))
    }

    fn tests(&self, name: &str, tests: &Map<String, Value>, at: &str, left: &mut Left) -> Read {
        let each = tests.iter().map(|(op, value)| self.test(name, op, value, &format!("{at}.{}", short(op)), left));
        Ok(Condition::all(each.collect::<Result<Vec<_>, _>>()?))
    }

    fn test(&self, name: &str, op: &str, value: &Value, at: &str, left: &mut Left) -> Read {
        let count = value.as_array().map_or(1, Vec::len);
        let many = || ("filter".to_owned(), format!("has more than {ALL_VALUES} values"));
        left.values = left.values.checked_sub(count).ok_or_else(many)?;
        let field = self.field(name).map_err(|what| (at.to_owned(), what))?;
        let scalar = |value: &Value| self.scalar(&field, value).map_err(|what| (at.to_owned(), what));
        let wrong = |what: &str| Err((at.to_owned(), what.to_owned()));
        let column = name.to_owned();
        let is = |order| Ok(Condition::Is(column.clone(), order, scalar(value)?));
        let is_ordered = field.kind.is_comparable() && field.kind != FieldKind::Flag;
        let texts = matches!(field.kind, FieldKind::Text | FieldKind::LongText | FieldKind::Link | FieldKind::Choice);
        match op {
            "eq" if value.is_null() => Ok(Condition::Has(column).negated()),
            "ne" if value.is_null() => Ok(Condition::Has(column)),
            "eq" | "ne" | "in" | "nin" if matches!(field.kind, FieldKind::Choices | FieldKind::Json) => {
                wrong("a list is asked with `contains`, and JSON only with `has`")
            }
            "eq" => is(Order::Equal),
            "ne" => Ok(is(Order::Equal)?.negated()),
            "lt" if is_ordered => is(Order::Less),
            "lte" if is_ordered => is(Order::LessOrEqual),
            "gt" if is_ordered => is(Order::Greater),
            "gte" if is_ordered => is(Order::GreaterOrEqual),
            "in" | "nin" => {
                let all = value.as_array().filter(|all| all.len() <= VALUES);
                let Some(all) = all else { return wrong(&format!("must be a list of at most {VALUES} values")) };
                let all = all.iter().map(scalar).collect::<Result<Vec<_>, _>>()?;
                let condition = if all.is_empty() { Condition::Never } else { Condition::In(column, all) };
                Ok(if op == "in" { condition } else { condition.negated() })
            }
            "has" => match value.as_bool() {
                Some(true) => Ok(Condition::Has(column)),
                Some(false) => Ok(Condition::Has(column).negated()),
                None => wrong("must be true or false"),
            },
            "contains" if field.kind == FieldKind::Choices => match value.as_str() {
                Some(one) => Ok(Condition::Holds(column, one.to_owned())),
                None => wrong("must be a text"),
            },
            "contains" | "starts_with" if texts => {
                let Some(text) = value.as_str().filter(|text| text.len() <= VALUES) else {
                    return wrong("must be a text");
                };
                let first = (op == "contains").then_some(Piece::Any);
                let pieces = first.into_iter().chain(text.chars().map(Piece::One)).chain([Piece::Any]);
                Ok(Condition::Like(column, pieces.collect()))
            }
            _ => wrong(&format!(
                "a {} is compared with eq, ne, in, nin, has{}{}",
                field.kind,
                if is_ordered { ", lt, lte, gt, gte" } else { "" },
                if texts { ", contains, starts_with" } else { "" }
            )),
        }
    }

    /// A value to compare with: of a choice, any text. Whom the caller may not see, nothing names.
    fn scalar(&self, field: &Field, value: &Value) -> Result<Scalar, String> {
        let kind = if field.kind == FieldKind::Choice { FieldKind::Text } else { field.kind };
        let kept = veiled(Some(kind), Field::of(kind).value(value)?, self.read);
        table::scalar(kind, &kept).ok_or_else(|| "cannot be compared".to_owned())
    }

    /// A field that the caller may look for.
    pub fn field(&self, name: &str) -> Result<Field, String> {
        if let Some(kind) = own(name) {
            return Ok(Field::of(kind));
        }
        let field = self.of.field(name).ok_or_else(|| format!("there is no field `{}`", short(name)))?;
        match field.label {
            Some(Label::Personal) => {
                Err(format!("`{name}` is personal: it is kept apart, and records are not found by it"))
            }
            Some(label) if self.withheld.is(self.of, name) => {
                Err(format!("`{name}` is {label}, and you may not read it"))
            }
            label => {
                label.iter().for_each(|label| self.read.mark(*label));
                Ok(field.clone())
            }
        }
    }
}

type Read = Result<Condition, (String, String)>;

/// The type of what every record has.
fn own(name: &str) -> Option<FieldKind> {
    Some(match name {
        "id" => FieldKind::Text,
        "version" => FieldKind::Integer,
        "created_by" | "updated_by" => FieldKind::Actor,
        "created_at" | "updated_at" => FieldKind::Time,
        name => {
            debug_assert!(!OWN.contains(&name) || matches!(name, "collection" | "deleted_at" | "flags"));
            return None;
        }
    })
}

fn short(name: &str) -> String {
    name.chars().take(64).collect::<String>().escape_debug().to_string()
}
