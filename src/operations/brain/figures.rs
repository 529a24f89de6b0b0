//! What is asked of a group of records: figures, figures that have a name, and figures that are made of such. Each is read as
//! its asker's own, so a name opens nothing.

use serde_json::Value;

use super::filter::Filters;
use crate::store::brain::query::{Group, Measure, TOO_LARGE};
use crate::types::condition::{Condition, Scalar};
use crate::types::decimal::shown_decimal;
use crate::types::expr::{Expr, NoFigure};
use crate::types::field::FieldKind;
use crate::types::refusal::Refusal;
use crate::types::semantics::{Agg, Metric, by_figure, by_group, no_metric, parsed_figure, parsed_group};
use crate::types::view::MOST_MEASURES;

/// A figure or a group with the type of its values; texts and counts have none.
pub type Typed<T> = (T, Option<FieldKind>);

/// Figures are scaled by it where their fields have decimal places.
const SCALE: i128 = 10_000;

/// What is asked of each group.
pub struct Plan {
    pub measures: Vec<Typed<Measure>>,
    /// What is answered, by its name.
    told: Vec<(String, Told)>,
}

enum Told {
    /// The figure at this place.
    One(usize),
    /// One that is made of those at these places.
    Made(Expr, Vec<(String, usize)>),
}

impl Plan {
    pub fn of(measures: &[String], metrics: &[String], filters: &Filters<'_>) -> Result<Plan, Refusal> {
        if !(1..=MOST_MEASURES).contains(&(measures.len() + metrics.len())) {
            let what = format!("must be 1 to {MOST_MEASURES} of them and metrics");
            return Err(Refusal::field("measures", what));
        }
        let (mut plan, mut known) = (Plan { measures: Vec::new(), told: Vec::new() }, Vec::new());
        for text in measures {
            plan.told.push((text.clone(), Told::One(plan.measures.len())));
            plan.measures.push(measure(text, filters)?);
        }
        for name in metrics {
            let wrong = |what: String| Refusal::field("metrics", format!("`{name}`: {what}"));
            let metric = filters.of.spec.semantics.metrics.get(name);
            let metric = metric.ok_or_else(|| Refusal::field("metrics", no_metric(filters.of, name)))?;
            let told = match &metric.expr {
                None => Told::One(plan.place(name, metric, &mut known, filters).map_err(wrong)?),
                Some(expr) => {
                    let expr = Expr::parse(expr).map_err(wrong)?;
                    let part = |part: &str| {
                        let metric = filters.of.spec.semantics.metrics.get(part);
                        let metric = metric.ok_or_else(|| no_metric(filters.of, part))?;
                        let told = |what: String| format!("`{part}`: {what}");
                        Ok((part.to_owned(), plan.place(part, metric, &mut known, filters).map_err(told)?))
                    };
                    let parts = expr.names().into_iter().map(part).collect::<Result<_, String>>().map_err(wrong)?;
                    Told::Made(expr, parts)
                }
            };
            plan.told.push((name.clone(), told));
        }
        if plan.measures.len() > MOST_MEASURES {
            let what = format!("are made of more than {MOST_MEASURES} figures together: ask for fewer at once");
            return Err(Refusal::field("metrics", what));
        }
        Ok(plan)
    }

    /// The place of a metric's figure, which is asked for once.
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
        let agg = metric.agg.ok_or("is made of others itself")?;
        let figured = metric.field.as_ref().map(|field| figured(agg, field, filters)).transpose()?;
        let only = metric.filter.as_ref().map(|filter| filters.read_at(filter, "filter")).transpose();
        let only = only.map_err(|(at, what)| format!("{at}: {what}"))?.unwrap_or(Condition::Always);
        let (column, kind) = figured.map_or((None, None), |(column, kind)| (Some(column), kind));
        let place = self.measures.len();
        self.measures.push((Measure { agg, column, only, least: filters.of.smallest_group() }, kind));
        known.push((name.to_owned(), place));
        Ok(place)
    }

    /// What is answered of a group, from its figures; `shown` brings one into its form.
    pub fn told(
        &self,
        figures: &[Option<Scalar>],
        shown: &dyn Fn(Option<Scalar>, Option<FieldKind>) -> Value,
    ) -> Result<Vec<(String, Value)>, Refusal> {
        let at = |place: usize| {
            let kind = self.measures.get(place).and_then(|(_, kind)| *kind);
            (figures.get(place).cloned().flatten(), kind)
        };
        let value = |told: &Told| match told {
            Told::One(place) => {
                let (figure, kind) = at(*place);
                Ok(shown(figure, kind))
            }
            Told::Made(expr, parts) => made(expr, &|name| {
                let (_, place) = parts.iter().find(|(part, _)| part == name)?;
                match at(*place) {
                    (Some(Scalar::Number(number)), Some(FieldKind::Decimal | FieldKind::Money)) => Some(number.into()),
                    (Some(Scalar::Number(number)), _) => Some(i128::from(number) * SCALE),
                    _ => None,
                }
            }),
        };
        self.told.iter().map(|(name, told)| Ok((name.clone(), value(told)?))).collect()
    }
}

/// A figure that is made of others; nothing where one of them is not there, or it is divided by nothing.
fn made(expr: &Expr, of: &dyn Fn(&str) -> Option<i128>) -> Result<Value, Refusal> {
    let too_large = || Refusal::field("metrics", TOO_LARGE);
    match expr.value(of) {
        Ok(number) => Ok(shown_decimal(i64::try_from(number).map_err(|_| too_large())?, 1).into()),
        Err(NoFigure::Absent) => Ok(Value::Null),
        Err(NoFigure::TooLarge) => Err(too_large()),
    }
}

fn measure(text: &str, filters: &Filters<'_>) -> Result<Typed<Measure>, Refusal> {
    let wrong = |what: String| Refusal::field("measures", what);
    let (agg, field) = parsed_figure(filters.of, text).map_err(wrong)?;
    let figured = field.map(|field| figured(agg, field, filters)).transpose().map_err(wrong)?;
    let (column, kind) = figured.map_or((None, None), |(column, kind)| (Some(column), kind));
    Ok((Measure { agg, column, only: Condition::Always, least: filters.of.smallest_group() }, kind))
}

/// The column of a figure, and the type of its values; of a count there is none.
fn figured(agg: Agg, name: &str, filters: &Filters<'_>) -> Result<Typed<String>, String> {
    let kind = filters.field(name)?.kind;
    by_figure(name, kind, agg)?;
    // The average of whole numbers is rounded as they are.
    Ok((name.to_owned(), (agg != Agg::Distinct).then_some(kind)))
}

pub fn group(text: &str, filters: &Filters<'_>) -> Result<Typed<Group>, Refusal> {
    let wrong = |what: String| Refusal::field("group_by", what);
    let (name, grain) = parsed_group(filters.of, text).map_err(wrong)?;
    let kind = filters.field(name).map_err(wrong)?.kind;
    by_group(name, kind, grain).map_err(wrong)?;
    Ok((Group { column: name.to_owned(), grain }, grain.is_none().then_some(kind)))
}
