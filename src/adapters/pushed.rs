//! What PostgreSQL is asked, so that it answers with few rows: the columns as texts, the part of a condition that it can judge
//! as we do, and the order.
//!
//! Always true: of each row of which the condition holds here, the part that is asked holds there. Where the two could differ,
//! nothing is asked, and the row is judged here alone.

use std::fmt::Write as _;

use super::{LONGEST_VALUE, Wanted};
use types::collection::{Collection, Source};
use types::condition::{Condition, Order, Piece, Scalar};
use types::field::FieldKind;
use types::time::{DAY, Time};

/// A question, with what is bound to its `$1`, `$2`, ...
#[derive(Debug, PartialEq, Eq)]
pub struct PushedQuery {
    pub sql: String,
    pub given: Vec<String>,
}

/// The most values of a list that are asked for one by one.
const MOST_LISTED: usize = 1_000;

/// The most values that are bound in one question.
const MOST_BOUND: usize = 10_000;

pub fn push_down(wanted: &Wanted<'_>, most: usize) -> PushedQuery {
    let Wanted { of, source, condition, sorted } = wanted;
    let mut asking = Asking { of, source, given: Vec::new() };
    let shown = |(name, field): (&String, &types::field::Field)| shown(&asking.column(name), field.kind);
    let columns: Vec<String> = of.spec.fields.iter().map(shown).collect();
    let table: Vec<String> = source.table.split('.').map(quoted).collect();
    let condition = asking.part(condition).filter(|_| asking.given.len() <= MOST_BOUND);
    if condition.is_none() {
        asking.given.clear();
    }
    let order = asking.order(sorted);
    let mut sql = format!("SELECT {} FROM {}", columns.join(", "), table.join("."));
    if let Some(condition) = condition {
        let _ = write!(sql, " WHERE {condition}");
    }
    let _ = write!(sql, " ORDER BY {order} LIMIT {most}");
    PushedQuery { sql, given: asking.given }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column's value as a text. Times that have no year of four digits, such as `infinity`, are no value of ours: they come as the
/// system writes them, which fits no field.
fn shown(column: &str, kind: FieldKind) -> String {
    let within = |of: &str, text: String| {
        format!("CASE WHEN {of} >= '0001-01-01' AND {of} < '10000-01-01' THEN {text} ELSE 'no ' || {of}::text END")
    };
    match kind {
        FieldKind::Time => {
            let of = format!("{column}::timestamptz");
            within(&of, format!(r#"to_char({of}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#))
        }
        FieldKind::Date => within(&format!("{column}::date"), format!("to_char({column}::date, 'YYYY-MM-DD')")),
        FieldKind::Choices | FieldKind::Json => format!("left(to_jsonb({column})::text, {LONGEST_VALUE})"),
        _ => format!("left({column}::text, {LONGEST_VALUE})"),
    }
}

const fn is_text(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Text
            | FieldKind::LongText
            | FieldKind::Choice
            | FieldKind::Ref
            | FieldKind::Actor
            | FieldKind::Team
            | FieldKind::Link
    )
}

struct Asking<'a> {
    of: &'a Collection,
    source: &'a Source,
    given: Vec<String>,
}

impl<'a> Asking<'a> {
    fn column(&self, field: &str) -> String {
        quoted(self.source.column(field))
    }

    /// The column of what a condition looks at, if the system has it.
    fn place(&self, name: &'a str) -> Option<(String, FieldKind)> {
        let name = if name == "id" { self.of.spec.key.first()? } else { name };
        Some((self.column(name), self.of.field(name)?.kind))
    }

    fn bind(&mut self, value: String) -> String {
        self.given.push(value);
        format!("${}::text", self.given.len())
    }

    /// The part of a condition that can be asked; none where nothing can.
    fn part(&mut self, condition: &'a Condition) -> Option<String> {
        let bound = self.given.len();
        let part = self.tried(condition);
        if part.is_none() {
            self.given.truncate(bound);
        }
        part
    }

    fn tried(&mut self, condition: &'a Condition) -> Option<String> {
        match condition {
            Condition::Always | Condition::Holds(..) => None,
            Condition::Never => Some("FALSE".into()),
            Condition::All(inner) => {
                let parts: Vec<String> = inner.iter().filter_map(|one| self.part(one)).collect();
                (!parts.is_empty()).then(|| format!("({})", parts.join(" AND ")))
            }
            // One way that cannot be asked leaves all rows.
            Condition::Any(inner) => {
                let parts = inner.iter().map(|one| self.part(one)).collect::<Option<Vec<_>>>()?;
                Some(format!("({})", if parts.is_empty() { "FALSE".into() } else { parts.join(" OR ") }))
            }
            Condition::Not(inner) => match &**inner {
                Condition::Has(name) => {
                    let (column, kind) = self.place(name)?;
                    (kind != FieldKind::Json).then(|| format!("{column} IS NULL"))
                }
                _ => None,
            },
            Condition::Has(name) => Some(format!("{} IS NOT NULL", self.place(name)?.0)),
            Condition::Is(name, order, with) => {
                let (column, kind) = self.place(name)?;
                self.compared(&column, kind, *order, with)
            }
            Condition::In(name, all) => {
                let (column, kind) = self.place(name)?;
                let one = |with| self.compared(&column, kind, Order::Equal, with);
                let parts = (all.len() <= MOST_LISTED).then(|| all.iter().map(one).collect::<Option<Vec<_>>>())??;
                Some(format!("({})", if parts.is_empty() { "FALSE".into() } else { parts.join(" OR ") }))
            }
            Condition::Like(name, pattern) => {
                let (column, kind) = self.place(name)?;
                let pattern: String = pattern.iter().map(like).collect();
                (is_text(kind) && !pattern.contains('\0'))
                    .then(|| format!(r#"{column}::text COLLATE "C" LIKE {}"#, self.bind(pattern)))
            }
        }
    }

    fn compared(&mut self, column: &str, kind: FieldKind, order: Order, with: &Scalar) -> Option<String> {
        let sign = order.sign();
        match (kind, with) {
            (kind, Scalar::Text(text)) if is_text(kind) && !text.contains('\0') => {
                let value = self.bind(text.clone());
                let collated = if order == Order::Equal { "" } else { r#" COLLATE "C""# };
                Some(format!("{column}::text{collated} {sign} {value}"))
            }
            // By its own number the key is found, whatever the text of it was made from.
            (FieldKind::Integer, Scalar::Text(text)) => {
                let number: i64 = text.parse().ok()?;
                (order == Order::Equal).then(|| format!("{column} = {}::bigint", self.bind(number.to_string())))
            }
            (FieldKind::Integer, Scalar::Number(number)) => {
                Some(format!("{column} {sign} {}::bigint", self.bind(number.to_string())))
            }
            (FieldKind::Decimal | FieldKind::Money, Scalar::Number(number)) => {
                let value = kind.of_number(*number);
                Some(format!("{column} {sign} {}::numeric", self.bind(value.as_str()?.to_owned())))
            }
            (FieldKind::Flag, Scalar::Number(number)) if order == Order::Equal => {
                Some(format!("{column} = {}", if *number == 0 { "FALSE" } else { "TRUE" }))
            }
            (FieldKind::Date, Scalar::Number(at)) => {
                let day = at - at.rem_euclid(DAY);
                let sign = match order {
                    Order::Equal if day != *at => return None,
                    Order::Equal => "=",
                    Order::Less | Order::LessOrEqual => "<=",
                    Order::Greater | Order::GreaterOrEqual => ">=",
                };
                let text = shown_time(day)?.get(..10)?.to_owned();
                Some(format!("{column}::date {sign} {}::date", self.bind(text)))
            }
            // Of a time, less than a millisecond is left out here.
            (FieldKind::Time, Scalar::Number(at)) => match order {
                Order::Less | Order::LessOrEqual => self.time(column, "<", at.checked_add(1)?),
                Order::Greater | Order::GreaterOrEqual => self.time(column, ">=", *at),
                Order::Equal => {
                    let (from, to) = (self.time(column, ">=", *at)?, self.time(column, "<", at.checked_add(1)?)?);
                    Some(format!("({from} AND {to})"))
                }
            },
            _ => None,
        }
    }

    fn time(&mut self, column: &str, sign: &str, at: i64) -> Option<String> {
        Some(format!("{column} {sign} {}::timestamptz", self.bind(shown_time(at)?)))
    }

    /// The order as we have it: texts by their bytes, what is not there last, then by the key.
    fn order(&self, sorted: &[(&'a str, bool)]) -> String {
        let key = self.of.spec.key.first().map_or("", String::as_str);
        let mut by: Vec<(&str, bool)> =
            sorted.iter().map(|(name, down)| (if *name == "id" { key } else { name }, *down)).collect();
        if by.iter().all(|(name, _)| *name != key) {
            by.push((key, false));
        }
        let column = |(name, down): (&str, bool)| {
            let field = self.of.field(name)?;
            let collated = if is_text(field.kind) { r#"::text COLLATE "C""# } else { "" };
            Some(format!("{}{collated}{} NULLS LAST", self.column(name), if down { " DESC" } else { "" }))
        };
        by.into_iter().filter_map(column).collect::<Vec<_>>().join(", ")
    }
}

/// A time of four-digit years, which are all that PostgreSQL and we write alike.
fn shown_time(at: i64) -> Option<String> {
    let text = Time(at).to_string();
    (text.len() <= 24 && text.ends_with('Z') && !text.starts_with('-')).then_some(text)
}

fn like(piece: &Piece) -> String {
    match piece {
        Piece::Any => "%".into(),
        Piece::One(c @ ('%' | '_' | '\\')) => format!("\\{c}"),
        Piece::One(c) => c.to_string(),
    }
}
