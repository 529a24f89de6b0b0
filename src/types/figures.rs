//! Figures about the records of a collection, and what they are grouped by, as they are asked for.

use super::collection::Collection;
use super::field::FieldKind;
use super::near::nearest;
use super::semantics::{Agg, Grain, MOST};

/// What is said of a name that no metric has.
pub fn no_metric(of: &Collection, name: &str) -> String {
    let near = nearest(name, of.spec.semantics.metrics.keys().take(MOST).map(String::as_str));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("there is no metric `{}`{near}", short(name))
}

/// `sum:total` as a figure, of a field of this collection: how it comes about, and of which field; a count is of none.
pub fn figure_of<'a>(of: &Collection, text: &'a str) -> Result<(Agg, Option<&'a str>), String> {
    let (agg, field) = parsed_figure(of, text)?;
    figured(of, agg, field)?;
    Ok((agg, field))
}

/// The same, of whatever field.
pub fn parsed_figure<'a>(of: &Collection, text: &'a str) -> Result<(Agg, Option<&'a str>), String> {
    if text == Agg::Count.name() {
        return Ok((Agg::Count, None));
    }
    let agg = |function: &str| function.parse::<Agg>().ok().filter(|agg| *agg != Agg::Count);
    match text.split_once(':').map(|(function, field)| (agg(function), field)) {
        Some((Some(agg), field)) => Ok((agg, Some(field))),
        _ => {
            let metric = of.spec.semantics.metrics.contains_key(text);
            let metric = if metric { "; it is a metric: ask for it in `metrics`" } else { "" };
            let what = "must be count, or sum, avg, min, max, distinct and a field, such as sum:total";
            Err(format!("`{}`: {what}{metric}", short(text)))
        }
    }
}

/// `due:month`, or the name of a dimension, as what figures are grouped by: the field, and the period that it falls into.
pub fn group_of<'a>(of: &'a Collection, text: &'a str) -> Result<(&'a str, Option<Grain>), String> {
    let (name, grain) = parsed_group(of, text)?;
    grouped(of, name, grain)?;
    Ok((name, grain))
}

/// The same, of whatever field.
pub fn parsed_group<'a>(of: &'a Collection, text: &'a str) -> Result<(&'a str, Option<Grain>), String> {
    if let Some(dimension) = of.spec.semantics.dimensions.get(text) {
        return Ok((&dimension.field, dimension.grain));
    }
    match text.split_once(':') {
        None => Ok((text, None)),
        Some((name, grain)) => Ok((name, Some(grain.parse::<Grain>()?))),
    }
}

/// Whether figures can be grouped by a field.
pub(super) fn grouped(of: &Collection, name: &str, grain: Option<Grain>) -> Result<(), String> {
    by_group(name, of.findable(name)?.kind, grain)
}

/// Whether figures can be grouped by a field of this type.
pub fn by_group(name: &str, kind: FieldKind, grain: Option<Grain>) -> Result<(), String> {
    let is_time = matches!(kind, FieldKind::Date | FieldKind::Time);
    match grain {
        Some(_) if !is_time => Err(format!("`{name}` is not a time: it has no day, month or year")),
        None if !kind.is_comparable() => Err(format!("records cannot be grouped by a {kind}")),
        _ => Ok(()),
    }
}

/// Whether a figure of this sort can be made.
pub(super) fn figured(of: &Collection, agg: Agg, field: Option<&str>) -> Result<(), String> {
    match field {
        None if agg == Agg::Count => Ok(()),
        None => Err(format!("`{agg}` needs a field: name one")),
        Some(_) if agg == Agg::Count => Err("`count` counts records and takes no field".to_owned()),
        Some(name) => by_figure(name, of.findable(name)?.kind, agg),
    }
}

/// Whether a figure can be made of a field of this type.
pub fn by_figure(name: &str, kind: FieldKind, agg: Agg) -> Result<(), String> {
    match agg {
        Agg::Sum | Agg::Avg if !kind.is_number() => {
            Err(format!("`{name}` is of the type `{kind}`, and only numbers can be added up"))
        }
        Agg::Min | Agg::Max | Agg::Distinct if !kind.is_comparable() => {
            Err(format!("`{name}` is of the type `{kind}`, whose values cannot be compared"))
        }
        _ => Ok(()),
    }
}

pub(super) fn short(name: &str) -> String {
    name.chars().take(63).collect::<String>().escape_debug().to_string()
}
