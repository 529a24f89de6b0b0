//! Aggregates records (counts, sums and the like, in groups), counting only records that the caller may read.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::figures::{Plan, Typed, group};
use super::filter::Filters;
use super::judged::{Withheld, may_read, values_of};
use super::shown::veiled;
use super::{COLLECTION, is_kept_elsewhere, known};
use gate::{Permit, Query, Reader, Spec, Target, post};
use store::brain::query::{Figures, Group, Measure};
use store::brain::sum;
use types::collection::Collection;
use types::condition::{Condition, Scalar, Values};
use types::expr::NoFigure;
use types::field::FieldKind;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::semantics::{Agg, Grain};
use types::time::Time;
use types::view::MOST_GROUPED;

/// The maximum number of groups in one answer.
const MOST: usize = 1_000;
/// The maximum number of records judged one by one, where the policies cannot be pushed down into the query.
const PATIENCE: usize = 100_000;
const CHUNK: usize = 1_000;

/// What is figured out.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Wanted {
    /// The collection.
    #[arg(value_name = "COLLECTION")]
    pub collection: String,
    /// The figures: `count`, or `sum:total`, `avg:total`, `min:total`, `max:total`, `distinct:vendor`; 1 to 20, metrics
    /// included.
    #[schemars(length(max = 20))]
    #[serde(default)]
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', default_value = "count")]
    #[arg(default_value_if("metrics", clap::builder::ArgPredicate::IsPresent, None))]
    pub measures: Vec<String>,
    /// Metrics that the collection's semantics define.
    #[schemars(length(max = 20))]
    #[serde(default)]
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// What to group by, at most 4: a field, one with a period such as `created_at:month` (day, month, year), or a dimension.
    #[schemars(length(max = 4))]
    #[serde(default)]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub group_by: Vec<String>,
    /// The filter, as in a query.
    #[serde(default)]
    #[arg(long, value_name = "JSON", value_parser = super::values::json)]
    pub filter: Option<Value>,
}

/// The figures of one group.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The group: its value for each entry of `group_by`.
    #[schemars(extend("x-names" = "json"))]
    pub group: Map<String, Value>,
    /// The figures, by the name requested. `null` if there are no values, if a metric covers fewer records than the
    /// collection allows, or if the figure is too large.
    #[schemars(extend("x-names" = "json"))]
    pub values: Map<String, Value>,
    /// Which of them are `null` because they are too large: whole numbers beyond 2^53 - 1, decimals beyond 2^63 / 10^4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_large: Vec<String>,
}

/// Aggregate records.
pub enum Aggregate {}

impl Query for Aggregate {
    const SPEC: Spec = Spec {
        name: "record.aggregate",
        doc: "Count records and aggregate their values in groups, over the records that the caller may read. Groups of \
              fewer records than the collection allows are left out; more than 1000 groups are refused.",
        scope: Reach::Full,
        route: post("/brain/collections/{collection}/aggregate").listed().partial(),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = Wanted;
    type Output = Vec<Figure>;

    fn target(input: &Wanted, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.collection_target(known(&input.collection, read)?.name()))
    }

    fn run(_: Permit<Self>, input: Wanted, read: &Reader<'_>) -> Result<Vec<Figure>, Stop> {
        figures(&input, read)
    }

    fn is_elsewhere(input: &Wanted, read: &Reader<'_>) -> bool {
        is_kept_elsewhere(&input.collection, read)
    }
}

/// Computes the requested aggregates, as far as the caller may know them.
pub fn figures(input: &Wanted, read: &Reader<'_>) -> Result<Vec<Figure>, Stop> {
    let of = &*known(&input.collection, read)?;
    let withheld = Withheld::of(of, read);
    let filters = Filters { of, withheld: &withheld, read, bygone: false };
    let plan = Plan::of(&input.measures, &input.metrics, &filters)?;
    if input.group_by.len() > MOST_GROUPED {
        return Err(Refusal::field("group_by", format!("must be 0 to {MOST_GROUPED}")).into());
    }
    let groups = input.group_by.iter().map(|text| group(text, &filters)).collect::<Result<Vec<_>, _>>()?;
    let filter = filters.read(input.filter.as_ref())?;
    let least = of.smallest_group();
    let rows = match read.rows("record.read", of) {
        Some(rows) => {
            let grouped: Vec<Group> = groups.iter().map(|one| one.0.clone()).collect();
            let measures: Vec<Measure> = plan.measures.iter().map(|one| one.0.clone()).collect();
            read.figures(of, &Condition::all([rows, filter]), (&grouped, &measures), (least, MOST + 1))?
        }
        None => judged(of, &filter, (&groups, &plan.measures), least, read)?,
    };
    if rows.len() > MOST {
        let what =
            format!("makes more than {MOST} groups: group by a longer period, or narrow the records down with filter");
        return Err(Refusal::field("group_by", what).into());
    }
    let shown = |value: Scalar, kind: Option<FieldKind>| shown(value, kind, read);
    let figure = |(grouped, figures, _): Figures| {
        let group = input.group_by.iter().zip(grouped).zip(&groups);
        let group = group
            .map(|((name, value), (_, kind))| (name.clone(), value.map_or(Value::Null, |value| shown(value, *kind))));
        let mut figure = Figure { group: group.collect(), values: Map::new(), too_large: Vec::new() };
        for (name, value) in plan.answers(&figures, &shown) {
            if value == Err(NoFigure::TooLarge) {
                figure.too_large.push(name.to_owned());
            }
            figure.values.insert(name.to_owned(), value.unwrap_or_default());
        }
        figure
    };
    Ok(rows.into_iter().map(figure).collect())
}

fn shown(value: Scalar, kind: Option<FieldKind>, read: &Reader<'_>) -> Value {
    match (value, kind) {
        (Scalar::Number(number), Some(kind)) => kind.of_number(number),
        (Scalar::Number(number), None) => number.into(),
        (Scalar::Text(text), kind) => veiled(kind, text.into(), read),
    }
}

/// Same, judging records one by one.
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
                let what = format!("policies must decide more than {PATIENCE} records one by one; narrow it down");
                Refusal::field("filter", what)
            })?;
            after = Some(store::brain::query::After { values: Vec::new(), id: record.id.clone() });
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
    let figures = |rows: &[Values]| measures.iter().map(|(measure, _)| figure(measure, rows)).collect();
    let kept = gathered.into_iter().filter(|(_, rows)| enough(rows)).take(MOST + 1);
    Ok(kept.map(|(key, rows)| (key, figures(&rows), rows.len() as i64)).collect())
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

fn figure(measure: &Measure, rows: &[Values]) -> Result<Scalar, NoFigure> {
    let rows: Vec<&Values> = rows.iter().filter(|row| measure.only.holds(row)).collect();
    if measure.only != Condition::Always && measure.least > 1 && rows.len() < measure.least as usize {
        return Err(NoFigure::Absent);
    }
    let count = |count: usize| Ok(Scalar::Number(count as i64));
    let column = measure.column.as_deref().unwrap_or_default();
    let all = || rows.iter().filter_map(|row| row.get(column)).cloned();
    let number = |scalar: Scalar| if let Scalar::Number(number) = scalar { Some(number) } else { None };
    let numbers = || all().filter_map(number).collect::<Vec<i64>>();
    let total = || numbers().into_iter().map(i128::from).sum::<i128>();
    match measure.agg {
        Agg::Count => count(rows.len()),
        Agg::Sum | Agg::Avg if numbers().is_empty() => Err(NoFigure::Absent),
        Agg::Sum => i64::try_from(total()).map(Scalar::Number).map_err(|_| NoFigure::TooLarge),
        Agg::Avg => {
            let mean = sum::mean(total(), numbers().len() as i128, measure.scale);
            mean.map(Scalar::Number).ok_or(NoFigure::TooLarge)
        }
        Agg::Min => all().min().ok_or(NoFigure::Absent),
        Agg::Max => all().max().ok_or(NoFigure::Absent),
        Agg::Distinct => count(all().collect::<BTreeSet<_>>().len()),
    }
}
