//! Queries records by a condition: a page of them, or aggregates. A selective index is used where there is one; the branches of
//! an `OR` are queried separately, because SQLite scans every row for one `OR` over two indexes.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};

use super::{Record, sum, table};
use crate::search::{First, HITS, Words};
use types::collection::Collection;
use types::condition::{Condition, Piece, Scalar};
use types::expr::NoFigure;
use types::semantics::{Agg, Grain};

/// A sort column of a page; ties are ordered by id. Rows without a value come last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    pub column: String,
    pub descending: bool,
}

/// Where a page begins: after the row with these sort values and this id.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct After {
    pub values: Vec<Option<Scalar>>,
    pub id: String,
}

/// A part of a statement with the values bound to its `?`.
#[derive(Default)]
struct Text {
    sql: String,
    given: Vec<Sql>,
}

const AND: &str = " AND ";
const OR: &str = " OR ";

impl Text {
    fn push(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    fn bind(&mut self, value: Sql) {
        self.sql.push('?');
        self.given.push(value);
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Always => self.push("TRUE"),
            Condition::Never => self.push("FALSE"),
            Condition::All(inner) => self.joined(inner, AND),
            Condition::Any(inner) => self.joined(inner, OR),
            Condition::Not(inner) => {
                self.push("NOT (");
                self.condition(inner);
                self.push(")");
            }
            Condition::Has(column) => self.push(&format!("{} IS NOT NULL", table::column(column))),
            Condition::Is(column, order, with) => {
                self.there(column);
                self.push(&format!("{} {} ", table::column(column), order.sign()));
                self.bind(table::to_sql(with));
                self.push(")");
            }
            Condition::In(column, all) => {
                self.there(column);
                self.push(&format!("{} IN (", table::column(column)));
                for (number, one) in all.iter().enumerate() {
                    self.push(if number == 0 { "" } else { ", " });
                    self.bind(table::to_sql(one));
                }
                self.push("))");
            }
            Condition::Holds(column, one) => {
                self.there(column);
                self.push(&format!(
                    "EXISTS (SELECT 1 FROM json_each({}) AS item WHERE item.value = ",
                    table::column(column)
                ));
                self.bind(Sql::Text(one.clone()));
                self.push("))");
            }
            Condition::Like(column, pattern) => {
                self.there(column);
                self.push(&format!("{} GLOB ", table::column(column)));
                self.bind(Sql::Text(glob(pattern)));
                self.push(")");
            }
        }
    }

    /// Requires a value: a missing one satisfies neither a condition nor its negation.
    fn there(&mut self, column: &str) {
        self.push(&format!("({0} IS NOT NULL AND ", table::column(column)));
    }

    /// Nests balanced: the database parses a thousand in a row as nested a thousand deep, which exceeds its limit.
    fn joined(&mut self, inner: &[Condition], word: &str) {
        match inner {
            [] => self.push(if word == AND { "TRUE" } else { "FALSE" }),
            [one] => self.condition(one),
            many => {
                let (first, second) = many.split_at(many.len() / 2);
                self.push("(");
                self.joined(first, word);
                self.push(word);
                self.joined(second, word);
                self.push(")");
            }
        }
    }
}

/// Formats a pattern for `GLOB`.
fn glob(pattern: &[Piece]) -> String {
    let sign = |piece: &Piece| match piece {
        Piece::Any => "*".to_owned(),
        Piece::One(c @ ('*' | '?' | '[')) => format!("[{c}]"),
        Piece::One(c) => c.to_string(),
    };
    pattern.iter().map(sign).collect()
}

/// Formats `ORDER BY`.
fn order(sorted: &[Sorted]) -> String {
    let by = sorted.iter().map(|by| {
        let column = table::column(&by.column);
        let (way, nulls) = if by.descending { (" DESC", "") } else { ("", " NULLS LAST") };
        format!("{column}{way}{nulls}, ")
    });
    format!("ORDER BY {}id", by.collect::<String>())
}

/// Restricts to rows after a position: for each sort column, those equal in all before it and later in it.
fn later(text: &mut Text, sorted: &[Sorted], after: &After) {
    text.push("(");
    for place in 0..=sorted.len() {
        text.push(if place == 0 { "(" } else { " OR (" });
        for (by, value) in sorted.iter().zip(&after.values).take(place) {
            text.push(&format!("{} IS ", table::column(&by.column)));
            text.bind(value.as_ref().map_or(Sql::Null, table::to_sql));
            text.push(" AND ");
        }
        match (sorted.get(place), after.values.get(place)) {
            (Some(_), Some(None)) => text.push("FALSE"),
            (Some(by), Some(Some(value))) => {
                let column = table::column(&by.column);
                text.push(&format!("({column} {} ", if by.descending { "<" } else { ">" }));
                text.bind(table::to_sql(value));
                text.push(&format!(" OR {column} IS NULL)"));
            }
            _ => {
                text.push("id > ");
                text.bind(Sql::Text(after.id.clone()));
            }
        }
        text.push(")");
    }
    text.push(")");
}

/// Splits a condition into branches, each of which may use an index of its own.
fn ways(condition: &Condition) -> Vec<Condition> {
    match condition {
        Condition::Any(ways) if ways.len() <= MOST_WAYS => ways.clone(),
        Condition::All(parts) => {
            let split = parts.iter().position(|part| matches!(part, Condition::Any(ways) if ways.len() <= MOST_WAYS));
            let Some(place) = split else { return vec![condition.clone()] };
            let rest: Vec<&Condition> =
                parts.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, part)| part).collect();
            match parts.get(place) {
                Some(Condition::Any(ways)) => {
                    let with = |way: &Condition| Condition::all(rest.iter().copied().cloned().chain([way.clone()]));
                    ways.iter().map(with).collect()
                }
                _ => vec![condition.clone()],
            }
        }
        other => vec![other.clone()],
    }
}

/// With more branches than this, the condition is not split.
const MOST_WAYS: usize = 8;

/// Returns matching records in order after a position.
pub fn page(
    conn: &Connection,
    of: &Collection,
    condition: &Condition,
    sorted: &[Sorted],
    after: Option<&After>,
    limit: usize,
) -> rusqlite::Result<Vec<Record>> {
    let (mut text, order) = (Text::default(), order(sorted));
    let ways = ways(condition);
    for (number, way) in ways.iter().enumerate() {
        text.push(if number == 0 { "SELECT * FROM (" } else { " UNION SELECT * FROM (" });
        text.push(&table::select(of));
        text.push(" WHERE ");
        text.condition(way);
        if let Some(after) = after {
            text.push(" AND ");
            later(&mut text, sorted, after);
        }
        text.push(&format!(" {order} LIMIT {limit})"));
    }
    text.push(&format!(" {order} LIMIT {limit}"));
    conn.prepare_cached(&text.sql)?.query_map(params_from_iter(text.given), |row| table::read(row, of))?.collect()
}

/// Returns matching records that contain the words, at most so many.
pub fn found(
    conn: &Connection,
    of: &Collection,
    condition: &Condition,
    words: &Words,
    (first, limit): (First, usize),
) -> rusqlite::Result<Vec<Record>> {
    let mut text = Text { given: vec![Sql::Text(words.expression()), Sql::Text(of.name().into())], ..Text::default() };
    // Anonymous parameters follow the numbered ones.
    text.push(&format!(
        "{HITS} SELECT {} FROM {} JOIN hits USING (id) WHERE ",
        table::selected(of),
        table::name(of.name())
    ));
    text.condition(condition);
    text.push(&format!(" ORDER BY {} LIMIT {limit}", first.sql()));
    conn.prepare_cached(&text.sql)?.query_map(params_from_iter(text.given), |row| table::read(row, of))?.collect()
}

/// An aggregate over the records of a group that match a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    pub agg: Agg,
    /// `None` to count records.
    pub column: Option<String>,
    /// The factor for an average, which is an integer here, to keep its decimal places.
    pub scale: u32,
    pub only: Condition,
    /// Fewer matching records leave the measure out; fewer records in a group leave the group out.
    pub least: u32,
}

impl Measure {
    fn write(&self, text: &mut Text) {
        let of = self.column.as_deref().map_or_else(|| "*".to_owned(), table::column);
        let function = match self.agg {
            Agg::Count => format!("count({of})"),
            Agg::Sum => format!("{}({of})", sum::SUM),
            Agg::Avg => format!("{}({of}, {})", sum::MEAN, self.scale),
            Agg::Min => format!("min({of})"),
            Agg::Max => format!("max({of})"),
            Agg::Distinct => format!("count(DISTINCT {of})"),
        };
        if self.only == Condition::Always {
            return text.push(&function);
        }
        let is_floored = self.least > 1;
        if is_floored {
            text.push("CASE WHEN count(*) FILTER (WHERE ");
            text.condition(&self.only);
            text.push(&format!(") >= {} THEN ", self.least));
        }
        text.push(&format!("{function} FILTER (WHERE "));
        text.condition(&self.only);
        text.push(if is_floored { ") END" } else { ")" });
    }
}

/// What records are grouped by: a column, or a period of a time column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub column: String,
    pub grain: Option<Grain>,
}

impl Group {
    fn sql(&self) -> String {
        let column = table::column(&self.column);
        let format = match self.grain {
            None => return column,
            Some(Grain::Day) => "%Y-%m-%d",
            Some(Grain::Month) => "%Y-%m",
            Some(Grain::Year) => "%Y",
        };
        format!("strftime('{format}', {column} / 1000, 'unixepoch')")
    }
}

/// A row of aggregates: group values, measures, and the number of records.
pub type Figures = (Vec<Option<Scalar>>, Vec<Result<Scalar, NoFigure>>, i64);

/// Aggregates matching records, in groups of at least `least` records.
pub fn figures(
    conn: &Connection,
    of: &Collection,
    condition: &Condition,
    (groups, measures): (&[Group], &[Measure]),
    (least, limit): (u32, usize),
) -> rusqlite::Result<Vec<Figures>> {
    let mut text = Text::default();
    text.push("SELECT ");
    groups.iter().for_each(|group| text.push(&format!("{}, ", group.sql())));
    for measure in measures {
        measure.write(&mut text);
        text.push(", ");
    }
    text.push(&format!("count(*) FROM {} WHERE ", table::name(of.name())));
    text.condition(condition);
    let grouped: Vec<String> = (1..=groups.len()).map(|number| number.to_string()).collect();
    if !grouped.is_empty() {
        text.push(&format!(" GROUP BY {}", grouped.join(", ")));
    }
    // An ungrouped query has a result even without records, unless small groups must not be revealed.
    let least = if grouped.is_empty() && least <= 1 { 0 } else { least };
    text.push(&format!(" HAVING count(*) >= {least}"));
    if !grouped.is_empty() {
        text.push(&format!(" ORDER BY {}", grouped.join(", ")));
    }
    text.push(&format!(" LIMIT {limit}"));
    let (first, all) = (groups.len(), groups.len() + measures.len());
    let read = |row: &rusqlite::Row<'_>| {
        let value = |place: usize| -> rusqlite::Result<Result<Scalar, NoFigure>> {
            Ok(match row.get::<_, Sql>(place)? {
                Sql::Integer(number) => Ok(Scalar::Number(number)),
                Sql::Text(text) => Ok(Scalar::Text(text)),
                Sql::Blob(_) => Err(NoFigure::TooLarge),
                Sql::Null | Sql::Real(_) => Err(NoFigure::Absent),
            })
        };
        let groups = (0..first).map(|place| Ok(value(place)?.ok())).collect::<rusqlite::Result<_>>()?;
        let figures = (first..all).map(value).collect::<rusqlite::Result<_>>()?;
        Ok((groups, figures, row.get(all)?))
    };
    conn.prepare_cached(&text.sql)?.query_map(params_from_iter(text.given), read)?.collect()
}
