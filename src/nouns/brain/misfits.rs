//! Checks whether existing records fit a schema change. The caller must be able to read what is checked: otherwise each refused
//! proposal would reveal something of it.

use super::judged::Withheld;
use super::plan::Plan;
use gate::Reader;
use types::collection::Collection;
use types::condition::Condition;
use types::field::FieldKind;
use types::refusal::{Fault, Refusal, Stop};

/// Checks that the caller may know whether the records fit a plan, and that they do.
pub fn fits(plan: &Plan, collection: &str, read: &Reader<'_>) -> Result<(), Stop> {
    let (Some(before), Some(after)) = (read.collection(collection), &plan.definition) else { return Ok(()) };
    let demands = demands(plan, &before, after);
    if demands.is_empty() {
        return Ok(());
    }
    let withheld: Vec<String> = Withheld::of(&before, read).names(&before).map(ToString::to_string).collect();
    let reads_rows = || read.rows("record.read", &before) == Some(Condition::Always);
    let unread = |demand: &&Demand<'_>| demand.fields().any(|name| withheld.iter().any(|one| one == name));
    if let Some(demand) = demands.iter().find(|demand| unread(demand) || !reads_rows()) {
        let of = demand.fields().next().unwrap_or_default();
        let message = format!(
            "whether the records fit is shown only to somebody who may read `{of}` of all of them: have them apply it"
        );
        return Err(Refusal::conflict(message).into());
    }
    let problems = demands.iter().map(|demand| demand.problem(&before, read));
    let problems: Vec<String> = problems.filter_map(Result::transpose).collect::<Result<_, Fault>>()?;
    if problems.is_empty() { Ok(()) } else { Err(Refusal::invalid(problems).into()) }
}

/// What a plan requires of existing records. Fields go by their names before the change.
enum Demand<'a> {
    /// No record has different values in these fields.
    OneOf(&'a str, &'a str),
    /// Every record has a value.
    Required(&'a str),
    /// Every value is one of these.
    Options(&'a str, &'a [String]),
    /// No number is outside these bounds, given in this type.
    Bounds(&'a str, FieldKind, (Option<i64>, Option<i64>)),
}

impl Demand<'_> {
    fn fields(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            Demand::OneOf(one, other) => (*one, Some(*other)),
            Demand::Required(one) | Demand::Options(one, _) | Demand::Bounds(one, ..) => (*one, None),
        };
        [one].into_iter().chain(other)
    }

    /// Describes how the records violate it, if they do.
    fn problem(&self, of: &Collection, read: &Reader<'_>) -> Result<Option<String>, Fault> {
        let (is_amiss, problem) = match self {
            Demand::OneOf(name, into) => (
                read.any_differ(of, name, into)?,
                format!("ops: records have a `{name}` and another `{into}`: change them first"),
            ),
            Demand::Required(name) => {
                (read.any_lacks(of, name)?, format!("ops: records have no `{name}`: give them one first"))
            }
            Demand::Options(name, options) => (
                read.has_other_values(of, name, options)?,
                format!("ops: records have values of `{name}` that are not among the options"),
            ),
            Demand::Bounds(name, kind, bounds) => (
                read.any_beyond(of, (name, *kind), *bounds)?,
                format!("ops: records have a `{name}` beyond its bounds: change them first"),
            ),
        };
        Ok(is_amiss.then_some(problem))
    }
}

fn demands<'a>(plan: &'a Plan, before: &'a Collection, after: &'a Collection) -> Vec<Demand<'a>> {
    let mut demands: Vec<Demand<'a>> = plan.merged.iter().map(|(into, name)| Demand::OneOf(name, into)).collect();
    for (name, field) in &after.spec.fields {
        let was = plan.renamed.get(name).unwrap_or(name);
        let Some(old) = before.field(was) else { continue };
        if field.required && !old.required {
            demands.push(Demand::Required(was));
        }
        let chooses = matches!(field.kind, FieldKind::Choice | FieldKind::Choices);
        let as_before = old.kind == field.kind && old.options.iter().all(|one| field.options.contains(one));
        if chooses && !as_before {
            demands.push(Demand::Options(was, &field.options));
        }
        let bound = |bound: &Option<_>| bound.as_ref().and_then(|bound| field.kind.number(bound));
        let (least, was_least, most, was_most) =
            (bound(&field.min), bound(&old.min), bound(&field.max), bound(&old.max));
        let narrows = least.is_some_and(|least| was_least.is_none_or(|was| least > was))
            || most.is_some_and(|most| was_most.is_none_or(|was| most < was));
        if narrows {
            demands.push(Demand::Bounds(was, field.kind, (least, most)));
        }
    }
    demands
}
