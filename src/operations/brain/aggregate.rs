//! Figures about records: counts, sums and the like, in groups, of those records alone that the caller may read.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::filter::Filters;
use super::judged::{Withheld, may_read, values_of};
use super::shown::veiled;
use super::{COLLECTION, known};
use crate::gate::{Permit, Query, Reader, Spec, Target, post};
use crate::store::brain::query::{Figures, Grain, Group, Measure, TOO_LARGE};
use crate::types::collection::Collection;
use crate::types::condition::{Condition, Scalar, Values};
use crate::types::field::FieldKind;
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::Reach;
use crate::types::time::Time;

/// The most groups of one answer, figures of a group, and fields to group by.
const MOST: usize = 1_000;
const MOST_MEASURES: usize = 20;
const MOST_GROUPED: usize = 4;
/// How many records are asked about one by one, where the policies cannot be asked of the database.
const PATIENCE: usize = 100_000;
const CHUNK: usize = 1_000;

/// What is figured out.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Wanted {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The figures: `count`, or `sum:total`, `avg:total`, `min:total`, `max:total`, `distinct:vendor`; 1 to 20.
    #[schemars(length(min = 1, max = 20))]
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', default_value = "count")]
    pub measures: Vec<String>,
    /// The fields to group by, at most 4: `status`, or `created_at:month` (day, month, year).
    #[schemars(length(max = 4))]
    #[serde(default)]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub group_by: Vec<String>,
    /// What must hold of a record, as in a query.
    #[serde(default)]
    #[arg(long, value_name = "JSON", value_parser = super::values::json)]
    pub filter: Option<Value>,
}

/// The figures of one group.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The group, by what it is grouped by.
    #[schemars(extend("x-names" = "json"))]
    pub group: Map<String, Value>,
    /// The figures, by what was asked for.
    #[schemars(extend("x-names" = "json"))]
    pub values: Map<String, Value>,
}

/// Figure out something about records.
pub enum Aggregate {}

impl Query for Aggregate {
    const SPEC: Spec = Spec {
        name: "record.aggregate",
        doc: "Count records, add up their numbers and the like, in groups: of the records alone that the caller may read. Groups of \
              fewer records than the collection allows are left out.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/aggregate").listed(),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = Wanted;
    type Output = Vec<Figure>;

    fn target(input: &Wanted, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: Wanted, read: &Reader<'_>) -> Result<Vec<Figure>, Stop> {
        let of = &*known(&input.collection, read)?;
        let withheld = Withheld::of(of, read);
        let filters = Filters { of, withheld: &withheld, read };
        let bounds =
            [("measures", input.measures.len(), 1, MOST_MEASURES), ("group_by", input.group_by.len(), 0, MOST_GROUPED)];
        if let Some((name, _, least, most)) =
            bounds.into_iter().find(|(_, count, least, most)| !(least..=most).contains(&count))
        {
            return Err(Refusal::field(name, format!("must be {least} to {most}")).into());
        }
        let measures = input.measures.iter().map(|text| measure(text, &filters)).collect::<Result<Vec<_>, _>>()?;
        let groups = input.group_by.iter().map(|text| group(text, &filters)).collect::<Result<Vec<_>, _>>()?;
        let filter = filters.read(input.filter.as_ref())?;
        let least = of.smallest_group();
        let rows = match read.rows("record.read", of) {
            Some(rows) => {
                let plain: (Vec<Group>, Vec<Measure>) = (
                    groups.iter().map(|one| one.0.clone()).collect(),
                    measures.iter().map(|one| one.0.clone()).collect(),
                );
                read.figures(of, &Condition::all([rows, filter]), (&plain.0, &plain.1), (least, MOST))?
            }
            None => judged(of, &filter, (&groups, &measures), least, read)?,
        };
        let shown = |(grouped, figures, _): Figures| Figure {
            group: named(&input.group_by, grouped, groups.iter().map(|one| one.1), read),
            values: named(&input.measures, figures, measures.iter().map(|one| one.1), read),
        };
        Ok(rows.into_iter().map(shown).collect())
    }
}

/// A figure or a group with the type of its values; texts and counts have none.
type Typed<T> = (T, Option<FieldKind>);

fn named(
    names: &[String],
    values: Vec<Option<Scalar>>,
    kinds: impl Iterator<Item = Option<FieldKind>>,
    read: &Reader<'_>,
) -> Map<String, Value> {
    let value = |value: Option<Scalar>, kind: Option<FieldKind>| match (value, kind) {
        (Some(Scalar::Number(number)), Some(kind)) => kind.of_number(number),
        (Some(Scalar::Number(number)), None) => number.into(),
        (Some(Scalar::Text(text)), kind) => veiled(kind, text.into(), read),
        (None, _) => Value::Null,
    };
    names.iter().zip(values).zip(kinds).map(|((name, one), kind)| (name.clone(), value(one, kind))).collect()
}

fn measure(text: &str, filters: &Filters<'_>) -> Result<Typed<Measure>, Refusal> {
    let wrong = |what: String| Refusal::field("measures", what);
    if text == "count" {
        return Ok((Measure::Count, None));
    }
    let short: String = text.chars().take(80).collect();
    let unread = || {
        wrong(format!(
            "`{}`: must be count, or sum, avg, min, max, distinct and a field, such as sum:total",
            short.escape_debug()
        ))
    };
    let (function, name) = text.split_once(':').ok_or_else(unread)?;
    let field = filters.field(name).map_err(wrong)?;
    let column = name.to_owned();
    let typed = Some(field.kind);
    match function {
        "sum" if field.kind.is_number() => Ok((Measure::Sum(column), typed)),
        // The average of whole numbers is rounded as they are.
        "avg" if field.kind.is_number() => Ok((Measure::Average(column), typed)),
        "sum" | "avg" => Err(wrong(format!("`{name}` is a {}, and only numbers are added up", field.kind))),
        "min" if field.kind.is_comparable() => Ok((Measure::Least(column), typed)),
        "max" if field.kind.is_comparable() => Ok((Measure::Most(column), typed)),
        "distinct" if field.kind.is_comparable() => Ok((Measure::Different(column), None)),
        "min" | "max" | "distinct" => Err(wrong(format!("a {} has no order", field.kind))),
        _ => Err(unread()),
    }
}

fn group(text: &str, filters: &Filters<'_>) -> Result<Typed<Group>, Refusal> {
    let wrong = |what: String| Refusal::field("group_by", what);
    let (name, grain) = text.split_once(':').map_or((text, None), |(name, grain)| (name, Some(grain)));
    let field = filters.field(name).map_err(wrong)?;
    let column = name.to_owned();
    let is_time = matches!(field.kind, FieldKind::Date | FieldKind::Time);
    match grain {
        None if field.kind.is_comparable() => Ok((Group { column, grain: None }, Some(field.kind))),
        None => Err(wrong(format!("records are not grouped by a {}", field.kind))),
        Some(_) if !is_time => Err(wrong(format!("`{name}` is no time: it has neither day, month nor year"))),
        Some("day") => Ok((Group { column, grain: Some(Grain::Day) }, None)),
        Some("month") => Ok((Group { column, grain: Some(Grain::Month) }, None)),
        Some("year") => Ok((Group { column, grain: Some(Grain::Year) }, None)),
        Some(_) => Err(wrong("must be a field, or one with day, month or year, such as created_at:month".into())),
    }
}

/// The same of records that are asked about one by one.
fn judged(
    of: &Collection,
    filter: &Condition,
    (groups, measures): (&[Typed<Group>], &[Typed<Measure>]),
    least: u32,
    read: &Reader<'_>,
) -> Result<Vec<Figures>, Stop> {
    let mut gathered: BTreeMap<Vec<Option<Scalar>>, Vec<Values>> = BTreeMap::new();
    let (mut after, mut left) = (None, PATIENCE);
    loop {
        let chunk = read.records(of, filter, &[], after.as_ref(), CHUNK)?;
        let last = chunk.len() < CHUNK;
        for record in chunk {
            left = left.checked_sub(1).ok_or_else(|| {
                let what = format!("the policies must be asked about more than {PATIENCE} records; narrow it down");
                Refusal::field("filter", what)
            })?;
            after = Some(crate::store::brain::query::After { values: Vec::new(), id: record.id.clone() });
            if may_read(of, &record, read) {
                let values = values_of(of, &record);
                let key = groups.iter().map(|(group, _)| period(group, values.get(&group.column))).collect();
                gathered.entry(key).or_default().push(values);
            }
        }
        if last {
            break;
        }
    }
    if groups.is_empty() && gathered.is_empty() && least <= 1 {
        gathered.insert(Vec::new(), Vec::new());
    }
    let enough = |rows: &Vec<Values>| groups.is_empty() && least <= 1 || rows.len() >= least as usize;
    let figures = |rows: &[Values]| -> Result<Vec<_>, Refusal> {
        measures.iter().map(|(measure, _)| figure(measure, rows)).collect()
    };
    let kept = gathered.into_iter().filter(|(_, rows)| enough(rows)).take(MOST);
    kept.map(|(key, rows)| Ok((key, figures(&rows)?, rows.len() as i64))).collect()
}

fn period(group: &Group, value: Option<&Scalar>) -> Option<Scalar> {
    let length = match group.grain {
        None => return value.cloned(),
        Some(Grain::Day) => 10,
        Some(Grain::Month) => 7,
        Some(Grain::Year) => 4,
    };
    match value {
        Some(Scalar::Number(at)) => Some(Scalar::Text(Time(*at).to_string().chars().take(length).collect())),
        _ => None,
    }
}

fn figure(measure: &Measure, rows: &[Values]) -> Result<Option<Scalar>, Refusal> {
    let of = |column: &str| rows.iter().filter_map(|row| row.get(column)).cloned().collect::<Vec<Scalar>>();
    let numbers = |column: &str| -> Vec<i64> {
        let number = |scalar: Scalar| if let Scalar::Number(number) = scalar { Some(number) } else { None };
        of(column).into_iter().filter_map(number).collect()
    };
    Ok(match measure {
        Measure::Count => Some(Scalar::Number(rows.len() as i64)),
        Measure::Sum(column) => {
            let all = numbers(column);
            let total = all.iter().try_fold(0_i64, |total, number| total.checked_add(*number));
            let total = total.ok_or_else(|| Refusal::field("measures", TOO_LARGE))?;
            (!all.is_empty()).then_some(Scalar::Number(total))
        }
        Measure::Average(column) => {
            let all = numbers(column);
            let total: f64 = all.iter().map(|number| *number as f64).sum();
            (!all.is_empty()).then(|| Scalar::Number((total / all.len() as f64).round() as i64))
        }
        Measure::Least(column) => of(column).into_iter().min(),
        Measure::Most(column) => of(column).into_iter().max(),
        Measure::Different(column) => {
            Some(Scalar::Number(of(column).into_iter().collect::<BTreeSet<_>>().len() as i64))
        }
    })
}
