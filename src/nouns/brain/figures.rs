//! Plans the aggregates of a group of records: measures, metrics, and metrics computed from others. Each is decided as the
//! caller's own query, so a name grants nothing.

use serde_json::Value;

use super::filter::Filters;
use store::brain::query::{Group, Measure};
use types::condition::{Condition, Scalar};
use types::decimal::shown_decimal;
use types::expr::{Expr, NoFigure};
use types::field::{FieldKind, MOST_INTEGER};
use types::figures::{by_figure, by_group, no_metric, parsed_figure, parsed_group};
use types::refusal::Refusal;
use types::semantics::{Agg, Metric};
use types::view::MOST_MEASURES;

/// An aggregate or group with the type of its values; `None` for texts and counts.
pub type Typed<T> = (T, Option<FieldKind>);

/// The factor by which values with decimal places are scaled.
const SCALE: u32 = 10_000;

/// The plan of what to compute per group.
pub struct Plan {
    pub measures: Vec<Typed<Measure>>,
    /// The answers by name.
    answers: Vec<(String, Formula)>,
}

enum Formula {
    /// The measure at this index.
    One(usize),
    /// An expression over the measures at these indexes.
    Made(Expr, Vec<(String, usize)>),
}

impl Plan {
    pub fn of(measures: &[String], metrics: &[String], filters: &Filters<'_>) -> Result<Plan, Refusal> {
        if !(1..=MOST_MEASURES).contains(&(measures.len() + metrics.len())) {
            let what = format!("must be 1 to {MOST_MEASURES}, metrics included");
            return Err(Refusal::field("measures", what));
        }
        let (mut plan, mut known) = (Plan { measures: Vec::new(), answers: Vec::new() }, Vec::new());
        for text in measures {
            plan.answers.push((text.clone(), Formula::One(plan.measures.len())));
            plan.measures.push(measure(text, filters)?);
        }
        for name in metrics {
            let wrong = |what: String| Refusal::field("metrics", format!("`{name}`: {what}"));
            let metric = filters.of.spec.semantics.metrics.get(name);
            let metric = metric.ok_or_else(|| Refusal::field("metrics", no_metric(filters.of, name)))?;
            let formula = match &metric.expr {
                None => Formula::One(plan.place(name, metric, &mut known, filters).map_err(wrong)?),
                Some(expr) => {
                    let expr = Expr::parse(expr).map_err(wrong)?;
                    let part = |part: &str| {
                        let metric = filters.of.spec.semantics.metrics.get(part);
                        let metric = metric.ok_or_else(|| no_metric(filters.of, part))?;
                        let describe = |what: String| format!("`{part}`: {what}");
                        Ok((part.to_owned(), plan.place(part, metric, &mut known, filters).map_err(describe)?))
                    };
                    let parts = expr.names().into_iter().map(part).collect::<Result<_, String>>().map_err(wrong)?;
                    Formula::Made(expr, parts)
                }
            };
            plan.answers.push((name.clone(), formula));
        }
        if plan.measures.len() > MOST_MEASURES {
            let what = format!("need more than {MOST_MEASURES} figures together: ask for fewer at once");
            return Err(Refusal::field("metrics", what));
        }
        Ok(plan)
    }

    /// Returns the index of a metric's measure, adding it once.
    fn place(
        &mut self,
        name: &str,
        metric: &Metric,
        known: &mut Vec<(String, usize)>,
        filters: &Filters<'_>,
    ) -> Result<usize, String> {
        if let Some((_, place)) = known.iter().find(|(other, _)| other == name) {
            return Ok(*place);
        }
        let agg = metric.agg.ok_or("is itself computed from other metrics")?;
        let figured = metric.field.as_ref().map(|field| figured(agg, field, filters)).transpose()?;
        let only = metric.filter.as_ref().map(|filter| filters.read_at(filter, "filter")).transpose();
        let only = only.map_err(|(at, what)| format!("{at}: {what}"))?.unwrap_or(Condition::Always);
        let place = self.measures.len();
        let (measure, kind) = measured(agg, figured, filters);
        self.measures.push((Measure { only, ..measure }, kind));
        known.push((name.to_owned(), place));
        Ok(place)
    }

    /// Returns a group's answers by name, computed from its measures; `shown` formats one.
    pub fn answers<'a>(
        &'a self,
        figures: &'a [Result<Scalar, NoFigure>],
        shown: &'a dyn Fn(Scalar, Option<FieldKind>) -> Value,
    ) -> impl Iterator<Item = (&'a str, Result<Value, NoFigure>)> {
        let at = |place: usize| {
            let kind = self.measures.get(place).and_then(|(_, kind)| *kind);
            Ok((figures.get(place).cloned().unwrap_or(Err(NoFigure::Absent))?, kind))
        };
        let part = move |parts: &[(String, usize)], name: &str| {
            let (_, place) = parts.iter().find(|(part, _)| part == name).ok_or(NoFigure::Absent)?;
            match at(*place)? {
                (Scalar::Number(number), Some(FieldKind::Decimal | FieldKind::Money)) => Ok(number.into()),
                (Scalar::Number(number), _) => Ok(i128::from(number) * i128::from(SCALE)),
                (Scalar::Text(_), _) => Err(NoFigure::Absent),
            }
        };
        let value = move |formula: &Formula| match formula {
            Formula::One(place) => match at(*place)? {
                // Larger integers are inexact in JSON.
                (Scalar::Number(number), Some(FieldKind::Integer)) if number.abs() > MOST_INTEGER => {
                    Err(NoFigure::TooLarge)
                }
                (figure, kind) => Ok(shown(figure, kind)),
            },
            Formula::Made(expr, parts) => made(expr, &|name| part(parts, name)),
        };
        self.answers.iter().map(move |(name, formula)| (name.as_str(), value(formula)))
    }
}

/// Computes an expression over other metrics.
fn made(expr: &Expr, of: &dyn Fn(&str) -> Result<i128, NoFigure>) -> Result<Value, NoFigure> {
    let number = i64::try_from(expr.value(of)?).map_err(|_| NoFigure::TooLarge)?;
    Ok(shown_decimal(number, 1).into())
}

fn measure(text: &str, filters: &Filters<'_>) -> Result<Typed<Measure>, Refusal> {
    let wrong = |what: String| Refusal::field("measures", what);
    let (agg, field) = parsed_figure(filters.of, text).map_err(wrong)?;
    let figured = field.map(|field| figured(agg, field, filters)).transpose().map_err(wrong)?;
    Ok(measured(agg, figured, filters))
}

/// Returns a measure over all records of a group. The average of integers has decimal places.
fn measured(agg: Agg, of: Option<Typed<String>>, filters: &Filters<'_>) -> Typed<Measure> {
    let (column, kind) = of.map_or((None, None), |(column, kind)| (Some(column), kind));
    let (scale, kind) = match (agg, kind) {
        (Agg::Avg, Some(FieldKind::Integer)) => (SCALE, Some(FieldKind::Decimal)),
        (_, kind) => (1, kind),
    };
    (Measure { agg, column, scale, only: Condition::Always, least: filters.of.smallest_group() }, kind)
}

/// Returns a measure's column and the type of its values; `None` for a count.
fn figured(agg: Agg, name: &str, filters: &Filters<'_>) -> Result<Typed<String>, String> {
    let kind = filters.field(name)?.kind;
    by_figure(name, kind, agg)?;
    Ok((name.to_owned(), (agg != Agg::Distinct).then_some(kind)))
}

pub fn group(text: &str, filters: &Filters<'_>) -> Result<Typed<Group>, Refusal> {
    let wrong = |what: String| Refusal::field("group_by", what);
    let (name, grain) = parsed_group(filters.of, text).map_err(wrong)?;
    let kind = filters.field(name).map_err(wrong)?.kind;
    by_group(name, kind, grain).map_err(wrong)?;
    Ok((Group { column: name.to_owned(), grain }, grain.is_none().then_some(kind)))
}
