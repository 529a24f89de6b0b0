//! Filters as people write them: `{"and": [...]}`, `{"or": [...]}`, `{"not": {...}}`, `{"total": {"gt": "100"}}`,
//! `{"status": "new"}`. The keys of one object must all hold.

use serde_json::{Map, Value};

use super::collection::Collection;
use super::condition::{Condition, Order, Piece, Scalar};
use super::field::{Field, FieldKind};

/// How deep a filter may nest, how many parts it may have, and how many values one `in`.
const DEPTH: usize = 20;
const PARTS: usize = 500;
const VALUES: usize = 1_000;
/// The most values of all of it: a statement takes so many, once for each way to a record.
const ALL_VALUES: usize = 3_000;
/// The same of a filter that is kept in a definition: a statement takes several of them.
const KEPT_VALUES: usize = 500;

/// What a filter may still hold.
struct Left<'a> {
    /// What the filter is called.
    at: &'a str,
    parts: usize,
    values: usize,
}

/// Where a filter is wrong, and what is wrong.
pub type Wrong = (String, String);

/// How somebody's filters are read: which fields they may look for, and what stands for a value that they give.
pub struct Reading<'a> {
    field: &'a dyn Fn(&str) -> Result<Field, String>,
    kept: &'a dyn Fn(FieldKind, Value) -> Value,
    values: usize,
    /// Whether it may look for a choice that is no option: of records as they were, and of another system's.
    any_choice: bool,
}

/// Checks whether a stored filter fits a collection, whoever uses it.
pub fn check(of: &Collection, filter: &Value, at: &str) -> Result<Condition, Wrong> {
    let (field, kept) = (|name: &str| of.findable(name), |_, value| value);
    let reading = Reading { field: &field, kept: &kept, values: KEPT_VALUES, any_choice: false };
    reading.read(filter, at)
}

impl<'a> Reading<'a> {
    pub fn new(
        field: &'a dyn Fn(&str) -> Result<Field, String>,
        kept: &'a dyn Fn(FieldKind, Value) -> Value,
        any_choice: bool,
    ) -> Reading<'a> {
        Reading { field, kept, values: ALL_VALUES, any_choice }
    }

    /// The condition that a filter comes to; `at` is what it is called where something is wrong.
    pub fn read(&self, filter: &Value, at: &str) -> Result<Condition, Wrong> {
        let mut left = Left { at, parts: PARTS, values: self.values };
        self.condition(filter, at, DEPTH, &mut left)
    }

    fn condition(&self, filter: &Value, at: &str, depth: usize, left: &mut Left<'_>) -> Read {
        let wrong = |what: String| Err((at.to_owned(), what));
        if depth == 0 {
            return wrong(format!("nests deeper than {DEPTH}"));
        }
        let many = || (left.at.to_owned(), format!("has more than {PARTS} parts"));
        left.parts = left.parts.checked_sub(1).ok_or_else(many)?;
        let Value::Object(parts) = filter else { return wrong("must be an object".into()) };
        let each = |key: &String, value: &Value, left: &mut Left<'_>| {
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

    fn tests(&self, name: &str, tests: &Map<String, Value>, at: &str, left: &mut Left<'_>) -> Read {
        if tests.is_empty() {
            (self.field)(name).map_err(|what| (at.to_owned(), what))?;
            return Err((at.to_owned(), "names no test, such as {\"eq\": …}".to_owned()));
        }
        let each = tests.iter().map(|(op, value)| self.test(name, op, value, &format!("{at}.{}", short(op)), left));
        Ok(Condition::all(each.collect::<Result<Vec<_>, _>>()?))
    }

    fn test(&self, name: &str, op: &str, value: &Value, at: &str, left: &mut Left<'_>) -> Read {
        let count = value.as_array().map_or(1, Vec::len);
        let many = || (left.at.to_owned(), format!("has more than {} values", self.values));
        left.values = left.values.checked_sub(count).ok_or_else(many)?;
        let field = (self.field)(name).map_err(|what| (at.to_owned(), what))?;
        let scalar = |value: &Value| self.scalar(&field, value).map_err(|what| (at.to_owned(), what));
        let wrong = |what: &str| Err((at.to_owned(), what.to_owned()));
        let column = name.to_owned();
        let is = |order| Ok(Condition::Is(column.clone(), order, scalar(value)?));
        // Who comes before whom would tell of those whom the reader may not see.
        let is_ordered =
            field.kind.is_comparable() && !matches!(field.kind, FieldKind::Flag | FieldKind::Actor | FieldKind::Team);
        let texts = matches!(field.kind, FieldKind::Text | FieldKind::LongText | FieldKind::Link | FieldKind::Choice);
        match op {
            "eq" if value.is_null() => Ok(Condition::Has(column).negated()),
            "ne" if value.is_null() => Ok(Condition::Has(column)),
            "eq" | "ne" | "in" | "nin" if matches!(field.kind, FieldKind::Choices | FieldKind::Json) => {
                wrong("use `contains` for a list, and only `has` for JSON")
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
                Some(one) => match self.option(&field, one) {
                    Ok(()) => Ok(Condition::Holds(column, one.to_owned())),
                    Err(what) => wrong(&what),
                },
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
                "{} {} is compared with eq, ne, in, nin, has{}{}",
                if matches!(field.kind, FieldKind::Actor | FieldKind::Integer) { "an" } else { "a" },
                field.kind,
                if is_ordered { ", lt, lte, gt, gte" } else { "" },
                if texts { ", contains, starts_with" } else { "" }
            )),
        }
    }

    /// A value to compare with.
    fn scalar(&self, field: &Field, value: &Value) -> Result<Scalar, String> {
        let is_choice = field.kind == FieldKind::Choice;
        let kind = if is_choice { FieldKind::Text } else { field.kind };
        let value = Field::of(kind).value(value)?;
        if let (true, Some(one)) = (is_choice, value.as_str()) {
            self.option(field, one)?;
        }
        let kept = (self.kept)(kind, value);
        Scalar::of(kind, &kept).ok_or_else(|| "cannot be compared".to_owned())
    }

    /// A choice that is no option, no record has: it is a slip.
    fn option(&self, field: &Field, one: &str) -> Result<(), String> {
        if self.any_choice || field.options.iter().any(|option| option == one) {
            return Ok(());
        }
        Err(format!("must be one of {}; it is never `{}`", field.options.join(", "), short(one)))
    }
}

type Read = Result<Condition, Wrong>;

fn short(name: &str) -> String {
    name.chars().take(64).collect::<String>().escape_debug().to_string()
}
