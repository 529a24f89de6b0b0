//! Who gives approvals, how often something may be asked and who sees a view, compared by meaning: `approvals.yaml`,
//! `limits.yaml` and `views/*.yaml` are half of the policies.
//!
//! Always true: a term is reported for every difference between these files as they are read, and for nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Shift, Sides};
use crate::Snapshot;
use crate::approvals::{self, ApprovalRule, Eligible, Escalation};
use crate::check::Directory;
use crate::limits::{self, Limits, Rate};
use crate::views::{self, Views};
use types::id::ActorId;
use types::view::View;

/// What differs about one kind of approval, one limit or one view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Term {
    /// `approvals.yaml`, `limits.yaml` or a view's, such as `views/late.yaml`.
    pub file: String,
    /// Such as «approvals of `admin`».
    pub about: String,
    /// `looser`: easier to get, more may be asked or spent, or more are shown it. `same`: only when it expires or reminds, the
    /// same people in other words, or what a view asks for.
    pub change: Shift,
    /// Such as «4 people → 9» and «threshold 1 → 2».
    pub parts: Vec<String>,
}

/// The kinds of approval that are easier to get, and those that are harder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub easier: BTreeSet<String>,
    pub harder: BTreeSet<String>,
}

type Part = (Shift, String);

/// Compares both files of both sides; with a directory, by the people that there are.
pub fn terms(sides: &Sides<'_>, directory: Option<&Directory>) -> Vec<Term> {
    let (before, after) = (sides.before.snapshot, sides.after.snapshot);
    let approvals = kinds(before, after).into_iter().map(|kind| {
        let parts = rule(&before.approvals().rule(&kind), &after.approvals().rule(&kind), directory);
        (approvals::FILE.to_owned(), format!("approvals of `{kind}`"), parts)
    });
    let limits = limits_of(before.limits(), after.limits()).into_iter();
    let limits = limits.map(|(about, parts)| (limits::FILE.to_owned(), about, parts));
    let views = views_of(before.views(), after.views());
    let all = approvals.chain(limits).chain(views);
    let terms = all.filter(|(.., parts)| !parts.is_empty()).map(|(file, about, parts)| {
        let change = parts.iter().fold(Shift::Same, |shift, (part, _)| shift.and(*part));
        Term { file, about, change, parts: parts.into_iter().map(|(_, text)| text).collect() }
    });
    terms.collect()
}

/// Which kinds are given otherwise. What is looser in one way and tighter in another counts as easier.
pub fn moved(sides: &Sides<'_>) -> Moved {
    let (before, after) = (sides.before.snapshot, sides.after.snapshot);
    let mut moved = Moved::default();
    for kind in kinds(before, after) {
        let parts = rule(&before.approvals().rule(&kind), &after.approvals().rule(&kind), None);
        match parts.iter().fold(Shift::Same, |shift, (part, _)| shift.and(*part)) {
            Shift::Same => continue,
            Shift::Tighter => moved.harder.insert(kind),
            Shift::Looser | Shift::Mixed => moved.easier.insert(kind),
        };
    }
    moved
}

fn kinds(before: &Snapshot, after: &Snapshot) -> BTreeSet<String> {
    before.kinds().chain(after.kinds()).map(str::to_owned).collect()
}

fn rule(before: &ApprovalRule, after: &ApprovalRule, directory: Option<&Directory>) -> Vec<Part> {
    let mut parts = Vec::new();
    if before.eligible != after.eligible {
        parts.push(people(&before.eligible, &after.eligible, directory));
    }
    if before.threshold != after.threshold {
        let shift = more(after.threshold, before.threshold);
        parts.push((shift, format!("threshold {} → {}", before.threshold, after.threshold)));
    }
    let yes_no = |yes: bool| if yes { "yes" } else { "no" };
    if before.distinct != after.distinct {
        let shift = if after.distinct { Shift::Tighter } else { Shift::Looser };
        parts.push((shift, format!("distinct {} → {}", yes_no(before.distinct), yes_no(after.distinct))));
    }
    if before.self_approval != after.self_approval {
        let shift = if after.self_approval { Shift::Looser } else { Shift::Tighter };
        let text = format!("by the requester {} → {}", yes_no(before.self_approval), yes_no(after.self_approval));
        parts.push((shift, text));
    }
    for (what, unless, before, after) in [
        ("expires", "as the company says", before.ttl_hours, after.ttl_hours),
        ("reminds", "never", before.remind_hours, after.remind_hours),
    ] {
        let hours = |hours: Option<u32>| hours.map_or_else(|| unless.to_owned(), |hours| format!("after {hours} h"));
        if before != after {
            parts.push((Shift::Same, format!("{what} {} → {}", hours(before), hours(after))));
        }
    }
    parts.extend(escalation(before.escalate.as_ref(), after.escalate.as_ref(), directory));
    parts
}

/// `4 people → 9 (role admin → role admin or role lead)`
fn people(before: &[Eligible], after: &[Eligible], directory: Option<&Directory>) -> Part {
    let eligible = format!("{} → {}", listed(before), listed(after));
    let are_within =
        |some: &[Eligible], others: &[Eligible]| some.iter().all(|one| others.iter().any(|other| one.is_within(other)));
    let said = shift(are_within(before, after), are_within(after, before));
    let Some(directory) = directory else { return (said, eligible) };
    let (old, new) = (directory.who(before), directory.who(after));
    // Where it is nobody else today, it is whoever comes next.
    let shift = if old == new { said } else { wider(&old, &new) };
    let people = if old.len() == 1 { "person" } else { "people" };
    (shift, format!("{} {people} → {} ({eligible})", old.len(), new.len()))
}

fn escalation(before: Option<&Escalation>, after: Option<&Escalation>, directory: Option<&Directory>) -> Vec<Part> {
    let to = |one: &Escalation| format!("to {} after {} h", listed(&one.to), one.after_hours);
    match (before, after) {
        (None, Some(after)) => vec![(Shift::Looser, format!("escalates {}", to(after)))],
        (Some(before), None) => vec![(Shift::Tighter, format!("no longer escalates {}", to(before)))],
        (Some(before), Some(after)) if before != after => {
            let mut parts = Vec::new();
            if before.to != after.to {
                let (shift, text) = people(&before.to, &after.to, directory);
                parts.push((shift, format!("escalates to {text}")));
            }
            if before.after_hours != after.after_hours {
                let text = format!("escalates after {} h → {} h", before.after_hours, after.after_hours);
                parts.push((more(after.after_hours, before.after_hours), text));
            }
            parts
        }
        _ => Vec::new(),
    }
}

/// Tighter if the first is more than the second.
fn more(one: impl Into<u64>, other: impl Into<u64>) -> Shift {
    match one.into().cmp(&other.into()) {
        std::cmp::Ordering::Greater => Shift::Tighter,
        std::cmp::Ordering::Less => Shift::Looser,
        std::cmp::Ordering::Equal => Shift::Same,
    }
}

fn wider<T: Ord>(before: &BTreeSet<T>, after: &BTreeSet<T>) -> Shift {
    shift(before.is_subset(after), after.is_subset(before))
}

/// Of two sides of which each may lie within the other.
fn shift(before_is_within: bool, after_is_within: bool) -> Shift {
    match (before_is_within, after_is_within) {
        (true, true) => Shift::Same,
        (true, false) => Shift::Looser,
        (false, true) => Shift::Tighter,
        (false, false) => Shift::Mixed,
    }
}

fn listed(eligible: &[Eligible]) -> String {
    eligible.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

fn limits_of(before: &Limits, after: &Limits) -> Vec<(String, Vec<Part>)> {
    let names: BTreeSet<&String> = before.rates.keys().chain(after.rates.keys()).collect();
    let rates = names.into_iter().map(|name| {
        let part = match (before.rates.get(name), after.rates.get(name)) {
            (None, Some(new)) => vec![(Shift::Tighter, format!("new: {new}"))],
            (Some(old), None) => vec![(Shift::Looser, format!("removed: {old}"))],
            (Some(old), Some(new)) if old != new => vec![(rate(old, new), format!("{old} → {new}"))],
            _ => Vec::new(),
        };
        (format!("limit `{name}`"), part)
    });
    let budgets = |limits: &Limits| limits.impact.unwrap_or_default().each();
    let budget = budgets(before).into_iter().zip(budgets(after)).map(|((name, old), (_, new))| {
        let describe = |most: Option<u64>| most.map_or_else(|| "any".to_owned(), |most| most.to_string());
        let shift = more(old.unwrap_or(u64::MAX), new.unwrap_or(u64::MAX));
        let part = (old != new).then(|| (shift, format!("at most {} → {}", describe(old), describe(new))));
        (format!("budget `{name}`"), part.into_iter().collect())
    });
    rates.chain(budget).chain(teams_of(before, after)).collect()
}

/// What teams may spend.
fn teams_of(before: &Limits, after: &Limits) -> Vec<(String, Vec<Part>)> {
    let teams: BTreeSet<&ActorId> = before.teams.keys().chain(after.teams.keys()).collect();
    let of = |limits: &Limits, team: &ActorId| limits.teams.get(team).map(|limits| limits.month_cents);
    let describe =
        |cents: Option<i64>| cents.map_or_else(|| "without limit".to_owned(), |cents| format!("{cents} cents"));
    let differing = teams.into_iter().map(|team| (team, of(before, team), of(after, team)));
    let differing = differing.filter(|(_, old, new)| old != new).map(|(team, old, new)| {
        let most = |cents: Option<i64>| cents.map_or(u64::MAX, i64::unsigned_abs);
        let part = (more(most(old), most(new)), format!("a month {} → {}", describe(old), describe(new)));
        (format!("budget of {team}"), vec![part])
    });
    differing.collect()
}

fn views_of(before: &Views, after: &Views) -> Vec<(String, String, Vec<Part>)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let place = |name: &String| (views::path_of(name), format!("view `{name}`"));
    let compared = names.into_iter().map(|name| {
        let ((file, about), (old, new)) = (place(name), (before.get(name), after.get(name)));
        (file, about, view(old.map(Arc::as_ref), new.map(Arc::as_ref)))
    });
    compared.collect()
}

/// A view gives nobody a right to what it shows; who is shown that it is there may change.
fn view(before: Option<&View>, after: Option<&View>) -> Vec<Part> {
    let seen = |view: &View| view.spec.visibility.as_ref().map_or_else(|| "everybody".to_owned(), ToString::to_string);
    let (old, new) = match (before, after) {
        (None, None) => return Vec::new(),
        (None, Some(new)) => {
            return vec![(Shift::Looser, format!("new: for {}, of `{}`", seen(new), new.spec.query.collection))];
        }
        (Some(old), None) => return vec![(Shift::Tighter, format!("removed: was for {}", seen(old)))],
        (Some(old), Some(new)) => (old, new),
    };
    let shift = match (&old.spec.visibility, &new.spec.visibility) {
        (None, Some(_)) => Shift::Tighter,
        (Some(_), None) => Shift::Looser,
        _ => Shift::Mixed,
    };
    let is_for =
        (old.spec.visibility != new.spec.visibility).then(|| (shift, format!("for {} → {}", seen(old), seen(new))));
    let otherwise = |differs: bool, what: &str| differs.then(|| (Shift::Same, format!("another {what}")));
    let query = otherwise(old.spec.query != new.spec.query, "query");
    let layout = otherwise(old.spec.layout != new.spec.layout, "layout");
    let title = otherwise(old.metadata != new.metadata, "title or labels");
    [is_for, query, layout, title].into_iter().flatten().collect()
}

/// Whether one actor may ask more often, or is limited in less.
fn rate(old: &Rate, new: &Rate) -> Shift {
    if old.counts_size() != new.counts_size() {
        return Shift::Mixed;
    }
    // What is limited less may be asked more.
    let whom = shift(is_for_less(new, old), is_for_less(old, new));
    let (before, after) = (u64::from(old.most) * u64::from(new.seconds), u64::from(new.most) * u64::from(old.seconds));
    match more(before, after) {
        // As often on the whole, in another rhythm.
        Shift::Same if (old.most, old.seconds) != (new.most, new.seconds) => Shift::Mixed,
        // And how many at once.
        often => whom.and(often).and(more(old.most, new.most)),
    }
}

/// Whether a limit concerns nothing that the other does not.
fn is_for_less(some: &Rate, other: &Rate) -> bool {
    is_part(&some.kinds, &other.kinds)
        && is_part(&some.roles, &other.roles)
        && is_part(&some.operations, &other.operations)
        && other.except.is_subset(&some.except)
}

/// Whether a list lies within another, where an empty one is everything.
fn is_part<T: Ord>(some: &BTreeSet<T>, other: &BTreeSet<T>) -> bool {
    other.is_empty() || (!some.is_empty() && some.is_subset(other))
}
